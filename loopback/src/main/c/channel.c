/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c: completion channels: where completion queues put their events, and fetching those. */
#include <errno.h>
#include <stdlib.h>

#include "cq.h"

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
    int error = lb_eventq_open(&channel->events);
    if (error) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base.context = context;
    channel->base.fd = channel->events.fd;
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

LB_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ibv_channel, struct ibv_cq **cq,
    void **cq_context)
{
    if (lb_fails(__func__))
        return -1;
    struct lb_eventq *queue = &lb_comp_channel_of(ibv_channel)->events;

    for (;;) {
        struct lb_event *event = lb_eventq_take(queue);

        if (event != NULL) {
            *cq = event->owner;
            *cq_context = (*cq)->cq_context;
            free(event);
            return 0;
        }
        if (lb_eventq_wait(queue))
            return -1;
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
