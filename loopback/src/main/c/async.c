/* SPDX-License-Identifier: Apache-2.0 */
/* async.c: asynchronous events of a context: raised by its objects, read by ibv_get_async_event. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "device.h"

/* The element of an event of the device's only port, as the union of ibv_async_event holds it. */
#define LB_PORT_ELEMENT ((void *)(uintptr_t)1)

struct async_event {
    struct lb_event event; /* first */
    struct ibv_async_event payload;
};

void lb_async_raise(struct ibv_context *context, enum ibv_event_type type, void *object,
    _Atomic uint32_t *fetched)
{
    struct async_event *event = malloc(sizeof(*event));

    if (event == NULL) /* like the kernel: an event without memory is an event lost */
        return;
    event->event.owner = object;
    event->event.fetched = fetched;
    event->payload.event_type = type;
    event->payload.element.cq = object; /* one pointer for all members of the union */
    lb_eventq_push(&lb_context_of(context)->async, &event->event);
}

void lb_async_forget(struct ibv_context *context, const void *object)
{
    lb_event_free_list(lb_eventq_remove(&lb_context_of(context)->async, object));
}

LB_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    struct lb_eventq *queue = &lb_context_of(context)->async;

    for (;;) {
        struct async_event *taken = (struct async_event *)(void *)lb_eventq_take(queue);

        if (taken != NULL) {
            *event = taken->payload;
            free(taken);
            return 0;
        }
        if (lb_eventq_wait(queue, queue->fd))
            return -1;
    }
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
    pthread_mutex_lock(mutex);
    (*completed)++;
    pthread_cond_broadcast(cond);
    pthread_mutex_unlock(mutex);
}

LB_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
        struct ibv_cq *cq = event->element.cq;

        acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
        return;
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {
        struct ibv_qp *qp = event->element.qp;

        acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
        return;
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
        struct ibv_srq *srq = event->element.srq;

        acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
        return;
    }
    default: /* events of the port or the device belong to no object */
        return;
    }
}

LB_EXPORT int ringpoll_loopback_raise(struct ibv_context *context, int event_type)
{
    switch (event_type) {
    case IBV_EVENT_DEVICE_FATAL:
        lb_async_raise(context, IBV_EVENT_DEVICE_FATAL, NULL, NULL);
        return 0;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
        lb_async_raise(context, (enum ibv_event_type)event_type, LB_PORT_ELEMENT, NULL);
        return 0;
    default:
        return EINVAL;
    }
}
