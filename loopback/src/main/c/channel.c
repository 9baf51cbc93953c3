/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c: completion channels: where completion queues put their events, fetching those, and calls of other processes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cq.h"

/* What one ibv_get_cq_event takes: another process can make the descriptor readable as often as it likes. */
#define MOST_CALLS 16

struct comp_event {
    struct lb_event event; /* first; its owner is the completion queue */
};

LB_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    if (lb_fails(__func__))
        return NULL;
    struct lb_comp_channel *channel = calloc(1, sizeof(*channel));

    if (channel == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    const int error = lb_eventq_open_in_epoll(&channel->events);
    if (error) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base.fd = channel->events.epoll_fd;
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
    lb_eventq_close(&channel->events);
    (void)close(ibv_channel->fd);
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
    struct lb_hearing *first = atomic_load_explicit(&channel->hearings, memory_order_relaxed);
    if (first == hearing) {
        first = hearing->next;
        atomic_store_explicit(&channel->hearings, first, memory_order_relaxed);
    } else {
        struct lb_hearing *before = first;

        while (before != NULL && before->next != hearing)
            before = before->next;
        if (before != NULL)
            before->next = hearing->next;
    }
    while (first != NULL && first->fd != hearing->fd)
        first = first->next;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = first};
    (void)epoll_ctl(ibv_channel->fd, first != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, hearing->fd, &event);
    lb_lock_release(&channel->bells_lock);
}

void lb_comp_channel_forget(struct ibv_comp_channel *ibv_channel)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);

    lb_lock_forget(&channel->bells_lock);
    atomic_store_explicit(&channel->hearings, NULL, memory_order_relaxed);
}

bool lb_comp_channel_can_hear(const struct ibv_comp_channel *channel)
{
    const int flags = fcntl(channel->fd, F_GETFL);

    return flags >= 0 && flags & O_NONBLOCK;
}

/* Works for one process that has called; false: none has, and no event has come meanwhile. */
static bool answer_call(struct lb_comp_channel *channel)
{
    void (*answer)(void *) = NULL;
    struct epoll_event event;
    void *held = NULL;

    if (atomic_load_explicit(&channel->hearings, memory_order_acquire) == NULL)
        return false;
    /* Hearings are removed under the lock: what is ready here is one, or the events. */
    lb_lock_acquire(&channel->bells_lock);
    const bool is_ready = epoll_wait(channel->base.fd, &event, 1, 0) == 1;
    if (is_ready && event.data.ptr != NULL) {
        struct lb_hearing *hearing = event.data.ptr;

        answer = hearing->answer;
        held = hearing->hold(hearing);
    }
    lb_lock_release(&channel->bells_lock);
    if (answer != NULL)
        answer(held);
    return is_ready;
}

LB_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ibv_channel, struct ibv_cq **cq,
    void **cq_context)
{
    if (lb_fails(__func__))
        return -1;
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);
    int calls = 0;

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
        if (calls < MOST_CALLS && answer_call(channel)) {
            calls++;
            continue;
        }
        /* What is left ready is not lost: an end that does not answer its calls is rung. */
        if (lb_eventq_wait(channel->base.fd))
            return -1;
        calls = 0;
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
