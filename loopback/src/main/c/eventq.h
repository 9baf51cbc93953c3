/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventq.h: a first-in-first-out list of events behind a file descriptor.
 *
 * The descriptor is readable exactly while the list is not empty, so poll(2), select(2) and epoll
 * (level and edge triggered: every event writes to it) work as on the kernel's own. Taking an
 * event honours O_NONBLOCK as set by the user with fcntl(2).
 *
 * In the child of a fork each queue has descriptors of its own under the numbers of its parent's, and a copy of the events.
 */
#ifndef LOOPBACK_EVENTQ_H
#define LOOPBACK_EVENTQ_H

#include <semaphore.h>

#include "export.h"
#include "fork.h"
#include "lock.h"

/* One event; the first member of a structure that the queue's owner allocates with malloc. */
struct lb_event {
    struct lb_event *next;
    void *owner;                /* removed with lb_eventq_remove when the owner goes */
    _Atomic uint32_t *fetched;  /* counted up under the queue's lock when fetched; may be NULL */
};

struct lb_eventq {
    struct lb_lock lock;
    int fd;                     /* -1: the child of a fork had no memory for one */
    int epoll_fd;               /* an epoll instance with fd and what the owner adds; or -1 */
    struct lb_event *head;
    struct lb_event **tail;
    uint32_t waiters;           /* threads in lb_eventq_wait */
    sem_t pushed;               /* posted for each event while there are some */
    struct lb_fork_member fork;
};

/* Opens the descriptor; returns 0 or an errno value. */
LB_EXPORT int lb_eventq_open(struct lb_eventq *queue);

/* The same with an epoll instance that reports it, with data NULL; more descriptors can be added. */
int lb_eventq_open_in_epoll(struct lb_eventq *queue);

/* Frees the events that are left and closes the descriptors. */
LB_EXPORT void lb_eventq_close(struct lb_eventq *queue);

/* Appends an event and makes the descriptor readable; the queue owns the event from here on. */
LB_EXPORT void lb_eventq_push(struct lb_eventq *queue, struct lb_event *event);

/* Takes the oldest event, or returns NULL without waiting if there is none. The caller frees it. */
LB_EXPORT struct lb_event *lb_eventq_take(struct lb_eventq *queue);

/*
 * Waits until an event may be there. `fd` is the program's descriptor: that of the queue, or its epoll instance. Returns 0, or -1
 * with errno EAGAIN (the descriptor is non-blocking), EBADF, or EINTR. As with a read(2) of the kernel's own, a signal whose handler
 * has SA_RESTART does not end the wait, and a thread that waits can be cancelled.
 */
LB_EXPORT int lb_eventq_wait(struct lb_eventq *queue, int fd);

/* The same for anything that the epoll instance reports. Each handled signal ends the wait. */
int lb_eventq_wait_for_any(int fd);

/* Removes an owner's unfetched events from the queue and returns them as a list. */
LB_EXPORT struct lb_event *lb_eventq_remove(struct lb_eventq *queue, const void *owner);

/* Frees a list of events as returned by lb_eventq_remove. */
LB_EXPORT void lb_event_free_list(struct lb_event *list);

/*
 * Whether a fetched event is not acknowledged. In the child of a fork, those of its parent count as acknowledged, and the thread
 * that has forked may acknowledge one again: the next event that the child fetches of the object then counts as acknowledged, and
 * a destruction does not wait for it.
 */
static inline bool lb_awaits_acknowledgement(const _Atomic uint32_t *fetched, uint32_t acknowledged)
{
    return (int32_t)(atomic_load(fetched) - acknowledged) > 0;
}

#endif
