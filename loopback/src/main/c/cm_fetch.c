/* SPDX-License-Identifier: Apache-2.0 */
/* cm_fetch.c: fetching connection events and applying them; a synchronous id's wait for its event. */
#include <errno.h>

#include "cm.h"
#include "device.h"

/* Applies the effect of a fetched event to its id. Returns false if the event is internal. */
static bool process(struct cm_event *event)
{
    struct cm_id *id = event->counted_on;

    switch (event->base.event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
        id->backlog_left++;
        event->child = NULL; /* the user's from here on */
        return true;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        cm_process_response(event);
        return true;
    case RDMA_CM_EVENT_REJECTED:
        if (id->connect_error)
            return false;
        (void)cm_modify_qp(id, IBV_QPS_ERR);
        return true;
    case RDMA_CM_EVENT_DISCONNECTED:
        return !id->connect_error;
    default:
        return true;
    }
}

LB_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **fetched)
{
    if (lb_fails(__func__))
        return -1;
    struct lb_eventq *queue = &cm_channel_of(channel)->events;

    if (fetched == NULL)
        return cm_fail(EINVAL);
    for (;;) {
        struct cm_event *event = (struct cm_event *)(void *)lb_eventq_take(queue);

        if (event == NULL) {
            cm_timers_continue();
            if (lb_eventq_wait(queue, queue->fd))
                return -1;
            continue;
        }
        cm_hold();
        const bool shown = process(event);
        if (!shown)
            cm_acknowledge(event);
        cm_release();
        if (shown) {
            lb_count(RINGPOLL_LOOPBACK_EVENT, 1);
            *fetched = &event->base;
            return 0;
        }
    }
}

int cm_complete(struct cm_id *id)
{
    if (!id->sync)
        return 0;
    if (id->base.event != NULL) {
        (void)rdma_ack_cm_event(id->base.event);
        id->base.event = NULL;
    }
    if (rdma_get_cm_event(id->base.channel, &id->base.event))
        return -1;
    const int status = id->base.event->status;
    if (status == 0)
        return 0;
    if (id->base.event->event == RDMA_CM_EVENT_REJECTED)
        return cm_fail(ECONNREFUSED);
    return cm_fail(status < 0 ? -status : status);
}
