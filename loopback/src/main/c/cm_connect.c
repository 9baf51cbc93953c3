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
#include <string.h>

#include "cm.h"
#include "device.h"

#define DEFAULT_RETRIES 7
#define MAX_RD_ATOMIC ((uint8_t)LB_MAX_RD_ATOMIC)

LB_EXPORT int rdma_listen(struct rdma_cm_id *rdma_id, int backlog)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    cm_hold();
    if (id->state != CM_BOUND) {
        error = EINVAL;
    } else {
        error = cm_remote_listen(id);
    }
    if (!error) {
        id->backlog_left = backlog > 0 && backlog <= CM_MAX_BACKLOG ? backlog : CM_MAX_BACKLOG;
        id->state = CM_LISTENING;
    }
    cm_release();
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

LB_EXPORT int rdma_connect(struct rdma_cm_id *rdma_id, struct rdma_conn_param *param)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error;

    cm_hold();
    error = id->state == CM_ROUTE_RESOLVED ? check_parameters(id, param, CM_REQUEST_DATA) : EINVAL;
    if (!error)
        error = cm_event_reserve(id, CM_CONNECTION_EVENTS);
    if (!error) {
        id->initiator_depth =
            param != NULL ? at_most(param->initiator_depth, MAX_RD_ATOMIC) : MAX_RD_ATOMIC;
        id->responder_resources =
            param != NULL ? at_most(param->responder_resources, MAX_RD_ATOMIC) : MAX_RD_ATOMIC;
        id->retry_count = param != NULL ? param->retry_count & 7 : DEFAULT_RETRIES;
        id->state = CM_REQUEST_SENT;
        struct cm_id *listener = cm_find_listener(&rdma_id->route.addr.dst_addr);
        const bool is_local = listener != NULL && !cm_remote_always();
        const int reason = is_local ? cm_send_request(id, listener, param) : cm_remote_request(id, param);

        if (reason < 0) { /* nothing was sent */
            error = -reason;
            id->state = CM_ROUTE_RESOLVED;
        } else if (reason > 0) {
            cm_raise_rejected(id, reason, NULL, 0);
        } else {
            cm_timer_start(id, lb_connect_timeout_ns());
        }
    }
    cm_release();
    return error ? cm_fail(error) : cm_complete(id);
}

LB_EXPORT int rdma_accept(struct rdma_cm_id *rdma_id, struct rdma_conn_param *param)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error;

    cm_hold();
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
    error = cm_modify_qp(id, IBV_QPS_RTR);
    if (!error)
        error = cm_modify_qp(id, IBV_QPS_RTS);
    if (error)
        goto fail_qp;
    cm_send_reply(id, param);
    goto unlock;

fail_qp:
    (void)cm_modify_qp(id, IBV_QPS_ERR);
unlock:
    cm_release();
    return error ? cm_fail(error) : cm_complete(id);
}

LB_EXPORT int rdma_establish(struct rdma_cm_id *rdma_id)
{
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    cm_hold();
    if (rdma_id->qp != NULL || id->state != CM_REPLY_RECEIVED || id->peer == NULL)
        error = EINVAL;
    else
        cm_send_ready(id);
    cm_release();
    return error ? cm_fail(error) : 0;
}

LB_EXPORT int rdma_reject(struct rdma_cm_id *rdma_id, const void *data, uint8_t length)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    cm_hold();
    if (id->state != CM_REQUEST_RECEIVED || (data != NULL && length > CM_REJECT_DATA)) {
        error = EINVAL;
    } else {
        cm_send_rejection(id, CM_REJECT_CONSUMER, data, data != NULL ? length : 0);
    }
    cm_release();
    return error ? cm_fail(error) : 0;
}

LB_EXPORT int rdma_notify(struct rdma_cm_id *rdma_id, enum ibv_event_type event)
{
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    if (event != IBV_EVENT_COMM_EST)
        return cm_fail(EINVAL);
    cm_hold();
    if (id->state == CM_REPLY_SENT) {
        cm_timer_stop(id);
        id->state = CM_ESTABLISHED;
        cm_raise(id, RDMA_CM_EVENT_ESTABLISHED, 0);
    } else if (id->state != CM_ESTABLISHED) {
        error = EINVAL;
    }
    cm_release();
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
        /* As in librdmacm the id of a request that cannot be served is the program's, by this event, until the next call. */
        listener->event = event;
        return cm_fail(error);
    }
    *request = event->id;
    event->id->event = event;
    return 0;
}
