/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_exchange.c: the messages between the two ids of a connection: request, reply, rejection, disconnect. Both ids are in this
 * process; one of them may be the proxy of an id in another process (cm_remote.c).
 */
#include "cm.h"
#include "device.h"

#define DEFAULT_RETRIES 7

void cm_pair(struct cm_id *active, struct cm_id *passive)
{
    active->peer = passive;
    passive->peer = active;
}

static size_t data_length(const struct rdma_conn_param *param)
{
    return param != NULL && param->private_data != NULL ? param->private_data_len : 0;
}

void cm_describe(struct cm_event *event, const struct cm_id *sender, const struct rdma_conn_param *param, size_t padded)
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

int cm_send_request(struct cm_id *active, struct cm_id *listener, const struct rdma_conn_param *param)
{
    if (listener->backlog_left == 0)
        return CM_REJECT_CONSUMER;
    if (cm_event_reserve(listener, 1))
        return CM_REJECT_CONSUMER;
    struct cm_id *passive = cm_id_new(listener->base.channel, listener->base.context,
        listener->base.ps, listener->base.qp_type);
    if (passive == NULL)
        return CM_REJECT_CONSUMER;
    if (cm_attach_device(passive) || cm_event_reserve(passive, CM_CONNECTION_EVENTS)) {
        cm_id_discard(passive);
        return CM_REJECT_CONSUMER;
    }
    struct cm_event *event = cm_event_new(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
    cm_describe(event, active, param, CM_REQUEST_DATA);
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
    cm_pair(active, passive);
    listener->backlog_left--;
    cm_event_raise(event);
    return 0;
}

void cm_send_reply(struct cm_id *id, const struct rdma_conn_param *param)
{
    struct cm_event *reply = cm_event_new(id->peer, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);

    cm_describe(reply, id, param, CM_REPLY_DATA);
    id->state = CM_REPLY_SENT;
    cm_timer_start(id, lb_connect_timeout_ns());
    cm_timer_stop(id->peer);
    id->peer->state = CM_REPLY_RECEIVED;
    cm_event_raise(reply);
}

void cm_send_rejection(struct cm_id *id, int reason, const void *data, size_t length)
{
    struct cm_id *active = id->peer;

    cm_part(id);
    id->state = CM_ENDED;
    if (active != NULL)
        cm_raise_rejected(active, reason, data, length);
}

void cm_send_disconnect(struct cm_id *id)
{
    struct cm_id *peer = id->peer;

    switch (id->state) {
    case CM_ESTABLISHED:
        id->state = CM_DISCONNECT_SENT;
        cm_timer_start(id, CM_DISCONNECT_TIMEOUT_NS);
        if (peer != NULL && peer->state == CM_ESTABLISHED) {
            peer->state = CM_DISCONNECT_RECEIVED;
            cm_raise(peer, RDMA_CM_EVENT_DISCONNECTED, 0);
        }
        break;
    case CM_DISCONNECT_RECEIVED:
        cm_enter_timewait(id);
        if (peer != NULL && peer->state == CM_DISCONNECT_SENT)
            cm_disconnected(peer, 0);
        cm_part(id);
        break;
    default: /* the kernel reports no event for it either */
        break;
    }
}
