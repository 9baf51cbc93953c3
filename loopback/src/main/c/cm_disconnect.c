/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_disconnect.c: how a connection ends: by disconnect, by an id that goes away, by time-outs.
 *
 *   DISCONNECT_SENT   ------->     DISCONNECT_RECEIVED   rdma_disconnect, either side first
 *   TIMEWAIT          <-------     TIMEWAIT              rdma_disconnect of the other side
 */
#include <errno.h>

#include "cm.h"
#include "device.h"
#include "qp.h"

static void enter_timewait(struct cm_id *id)
{
    id->state = CM_TIMEWAIT;
    cm_timer_start(id, CM_TIMEWAIT_NS);
}

/* The other side has answered our disconnect, or gone: this one is over. */
static void disconnected(struct cm_id *id, int status)
{
    cm_raise(id, RDMA_CM_EVENT_DISCONNECTED, status);
    enter_timewait(id);
}

/* Sends the disconnect request, or the reply to the peer's. */
static void send_disconnect(struct cm_id *id)
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
        enter_timewait(id);
        if (peer != NULL && peer->state == CM_DISCONNECT_SENT)
            disconnected(peer, 0);
        cm_part(id);
        break;
    default: /* the kernel reports no event for it either */
        break;
    }
}

LB_EXPORT int rdma_disconnect(struct rdma_cm_id *rdma_id)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    bool answered;
    int error = 0;

    if (rdma_id->verbs == NULL)
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_lock);
    if (rdma_id->qp != NULL)
        error = cm_modify_qp(id, IBV_QPS_ERR);
    answered = id->state == CM_ESTABLISHED || id->state == CM_DISCONNECT_SENT;
    if (!error)
        send_disconnect(id);
    pthread_mutex_unlock(&cm_lock);
    if (error)
        return cm_fail(error);
    return answered ? cm_complete(id) : 0;
}

/* As after a path that broke: neither side has asked for it, and neither waits for the other's answer. */
static void break_off(struct cm_id *id)
{
    if (id->state == CM_ESTABLISHED) {
        id->state = CM_DISCONNECT_RECEIVED;
        cm_raise(id, RDMA_CM_EVENT_DISCONNECTED, 0);
    }
}

void cm_connection_lost(struct ibv_qp *qp)
{
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = lb_qp_owner(qp);
    if (id != NULL) {
        break_off(id);
        if (id->peer != NULL)
            break_off(id->peer);
    }
    pthread_mutex_unlock(&cm_lock);
}

void cm_leave(struct cm_id *id)
{
    struct cm_id *peer = id->peer;

    cm_part(id);
    if (peer != NULL) {
        switch (id->state) {
        case CM_REQUEST_SENT:
            /* As in the kernel: the passive side gets no event before it accepts; accept fails. */
            peer->state = CM_ENDED;
            break;
        case CM_REPLY_RECEIVED:
        case CM_REQUEST_RECEIVED:
        case CM_REPLY_SENT:
            cm_raise_rejected(peer, CM_REJECT_CONSUMER, NULL, 0);
            break;
        case CM_ESTABLISHED:
            /* A request without a waiter for the reply: the peer may or may not reply. */
            if (peer->state == CM_ESTABLISHED) {
                peer->state = CM_DISCONNECT_RECEIVED;
                cm_raise(peer, RDMA_CM_EVENT_DISCONNECTED, 0);
            }
            break;
        case CM_DISCONNECT_RECEIVED:
            if (peer->state == CM_DISCONNECT_SENT)
                disconnected(peer, 0);
            break;
        default:
            break;
        }
    }
    id->state = CM_ENDED;
}

void cm_timer_expired(struct cm_id *id)
{
    switch (id->state) {
    case CM_REQUEST_SENT:
        cm_leave(id);
        cm_raise(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
        break;
    case CM_REPLY_SENT:
        /* The active side never fetched our reply; it will find the connection gone. */
        cm_part(id);
        id->state = CM_ENDED;
        cm_raise(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
        break;
    case CM_DISCONNECT_SENT:
        cm_part(id);
        disconnected(id, -ETIMEDOUT);
        break;
    case CM_TIMEWAIT:
        id->state = CM_ENDED;
        cm_raise(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
        break;
    default:
        break;
    }
}
