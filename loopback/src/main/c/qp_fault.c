/* SPDX-License-Identifier: Apache-2.0 */
/* qp_fault.c: queue pairs under a fault plan: counted operations and injected failures. */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"
#include "qp_fault.h"

struct lb_qp_faults {
    struct lb_plan *plan;
    struct lb_qp *qp;
    void (*kick)(struct lb_qp *qp, uint64_t *budget);
    uint32_t object;

    /* sq_lock */
    uint64_t posts;    /* tries of the user's */
    uint64_t accepted;
    uint64_t messages;
    uint64_t operations[RINGPOLL_LOOPBACK_OPERATIONS];
    bool counted;      /* the work request with this number has been */
    uint32_t number;
    uint64_t not_ready_until_ns; /* the receiver, for the work request that was counted last; 0 if it is */
    bool timer_armed;  /* and holds a reference of the queue pair */
    struct lb_timer timer;

    /* rq_lock */
    uint64_t received;
};

int lb_qp_faults_open(struct lb_qp *qp, void (*kick)(struct lb_qp *qp, uint64_t *budget))
{
    struct lb_plan *plan = lb_plan_get();

    if (plan == NULL)
        return 0;
    struct lb_qp_faults *faults = calloc(1, sizeof(*faults));
    if (faults == NULL) {
        lb_plan_put(plan);
        return ENOMEM;
    }
    faults->plan = plan;
    faults->qp = qp;
    faults->kick = kick;
    faults->object = atomic_fetch_add(&plan->queue_pairs, 1) + 1;
    qp->faults = faults;
    return 0;
}

void lb_qp_faults_close(struct lb_qp *qp)
{
    struct lb_qp_faults *faults = qp->faults;
    bool cancelled;

    lb_lock_acquire(&qp->sq_lock);
    cancelled = faults->timer_armed && lb_timer_cancel(&faults->timer);
    if (cancelled)
        faults->timer_armed = false;
    lb_lock_release(&qp->sq_lock);
    if (cancelled)
        lb_qp_put(qp); /* never the last one: the caller has one */
}

void lb_qp_faults_forget_timer(struct lb_qp *qp)
{
    struct lb_qp_faults *faults = qp->faults;

    faults->not_ready_until_ns = 0;
    if (faults->timer_armed)
        lb_qp_put(qp);
    faults->timer_armed = false;
}

void lb_qp_faults_free(struct lb_qp *qp)
{
    lb_plan_put(qp->faults->plan);
    free(qp->faults);
}

static struct lb_rule *trigger(struct lb_qp_faults *faults, enum ringpoll_loopback_fault_kind kind,
    enum ringpoll_loopback_fault_operation operation, uint64_t n)
{
    return lb_plan_strike(faults->plan, kind, operation, faults->object, n);
}

bool lb_qp_faults_refuse(struct lb_qp *qp)
{
    struct lb_qp_faults *faults = qp->faults;

    return trigger(faults, RINGPOLL_LOOPBACK_FAULT_FULL, RINGPOLL_LOOPBACK_OPERATION_ANY, ++faults->posts) != NULL;
}

void lb_qp_faults_accepted(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    struct lb_qp_faults *faults = qp->faults;

    if (trigger(faults, RINGPOLL_LOOPBACK_FAULT_DISCONNECT, RINGPOLL_LOOPBACK_OPERATION_ANY, ++faults->accepted) != NULL &&
        aftermath->disconnect == NULL) {
        lb_qp_get(qp);
        aftermath->disconnect = qp;
    }
}

static enum ringpoll_loopback_fault_operation operation_of(const struct ibv_send_wr *wr)
{
    switch ((unsigned int)wr->opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
        return RINGPOLL_LOOPBACK_OPERATION_SEND;
    case IBV_WR_RDMA_WRITE:
        return RINGPOLL_LOOPBACK_OPERATION_WRITE;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return RINGPOLL_LOOPBACK_OPERATION_WRITE_IMM;
    case IBV_WR_RDMA_READ:
        return RINGPOLL_LOOPBACK_OPERATION_READ;
    default:
        return RINGPOLL_LOOPBACK_OPERATION_ATOMIC;
    }
}

/* On the device thread; the timer's reference is ours now. */
static void receiver_is_ready(struct lb_timer *timer)
{
    struct lb_qp_faults *faults =
        (struct lb_qp_faults *)(void *)((char *)timer - offsetof(struct lb_qp_faults, timer));
    struct lb_qp *qp = faults->qp;

    lb_lock_acquire(&qp->sq_lock);
    faults->timer_armed = false;
    lb_lock_release(&qp->sq_lock);
    uint64_t budget = LB_CALL_BUDGET;
    faults->kick(qp, &budget);
    lb_qp_put(qp);
}

/* The receiver is not ready for so many tries: until a moment before the last of them has waited. */
static void begin_not_ready(struct lb_qp *qp, uint32_t tries)
{
    struct lb_qp_faults *faults = qp->faults;
    const uint64_t pause_ns = lb_rnr_pause_ns(qp->peer);
    const uint64_t duration_ns = (tries ? tries : 1) * pause_ns - pause_ns / 2;

    if (faults->timer_armed)
        return;
    faults->not_ready_until_ns = lb_now_ns() + duration_ns;
    lb_qp_get(qp);
    if (lb_timer_arm(&faults->timer, duration_ns, receiver_is_ready)) {
        faults->not_ready_until_ns = 0;
        lb_qp_put(qp);
        return;
    }
    faults->timer_armed = true;
}

static const struct lb_rule *status_of(struct lb_qp_faults *faults, enum ringpoll_loopback_fault_operation operation)
{
    const uint64_t of_any = ++faults->operations[RINGPOLL_LOOPBACK_OPERATION_ANY];
    const uint64_t of_this = ++faults->operations[operation];
    const struct lb_rule *rule = trigger(faults, RINGPOLL_LOOPBACK_FAULT_STATUS, RINGPOLL_LOOPBACK_OPERATION_ANY, of_any);

    return rule != NULL ? rule : trigger(faults, RINGPOLL_LOOPBACK_FAULT_STATUS, operation, of_this);
}

static enum lb_outcome fail(struct lb_qp *qp, enum ibv_wc_status status, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    const bool refused = status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR || status == IBV_WC_REM_OP_ERR;

    if (refused && qp->peer != NULL && qp->peer->proxy == NULL) /* a proxy: its process refuses the request */
        return lb_refuse(qp, status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR,
            failure, status, RINGPOLL_LOOPBACK_VERR_INJECTED, aftermath);
    failure->status = status;
    failure->vendor_err = RINGPOLL_LOOPBACK_VERR_INJECTED;
    return LB_FAILED;
}

enum lb_outcome lb_qp_faults_before(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    struct lb_qp_faults *faults = qp->faults;
    const enum ringpoll_loopback_fault_operation operation = operation_of(wr);

    if (!faults->counted || faults->number != qp->executed) {
        faults->counted = true;
        faults->number = qp->executed;
        faults->not_ready_until_ns = 0;
        const struct lb_rule *rule = status_of(faults, operation);
        if (rule != NULL)
            return fail(qp, (enum ibv_wc_status)rule->fault.code, failure, aftermath);
        if (operation == RINGPOLL_LOOPBACK_OPERATION_SEND || operation == RINGPOLL_LOOPBACK_OPERATION_WRITE_IMM) {
            rule = trigger(faults, RINGPOLL_LOOPBACK_FAULT_RNR, RINGPOLL_LOOPBACK_OPERATION_ANY, ++faults->messages);
            if (rule != NULL && qp->peer != NULL)
                begin_not_ready(qp, rule->fault.times);
        }
    }
    if (qp->peer != NULL && faults->not_ready_until_ns != 0 && lb_now_ns() < faults->not_ready_until_ns)
        return LB_NO_RECEIVE;
    return LB_DONE;
}

void lb_qp_faults_reset(struct lb_qp *qp)
{
    qp->faults->counted = false;
}

enum ibv_wc_status lb_qp_faults_receive(struct lb_qp *qp)
{
    struct lb_qp_faults *faults = qp->faults;
    const struct lb_rule *rule =
        trigger(faults, RINGPOLL_LOOPBACK_FAULT_STATUS, RINGPOLL_LOOPBACK_OPERATION_RECEIVE, ++faults->received);

    return rule != NULL ? (enum ibv_wc_status)rule->fault.code : IBV_WC_SUCCESS;
}
