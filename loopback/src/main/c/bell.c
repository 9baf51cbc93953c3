/* SPDX-License-Identifier: Apache-2.0 */
/* bell.c: pairs of sockets that call another process: see bell.h. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bell.h"

int lb_bell_open(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) ? errno : 0;
}

bool lb_bell_is_end(int fd)
{
    int domain = 0;
    int type = 0;
    socklen_t length = sizeof(int);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX &&
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM;
}

void lb_bell_call(int fd)
{
    static const char call = 0;

    /* If it fails, the other end has broken its bell, and is rung instead in a while: see lb_proxy_look_after. */
    while (send(fd, &call, sizeof(call), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

enum lb_bell_call lb_bell_take(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLRDHUP};
    char call;
    ssize_t count;

    do
        count = recv(fd, &call, sizeof(call), MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count >= 0)
        return LB_BELL_CALLED;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return LB_BELL_BROKEN;
    /* The other process can shut down this end: then it stays readable, with nothing to read. */
    return poll(&end, 1, 0) == 0 ? LB_BELL_NONE : LB_BELL_BROKEN;
}
