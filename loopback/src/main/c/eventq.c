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

/* All queues of the process. */
static struct lb_lock queues_lock;
static struct lb_eventq *queues;

int lb_eventq_open(struct lb_eventq *queue)
{
    *queue = (struct lb_eventq){.tail = &queue->head, .epoll_fd = -1};
    queue->fd = eventfd(0, EFD_CLOEXEC);
    if (queue->fd < 0)
        return errno;
    lb_lock_acquire(&queues_lock);
    queue->next = queues;
    if (queues != NULL)
        queues->previous = queue;
    queues = queue;
    lb_lock_release(&queues_lock);
    return 0;
}

/* A new epoll instance that reports the queue; -1 with errno on failure. */
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

int lb_eventq_open_in_epoll(struct lb_eventq *queue)
{
    int error = lb_eventq_open(queue);

    if (error)
        return error;
    const int fd = open_epoll(queue);
    error = errno;
    lb_lock_acquire(&queues_lock);
    queue->epoll_fd = fd;
    lb_lock_release(&queues_lock);
    if (fd >= 0)
        return 0;
    lb_eventq_close(queue);
    return error;
}

void lb_eventq_close(struct lb_eventq *queue)
{
    lb_lock_acquire(&queues_lock);
    if (queue->previous != NULL)
        queue->previous->next = queue->next;
    else
        queues = queue->next;
    if (queue->next != NULL)
        queue->next->previous = queue->previous;
    lb_lock_release(&queues_lock);
    lb_event_free_list(queue->head);
    queue->head = NULL;
    (void)close(queue->fd);
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
    while (write(queue->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    lb_lock_release(&queue->lock);
}

/* Called with the lock held, under which alone the counter changes. It is non-zero, so the read does not block. */
static void make_unreadable(struct lb_eventq *queue)
{
    uint64_t count;

    while (read(queue->fd, &count, sizeof(count)) < 0 && errno == EINTR)
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

int lb_eventq_wait(int fd)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0)
        return -1;
    if (flags & O_NONBLOCK) {
        errno = EAGAIN;
        return -1;
    }
    if (poll(&waiting, 1, -1) < 0)
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

static void hold(void)
{
    lb_lock_acquire(&queues_lock);
}

static void release(void)
{
    lb_lock_release(&queues_lock);
}

/* Makes fd refer to the file of new_fd, and closes new_fd. fd keeps its flags. Returns false on failure, or if new_fd is -1. */
static bool replace(int fd, int new_fd)
{
    const int flags = fcntl(fd, F_GETFD);
    bool done = false;

    if (new_fd < 0)
        return false;
    if (flags >= 0 && fcntl(new_fd, F_SETFL, fcntl(fd, F_GETFL) & O_NONBLOCK) == 0)
        done = dup3(new_fd, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) >= 0;
    (void)close(new_fd);
    return done;
}

/*
 * In the child after fork(2): separates a queue from that of the parent. A thread that exists only in the parent may have held
 * the lock. Both processes share the eventfd, so an event of the child would make the parent's descriptor readable.
 */
static void part(struct lb_eventq *queue)
{
    unsigned int count = 0;

    lb_lock_forget(&queue->lock);
    for (queue->tail = &queue->head; *queue->tail != NULL; queue->tail = &(*queue->tail)->next)
        count++;
    if (!replace(queue->fd, eventfd(count, EFD_CLOEXEC)))
        queue->fd = -1; /* out of descriptors: the events stay in the list, but cannot be waited for */
    if (queue->epoll_fd >= 0)
        (void)replace(queue->epoll_fd, open_epoll(queue));
}

static void part_all(void)
{
    for (struct lb_eventq *queue = queues; queue != NULL; queue = queue->next)
        part(queue);
    release();
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, part_all);
}
