/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_peer.c: what a process that does not keep the rules of its connections can do to the other one: it has their sockets
 * and their segments.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#define DESCRIPTORS 256

/* The shared segment of the first connection. */
static char *segment;
static size_t segment_size;

/* The socket of the first connection, duplicated: the device may close its own. */
static int connection = -1;

static void find_segment(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from;
    unsigned long to;

    CHECK(maps != NULL);
    while (segment == NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (strstr(line, "memfd:ringpoll-loopback") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            segment = (char *)from;
            segment_size = to - from;
        }
    }
    (void)fclose(maps);
    CHECK(segment != NULL);
}

static void find_socket(void)
{
    for (int fd = 3; fd < DESCRIPTORS && connection < 0; fd++) {
        struct sockaddr_storage other;
        socklen_t length = sizeof(other);

        if (getpeername(fd, (struct sockaddr *)&other, &length) == 0 && other.ss_family == AF_UNIX)
            connection = dup(fd);
    }
    CHECK(connection >= 0);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Anything anywhere, with pauses in which the connection may go on: a race, and meant to be one. */
__attribute__((no_sanitize("thread")))
static void scribble(uint64_t seed)
{
    for (;;) {
        const uint64_t random = next_random(&seed);
        /* Half of it where positions, states and the first headers are: at the begin of each ring. */
        const size_t range = random & 1 ? 512 : segment_size - 8;
        const size_t ring = (segment_size / 4) * ((random >> 1) & 3) / 64 * 64;
        const size_t at = (random & 1 ? ring : 0) + (random >> 8) % range;

        if (at + 8 > segment_size)
            continue;
        if (random & 8)
            segment[at] = (char)(random >> 40);
        else
            memcpy(segment + at / 4 * 4, &(uint32_t){(uint32_t)(random >> 32) & (random & 16 ? 0xffffu : UINT32_MAX)}, 4);
        if ((random & 0x70000) == 0) {
            const struct timespec pause = {.tv_nsec = (long)(random >> 44) % 200000};

            (void)nanosleep(&pause, NULL);
        }
    }
}

/* Sends two descriptors where none is expected, again and again, and ends. */
static void send_descriptors(void)
{
    char byte = 'R';
    int two[2] = {0, 1};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(two))];
    } control;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};

    for (int i = 0; i < 1000; i++) {
        struct msghdr sent = {
            .msg_iov = &data,
            .msg_iovlen = 1,
            .msg_control = &control,
            .msg_controllen = sizeof(control.bytes),
        };

        memset(&control, 0, sizeof(control));
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(two));
        memcpy(CMSG_DATA(&control.header), two, sizeof(two));
        while (sendmsg(connection, &sent, MSG_NOSIGNAL) != 1 && (errno == EAGAIN || errno == ETOOMANYREFS))
            ;
    }
    (void)kill(getpid(), SIGKILL);
}

static void *attack(void *name)
{
    const char *kind = name;

    if (strcmp(kind, "descriptors") == 0)
        send_descriptors();
    else
        scribble((uint64_t)strtoul(kind, NULL, 10) * 2654435761u + 88172645463325252u);
    return NULL;
}

void hostile_peer_begin(const char *kind)
{
    pthread_t thread;

    find_segment();
    find_socket();
    CHECK_EQ(pthread_create(&thread, NULL, attack, (void *)(uintptr_t)kind), 0);
}
