/* SPDX-License-Identifier: Apache-2.0 */
/* cm_id.c: event channels and ids: creation, migration, options, destruction; the device list. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "device.h"
#include "qp.h"

LB_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
    if (lb_fails(__func__))
        return NULL;
    struct cm_channel *channel = calloc(1, sizeof(*channel));

    if (channel == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    const int error = lb_eventq_open(&channel->events);
    if (error) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->base.fd = channel->events.fd;
    cm_hold();
    channel->next = cm_channels;
    channel->link = &cm_channels;
    if (cm_channels != NULL)
        cm_channels->link = &channel->next;
    cm_channels = channel;
    cm_release();
    lb_count(RINGPOLL_LOOPBACK_CM_CHANNEL, 1);
    return &channel->base;
}

static void discard_events(struct cm_id *id)
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

/* Takes an id out of everything; its memory stays until it is put. */
static void detach(struct cm_id *id)
{
    cm_leave(id);
    if (id->own_qp != NULL)
        lb_qp_set_owner(id->own_qp, NULL);
    cm_timer_stop(id);
    cm_release_port(id);
    discard_events(id);
    cm_leave_channel(id);
}

void cm_id_discard(struct cm_id *id)
{
    detach(id);
    cm_detach_device(id);
    cm_id_put(id);
}

LB_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *ibv_channel)
{
    struct cm_channel *channel = cm_channel_of(ibv_channel);

    cm_hold();
    /*
     * As with the kernel's: ids that still report here cannot be used or destroyed any more. First those of requests that nobody
     * has fetched, which report here, too: the events of their listeners refer to them.
     */
    for (struct cm_id *id = channel->ids; id != NULL; id = id->next_on_channel)
        discard_events(id);
    while (channel->ids != NULL)
        cm_id_discard(channel->ids);
    *channel->link = channel->next;
    if (channel->next != NULL)
        channel->next->link = channel->link;
    cm_release();
    lb_eventq_close(&channel->events);
    free(channel);
    lb_count(RINGPOLL_LOOPBACK_CM_CHANNEL, -1);
}

static int create_id(struct rdma_event_channel *channel, struct rdma_cm_id **created,
    void *context, enum rdma_port_space ps, enum ibv_qp_type qp_type)
{
    const bool sync = channel == NULL;

    if (ps != RDMA_PS_TCP && ps != RDMA_PS_IB)
        return cm_fail(EPROTONOSUPPORT);
    if (qp_type != IBV_QPT_RC)
        return cm_fail(EOPNOTSUPP);
    if (sync) {
        channel = rdma_create_event_channel();
        if (channel == NULL)
            return -1;
    }
    cm_hold();
    cm_port_open();
    struct cm_id *id = cm_id_new(channel, context, ps, qp_type);
    if (id != NULL)
        id->sync = sync;
    cm_release();
    if (id == NULL) {
        if (sync)
            rdma_destroy_event_channel(channel);
        return cm_fail(ENOMEM);
    }
    *created = &id->base;
    return 0;
}

LB_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
    void *context, enum rdma_port_space ps)
{
    if (lb_fails(__func__))
        return -1;
    return create_id(channel, id, context, ps, IBV_QPT_RC);
}

LB_EXPORT int rdma_destroy_id(struct rdma_cm_id *rdma_id)
{
    struct cm_id *id = cm_id_of(rdma_id);
    struct rdma_event_channel *own_channel = id->sync ? rdma_id->channel : NULL;

    cm_hold();
    detach(id);
    cm_release();
    if (rdma_id->event != NULL)
        (void)rdma_ack_cm_event(rdma_id->event);
    cm_hold();
    cm_await_acknowledged(id);
    cm_detach_device(id);
    cm_id_put(id);
    cm_release();
    if (own_channel != NULL)
        rdma_destroy_event_channel(own_channel);
    return lb_fails(__func__) ? -1 : 0;
}

static void move(struct cm_id *id, struct rdma_event_channel *channel)
{
    cm_leave_channel(id);
    cm_join_channel(id, channel);
}

LB_EXPORT int rdma_migrate_id(struct rdma_cm_id *rdma_id, struct rdma_event_channel *channel)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    const bool sync = channel == NULL;
    struct rdma_event_channel *own_channel = NULL;
    struct rdma_cm_event *own_event = NULL;

    if (id->sync && sync)
        return cm_fail(EINVAL);
    if (sync) {
        channel = rdma_create_event_channel();
        if (channel == NULL)
            return -1;
    }
    cm_hold();
    struct lb_event *event = lb_eventq_remove(&cm_channel_of(rdma_id->channel)->events, id);
    while (event != NULL) {
        struct lb_event *next = event->next;
        struct cm_id *child = ((struct cm_event *)(void *)event)->child;

        if (child != NULL) /* the id of a request goes with the request: the old channel may be destroyed */
            move(child, channel);
        lb_eventq_push(&cm_channel_of(channel)->events, event);
        event = next;
    }
    if (id->sync) {
        own_channel = rdma_id->channel;
        own_event = rdma_id->event;
        rdma_id->event = NULL;
    }
    move(id, channel);
    id->sync = sync;
    cm_release();
    if (own_event != NULL)
        (void)rdma_ack_cm_event(own_event);
    if (own_channel != NULL)
        rdma_destroy_event_channel(own_channel);
    /* Nobody may work on an event from the old channel once this call has returned. */
    cm_hold();
    cm_await_acknowledged(id);
    cm_release();
    return 0;
}

LB_EXPORT int rdma_set_option(struct rdma_cm_id *rdma_id, int level, int option, void *value,
    size_t length)
{
    struct cm_id *id = cm_id_of(rdma_id);

    if (level != RDMA_OPTION_ID)
        return cm_fail(ENOSYS);
    switch (option) {
    case RDMA_OPTION_ID_REUSEADDR:
        if (length != sizeof(int))
            return cm_fail(EINVAL);
        cm_hold();
        id->reuse_addr = *(const int *)value != 0;
        cm_release();
        return 0;
    case RDMA_OPTION_ID_TOS:
    case RDMA_OPTION_ID_ACK_TIMEOUT:
        if (length != sizeof(uint8_t))
            return cm_fail(EINVAL);
        cm_hold();
        if (option == RDMA_OPTION_ID_TOS) {
            id->traffic_class = *(const uint8_t *)value;
        } else {
            id->has_ack_timeout = true;
            id->ack_timeout = *(const uint8_t *)value;
        }
        cm_release();
        return 0;
    case RDMA_OPTION_ID_AFONLY:
        return 0; /* nothing here for it to change */
    default:
        return cm_fail(ENOSYS);
    }
}

LB_EXPORT struct ibv_context **rdma_get_devices(int *num_devices)
{
    struct ibv_context **list = calloc(2, sizeof(struct ibv_context *));

    if (list != NULL) {
        list[0] = lb_cm_context();
        if (list[0] == NULL) {
            free(list);
            list = NULL;
        }
    }
    if (num_devices != NULL)
        *num_devices = list != NULL ? 1 : 0;
    return list;
}

LB_EXPORT void rdma_free_devices(struct ibv_context **list)
{
    free(list);
}

LB_EXPORT int rdma_create_ep(struct rdma_cm_id **created, struct rdma_addrinfo *address,
    struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
    struct rdma_cm_id *id;

    if (create_id(NULL, &id, NULL, (enum rdma_port_space)address->ai_port_space,
            (enum ibv_qp_type)address->ai_qp_type))
        return -1;
    if (qp_init_attr != NULL)
        qp_init_attr->qp_type = (enum ibv_qp_type)address->ai_qp_type;
    if (address->ai_flags & RAI_PASSIVE) {
        if (rdma_bind_addr(id, address->ai_src_addr))
            goto destroy_id;
        if (pd != NULL)
            id->pd = pd;
        if (qp_init_attr != NULL) {
            struct ibv_qp_init_attr *kept = malloc(sizeof(*kept));

            if (kept == NULL) {
                errno = ENOMEM;
                goto destroy_id;
            }
            *kept = *qp_init_attr;
            cm_id_of(id)->qp_init_attr = kept;
        }
    } else {
        if (rdma_resolve_addr(id, address->ai_src_addr, address->ai_dst_addr, 2000) ||
            rdma_resolve_route(id, 2000))
            goto destroy_id;
        if (qp_init_attr != NULL && rdma_create_qp(id, pd, qp_init_attr))
            goto destroy_id;
    }
    *created = id;
    return 0;

destroy_id:
    pd = NULL;
    const int error = errno;
    (void)rdma_destroy_id(id);
    return cm_fail(error);
}

LB_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
    if (id->qp != NULL)
        rdma_destroy_qp(id);
    if (id->srq != NULL)
        rdma_destroy_srq(id);
    (void)rdma_destroy_id(id);
}
