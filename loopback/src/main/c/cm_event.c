/* SPDX-License-Identifier: Apache-2.0 */
/* cm_event.c: connection events: raising, acknowledging, waiting for the acknowledgement; their names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "device.h"

static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;

struct cm_channel *cm_channels;

static void give_back(struct cm_id *id, struct cm_event *event)
{
    event->event.next = id->reserved;
    id->reserved = &event->event;
}

int cm_event_reserve(struct cm_id *id, int count)
{
    for (const struct lb_event *event = id->reserved; event != NULL; event = event->next)
        count--;
    for (; count > 0; count--) {
        struct cm_event *event = malloc(sizeof(*event));

        if (event == NULL)
            return ENOMEM;
        give_back(id, event);
    }
    return 0;
}

struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    struct cm_event *event = (struct cm_event *)(void *)id->reserved;

    id->reserved = event->event.next;
    memset(event, 0, sizeof(*event));
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
    struct cm_id *id = event->counted_on;

    if (id->send_event != NULL) {
        id->send_event(id, event);
        give_back(id, event);
        return;
    }
    lb_eventq_push(&cm_channel_of(id->base.channel)->events, &event->event);
}

void cm_raise(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    cm_event_raise(cm_event_new(id, type, status));
}

void cm_await_acknowledged(struct cm_id *id)
{
    while (lb_awaits_acknowledgement(&id->events_fetched, id->events_acknowledged))
        cm_wait(&acknowledged);
}

void cm_event_forget(void)
{
    (void)pthread_cond_init(&acknowledged, NULL); /* threads that are not here may wait */
    for (const struct cm_channel *channel = cm_channels; channel != NULL; channel = channel->next)
        for (struct cm_id *id = channel->ids; id != NULL; id = id->next_on_channel)
            id->events_acknowledged = id->events_fetched;
}

void cm_acknowledge(struct cm_event *event)
{
    event->counted_on->events_acknowledged++;
    pthread_cond_broadcast(&acknowledged);
    free(event);
}

LB_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *rdma_event)
{
    if (rdma_event == NULL)
        return cm_fail(EINVAL);
    struct cm_event *event =
        (struct cm_event *)(void *)((char *)rdma_event - offsetof(struct cm_event, base));
    cm_hold();
    cm_acknowledge(event);
    cm_release();
    lb_count(RINGPOLL_LOOPBACK_EVENT, -1);
    return lb_fails(__func__) ? -1 : 0;
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
