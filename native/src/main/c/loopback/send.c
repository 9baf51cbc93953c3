/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c: the send queue: posting, order, waiting and retries, completions and flushing.
 *
 * What a single work request does is in execute.c. Here it is decided when: at once if nothing
 * waits before it, else from the ring, later.
 */
#include <errno.h>
#include <string.h>

#include "execute.h"
#include "qp.h"
#include "qp_fault.h"

/* Nanoseconds of the 5-bit min_rnr_timer codes: InfiniBand specification, table "RNR NAK timer". */
static const uint32_t rnr_timer_us[32] = {
    655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840,
    5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680,
    491520,
};

static struct lb_send *slot_of(const struct lb_qp *qp, uint32_t number)
{
    return (struct lb_send *)(void *)(qp->sq_slots + (number & qp->sq_mask) * qp->sq_stride);
}

static void push(struct lb_qp *qp, struct lb_cqe *cqe, uint32_t number, bool solicited,
    struct lb_aftermath *aftermath)
{
    cqe->qp = qp;
    cqe->retired = number + 1;
    cqe->reserved = 0;
    if (!lb_cq_push(qp->send_cq, cqe, solicited) && aftermath->overrun == NULL) {
        lb_qp_get(qp);
        aftermath->overrun = qp;
    }
}

static void complete_failed(struct lb_qp *qp, uint64_t wr_id, uint32_t number,
    const struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    struct lb_cqe cqe;

    lb_cqe_fail(&cqe, wr_id, lb_qp_num(qp), failure->status, failure->vendor_err);
    push(qp, &cqe, number, true, aftermath);
}

static const enum ibv_wc_opcode wc_opcodes[] = {
    [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
    [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
    [IBV_WR_SEND] = IBV_WC_SEND,
    [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
    [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
    [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
    [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
    [LB_WR_FLUSH] = (enum ibv_wc_opcode)LB_WC_FLUSH,
    [LB_WR_ATOMIC_WRITE] = (enum ibv_wc_opcode)LB_WC_ATOMIC_WRITE,
};

static void complete_done(struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t number,
    uint32_t length, struct lb_aftermath *aftermath)
{
    if (!(wr->send_flags & IBV_SEND_SIGNALED) && !qp->signal_all)
        return;
    struct lb_cqe cqe = {
        .wc = {
            .wr_id = wr->wr_id,
            .status = IBV_WC_SUCCESS,
            .opcode = wc_opcodes[wr->opcode],
            .byte_len = length,
            .qp_num = lb_qp_num(qp),
        },
    };
    push(qp, &cqe, number, false, aftermath);
}

void lb_send_flush(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    const struct lb_failure flushed = {IBV_WC_WR_FLUSH_ERR, RINGPOLL_LOOPBACK_VERR_NONE};

    while (qp->executed != qp->posted) {
        complete_failed(qp, slot_of(qp, qp->executed)->wr.wr_id, qp->executed, &flushed, aftermath);
        qp->executed++;
    }
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
}

/* The oldest outstanding work request has failed and was completed: the queue pair fails. */
static void fail_queue_pair(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    lb_lock_acquire(&qp->rq_lock);
    lb_qp_enter_error(qp, aftermath);
    lb_lock_release(&qp->rq_lock);
}

static const struct lb_failure *wait_failure(enum lb_wait wait)
{
    static const struct lb_failure no_receive = {IBV_WC_RNR_RETRY_EXC_ERR,
        RINGPOLL_LOOPBACK_VERR_RNR};
    static const struct lb_failure no_peer = {IBV_WC_RETRY_EXC_ERR, RINGPOLL_LOOPBACK_VERR_NO_PEER};

    return wait == LB_WAIT_RNR ? &no_receive : &no_peer;
}

uint64_t lb_rnr_pause_ns(const struct lb_qp *receiver)
{
    return rnr_timer_us[atomic_load_explicit(&receiver->min_rnr_timer, memory_order_relaxed)] * UINT64_C(1000);
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
 * it is then to be completed with wait_failure.
 */
static bool begin_waiting(struct lb_qp *qp, enum lb_wait reason)
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
    /* An armed timer that is too early looks again by itself; one that is too late does not. */
    if (qp->timer_armed && qp->timer.deadline_ns > qp->wait_until_ns && lb_timer_cancel(&qp->timer)) {
        qp->timer_armed = false;
        lb_qp_put(qp);
    }
    return qp->timer_armed || arm(qp, lb_now_ns());
}

/* Fails the oldest work request of the ring. */
static void fail_oldest(struct lb_qp *qp, const struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    complete_failed(qp, slot_of(qp, qp->executed)->wr.wr_id, qp->executed, failure, aftermath);
    qp->executed++;
    fail_queue_pair(qp, aftermath);
}

void lb_send_progress(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    qp->wait = LB_WAIT_NONE;
    if (qp->waiting_srq != NULL) {
        lb_srq_stop_waiting(qp->waiting_srq, qp);
        qp->waiting_srq = NULL;
    }
    while (qp->executed != qp->posted && !qp->sq_error) {
        const struct lb_send *send = slot_of(qp, qp->executed);
        struct lb_failure failure;
        uint32_t length;

        switch ((qp->faults != NULL ? lb_qp_faults_execute : lb_execute)(qp, &send->wr, &length, &failure, aftermath)) {
        case LB_DONE:
            complete_done(qp, &send->wr, qp->executed, length, aftermath);
            qp->executed++;
            qp->waited_for = LB_WAIT_NONE;
            break;
        case LB_NO_RECEIVE:
            if (begin_waiting(qp, LB_WAIT_RNR))
                return;
            fail_oldest(qp, wait_failure(LB_WAIT_RNR), aftermath);
            break;
        case LB_NO_PEER:
            if (begin_waiting(qp, LB_WAIT_PEER))
                return;
            fail_oldest(qp, wait_failure(LB_WAIT_PEER), aftermath);
            break;
        case LB_FAILED:
            fail_oldest(qp, &failure, aftermath);
            break;
        }
    }
}

/* On the device thread; the armed timer's reference is ours now. */
static void wait_expired(struct lb_timer *timer)
{
    struct lb_qp *qp = (struct lb_qp *)(void *)((char *)timer - offsetof(struct lb_qp, timer));
    struct lb_aftermath aftermath = {0};

    lb_lock_acquire(&qp->sq_lock);
    qp->timer_armed = false;
    if (!qp->gone && qp->wait != LB_WAIT_NONE && qp->wait_until_ns != UINT64_MAX) {
        const uint64_t now = lb_now_ns();

        if (now >= qp->wait_until_ns || !arm(qp, now))
            fail_oldest(qp, wait_failure(qp->wait), &aftermath);
    }
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
    lb_qp_put(qp);
}

/* Checks what a post refuses at once; returns 0 or an errno value. */
static int check_request(const struct lb_qp *qp, const struct ibv_send_wr *wr)
{
    const unsigned int opcode = wr->opcode;
    uint64_t length = 0;

    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge)
        return EINVAL;
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
        if (!(wr->send_flags & IBV_SEND_INLINE))
            return 0;
        for (int i = 0; i < wr->num_sge; i++)
            length += wr->sg_list[i].length;
        return length <= qp->cap.max_inline_data ? 0 : EINVAL;
    case IBV_WR_RDMA_READ:
        return wr->send_flags & IBV_SEND_INLINE ? EINVAL : 0;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        if (wr->num_sge != 1 || wr->sg_list[0].length < 8 || wr->send_flags & IBV_SEND_INLINE)
            return EINVAL;
        return 0;
    case LB_WR_ATOMIC_WRITE:
        if (wr->send_flags & IBV_SEND_INLINE && qp->cap.max_inline_data < 8)
            return EINVAL;
        return wr->num_sge == 1 && wr->sg_list[0].length == 8 ? 0 : EINVAL;
    default:
        return EINVAL;
    }
}

/* Keeps a work request in the ring until its turn comes; inline data is copied now. */
static void keep(struct lb_qp *qp, const struct ibv_send_wr *wr)
{
    struct lb_send *send = slot_of(qp, qp->posted);

    send->wr = *wr;
    send->wr.next = NULL;
    send->wr.sg_list = send->sge;
    if (wr->send_flags & IBV_SEND_INLINE) {
        const uint32_t max_sge = qp->cap.max_send_sge > 0 ? qp->cap.max_send_sge : 1;
        char *data = (char *)&send->sge[max_sge];
        uint32_t length = 0;

        for (int i = 0; i < wr->num_sge; i++) {
            memcpy(data + length, (const void *)(uintptr_t)wr->sg_list[i].addr,
                wr->sg_list[i].length);
            length += wr->sg_list[i].length;
        }
        send->wr.num_sge = 1;
        send->sge[0] = (struct ibv_sge){.addr = (uintptr_t)data, .length = length};
    } else {
        for (int i = 0; i < wr->num_sge; i++)
            send->sge[i] = wr->sg_list[i];
    }
    qp->posted++;
}

typedef enum lb_outcome execute_function(struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t *length,
    struct lb_failure *failure, struct lb_aftermath *aftermath);

/*
 * Posts one work request: carries it out, keeps it, or flushes it. Returns 0 or an errno value. Inlined with either function,
 * so that where there is no plan nothing asks for it a second time.
 */
static inline __attribute__((always_inline)) int post_one(struct lb_qp *qp, const struct ibv_send_wr *wr,
    execute_function *execute, struct lb_aftermath *aftermath)
{
    struct lb_failure failure;
    uint32_t length;
    int error = check_request(qp, wr);

    if (error)
        return error;
    if (qp->posted - qp->retired_seen >= qp->sq_capacity) {
        qp->retired_seen = atomic_load_explicit(&qp->retired, memory_order_acquire);
        if (qp->posted - qp->retired_seen >= qp->sq_capacity)
            return ENOMEM;
    }
    if (qp->sq_error || qp->wait != LB_WAIT_NONE) {
        keep(qp, wr);
        if (qp->sq_error)
            lb_send_flush(qp, aftermath);
        return 0;
    }
    const uint32_t number = qp->posted;
    switch (execute(qp, wr, &length, &failure, aftermath)) {
    case LB_DONE:
        qp->posted++;
        qp->executed++;
        complete_done(qp, wr, number, length, aftermath);
        break;
    case LB_NO_RECEIVE:
        keep(qp, wr);
        if (!begin_waiting(qp, LB_WAIT_RNR))
            fail_oldest(qp, wait_failure(LB_WAIT_RNR), aftermath);
        break;
    case LB_NO_PEER:
        keep(qp, wr);
        if (!begin_waiting(qp, LB_WAIT_PEER))
            fail_oldest(qp, wait_failure(LB_WAIT_PEER), aftermath);
        break;
    case LB_FAILED:
        qp->posted++;
        qp->executed++;
        complete_failed(qp, wr->wr_id, number, &failure, aftermath);
        fail_queue_pair(qp, aftermath);
        break;
    }
    return 0;
}

/* The same under a fault plan. */
static __attribute__((noinline)) int post_under_plan(struct lb_qp *qp, const struct ibv_send_wr *wr,
    struct lb_aftermath *aftermath)
{
    if (lb_qp_faults_refuse(qp))
        return ENOMEM;
    const int error = post_one(qp, wr, lb_qp_faults_execute, aftermath);
    if (!error)
        lb_qp_faults_accepted(qp, aftermath);
    return error;
}

int lb_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);
    struct lb_aftermath aftermath = {0};
    int error = 0;

    lb_lock_acquire(&qp->sq_lock);
    if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_ERR) {
        error = EINVAL;
        *bad_wr = wr;
        wr = NULL;
    }
    for (; wr != NULL; wr = wr->next) {
        error = __builtin_expect(qp->faults != NULL, 0) ? post_under_plan(qp, wr, &aftermath) :
            post_one(qp, wr, lb_execute, &aftermath);
        if (error) {
            *bad_wr = wr;
            break;
        }
    }
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
    return error;
}
