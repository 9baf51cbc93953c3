/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uncancelled.h: system calls for threads that hold a lock, or are in the middle of something.
 *
 * The C library's functions are points at which a thread ends that pthread_cancel(3) has cancelled: with its locks held, for which
 * all others would wait for ever. With the kernel's own interface a program's thread holds none where it can be cancelled. So a
 * thread that is cancelled ends where it waits, or not in the device at all. None of these calls waits.
 */
#ifndef LOOPBACK_UNCANCELLED_H
#define LOOPBACK_UNCANCELLED_H

#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline ssize_t lb_read(int fd, void *to, size_t size)
{
    return syscall(SYS_read, fd, to, size);
}

static inline ssize_t lb_write(int fd, const void *from, size_t size)
{
    return syscall(SYS_write, fd, from, size);
}

static inline ssize_t lb_send(int fd, const void *from, size_t size, int flags)
{
    return syscall(SYS_sendto, fd, from, size, flags, NULL, 0);
}

static inline ssize_t lb_recv(int fd, void *to, size_t size, int flags)
{
    return syscall(SYS_recvfrom, fd, to, size, flags, NULL, NULL);
}

/* poll(2) of one descriptor without a wait. */
static inline int lb_poll(struct pollfd *fd)
{
    struct timespec none = {0};

    return (int)syscall(SYS_ppoll, fd, 1, &none, NULL, 0);
}

/* epoll_wait(2) for one event without a wait. */
static inline int lb_epoll(int fd, struct epoll_event *event)
{
    return (int)syscall(SYS_epoll_pwait, fd, event, 1, 0, NULL, 0);
}

static inline void lb_close(int fd)
{
    (void)syscall(SYS_close, fd);
}

/* Sleeps, if no signal ends that. */
static inline void lb_sleep(const struct timespec *time)
{
    (void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, time, NULL);
}

#endif
