/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c: executes the requests of a send ring in order: they wait, are retried, fail or are flushed.
 *
 * The thread that ends a wait executes the waiting requests up to a budget; the device thread executes the rest and
 * long requests. The aftermath of an operation is here, too: it can continue the ring of another queue pair.
 */
#include "qp_fault.h"

/* Moves the queue pair to the error state after its oldest outstanding work request has failed and was completed. */
void lb_send_fail(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    lb_lock_acquire(&qp->rq_lock);
    lb_qp_enter_error(qp, aftermath);
    qp->failure.status = IBV_WC_SUCCESS;
    lb_lock_release(&qp->rq_lock);
}

const struct lb_failure *lb_wait_failure(enum lb_wait wait)
{
    static const struct lb_failure no_receive = {IBV_WC_RNR_RETRY_EXC_ERR,
        RINGPOLL_LOOPBACK_VERR_RNR};
    static const struct lb_failure no_peer = {IBV_WC_RETRY_EXC_ERR, RINGPOLL_LOOPBACK_VERR_NO_PEER};

    return wait == LB_WAIT_RNR ? &no_receive : &no_peer;
}

/* The time of all retries: 0 if there is none, UINT64_MAX if they never end. */
static uint64_t retry_time_ns(const struct lb_qp *qp, enum lb_wait wait)
{
    if (wait == LB_WAIT_RNR) {
        if (qp->attr.rnr_retry == 7)
            return UINT64_MAX;
        return qp->attr.rnr_retry * lb_rnr_pause_ns(qp->peer);
    }
    if (qp->attr.timeout == 0)
        return UINT64_MAX;
    return (UINT64_C(4096) << qp->attr.timeout) * (qp->attr.retry_cnt + 1u);
}

static void wait_expired(struct lb_timer *timer);

static bool arm(struct lb_qp *qp, uint64_t now)
{
    lb_qp_get(qp);
    if (lb_timer_arm(&qp->timer, qp->wait_until_ns > now ? qp->wait_until_ns - now : 0,
            wait_expired)) {
        lb_qp_put(qp);
        return false;
    }
    qp->timer_armed = true;
    return true;
}

/* The oldest work request has to wait for this reason. Returns false if it has no retry left: it fails with lb_wait_failure. */
bool lb_send_begin_waiting(struct lb_qp *qp, enum lb_wait reason)
{
    if (qp->waited_for != reason) {
        const uint64_t retry_ns = retry_time_ns(qp, reason);

        if (retry_ns == 0)
            return false;
        qp->waited_for = reason;
        qp->wait_until_ns = retry_ns == UINT64_MAX ? UINT64_MAX : lb_now_ns() + retry_ns;
    }
    qp->wait = reason;
    if (qp->wait_until_ns == UINT64_MAX)
        return true;
    /* A timer that expires too early is armed again; one that would expire too late is replaced. */
    if (qp->timer_armed && qp->timer.deadline_ns > qp->wait_until_ns && lb_timer_cancel(&qp->timer)) {
        qp->timer_armed = false;
        lb_qp_put(qp);
    }
    return qp->timer_armed || arm(qp, lb_now_ns());
}

/* Fails the oldest work request of the ring. */
void lb_send_fail_oldest(struct lb_qp *qp, const struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    lb_send_note_failure(qp, failure);
    lb_complete_failed(qp, lb_send_slot(qp, qp->executed)->wr.wr_id, failure, aftermath);
    qp->executed++;
    lb_send_fail(qp, aftermath);
}

static void take_turn(struct lb_timer *timer);

/* Lets the device thread continue the ring. Returns false if its timer cannot be armed. */
static bool hand_over(struct lb_qp *qp)
{
    if (!qp->turn_armed) {
        lb_qp_get(qp);
        if (lb_timer_arm(&qp->turn, 0, take_turn)) {
            lb_qp_put(qp);
            return false;
        }
        qp->turn_armed = true;
    }
    qp->wait = LB_WAIT_TURN;
    return true;
}

/* Whether the ring has a request; that of a proxy is filled from the other process, one request at a time. */
static bool has_request(struct lb_qp *qp)
{
    return qp->executed != qp->posted || (qp->proxy != NULL && qp->proxy->next(qp));
}

void lb_send_progress(struct lb_qp *qp, uint64_t *budget, struct lb_aftermath *aftermath)
{
    qp->wait = LB_WAIT_NONE;
    if (qp->waiting_srq != NULL) {
        lb_srq_stop_waiting(qp->waiting_srq, qp);
        qp->waiting_srq = NULL;
    }
    if (qp->remote != NULL) {
        qp->remote->proxy->send(qp->remote, qp, aftermath);
        return;
    }
    while (!qp->sq_error && has_request(qp)) {
        const struct lb_send *send = lb_send_slot(qp, qp->executed);
        const uint64_t cost = lb_cost_of(&send->wr);
        struct lb_failure failure;

        if (cost > *budget) {
            if ((qp->proxy != NULL && qp->proxy->is_polled(qp)) || hand_over(qp))
                return;
            *budget = UINT64_MAX; /* without the device thread, this thread executes it */
        }
        *budget -= cost;
        switch ((qp->faults != NULL ? lb_execute_under_plan : lb_execute)(qp, &send->wr, &failure, aftermath)) {
        case LB_DONE:
            qp->executed++;
            qp->waited_for = LB_WAIT_NONE;
            break;
        case LB_AGAIN:
            *budget += cost;
            break;
        case LB_DROPPED:
            return;
        case LB_NO_RECEIVE:
            if (lb_send_begin_waiting(qp, LB_WAIT_RNR))
                return;
            lb_send_fail_oldest(qp, lb_wait_failure(LB_WAIT_RNR), aftermath);
            break;
        case LB_NO_PEER:
            if (lb_send_begin_waiting(qp, LB_WAIT_PEER))
                return;
            lb_send_fail_oldest(qp, lb_wait_failure(LB_WAIT_PEER), aftermath);
            break;
        case LB_COMPLETED_FAILED:
            qp->executed++;
            lb_send_fail(qp, aftermath);
            break;
        case LB_FAILED:
            lb_send_fail_oldest(qp, &failure, aftermath);
            break;
        }
    }
}

/* Device thread, with the armed timer's reference. Executes one long request or a few short ones, then other rings. */
static void take_turn(struct lb_timer *timer)
{
    struct lb_qp *qp = (struct lb_qp *)(void *)((char *)timer - offsetof(struct lb_qp, turn));
    struct lb_aftermath aftermath = {0};

    lb_lock_acquire(&qp->sq_lock);
    qp->turn_armed = false;
    if (!qp->gone && qp->wait == LB_WAIT_TURN) {
        const uint64_t cost = lb_cost_of(&lb_send_slot(qp, qp->executed)->wr);
        uint64_t budget = cost > LB_CALL_BUDGET ? cost : LB_CALL_BUDGET;

        lb_send_progress(qp, &budget, &aftermath);
    }
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
    lb_qp_put(qp);
}

/* Device thread, with the armed timer's reference. */
static void wait_expired(struct lb_timer *timer)
{
    struct lb_qp *qp = (struct lb_qp *)(void *)((char *)timer - offsetof(struct lb_qp, timer));
    struct lb_aftermath aftermath = {0};

    lb_lock_acquire(&qp->sq_lock);
    qp->timer_armed = false;
    if (!qp->gone && (qp->wait == LB_WAIT_RNR || qp->wait == LB_WAIT_PEER) && qp->wait_until_ns != UINT64_MAX) {
        const uint64_t now = lb_now_ns();

        if (now >= qp->wait_until_ns || !arm(qp, now))
            lb_send_fail_oldest(qp, lb_wait_failure(qp->wait), &aftermath);
    }
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
    lb_qp_put(qp);
}

/* No lock held. Moves a queue pair to the error state, with an event unless it is in that state. */
static void fail(struct lb_qp *qp, enum ibv_event_type event)
{
    struct lb_aftermath aftermath = {0};

    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    if (!qp->gone) {
        if (qp->state != IBV_QPS_ERR)
            lb_async_raise(qp->base.qp_base.context, event, qp, &qp->async_events_fetched);
        lb_qp_enter_error(qp, &aftermath);
        atomic_store_explicit(&qp->failure_due, 0, memory_order_relaxed);
    }
    lb_lock_release(&qp->rq_lock);
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
}

/* No lock held. Moves a queue pair to the error state, without an event. */
static void enter_error(struct lb_qp *qp)
{
    struct lb_aftermath aftermath = {0};

    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    if (!qp->gone)
        lb_qp_enter_error(qp, &aftermath);
    lb_lock_release(&qp->rq_lock);
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
}

static void (*_Atomic disconnected)(struct ibv_qp *qp);

void lb_qp_on_disconnect(void (*function)(struct ibv_qp *qp))
{
    atomic_store(&disconnected, function);
}

/* No lock held. Ends the connection of a queue pair as if both sides had, without an asynchronous event. */
static void disconnect(struct lb_qp *qp)
{
    void (*notify)(struct ibv_qp *) = atomic_load(&disconnected);

    lb_lock_acquire(&qp->sq_lock);
    struct lb_qp *peer = qp->peer;
    if (peer != NULL)
        lb_qp_get(peer);
    lb_lock_release(&qp->sq_lock);
    enter_error(qp);
    if (peer != NULL) {
        enter_error(peer);
        lb_qp_put(peer);
    }
    if (notify != NULL)
        notify(&qp->base.qp_base);
}

void lb_aftermath_run(struct lb_aftermath *aftermath)
{
    struct lb_aftermath todo = *aftermath;

    memset(aftermath, 0, sizeof(*aftermath));
    if (todo.fail != NULL) {
        fail(todo.fail, todo.event);
        lb_qp_put(todo.fail);
    }
    if (todo.overrun != NULL) {
        fail(todo.overrun, IBV_EVENT_QP_FATAL);
        lb_qp_put(todo.overrun);
    }
    if (todo.disconnect != NULL) {
        disconnect(todo.disconnect);
        lb_qp_put(todo.disconnect);
    }
    if (todo.kick != NULL) {
        uint64_t budget = LB_CALL_BUDGET;

        lb_qp_kick(todo.kick, &budget);
        lb_qp_put(todo.kick);
    }
}

void lb_qp_kick(struct lb_qp *qp, uint64_t *budget)
{
    struct lb_aftermath aftermath = {0};

    lb_lock_acquire(&qp->sq_lock);
    if (qp->wait == LB_WAIT_RNR || qp->wait == LB_WAIT_PEER || qp->wait == LB_WAIT_FORK)
        lb_send_progress(qp, budget, &aftermath);
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
}
