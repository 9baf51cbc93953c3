/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_connect.c: connection establishment: listen, connect, accept, reject. See cm_disconnect.c for the end.
 *
 *   active                         passive
 *   REQUEST_SENT      ------->     REQUEST_RECEIVED   event CONNECT_REQUEST at the listener
 *   REPLY_RECEIVED    <-------     REPLY_SENT         rdma_accept
 *   ESTABLISHED       ------->     ESTABLISHED        when the active side fetches its event
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "device.h"

#define DEFAULT_RETRIES 7
#define MAX_RD_ATOMIC ((uint8_t)LB_MAX_RD_ATOMIC)

static void pair(struct cm_id *active, struct cm_id *passive)
{
    active->peer = passive;
    passive->peer = active;
}

LB_EXPORT int rdma_listen(struct rdma_cm_id *rdma_id, int backlog)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    pthread_mutex_lock(&cm_lock);
    if (id->state != CM_BOUND) {
        error = EINVAL;
    } else {
        id->backlog_left = backlog > 0 && backlog <= CM_MAX_BACKLOG ? backlog : CM_MAX_BACKLOG;
        id->state = CM_LISTENING;
    }
    pthread_mutex_unlock(&cm_lock);
    return error ? cm_fail(error) : 0;
}

/* Validates the connection parameters of the user; returns 0 or EINVAL. */
static int check_parameters(const struct cm_id *id, const struct rdma_conn_param *param,
    size_t max_data)
{
    if (param == NULL)
        return id->base.qp == NULL ? EINVAL : 0;
    if (param->responder_resources != RDMA_MAX_RESP_RES &&
        param->responder_resources > MAX_RD_ATOMIC)
        return EINVAL;
    if (param->initiator_depth != RDMA_MAX_INIT_DEPTH && param->initiator_depth > MAX_RD_ATOMIC)
        return EINVAL;
    if (param->private_data != NULL && param->private_data_len > max_data)
        return EINVAL;
    return 0;
}

static uint8_t at_most(uint8_t wanted, uint8_t limit)
{
    return wanted < limit ? wanted : limit;
}

static size_t data_length(const struct rdma_conn_param *param)
{
    return param != NULL && param->private_data != NULL ? param->private_data_len : 0;
}

/* The sender parameters that a request and a reply have in common. */
static void describe(struct cm_event *event, const struct cm_id *sender,
    const struct rdma_conn_param *param, size_t padded)
{
    struct rdma_conn_param *told = &event->base.param.conn;
    const struct ibv_qp *qp = sender->base.qp;

    /* Converted to the view of the peer: its responder resources are our initiator depth. */
    told->responder_resources = sender->initiator_depth;
    told->initiator_depth = sender->responder_resources;
    told->flow_control = param != NULL ? param->flow_control : 0;
    told->retry_count = param != NULL ? param->retry_count & 7 : DEFAULT_RETRIES;
    told->rnr_retry_count = param != NULL ? param->rnr_retry_count & 7 : DEFAULT_RETRIES;
    told->srq = qp != NULL ? qp->srq != NULL : param->srq;
    told->qp_num = qp != NULL ? qp->qp_num : param->qp_num;
    cm_event_set_data(event, param != NULL ? param->private_data : NULL, data_length(param), padded);
}

/* Makes the passive id of a request and queues the request. Returns 0, or why it is rejected. */
static int send_request(struct cm_id *active, const struct rdma_conn_param *param)
{
    struct cm_id *listener = cm_find_listener(&active->base.route.addr.dst_addr);

    if (listener == NULL)
        return CM_REJECT_NO_SERVICE;
    if (listener->backlog_left == 0)
        return CM_REJECT_CONSUMER;
    struct cm_event *event = cm_event_new(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    if (event == NULL)
        return CM_REJECT_CONSUMER;
    struct cm_id *passive = cm_id_new(listener->base.channel, listener->base.context,
        listener->base.ps, listener->base.qp_type);
    if (passive == NULL || cm_attach_device(passive)) {
        if (passive != NULL)
            cm_id_discard(passive);
        free(event);
        return CM_REJECT_CONSUMER;
    }
    describe(event, active, param, CM_REQUEST_DATA);
    event->child = passive;
    event->base.id = &passive->base;
    event->base.listen_id = &listener->base;
    passive->base.route.addr.src_storage = active->base.route.addr.dst_storage;
    passive->base.route.addr.dst_storage = active->base.route.addr.src_storage;
    cm_set_gids(passive);
    const struct rdma_conn_param *told = &event->base.param.conn;
    passive->initiator_depth = told->initiator_depth;
    passive->responder_resources = told->responder_resources;
    passive->retry_count = told->retry_count;
    passive->rnr_retry_count = told->rnr_retry_count;
    passive->remote_qp_num = told->qp_num;
    passive->state = CM_REQUEST_RECEIVED;
    pair(active, passive);
    listener->backlog_left--;
    cm_event_raise(event);
    return 0;
}

LB_EXPORT int rdma_connect(struct rdma_cm_id *rdma_id, struct rdma_conn_param *param)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error;

    pthread_mutex_lock(&cm_lock);
    error = id->state == CM_ROUTE_RESOLVED ? check_parameters(id, param, CM_REQUEST_DATA) : EINVAL;
    if (!error) {
        id->initiator_depth =
            param != NULL ? at_most(param->initiator_depth, MAX_RD_ATOMIC) : MAX_RD_ATOMIC;
        id->responder_resources =
            param != NULL ? at_most(param->responder_resources, MAX_RD_ATOMIC) : MAX_RD_ATOMIC;
        id->retry_count = param != NULL ? param->retry_count & 7 : DEFAULT_RETRIES;
        id->state = CM_REQUEST_SENT;
        const int reason = send_request(id, param);
        if (reason != 0)
            cm_raise_rejected(id, reason, NULL, 0);
        else
            cm_timer_start(id, lb_connect_timeout_ns());
    }
    pthread_mutex_unlock(&cm_lock);
    return error ? cm_fail(error) : cm_complete(id);
}

LB_EXPORT int rdma_accept(struct rdma_cm_id *rdma_id, struct rdma_conn_param *param)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    struct cm_event *event = NULL;
    int error;

    pthread_mutex_lock(&cm_lock);
    error = check_parameters(id, param, CM_REPLY_DATA);
    if (error)
        goto unlock;
    if (param != NULL && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
        id->initiator_depth = param->initiator_depth;
    if (param != NULL && param->responder_resources != RDMA_MAX_RESP_RES)
        id->responder_resources = param->responder_resources;
    error = EINVAL;
    if (id->state != CM_REQUEST_RECEIVED || id->peer == NULL)
        goto fail_qp;
    error = ENOMEM;
    event = cm_event_new(id->peer, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    if (event == NULL)
        goto fail_qp;
    error = cm_modify_qp(id, IBV_QPS_RTR);
    if (!error)
        error = cm_modify_qp(id, IBV_QPS_RTS);
    if (error)
        goto free_event;
    describe(event, id, param, CM_REPLY_DATA);
    id->state = CM_REPLY_SENT;
    cm_timer_start(id, lb_connect_timeout_ns());
    cm_timer_stop(id->peer);
    id->peer->state = CM_REPLY_RECEIVED;
    cm_event_raise(event);
    goto unlock;

free_event:
    free(event);
fail_qp:
    (void)cm_modify_qp(id, IBV_QPS_ERR);
unlock:
    pthread_mutex_unlock(&cm_lock);
    return error ? cm_fail(error) : cm_complete(id);
}

LB_EXPORT int rdma_establish(struct rdma_cm_id *rdma_id)
{
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    pthread_mutex_lock(&cm_lock);
    if (rdma_id->qp != NULL || id->state != CM_REPLY_RECEIVED || id->peer == NULL)
        error = EINVAL;
    else
        cm_send_ready(id);
    pthread_mutex_unlock(&cm_lock);
    return error ? cm_fail(error) : 0;
}

LB_EXPORT int rdma_reject(struct rdma_cm_id *rdma_id, const void *data, uint8_t length)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    pthread_mutex_lock(&cm_lock);
    if (id->state != CM_REQUEST_RECEIVED || (data != NULL && length > CM_REJECT_DATA)) {
        error = EINVAL;
    } else {
        struct cm_id *active = id->peer;

        cm_part(id);
        id->state = CM_ENDED;
        if (active != NULL)
            cm_raise_rejected(active, CM_REJECT_CONSUMER, data, data != NULL ? length : 0);
    }
    pthread_mutex_unlock(&cm_lock);
    return error ? cm_fail(error) : 0;
}

LB_EXPORT int rdma_notify(struct rdma_cm_id *rdma_id, enum ibv_event_type event)
{
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    if (event != IBV_EVENT_COMM_EST)
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_lock);
    if (id->state == CM_REPLY_SENT) {
        cm_timer_stop(id);
        id->state = CM_ESTABLISHED;
        cm_raise(id, RDMA_CM_EVENT_ESTABLISHED, 0);
    } else if (id->state != CM_ESTABLISHED) {
        error = EINVAL;
    }
    pthread_mutex_unlock(&cm_lock);
    return error ? cm_fail(error) : 0;
}

LB_EXPORT int rdma_get_request(struct rdma_cm_id *listener, struct rdma_cm_id **request)
{
    struct cm_id *id = cm_id_of(listener);
    struct rdma_cm_event *event;
    int error = 0;

    if (!id->sync)
        return cm_fail(EINVAL);
    if (listener->event != NULL) {
        (void)rdma_ack_cm_event(listener->event);
        listener->event = NULL;
    }
    if (rdma_get_cm_event(listener->channel, &event))
        return -1;
    if (event->event == RDMA_CM_EVENT_REJECTED)
        error = ECONNREFUSED;
    else if (event->status != 0)
        error = event->status < 0 ? -event->status : event->status;
    else if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
        error = EINVAL;
    if (!error && rdma_migrate_id(event->id, NULL))
        error = errno;
    if (!error && id->qp_init_attr != NULL) {
        struct ibv_qp_init_attr attr = *id->qp_init_attr;

        if (rdma_create_qp(event->id, listener->pd, &attr))
            error = errno;
    }
    if (error) {
        listener->event = event;
        return cm_fail(error);
    }
    *request = event->id;
    event->id->event = event;
    return 0;
}
