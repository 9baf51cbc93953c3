/* SPDX-License-Identifier: Apache-2.0 */
/* qp_error.c: the error state of a queue pair: outstanding work requests are flushed, waits end. */
#include "execute.h"

void lb_send_flush(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    const struct lb_failure flushed = {IBV_WC_WR_FLUSH_ERR, RINGPOLL_LOOPBACK_VERR_NONE};

    if (qp->remote != NULL)
        qp->remote->proxy->settle(qp->remote, qp, aftermath);
    qp->sq_epoch++;
    qp->send_flush_due = qp->copies_out > 0;
    if (qp->send_flush_due)
        return;
    while (qp->executed != qp->posted) {
        lb_complete_failed(qp, lb_send_slot(qp, qp->executed)->wr.wr_id, &flushed, aftermath);
        qp->executed++;
    }
    qp->sent = qp->posted;
    qp->sent_bytes = 0;
}

void lb_send_stop_waiting(struct lb_qp *qp)
{
    qp->wait = LB_WAIT_NONE;
    qp->waited_for = LB_WAIT_NONE;
    if (qp->waiting_srq != NULL) {
        lb_srq_stop_waiting(qp->waiting_srq, qp);
        qp->waiting_srq = NULL;
    }
    if (qp->timer_armed && lb_timer_cancel(&qp->timer)) {
        qp->timer_armed = false;
        lb_qp_put(qp); /* never the last one: the caller has one */
    }
    if (qp->turn_armed && lb_timer_cancel(&qp->turn)) {
        qp->turn_armed = false;
        lb_qp_put(qp);
    }
}

static void flush_one(struct lb_qp *qp, uint64_t wr_id, struct lb_aftermath *aftermath)
{
    struct lb_cqe cqe;

    lb_cqe_fail(&cqe, wr_id, lb_qp_num(qp), IBV_WC_WR_FLUSH_ERR, RINGPOLL_LOOPBACK_VERR_NONE);
    if (!lb_cq_push(qp->recv_cq, &cqe, true))
        lb_aftermath_overrun(aftermath, qp);
}

void lb_recv_flush(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    qp->rq_epoch++;
    qp->recv_flush_due = qp->copies_in > 0;
    if (qp->recv_flush_due)
        return;
    if (qp->recv_taken) {
        flush_one(qp, qp->taken->wr_id, aftermath);
        qp->recv_taken = false;
    }
    while (lb_recv_ring_count(&qp->recv_ring) > 0) {
        flush_one(qp, lb_recv_ring_first(&qp->recv_ring)->wr_id, aftermath);
        qp->recv_ring.consumed++;
    }
}

void lb_recv_end(struct lb_qp *qp)
{
    if (qp->srq != NULL)
        lb_async_raise(qp->base.qp_base.context, IBV_EVENT_QP_LAST_WQE_REACHED, qp, &qp->async_events_fetched);
}

void lb_qp_take_waiting_sender(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    if (qp->sender_waits && qp->peer != NULL && aftermath->kick == NULL) {
        qp->sender_waits = false;
        lb_qp_get(qp->peer);
        aftermath->kick = qp->peer;
    }
}

void lb_qp_enter_error(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    const bool entered = qp->state != IBV_QPS_ERR;

    atomic_store_explicit(&qp->responding, false, memory_order_release);
    if (!qp->sq_error) {
        qp->sq_error = true;
        lb_send_stop_waiting(qp);
        lb_send_flush(qp, aftermath);
    }
    if (!qp->rq_error) {
        qp->rq_error = true;
        lb_recv_flush(qp, aftermath);
    }
    if (entered && !qp->recv_flush_due)
        lb_recv_end(qp);
    qp->state = IBV_QPS_ERR; /* now: until then, the child of a fork carries this out */
    lb_qp_take_waiting_sender(qp, aftermath);
}
