/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_fork.c: puts queue pairs in order in the child of a fork.
 *
 * Timers, the device thread, and each other thread that was executing requests exist in the parent only. The child completes
 * their unfinished work, drops no request and keeps the order. A request may be executed twice if its completion was not visible
 * yet. The requests continue when the child uses the queue pair, with the rest of their retries: a child that does not use it
 * starts no thread, and writes to no memory that it shares with its parent.
 */
#include "qp_fault.h"

/* Counts the requests with polled completions; cq.c has counted those with completions in the queue. */
static void count_completed(struct lb_qp *qp)
{
    const uint32_t polled = atomic_load_explicit(&qp->retired, memory_order_relaxed);

    if ((int32_t)(polled - qp->executed) > 0) {
        qp->executed = polled;
        qp->waited_for = LB_WAIT_NONE; /* the next one has all its retries */
    }
    /* The fork was between the completion of a post that was not in the ring and its count. */
    if ((int32_t)(qp->posted - qp->executed) < 0)
        qp->posted = qp->executed;
}

/* Lets the next post of a receive wake the sender, also if a thread of the parent was about to do so. */
static void await_receive(struct lb_qp *qp)
{
    struct lb_srq *srq = qp->waiting_srq;

    if (qp->peer == NULL)
        return;
    qp->peer->sender_waits = true;
    if (qp->wait != LB_WAIT_RNR || srq == NULL || qp->in_waiters)
        return;
    qp->in_waiters = true; /* with the reference of that thread */
    qp->next_waiter = srq->first_waiter;
    srq->first_waiter = qp;
    if (srq->last_waiter == NULL)
        srq->last_waiter = qp;
}

/* Drops the state of the parent's threads, and notes whether requests are left to execute. Nothing is locked. */
static void inherit(struct lb_qp *qp)
{
    if (qp->timer_armed)
        lb_qp_put(qp);
    if (qp->turn_armed)
        lb_qp_put(qp);
    qp->timer_armed = false;
    qp->turn_armed = false;
    if (qp->faults != NULL)
        lb_qp_faults_forget_timer(qp);
    if (qp->remote != NULL) /* its connection ends in the child */
        return;
    if (qp->in_waiters && qp->waiting_srq == NULL && qp->peer != NULL)
        qp->waiting_srq = qp->peer->srq; /* the fork was between the entry into the list and this note */
    count_completed(qp);
    if (qp->executed == qp->posted) {
        qp->wait = LB_WAIT_NONE;
        return;
    }
    await_receive(qp);
    qp->wait = LB_WAIT_FORK;
}

/* Both locks held. Ends flushes that a thread had begun, or that were due at the end of a copy. */
static void end_flush(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    const bool was_due = qp->recv_flush_due;

    qp->send_flush_due = false;
    if (qp->sq_error && qp->executed != qp->posted)
        lb_send_flush(qp, aftermath);
    qp->recv_flush_due = false;
    if (qp->rq_error && (qp->recv_taken || lb_recv_ring_count(&qp->recv_ring) > 0))
        lb_recv_flush(qp, aftermath);
    if (was_due)
        lb_recv_end(qp);
}

/*
 * Both locks held. Whether a thread was moving the queue pair to the error state: first the queue pair stops to respond, last its
 * state changes.
 */
static bool has_to_fail(const struct lb_qp *qp)
{
    return qp->failure.status != IBV_WC_SUCCESS || qp->failure_due != 0 ||
        ((qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS) && !qp->responding);
}

/* Both locks held. The failed request may be completed already, or may not have been in the ring. */
static void end_failure(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    if (qp->failure.status != IBV_WC_SUCCESS && qp->executed == qp->failed && qp->executed != qp->posted) {
        lb_complete_failed(qp, lb_send_slot(qp, qp->executed)->wr.wr_id, &qp->failure, aftermath);
        qp->executed++;
    }
    if (qp->failure_due != 0 && qp->state != IBV_QPS_ERR)
        lb_async_raise(qp->base.qp_base.context, qp->failure_due, qp, &qp->async_events_fetched);
    lb_qp_enter_error(qp, aftermath);
    qp->failure.status = IBV_WC_SUCCESS;
}

/* Ends failures and flushes, after `inherit` of all queue pairs. A sender that waits for this one continues at its next use. */
static void restart(struct lb_qp *qp)
{
    struct lb_aftermath aftermath = {0};

    if (qp->remote != NULL || qp->gone)
        return;
    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    if (has_to_fail(qp))
        end_failure(qp, &aftermath);
    end_flush(qp, &aftermath);
    qp->failure_due = 0;
    lb_lock_release(&qp->rq_lock);
    if (qp->executed == qp->posted)
        qp->wait = LB_WAIT_NONE;
    lb_lock_release(&qp->sq_lock);
    if (aftermath.overrun != NULL) /* this queue pair, which has failed */
        lb_qp_put(aftermath.overrun);
    if (aftermath.kick != NULL)
        lb_qp_put(aftermath.kick);
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_qp_on_fork(inherit, restart);
}
