/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventq.c: lists of events, each with an eventfd that is readable while its list is not empty. After fork(2), the child gets
 * descriptors of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "counters.h"
#include "eventq.h"
#include "uncancelled.h"

/* A file that is readable while the list is not empty. -1 with errno on failure, as the next. */
static int open_eventfd(const struct lb_eventq *queue)
{
    unsigned int count = 0;

    for (const struct lb_event *event = queue->head; event != NULL; event = event->next)
        count++;
    return eventfd(count, EFD_CLOEXEC);
}

/* One that reports the queue. */
static int open_epoll(const struct lb_eventq *queue)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    const int fd = epoll_create1(EPOLL_CLOEXEC);

    if (fd < 0 || epoll_ctl(fd, EPOLL_CTL_ADD, queue->fd, &event) == 0)
        return fd;
    const int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/*
 * Gives the number fd to a new file; it keeps its flags. It is closed before, so that a process without a further descriptor has
 * one. Returns -1 without memory for the file, and then the number is free.
 */
static int reopen(int fd, int (*open_file)(const struct lb_eventq *queue), const struct lb_eventq *queue)
{
    const int flags = fcntl(fd, F_GETFD);
    const int status = fcntl(fd, F_GETFL);

    (void)close(fd);
    const int opened = open_file(queue);
    if (opened >= 0 && opened != fd) {
        const bool done = dup2(opened, fd) >= 0;

        (void)close(opened);
        if (!done)
            return -1;
    }
    if (opened < 0 || fcntl(fd, F_SETFD, flags) || fcntl(fd, F_SETFL, status & O_NONBLOCK))
        return -1;
    return fd;
}

/*
 * Separates a queue from that of the parent: a thread that exists only there may have held the lock. Both processes share the
 * files, so an event of the child would make the parent's descriptor readable.
 */
static void inherit(struct lb_fork_member *member)
{
    struct lb_eventq *queue = LB_FORKED(struct lb_eventq, fork, member);

    lb_lock_forget(&queue->lock);
    queue->waiters = 0;
    (void)sem_init(&queue->pushed, 0, 0);
    queue->tail = &queue->head;
    while (*queue->tail != NULL)
        queue->tail = &(*queue->tail)->next;
    queue->fd = reopen(queue->fd, open_eventfd, queue);
    if (queue->epoll_fd >= 0)
        queue->epoll_fd = reopen(queue->epoll_fd, open_epoll, queue);
}

static int open_queue(struct lb_eventq *queue, bool in_epoll)
{
    *queue = (struct lb_eventq){.tail = &queue->head, .epoll_fd = -1};
    queue->fd = open_eventfd(queue);
    if (queue->fd < 0)
        return errno;
    if (in_epoll) {
        queue->epoll_fd = open_epoll(queue);
        if (queue->epoll_fd < 0) {
            const int error = errno;

            (void)close(queue->fd);
            return error;
        }
    }
    (void)sem_init(&queue->pushed, 0, 0);
    lb_fork_join(&queue->fork, inherit);
    return 0;
}

int lb_eventq_open(struct lb_eventq *queue)
{
    return open_queue(queue, false);
}

int lb_eventq_open_in_epoll(struct lb_eventq *queue)
{
    return open_queue(queue, true);
}

void lb_eventq_close(struct lb_eventq *queue)
{
    lb_fork_leave(&queue->fork);
    lb_event_free_list(queue->head);
    queue->head = NULL;
    if (queue->epoll_fd >= 0)
        (void)close(queue->epoll_fd);
    if (queue->fd >= 0)
        (void)close(queue->fd);
    (void)sem_destroy(&queue->pushed);
}

void lb_eventq_push(struct lb_eventq *queue, struct lb_event *event)
{
    const uint64_t one = 1;

    event->next = NULL;
    lb_count(RINGPOLL_LOOPBACK_EVENT, 1);
    lb_lock_acquire(&queue->lock);
    *queue->tail = event;
    queue->tail = &event->next;
    /* For every event, not only for the first: edge-triggered epoll reports each write. */
    while (lb_write(queue->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    if (queue->waiters > 0)
        (void)sem_post(&queue->pushed);
    lb_lock_release(&queue->lock);
}

/* Called with the lock held, under which alone the counter changes. It is non-zero, so the read does not block. */
static void make_unreadable(struct lb_eventq *queue)
{
    uint64_t count;

    while (lb_read(queue->fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

struct lb_event *lb_eventq_take(struct lb_eventq *queue)
{
    struct lb_event *event;

    lb_lock_acquire(&queue->lock);
    event = queue->head;
    if (event != NULL) {
        queue->head = event->next;
        if (queue->head == NULL) {
            queue->tail = &queue->head;
            make_unreadable(queue);
        }
        if (event->fetched != NULL)
            atomic_fetch_add_explicit(event->fetched, 1, memory_order_relaxed);
        event->next = NULL;
        lb_count(RINGPOLL_LOOPBACK_EVENT, -1);
    }
    lb_lock_release(&queue->lock);
    return event;
}

/* Whether a call that finds nothing waits, by the program's descriptor; otherwise errno is set. */
static bool is_blocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);

    if (flags >= 0 && flags & O_NONBLOCK)
        errno = EAGAIN;
    return flags >= 0 && !(flags & O_NONBLOCK);
}

/* Also when the thread is cancelled: it may have been woken for an event that another one has to take then. */
static void end_wait(void *waited_for)
{
    struct lb_eventq *queue = waited_for;

    lb_lock_acquire(&queue->lock);
    if (--queue->waiters > 0 && queue->head != NULL)
        (void)sem_post(&queue->pushed);
    lb_lock_release(&queue->lock);
}

/* Not by poll(2), which every handled signal ends. */
int lb_eventq_wait(struct lb_eventq *queue, int fd)
{
    int error = 0;

    if (!is_blocking(fd))
        return -1;
    lb_lock_acquire(&queue->lock);
    const bool is_empty = queue->head == NULL;
    if (is_empty && queue->waiters++ == 0) {
        while (sem_trywait(&queue->pushed) == 0) /* of earlier waits */
            ;
    }
    lb_lock_release(&queue->lock);
    if (!is_empty)
        return 0;
    pthread_cleanup_push(end_wait, queue);
    error = sem_wait(&queue->pushed) == 0 ? 0 : errno;
    pthread_cleanup_pop(1);
    errno = error;
    return error ? -1 : 0;
}

int lb_eventq_wait_for_any(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};

    if (!is_blocking(fd) || poll(&waiting, 1, -1) < 0)
        return -1;
    if (waiting.revents & POLLNVAL) {
        errno = EBADF;
        return -1;
    }
    return 0;
}

struct lb_event *lb_eventq_remove(struct lb_eventq *queue, const void *owner)
{
    struct lb_event *removed = NULL;
    struct lb_event **removed_tail = &removed;

    lb_lock_acquire(&queue->lock);
    struct lb_event **link = &queue->head;
    const struct lb_event *had = queue->head;
    while (*link != NULL) {
        struct lb_event *event = *link;

        if (event->owner == owner) {
            *link = event->next;
            event->next = NULL;
            *removed_tail = event;
            removed_tail = &event->next;
            lb_count(RINGPOLL_LOOPBACK_EVENT, -1);
        } else {
            link = &event->next;
        }
    }
    queue->tail = link;
    if (had != NULL && queue->head == NULL)
        make_unreadable(queue);
    lb_lock_release(&queue->lock);
    return removed;
}

void lb_event_free_list(struct lb_event *list)
{
    while (list != NULL) {
        struct lb_event *next = list->next;

        free(list);
        list = next;
    }
}
