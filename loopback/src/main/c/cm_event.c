/* SPDX-License-Identifier: Apache-2.0 */
/* cm_event.c: connection events: raising, fetching, acknowledging, waiting for them; their names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "device.h"

static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;

struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    struct cm_event *event = calloc(1, sizeof(*event));

    if (event == NULL)
        return NULL;
    event->event.owner = id;
    event->event.fetched = &id->events_fetched;
    event->counted_on = id;
    event->base.id = &id->base;
    event->base.event = type;
    event->base.status = status;
    return event;
}

void cm_event_set_data(struct cm_event *event, const void *data, size_t length, size_t padded)
{
    if (length > 0)
        memcpy(event->private_data, data, length);
    event->base.param.conn.private_data = event->private_data;
    event->base.param.conn.private_data_len = (uint8_t)padded;
}

void cm_event_raise(struct cm_event *event)
{
    if (event != NULL)
        lb_eventq_push(&cm_channel_of(event->counted_on->base.channel)->events, &event->event);
}

void cm_raise(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    cm_event_raise(cm_event_new(id, type, status));
}

void cm_discard_events(struct cm_id *id)
{
    struct lb_event *event = lb_eventq_remove(&cm_channel_of(id->base.channel)->events, id);

    while (event != NULL) {
        struct lb_event *next = event->next;
        struct cm_event *discarded = (struct cm_event *)(void *)event;

        if (discarded->child != NULL)
            cm_id_discard(discarded->child);
        free(discarded);
        event = next;
    }
}

void cm_await_acknowledged(struct cm_id *id)
{
    while (id->events_acknowledged != atomic_load(&id->events_fetched))
        pthread_cond_wait(&acknowledged, &cm_lock);
}

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

static void acknowledge(struct cm_event *event)
{
    event->counted_on->events_acknowledged++;
    pthread_cond_broadcast(&acknowledged);
    free(event);
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
            if (lb_eventq_wait(queue))
                return -1;
            continue;
        }
        pthread_mutex_lock(&cm_lock);
        const bool shown = process(event);
        if (!shown)
            acknowledge(event);
        pthread_mutex_unlock(&cm_lock);
        if (shown) {
            lb_count(RINGPOLL_LOOPBACK_EVENT, 1);
            *fetched = &event->base;
            return 0;
        }
    }
}

LB_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *rdma_event)
{
    if (rdma_event == NULL)
        return cm_fail(EINVAL);
    struct cm_event *event =
        (struct cm_event *)(void *)((char *)rdma_event - offsetof(struct cm_event, base));
    pthread_mutex_lock(&cm_lock);
    acknowledge(event);
    pthread_mutex_unlock(&cm_lock);
    lb_count(RINGPOLL_LOOPBACK_EVENT, -1);
    return lb_fails(__func__) ? -1 : 0;
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

LB_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
    static const char *const names[] = {
        [RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
        [RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
        [RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
        [RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
        [RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
        [RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
        [RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
        [RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
        [RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
        [RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
        [RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
        [RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
        [RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
        [RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
        [RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
        [RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
    };

    if ((size_t)event >= sizeof(names) / sizeof(names[0]))
        return "UNKNOWN EVENT";
    return names[event];
}
