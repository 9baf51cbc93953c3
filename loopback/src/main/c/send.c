/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c: posting to the send queue. A work request is executed immediately if none waits before it, otherwise from the
 * ring.
 *
 * See execute.c for the execution and progress.c for the ring. The posting thread executes a long request as well, but
 * through the ring, because the lock is released during the copy.
 */
#include <errno.h>
#include <string.h>

#include "qp_fault.h"
#include "segments.h"

/* Checks the conditions for which a post fails immediately; returns 0 or an errno value. */
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

/* Keeps a work request in the ring until its turn; inline data is copied now. */
static void keep(struct lb_qp *qp, const struct ibv_send_wr *wr)
{
    struct lb_send *send = lb_send_slot(qp, qp->posted);

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
    atomic_signal_fence(memory_order_release); /* as in count_done */
    qp->posted++;
}

/* Requests are done that were not in the ring. In this order: the child of a fork in between sees that (qp_fork.c). */
static inline void count_done(struct lb_qp *qp, uint32_t count)
{
    qp->executed += count;
    atomic_signal_fence(memory_order_release);
    qp->posted += count;
}

/* State of one call: whether the ring was idle before it, what it has sent, and the cost of the requests it has added. */
struct posting {
    bool first;
    bool sent; /* a message to another process, which may sleep */
    uint64_t cost;
};

static bool has_room(struct lb_qp *qp, uint32_t count)
{
    if (qp->posted - qp->retired_seen + count <= qp->sq_capacity)
        return true;
    qp->retired_seen = atomic_load_explicit(&qp->retired, memory_order_acquire);
    return qp->posted - qp->retired_seen + count <= qp->sq_capacity;
}

/* Sends a short message to another process at once. false: it was not possible. */
static inline bool post_remote(struct lb_qp *qp, const struct ibv_send_wr *wr)
{
    return qp->remote != NULL && !qp->sq_error && qp->wait == LB_WAIT_NONE && has_room(qp, 1) &&
        qp->remote->proxy->post(qp->remote, qp, wr);
}

/* Puts a work request into the ring: it has to wait, or its poster carries it out at the end of the call. */
static void post_to_ring(struct lb_qp *qp, const struct ibv_send_wr *wr, struct posting *posting,
    struct lb_aftermath *aftermath)
{
    keep(qp, wr);
    if (qp->sq_error) {
        lb_send_flush(qp, aftermath);
        return;
    }
    if (qp->wait == LB_WAIT_NONE || qp->wait == LB_WAIT_FORK) {
        qp->wait = LB_WAIT_TURN;
        posting->first = true;
    }
    posting->cost += lb_cost_of(wr);
}

typedef enum lb_outcome execute_function(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath);

/*
 * Posts one work request: carries it out, keeps it, or flushes it. Returns 0 or an errno value. Inlined with either function,
 * so that where there is no plan nothing asks for it a second time.
 */
static inline __attribute__((always_inline)) int post_one(struct lb_qp *qp, const struct ibv_send_wr *wr,
    execute_function *execute, struct posting *posting, struct lb_aftermath *aftermath)
{
    struct lb_failure failure;
    int error = check_request(qp, wr);

    if (error)
        return error;
    if (!has_room(qp, 1))
        return ENOMEM;
    if (execute == lb_execute && post_remote(qp, wr)) {
        posting->sent = true;
        return 0;
    }
    if (qp->sq_error || qp->wait != LB_WAIT_NONE || __builtin_expect(qp->remote != NULL, 0) ||
            __builtin_expect(lb_length_of(wr) > LB_SHORT_COPY, 0)) {
        post_to_ring(qp, wr, posting, aftermath);
        return 0;
    }
    switch (execute(qp, wr, &failure, aftermath)) {
    case LB_DONE:
        count_done(qp, 1);
        break;
    case LB_NO_RECEIVE:
        keep(qp, wr);
        if (!lb_send_begin_waiting(qp, LB_WAIT_RNR))
            lb_send_fail_oldest(qp, lb_wait_failure(LB_WAIT_RNR), aftermath);
        break;
    case LB_NO_PEER:
        keep(qp, wr);
        if (!lb_send_begin_waiting(qp, LB_WAIT_PEER))
            lb_send_fail_oldest(qp, lb_wait_failure(LB_WAIT_PEER), aftermath);
        break;
    case LB_FAILED:
        lb_send_note_failure(qp, &failure);
        lb_complete_failed(qp, wr->wr_id, &failure, aftermath);
        /* fall through */
    case LB_COMPLETED_FAILED:
        count_done(qp, 1);
        lb_send_fail(qp, aftermath);
        break;
    case LB_AGAIN:   /* of long ones alone */
    case LB_DROPPED:
        break;
    }
    return 0;
}

/* The same under a fault plan, which has not refused it. */
static __attribute__((noinline)) int post_under_plan(struct lb_qp *qp, const struct ibv_send_wr *wr, struct posting *posting,
    struct lb_aftermath *aftermath)
{
    const int error = post_one(qp, wr, lb_execute_under_plan, posting, aftermath);

    if (!error)
        lb_qp_faults_accepted(qp, aftermath);
    return error;
}

static inline __attribute__((always_inline)) int post_any(struct lb_qp *qp, const struct ibv_send_wr *wr,
    struct posting *posting, struct lb_aftermath *aftermath)
{
    return __builtin_expect(qp->faults != NULL, 0) ? post_under_plan(qp, wr, posting, aftermath) :
        post_one(qp, wr, lb_execute, posting, aftermath);
}

static inline bool is_message(const struct ibv_send_wr *wr)
{
    return wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* How many requests from this one on are short messages that check_request accepts, for one run. */
static uint32_t length_of_run(const struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t limit)
{
    uint64_t bytes = 0;
    uint32_t count = 0;

    for (; wr != NULL && count < limit && is_message(wr) && check_request(qp, wr) == 0; wr = wr->next, count++) {
        bytes += lb_length_of(wr);
        if (bytes > LB_RUN_BYTES)
            break;
    }
    return count;
}

/* Executes the short writes from this one on whose regions are kept. Returns the request behind them. */
static inline struct ibv_send_wr *post_writes(struct lb_qp *qp, struct ibv_send_wr *wr, struct lb_aftermath *aftermath)
{
    /* As check_request: one element is permitted, since the post of the request that has left its region kept had one. */
    while (wr != NULL && wr->opcode == IBV_WR_RDMA_WRITE && has_room(qp, 1)) {
        struct ibv_send_wr *next = wr->next; /* a completed request may be its owner's again */

        if (!lb_write_kept(qp, wr, aftermath))
            break;
        count_done(qp, 1);
        wr = next;
    }
    return wr;
}

/*
 * In a list: executes the short writes from this one on, and then the messages that one section can deliver. Returns the request
 * behind them.
 */
static struct ibv_send_wr *post_run(struct lb_qp *qp, struct ibv_send_wr *wr, struct lb_aftermath *aftermath)
{
    const struct lb_qp *peer = qp->peer;

    if (qp->sq_error || qp->wait != LB_WAIT_NONE || qp->faults != NULL || peer == NULL || peer->proxy != NULL ||
            peer->faults != NULL || qp->send_cq->faults != NULL)
        return wr;
    wr = post_writes(qp, wr, aftermath);
    if (wr == NULL || !is_message(wr))
        return wr;
    const uint32_t room = has_room(qp, LB_RUN) ? LB_RUN : qp->sq_capacity - (qp->posted - qp->retired_seen);
    const uint32_t count = length_of_run(qp, wr, room);
    const uint32_t done = count > 1 ? lb_send_run(qp, &wr, count, aftermath) : 0;

    count_done(qp, done);
    return wr;
}

static int check_state(const struct lb_qp *qp)
{
    return qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_ERR ? 0 : EINVAL;
}

/* sq_lock held, and released. Executes the requests that the call has added to an idle ring, and the aftermath. */
static inline void end_posting(struct lb_qp *qp, struct posting *posting, struct lb_aftermath *aftermath)
{
    if (posting->sent && qp->remote != NULL)
        qp->remote->proxy->wake(qp->remote);
    if (__builtin_expect(posting->first && qp->remote != NULL, 0)) {
        lb_send_progress(qp, &posting->cost, aftermath);
        lb_lock_release(&qp->sq_lock);
    } else if (__builtin_expect(posting->first, 0)) {
        lb_qp_get(qp); /* the lock is free while it copies */
        lb_send_progress(qp, &posting->cost, aftermath);
        lb_lock_release(&qp->sq_lock);
        lb_qp_put(qp);
    } else {
        lb_lock_release(&qp->sq_lock);
    }
    if (lb_aftermath_any(aftermath))
        lb_aftermath_run(aftermath);
}

/* sq_lock held, and released. Posts a list. */
static __attribute__((noinline)) int post_list(struct lb_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    struct lb_aftermath aftermath = {0};
    struct posting posting = {0};
    int error = check_state(qp);
    const bool is_list = wr != NULL && wr->next != NULL;
    if (is_list)
        lb_keep_begin(qp);
    while (wr != NULL && !error) {
        if (is_list) {
            wr = post_run(qp, wr, &aftermath);
            if (wr == NULL)
                break;
        }
        struct ibv_send_wr *next = wr->next; /* a completed request may be its owner's again */
        error = __builtin_expect(qp->faults != NULL, 0) && lb_qp_faults_refuse(qp) ? ENOMEM :
            post_any(qp, wr, &posting, &aftermath);
        if (error)
            break;
        wr = next;
    }
    if (error)
        *bad_wr = wr;
    if (is_list)
        lb_keep_end(qp);
    end_posting(qp, &posting, &aftermath);
    return error;
}

int lb_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);
    const bool biased = lb_lock_take(&qp->sq_lock);

    if (qp->remote == NULL || wr == NULL || wr->next != NULL || qp->state != IBV_QPS_RTS || qp->faults != NULL ||
            !post_remote(qp, wr))
        return post_list(qp, wr, bad_wr);
    qp->remote->proxy->wake(qp->remote);
    lb_lock_return(&qp->sq_lock, biased);
    return 0;
}

int lb_post_send_all(struct lb_qp *qp, struct ibv_send_wr *first, uint32_t count)
{
    struct lb_aftermath aftermath = {0};
    struct posting posting = {0};

    lb_lock_acquire(&qp->sq_lock);
    int error = check_state(qp);
    for (const struct ibv_send_wr *wr = first; wr != NULL && !error; wr = wr->next)
        error = check_request(qp, wr);
    if (!error && !has_room(qp, count))
        error = ENOMEM;
    for (uint32_t i = 0; i < count && !error && qp->faults != NULL; i++)
        error = lb_qp_faults_refuse(qp) ? ENOMEM : 0;
    lb_keep_begin(qp);
    for (struct ibv_send_wr *wr = first; wr != NULL && !error; wr = wr != NULL ? wr->next : NULL) {
        if (count > 1)
            wr = post_run(qp, wr, &aftermath);
        if (wr != NULL)
            error = post_any(qp, wr, &posting, &aftermath);
    }
    lb_keep_end(qp);
    end_posting(qp, &posting, &aftermath);
    return error;
}
