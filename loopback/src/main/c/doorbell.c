/* SPDX-License-Identifier: Apache-2.0 */
/* doorbell.c: pairs of sockets by which processes notify each other: see doorbell.h. */
#include <errno.h>
#include <sys/socket.h>

#include "doorbell.h"
#include "uncancelled.h"

int lb_doorbell_open(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) ? errno : 0;
}

bool lb_doorbell_is_end(int fd)
{
    int domain = 0;
    int type = 0;
    socklen_t length = sizeof(int);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX &&
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM;
}

void lb_doorbell_ring(int fd)
{
    static const char byte = 0;

    /* If it fails, the other end has broken the pair, and its watch thread is woken later: see lb_proxy_wake_overdue. */
    while (lb_send(fd, &byte, sizeof(byte), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

enum lb_doorbell_state lb_doorbell_take(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLRDHUP};
    char byte;
    ssize_t count;

    do
        count = lb_recv(fd, &byte, sizeof(byte), MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count >= 0)
        return LB_DOORBELL_RUNG;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return LB_DOORBELL_BROKEN;
    /* The other process can shut down this end, which is then readable without a byte. */
    return lb_poll(&end) == 0 ? LB_DOORBELL_SILENT : LB_DOORBELL_BROKEN;
}
