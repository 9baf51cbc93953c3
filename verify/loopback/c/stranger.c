/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stranger.c: connects to the socket of a listening process of the loopback device, and is no device, for
 * verify/loopback/containers.
 *
 *   stranger SOCKET                  0: the listener has ended the connection at once, and sent nothing; 1: it has not
 *   stranger SOCKET SEED PACKETS     sends so many packets of garbage, over new connections when one has ended
 *
 * Half of the garbage has the magic number, the version and the length of a message (cm_remote.c), a third has a descriptor.
 * Exit code 3 if the socket cannot be connected.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire.h"

#define MAGIC 0x52504c42u
#define MESSAGE 536u
#define LONGEST 2048u
#define TYPES 9
#define PATIENCE_MS 10000
#define LIMIT_S 50

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address))) {
        fprintf(stderr, "stranger: %s: %s\n", path, strerror(errno));
        exit(3);
    }
    return fd;
}

/* Whether the listener ends the connection before this end has sent anything. */
static int is_refused(const char *path)
{
    char byte;
    const int fd = connect_to(path);
    struct pollfd ended = {.fd = fd, .events = POLLIN};

    return poll(&ended, 1, PATIENCE_MS) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

/* Something to be mapped: too short, not sealed, or no memory at all. */
static int any_descriptor(void)
{
    const int fd = rand() % 2 ? memfd_create("stranger", MFD_CLOEXEC | MFD_ALLOW_SEALING) : open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)!ftruncate(fd, rand() % 2 ? 1 << 20 : rand() % 4096);
    if (rand() % 2)
        (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    return fd;
}

/* Sends a packet of garbage; false: the listener has ended the connection. */
static bool send_garbage(int fd)
{
    static unsigned char bytes[LONGEST];
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {.iov_base = bytes, .iov_len = (size_t)rand() % LONGEST};
    struct msghdr sent = {.msg_iov = &data, .msg_iovlen = 1};
    const int descriptor = rand() % 3 == 0 ? any_descriptor() : -1;

    for (size_t i = 0; i < LONGEST; i++)
        bytes[i] = (unsigned char)(rand() % 4 ? 0 : rand());
    if (rand() % 2) {
        const uint32_t magic = MAGIC;
        const uint16_t words[] = {LB_WIRE_VERSION, (uint16_t)(rand() % TYPES)};

        memcpy(bytes, &magic, sizeof(magic));
        memcpy(bytes + sizeof(magic), words, sizeof(words));
        data.iov_len = MESSAGE;
    }
    if (descriptor >= 0) {
        memset(&control, 0, sizeof(control));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
        sent.msg_control = &control;
        sent.msg_controllen = sizeof(control.bytes);
    }
    const bool is_sent = sendmsg(fd, &sent, MSG_NOSIGNAL) >= 0;
    if (descriptor >= 0)
        (void)close(descriptor);
    return is_sent;
}

int main(int argc, char **argv)
{
    (void)alarm(LIMIT_S);
    if (argc == 2)
        return is_refused(argv[1]) ? 0 : 1;
    if (argc != 4) {
        fprintf(stderr, "usage: stranger SOCKET [SEED PACKETS]\n");
        return 2;
    }
    srand((unsigned int)atoi(argv[2]));
    int fd = connect_to(argv[1]);
    for (int i = atoi(argv[3]); i > 0; i--) {
        if (send_garbage(fd) && rand() % 20 != 0)
            continue;
        (void)close(fd);
        fd = connect_to(argv[1]);
    }
    return 0;
}
