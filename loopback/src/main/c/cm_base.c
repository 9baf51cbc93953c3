/* SPDX-License-Identifier: Apache-2.0 */
/* cm_base.c: ids and their memory: on which channel they report, and their share of the device. */
#include <errno.h>
#include <stdlib.h>

#include "cm.h"
#include "device.h"

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;

/* The PD of ids without a PD of the user; it exists while an id has the device. */
static struct ibv_pd *default_pd;
static int default_pd_users;

/* Of the holder: whether it could be cancelled before. */
static int cancel_state;

void cm_hold(void)
{
    int before;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&cm_lock);
    cancel_state = before;
}

void cm_release(void)
{
    const int before = cancel_state;

    pthread_mutex_unlock(&cm_lock);
    (void)pthread_setcancelstate(before, NULL);
}

void cm_wait(pthread_cond_t *condition)
{
    const int before = cancel_state;

    pthread_cond_wait(condition, &cm_lock);
    cancel_state = before;
}

int cm_fail(int error)
{
    errno = error;
    return -1;
}

void cm_join_channel(struct cm_id *id, struct rdma_event_channel *channel)
{
    struct cm_channel *joined = cm_channel_of(channel);

    id->base.channel = channel;
    id->next_on_channel = joined->ids;
    if (joined->ids != NULL)
        joined->ids->link_on_channel = &id->next_on_channel;
    joined->ids = id;
    id->link_on_channel = &joined->ids;
}

void cm_leave_channel(struct cm_id *id)
{
    *id->link_on_channel = id->next_on_channel;
    if (id->next_on_channel != NULL)
        id->next_on_channel->link_on_channel = id->link_on_channel;
}

struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
    enum ibv_qp_type qp_type)
{
    struct cm_id *id = calloc(1, sizeof(*id));

    if (id == NULL)
        return NULL;
    id->base.context = context;
    id->base.ps = ps;
    id->base.qp_type = qp_type;
    id->references = 1;
    cm_join_channel(id, channel);
    lb_count(RINGPOLL_LOOPBACK_CM_ID, 1);
    return id;
}

void cm_id_put(struct cm_id *id)
{
    if (--id->references > 0)
        return;
    free(id->base.route.path_rec);
    free(id->qp_init_attr);
    lb_event_free_list(id->reserved);
    if (id->send_event == NULL)
        lb_count(RINGPOLL_LOOPBACK_CM_ID, -1);
    free(id);
}

int cm_attach_device(struct cm_id *id)
{
    if (id->has_device)
        return 0;
    struct ibv_context *context = lb_cm_context();
    if (context == NULL)
        return errno;
    if (default_pd == NULL) {
        default_pd = ibv_alloc_pd(context);
        if (default_pd == NULL)
            return errno;
    }
    default_pd_users++;
    id->has_device = true;
    id->base.verbs = context;
    id->base.pd = default_pd;
    id->base.port_num = 1;
    return 0;
}

void cm_detach_device(struct cm_id *id)
{
    if (!id->has_device)
        return;
    id->has_device = false;
    if (--default_pd_users > 0 || atomic_load(&lb_pd_of(default_pd)->children) != 0)
        return; /* somebody has made something of it that is still there: it stays, for the next id to find */
    (void)ibv_dealloc_pd(default_pd); /* does so also if it is made to fail (ringpoll_loopback_fail_call) */
    default_pd = NULL;
}
