/* SPDX-License-Identifier: Apache-2.0 */
/* eventq.c: events behind a file descriptor: an eventfd that is non-zero while the list is not empty. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "counters.h"
#include "eventq.h"

int lb_eventq_open(struct lb_eventq *queue)
{
    queue->lock = (struct lb_lock){0};
    queue->head = NULL;
    queue->tail = &queue->head;
    queue->fd = eventfd(0, EFD_CLOEXEC);
    return queue->fd < 0 ? errno : 0;
}

void lb_eventq_close(struct lb_eventq *queue)
{
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
    /* Written for every event, not only for the first: edge-triggered epoll counts on it. */
    while (write(queue->fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    lb_lock_release(&queue->lock);
}

/* Called with the lock held. The counter is non-zero and only changes under the lock: no block. */
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
