/* SPDX-License-Identifier: Apache-2.0 */
/* complete.c: completions of send work requests, and notes of failures. */
#include "execute.h"

void lb_send_note_failure(struct lb_qp *qp, const struct lb_failure *failure)
{
    qp->failed = qp->executed;
    qp->failure.vendor_err = failure->vendor_err;
    atomic_signal_fence(memory_order_release); /* the thread is not in the child, whose memory is as after one of its stores */
    qp->failure.status = failure->status;
    atomic_signal_fence(memory_order_release);
}

/* The first of several failures counts. */
static void note_due(struct lb_qp *qp, enum ibv_event_type event)
{
    uint32_t none = 0;

    (void)atomic_compare_exchange_strong_explicit(&qp->failure_due, &none, event, memory_order_release, memory_order_relaxed);
}

void lb_aftermath_fail(struct lb_aftermath *aftermath, struct lb_qp *qp, enum ibv_event_type event)
{
    if (aftermath->fail != NULL)
        return;
    note_due(qp, event);
    lb_qp_get(qp);
    aftermath->fail = qp;
    aftermath->event = event;
}

void lb_aftermath_overrun(struct lb_aftermath *aftermath, struct lb_qp *qp)
{
    if (aftermath->overrun != NULL)
        return;
    note_due(qp, IBV_EVENT_QP_FATAL);
    lb_qp_get(qp);
    aftermath->overrun = qp;
}

static void push(struct lb_qp *qp, struct lb_cqe *cqe, bool solicited, struct lb_aftermath *aftermath)
{
    if (__builtin_expect(qp->proxy != NULL, 0)) {
        qp->proxy->completed(qp, &cqe->wc);
        return;
    }
    cqe->qp = qp;
    cqe->retired = qp->executed + 1;
    cqe->reserved = 0;
    if (!lb_cq_push(qp->send_cq, cqe, solicited))
        lb_aftermath_overrun(aftermath, qp);
}

void lb_complete_failed(struct lb_qp *qp, uint64_t wr_id, const struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    struct lb_cqe cqe;

    lb_cqe_fail(&cqe, wr_id, lb_qp_num(qp), failure->status, failure->vendor_err);
    push(qp, &cqe, true, aftermath);
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

void lb_complete_done(struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t length,
    struct lb_aftermath *aftermath)
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
    push(qp, &cqe, false, aftermath);
}
