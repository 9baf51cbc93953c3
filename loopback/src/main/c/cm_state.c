/* SPDX-License-Identifier: Apache-2.0 */
/* cm_state.c: how the state of a connection changes: time-outs, the peer's messages, an id that goes away. */
#include <errno.h>

#include "cm.h"
#include "watch.h"

static void timer_expired(struct lb_timer *timer);

/* Whether an id has a lost timer; cm_lock, to set it back. */
static _Atomic bool timers_lost;

void cm_timer_start(struct cm_id *id, uint64_t delay_ns)
{
    if (id->send_event != NULL) /* the other process has the timer */
        return;
    cm_timer_stop(id);
    id->deadline_ns = lb_now_ns() + delay_ns;
    if (id->timer_armed) /* about to run: it sees that the deadline is another one */
        return;
    id->references++;
    if (lb_timer_arm(&id->timer, delay_ns, timer_expired))
        id->references--; /* without a thread there are no time-outs, but connections work */
    else
        id->timer_armed = true;
}

void cm_timer_stop(struct cm_id *id)
{
    id->deadline_ns = 0;
    id->timer_lost = false;
    if (id->timer_armed && lb_timer_cancel(&id->timer)) {
        id->timer_armed = false;
        cm_id_put(id);
    }
}

void cm_timers_forget(void)
{
    for (const struct cm_channel *channel = cm_channels; channel != NULL; channel = channel->next) {
        for (struct cm_id *id = channel->ids; id != NULL; id = id->next_on_channel) {
            if (!id->timer_armed)
                continue;
            id->timer_armed = false;
            id->references--; /* the timer's; the channel's user has another one */
            id->timer_lost = true;
            atomic_store(&timers_lost, true);
        }
    }
}

void cm_timers_continue(void)
{
    if (!atomic_load(&timers_lost))
        return;
    cm_hold();
    atomic_store(&timers_lost, false);
    for (const struct cm_channel *channel = cm_channels; channel != NULL; channel = channel->next) {
        for (struct cm_id *id = channel->ids; id != NULL; id = id->next_on_channel) {
            const uint64_t now_ns = lb_now_ns();

            if (id->timer_lost && id->deadline_ns != 0)
                cm_timer_start(id, id->deadline_ns > now_ns ? id->deadline_ns - now_ns : 0);
            id->timer_lost = false;
        }
    }
    cm_release();
}

void cm_part(struct cm_id *id)
{
    if (id->peer == NULL)
        return;
    if (id->send_event != NULL || id->peer->send_event != NULL)
        lb_watch_call(); /* a proxy without a peer is to be removed */
    id->peer->peer = NULL;
    id->peer = NULL;
}

void cm_raise_rejected(struct cm_id *id, int reason, const void *data, size_t length)
{
    struct cm_event *event = cm_event_new(id, RDMA_CM_EVENT_REJECTED, reason);

    cm_timer_stop(id);
    id->state = CM_ENDED;
    cm_event_set_data(event, data, length, CM_REJECT_DATA);
    cm_event_raise(event);
}

void cm_enter_timewait(struct cm_id *id)
{
    id->state = CM_TIMEWAIT;
    cm_timer_start(id, CM_TIMEWAIT_NS);
}

/* The other side has answered our disconnect, or gone: this one is over. */
void cm_disconnected(struct cm_id *id, int status)
{
    cm_raise(id, RDMA_CM_EVENT_DISCONNECTED, status);
    cm_enter_timewait(id);
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
            /* As by the kernel, which sends a REJ: also to a passive side that rdma_notify has established. */
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
                cm_disconnected(peer, 0);
            break;
        default:
            break;
        }
    }
    id->state = CM_ENDED;
}

/* The active side's ready-to-use: the passive side is established, too. */
void cm_send_ready(struct cm_id *id)
{
    struct cm_id *peer = id->peer;

    id->state = CM_ESTABLISHED;
    if (peer->state == CM_REPLY_SENT) {
        cm_timer_stop(peer);
        peer->state = CM_ESTABLISHED;
        cm_raise(peer, RDMA_CM_EVENT_ESTABLISHED, 0);
    } else if (peer->state == CM_DISCONNECT_SENT) { /* established by rdma_notify, and disconnected since */
        id->state = CM_DISCONNECT_RECEIVED;
        cm_raise(id, RDMA_CM_EVENT_DISCONNECTED, 0);
    }
}

static uint8_t at_most(uint8_t wanted, uint8_t limit)
{
    return wanted < limit ? wanted : limit;
}

/*
 * The active side fetches the reply: as in librdmacm its queue pair becomes ready now, and the user receives
 * ESTABLISHED.
 */
void cm_process_response(struct cm_event *event)
{
    struct cm_id *id = event->counted_on;
    const struct rdma_conn_param *told = &event->base.param.conn;
    int error = 0;

    id->remote_qp_num = told->qp_num;
    id->initiator_depth = at_most(id->initiator_depth, told->initiator_depth);
    id->responder_resources = at_most(id->responder_resources, told->responder_resources);
    id->rnr_retry_count = told->rnr_retry_count;
    if (id->base.qp == NULL) /* the user readies its queue pair and calls rdma_establish */
        return;
    if (id->state != CM_REPLY_RECEIVED || id->peer == NULL)
        error = ECONNRESET; /* the passive side has gone since */
    if (!error)
        error = cm_modify_qp(id, IBV_QPS_RTR);
    if (!error)
        error = cm_modify_qp(id, IBV_QPS_RTS);
    if (!error) {
        cm_send_ready(id);
        event->base.event = RDMA_CM_EVENT_ESTABLISHED;
        return;
    }
    (void)cm_modify_qp(id, IBV_QPS_ERR);
    cm_leave(id);
    id->connect_error = true;
    event->base.event = RDMA_CM_EVENT_CONNECT_ERROR;
    event->base.status = -error;
}

static void time_out(struct cm_id *id)
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
        cm_disconnected(id, -ETIMEDOUT);
        break;
    case CM_TIMEWAIT:
        id->state = CM_ENDED;
        cm_raise(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
        break;
    default:
        break;
    }
}

static void timer_expired(struct lb_timer *timer)
{
    struct cm_id *id = (struct cm_id *)(void *)((char *)timer - offsetof(struct cm_id, timer));

    cm_hold();
    id->timer_armed = false;
    const uint64_t now_ns = lb_now_ns();
    if (now_ns < id->deadline_ns)
        cm_timer_start(id, id->deadline_ns - now_ns);
    else
        time_out(id);
    cm_id_put(id);
    cm_release();
}
