/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c: completion channels: the events of completion queues, and notifications by other processes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cq.h"
#include "uncancelled.h"

/* The limit of one ibv_get_cq_event: another process can make the descriptor readable at any rate. */
#define MOST_NOTIFICATIONS 16

struct comp_event {
    struct lb_event event; /* first; its owner is the completion queue */
};

/* The doorbells are the parent's. */
static void inherit(struct lb_fork_member *member)
{
    struct lb_comp_channel *channel = LB_FORKED(struct lb_comp_channel, fork, member);

    lb_lock_forget(&channel->subscriptions_lock);
    atomic_store_explicit(&channel->subscriptions, NULL, memory_order_relaxed);
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
    const int error = lb_eventq_open_in_epoll(&channel->events);
    if (error) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base.fd = channel->events.epoll_fd;
    channel->base.context = context;
    lb_fork_join(&channel->fork, inherit);
    atomic_fetch_add(&lb_context_of(context)->children, 1);
    lb_count(RINGPOLL_LOOPBACK_COMP_CHANNEL, 1);
    return &channel->base;
}

LB_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv_channel)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);
    struct lb_context *context = lb_context_of(ibv_channel->context);

    if (__atomic_load_n(&ibv_channel->refcnt, __ATOMIC_ACQUIRE) != 0)
        return EBUSY;
    lb_fork_leave(&channel->fork);
    lb_eventq_close(&channel->events);
    atomic_fetch_sub(&context->children, 1);
    free(channel);
    lb_count(RINGPOLL_LOOPBACK_COMP_CHANNEL, -1);
    return lb_fails(__func__) ? errno : 0;
}

void lb_comp_channel_raise(struct lb_cq *cq)
{
    struct comp_event *event = malloc(sizeof(*event));

    if (event == NULL) /* as in the kernel, an event without memory is lost */
        return;
    event->event.owner = cq;
    event->event.fetched = &cq->comp_events_fetched;
    lb_eventq_push(&lb_comp_channel_of(cq->base.channel)->events, &event->event);
}

int lb_comp_channel_subscribe(struct ibv_comp_channel *ibv_channel, struct lb_subscription *subscription)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = subscription};
    int error = 0;

    lb_lock_acquire(&channel->subscriptions_lock);
    /* Both queues of a connection may have this channel: epoll has the first subscription. */
    if (epoll_ctl(ibv_channel->fd, EPOLL_CTL_ADD, subscription->fd, &event) && errno != EEXIST) {
        error = errno;
    } else {
        subscription->next = atomic_load_explicit(&channel->subscriptions, memory_order_relaxed);
        atomic_store_explicit(&channel->subscriptions, subscription, memory_order_release);
    }
    lb_lock_release(&channel->subscriptions_lock);
    return error;
}

void lb_comp_channel_unsubscribe(struct ibv_comp_channel *ibv_channel, struct lb_subscription *subscription)
{
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);

    lb_lock_acquire(&channel->subscriptions_lock);
    struct lb_subscription *first = atomic_load_explicit(&channel->subscriptions, memory_order_relaxed);
    if (first == subscription) {
        first = subscription->next;
        atomic_store_explicit(&channel->subscriptions, first, memory_order_relaxed);
    } else {
        struct lb_subscription *before = first;

        while (before != NULL && before->next != subscription)
            before = before->next;
        if (before != NULL)
            before->next = subscription->next;
    }
    while (first != NULL && first->fd != subscription->fd)
        first = first->next;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = first};
    (void)epoll_ctl(ibv_channel->fd, first != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, subscription->fd, &event);
    lb_lock_release(&channel->subscriptions_lock);
}

bool lb_comp_channel_can_subscribe(const struct ibv_comp_channel *channel)
{
    const int flags = fcntl(channel->fd, F_GETFL);

    return flags >= 0 && flags & O_NONBLOCK;
}

/* Handles one notification of another process. Returns false if there was none, and no event either. */
static bool handle_notification(struct lb_comp_channel *channel)
{
    void (*on_notification)(void *) = NULL;
    struct epoll_event event;
    void *held = NULL;

    if (atomic_load_explicit(&channel->subscriptions, memory_order_acquire) == NULL)
        return false;
    /* Subscriptions are removed under the lock, so a ready descriptor is one of them, or that of the events. */
    lb_lock_acquire(&channel->subscriptions_lock);
    const bool is_ready = lb_epoll(channel->base.fd, &event) == 1;
    if (is_ready && event.data.ptr != NULL) {
        struct lb_subscription *subscription = event.data.ptr;

        on_notification = subscription->on_notification;
        held = subscription->hold(subscription);
    }
    lb_lock_release(&channel->subscriptions_lock);
    if (on_notification != NULL)
        on_notification(held);
    return is_ready;
}

LB_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ibv_channel, struct ibv_cq **cq,
    void **cq_context)
{
    if (lb_fails(__func__))
        return -1;
    struct lb_comp_channel *channel = lb_comp_channel_of(ibv_channel);
    int notifications = 0;

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
        if (notifications < MOST_NOTIFICATIONS && handle_notification(channel)) {
            notifications++;
            continue;
        }
        /* Further notifications are not lost: the other end wakes the watch thread if nothing is read. */
        const bool has_doorbells = atomic_load_explicit(&channel->subscriptions, memory_order_acquire) != NULL;
        if (has_doorbells ? lb_eventq_wait_for_any(channel->base.fd) : lb_eventq_wait(&channel->events, channel->base.fd))
            return -1;
        notifications = 0;
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
