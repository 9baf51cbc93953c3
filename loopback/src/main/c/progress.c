/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c: the send ring: its requests are executed in order, wait, are retried, fail or are flushed.
 *
 * The thread that ends a wait executes the waiting requests up to a budget; the device thread executes the rest and
 * long requests. The aftermath of an operation is here, too: it can continue the ring of another queue pair.
 */
#include "qp_fault.h"

/* The oldest outstanding work request has failed and was completed: the queue pair fails. */
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

/* How long the retries take in all: 0 if there is none, UINT64_MAX if they never end. */
static uint64_t patience_ns(const struct lb_qp *qp, enum lb_wait wait)
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

/*
 * The oldest work request cannot go on for this reason. Returns false if it has no patience left:
 * it is then to be completed with lb_wait_failure.
 */
bool lb_send_begin_waiting(struct lb_qp *qp, enum lb_wait reason)
{
    if (qp->waited_for != reason) {
        const uint64_t patience = patience_ns(qp, reason);

        if (patience == 0)
            return false;
        qp->waited_for = reason;
        qp->wait_until_ns = patience == UINT64_MAX ? UINT64_MAX : lb_now_ns() + patience;
    }
    qp->wait = reason;
    if (qp->wait_until_ns == UINT64_MAX)
        return true;
    /* An armed timer that fires too early checks again; one that is too late does not. */
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

/* Leaves the ring to the device thread. Returns false if that is not possible. */
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

/* Whether the ring has a request; a proxy's takes them from the other process, one at a time. */
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
            *budget = UINT64_MAX; /* without the thread it is done here */
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

/* On the device thread; the armed timer's reference is ours now. One long request, or a few short ones; then others may. */
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

/* On the device thread; the armed timer's reference is ours now. */
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

/* No lock held. Brings a queue pair into the error state, with an event if it was not in it. */
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

/* No lock held. */
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

/* No lock held. The connection of a queue pair is gone, without an asynchronous event, as if each side had ended it. */
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

/* Requests whose completions have been polled are done; cq.c has counted those whose completions are there. */
static void count_completed(struct lb_qp *qp)
{
    const uint32_t polled = atomic_load_explicit(&qp->retired, memory_order_relaxed);

    if ((int32_t)(polled - qp->executed) > 0) {
        qp->executed = polled;
        qp->waited_for = LB_WAIT_NONE; /* the next one has its own patience */
    }
    /* The thread has not come to count a post that was not in the ring. */
    if ((int32_t)(qp->posted - qp->executed) < 0)
        qp->posted = qp->executed;
}

/* The next post of a receive wakes it, also if a thread that is not here was about to do so. */
static void await_receive(struct lb_qp *qp)
{
    struct lb_srq *srq = qp->waiting_srq;

    if (qp->peer == NULL)
        return;
    qp->peer->sender_waits = true;
    if (qp->wait != LB_WAIT_RNR || srq == NULL || qp->in_waiters)
        return;
    qp->in_waiters = true; /* with that thread's reference */
    qp->next_waiter = srq->first_waiter;
    srq->first_waiter = qp;
    if (srq->last_waiter == NULL)
        srq->last_waiter = qp;
}

/*
 * In the child of a fork: timers, the device thread, and a thread that has carried out requests, are the parent's. What is left of
 * them is put in order here, with nothing left out and nothing overtaken. It goes on when the child uses the queue pair, with the
 * rest of its patience: a child that does not starts no thread, and writes to no memory that it shares with its parent. A request
 * whose completion was not there yet may be carried out twice.
 */
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
    if (qp->remote != NULL) /* no more */
        return;
    if (qp->in_waiters && qp->waiting_srq == NULL && qp->peer != NULL)
        qp->waiting_srq = qp->peer->srq; /* a thread has put it into the list, and had not come to note that */
    count_completed(qp);
    if (qp->executed == qp->posted) {
        qp->wait = LB_WAIT_NONE;
        return;
    }
    await_receive(qp);
    qp->wait = LB_WAIT_FORK;
}

/* Both locks held. What a thread has begun to flush, or was to flush at the end of a copy. */
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
 * Both locks held. Whether a thread was about to bring the queue pair into the error state. That begins when it does not respond
 * any more, and ends with its state.
 */
static bool has_to_fail(const struct lb_qp *qp)
{
    return qp->failure.status != IBV_WC_SUCCESS || qp->failure_due != 0 ||
        ((qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS) && !qp->responding);
}

/* Both locks held. The failed request may be one that was not in the ring, or be completed. */
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

/* In the child, when all queue pairs are in order. What waits for a queue pair that fails here goes on as other waits do: later. */
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
    if (aftermath.overrun != NULL) /* this one, which has failed */
        lb_qp_put(aftermath.overrun);
    if (aftermath.kick != NULL)
        lb_qp_put(aftermath.kick);
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_qp_on_fork(inherit, restart);
}
