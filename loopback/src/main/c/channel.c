/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c: completion channels: where completion queues put their events, fetching those, and calls of other processes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cq.h"

/* So long ibv_get_cq_event waits for the event of a call that had made the descriptor readable, before it returns one without. */
#define PATIENCE_MS 1000

struct comp_event {
    struct lb_event event; /* first; its owner is the completion queue */
};

/* Returns 0 or an errno value. */
static int open_descriptors(struct lb_comp_channel *channel)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    int error = lb_eventq_open(&channel->events);

    if (error)
        return error;
    channel->base.fd = epoll_create1(EPOLL_CLOEXEC);
    if (channel->base.fd >= 0 && epoll_ctl(channel->base.fd, EPOLL_CTL_ADD, channel->events.fd, &event) == 0)
        return 0;
    error = errno;
    if (channel->base.fd >= 0)
        (void)close(channel->base.fd);
    lb_eventq_close(&channel->events);
    return error;
}

LB_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    if (lb_fails(__func__))
        return NULL;
    struct lb_comp_channel *channel = calloc(1, sizeof(*channel));

    if (channel == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    const int error = open_descriptors(channel);
    if (error) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base.context = context;
    atomic_fetch_add(&lb_context_of(context)->children, 1);
    lb_count(RINGPOLL_LOOPBACK_COMP_CHANNEL, 1);
    return &channel->base;
}

LB_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv_channel)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);
    struct lb_context *context = lb_context_of(ibv_channel->context);

    lb_lock_acquire(&context->lock);
    const int users = ibv_channel->refcnt;
    lb_lock_release(&context->lock);
    if (users != 0)
        return EBUSY;
    (void)close(ibv_channel->fd);
    lb_eventq_close(&channel->events);
    atomic_fetch_sub(&context->children, 1);
    free(channel);
    lb_count(RINGPOLL_LOOPBACK_COMP_CHANNEL, -1);
    return lb_fails(__func__) ? errno : 0;
}

void lb_comp_channel_raise(struct lb_cq *cq)
{
    struct comp_event *event = malloc(sizeof(*event));

    if (event == NULL) /* like the kernel: an event without memory is an event lost */
        return;
    event->event.owner = cq;
    event->event.fetched = &cq->comp_events_fetched;
    lb_eventq_push(&lb_comp_channel_of(cq->base.channel)->events, &event->event);
}

int lb_comp_channel_hear(struct ibv_comp_channel *ibv_channel, struct lb_hearing *hearing)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = hearing};
    int error = 0;

    lb_lock_acquire(&channel->bells_lock);
    /* Both queues of a connection may have this channel: the first one's hearing is found. */
    if (epoll_ctl(ibv_channel->fd, EPOLL_CTL_ADD, hearing->fd, &event) && errno != EEXIST) {
        error = errno;
    } else {
        hearing->next = atomic_load_explicit(&channel->hearings, memory_order_relaxed);
        atomic_store_explicit(&channel->hearings, hearing, memory_order_release);
    }
    lb_lock_release(&channel->bells_lock);
    return error;
}

void lb_comp_channel_unhear(struct ibv_comp_channel *ibv_channel, struct lb_hearing *hearing)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);

    lb_lock_acquire(&channel->bells_lock);
    (void)epoll_ctl(ibv_channel->fd, EPOLL_CTL_DEL, hearing->fd, NULL);
    struct lb_hearing *first = atomic_load_explicit(&channel->hearings, memory_order_relaxed);
    if (first == hearing) {
        atomic_store_explicit(&channel->hearings, hearing->next, memory_order_relaxed);
    } else {
        while (first != NULL && first->next != hearing)
            first = first->next;
        if (first != NULL)
            first->next = hearing->next;
    }
    lb_lock_release(&channel->bells_lock);
}

void lb_comp_channel_forget(struct ibv_comp_channel *ibv_channel)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);

    lb_lock_forget(&channel->bells_lock);
    atomic_store_explicit(&channel->hearings, NULL, memory_order_relaxed);
}

enum answer {
    NOBODY,  /* has called */
    NOTHING, /* is left to do for the one who has called: another thread does it */
    ANSWERED
};

/* Works for one process that has called, through *fd. */
static enum answer answer_call(struct lb_comp_channel *channel, int *fd)
{
    const struct lb_hearing *found = NULL;
    struct epoll_event event;
    bool (*answer)(void *) = NULL;
    void *held = NULL;

    if (atomic_load_explicit(&channel->hearings, memory_order_acquire) == NULL)
        return NOBODY;
    /* Hearings are removed under the lock: what is ready here is one. */
    lb_lock_acquire(&channel->bells_lock);
    if (epoll_wait(channel->base.fd, &event, 1, 0) == 1 && event.data.ptr != NULL) {
        struct lb_hearing *hearing = event.data.ptr;

        found = hearing;
        *fd = hearing->fd;
        answer = hearing->answer;
        held = hearing->hold(hearing);
    }
    lb_lock_release(&channel->bells_lock);
    if (found == NULL)
        return NOBODY;
    return answer(held) ? ANSWERED : NOTHING;
}

/* Raises the requested event of a queue that was called through this descriptor, but has no completion. */
static void raise_without_completion(struct lb_comp_channel *channel, int called)
{
    bool raised = false;

    lb_lock_acquire(&channel->bells_lock);
    for (const struct lb_hearing *hearing = atomic_load_explicit(&channel->hearings, memory_order_relaxed);
            hearing != NULL && !raised; hearing = hearing->next) {
        if (hearing->fd != called)
            continue;
        lb_lock_acquire(&hearing->cq->push_lock);
        raised = hearing->cq->notify != LB_NOTIFY_NONE;
        hearing->cq->notify = LB_NOTIFY_NONE;
        if (raised)
            lb_comp_channel_raise(hearing->cq);
        lb_lock_release(&hearing->cq->push_lock);
    }
    lb_lock_release(&channel->bells_lock);
}

/*
 * Waits until an event may be there. A program that has found the descriptor readable may expect one: `called`, or -1, is who has
 * made it so. Returns 0, or -1 with errno as lb_eventq_wait.
 */
static int wait_for_event(struct lb_comp_channel *channel, int called)
{
    struct pollfd waiting = {.fd = channel->base.fd, .events = POLLIN};
    const int flags = fcntl(channel->base.fd, F_GETFL);

    if (flags < 0)
        return -1;
    if (flags & O_NONBLOCK && called < 0) {
        errno = EAGAIN;
        return -1;
    }
    const int ready = flags & O_NONBLOCK ? 0 : poll(&waiting, 1, called >= 0 ? PATIENCE_MS : -1);
    if (ready < 0)
        return -1;
    if (ready == 0) {
        raise_without_completion(channel, called);
    } else if (waiting.revents & POLLNVAL) {
        errno = EBADF;
        return -1;
    }
    return 0;
}

LB_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ibv_channel, struct ibv_cq **cq,
    void **cq_context)
{
    if (lb_fails(__func__))
        return -1;
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);
    int called = -1; /* before this call, without an event so far */
    bool waited = false;

    for (;;) {
        struct lb_event *event = lb_eventq_take(&channel->events);

        if (event != NULL) {
            struct lb_cq *owner = event->owner;

            free(event);
            *cq = &owner->base;
            *cq_context = owner->base.cq_context;
            /* Its destruction waits for the acknowledgement of the event. */
            if (atomic_load_explicit(&owner->proxies, memory_order_acquire) != NULL)
                owner->fetched(owner);
            return 0;
        }
        int fd = -1;
        const enum answer answer = answer_call(channel, &fd);
        if (answer == ANSWERED && !waited)
            called = fd;
        if (answer != NOBODY)
            continue;
        if (wait_for_event(channel, called))
            return -1;
        called = -1;
        waited = true;
    }
}

LB_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events)
{
    if (events == 0)
        return;
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += events;
    pthread_cond_broadcast(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}
