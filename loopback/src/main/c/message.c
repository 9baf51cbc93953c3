/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c: work requests that consume a receive of the peer, and their failures.
 *
 * The sender's completion is visible before the receiver's, as on hardware, where a reply to a message cannot overtake
 * the acknowledgement of that message.
 */
#include "qp_fault.h"
#include "segments.h"

/* Peer's rq_lock held. Takes the oldest receive for the message. NULL: there is none, and the next post of one wakes the sender. */
static const struct lb_recv *take_receive(struct lb_qp *qp, struct lb_qp *peer)
{
    if (peer->srq != NULL) {
        if (peer->recv_taken || lb_srq_take(peer->srq, peer->taken, qp)) {
            peer->recv_taken = true;
            return peer->taken;
        }
        qp->waiting_srq = peer->srq;
    } else if (lb_recv_ring_count(&peer->recv_ring) > 0) {
        return lb_recv_ring_first(&peer->recv_ring);
    }
    peer->sender_waits = true;
    return NULL;
}

static void push_receive(struct lb_qp *peer, struct lb_cqe *cqe, bool solicited,
    struct lb_aftermath *aftermath)
{
    if (peer->srq == NULL)
        peer->recv_ring.consumed++;
    peer->recv_taken = false;
    cqe->qp = NULL; /* a receive's slot was free when it was taken */
    if (!lb_cq_push(peer->recv_cq, cqe, solicited))
        lb_aftermath_fail(aftermath, peer, IBV_EVENT_QP_FATAL);
}

/*
 * Peer's rq_lock held. A message that does not fit its receive moves both sides to the error state; *failure is the
 * status.
 */
static enum lb_outcome refuse_message(struct lb_qp *qp, const struct ibv_send_wr *wr, const struct lb_recv *recv,
    const struct lb_failure *receiver, const struct lb_failure *sender, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    struct lb_qp *peer = qp->peer;
    struct lb_cqe cqe;

    lb_cqe_fail(&cqe, recv->wr_id, lb_qp_num(peer), receiver->status, receiver->vendor_err);
    (void)lb_refuse(qp, IBV_EVENT_QP_REQ_ERR, failure, sender->status, sender->vendor_err, aftermath);
    lb_complete_failed(qp, wr->wr_id, failure, aftermath);
    push_receive(peer, &cqe, true, aftermath);
    peer->rq_error = true;
    lb_recv_flush(peer, aftermath);
    return LB_COMPLETED_FAILED;
}

/* Whether the receive can take a message, or a part of it, from byte `begin` up to byte `end`, and then its elements, held. */
static bool hold_receive(const struct lb_qp *peer, const struct lb_recv *recv, uint64_t begin, uint64_t end,
    struct lb_segments *to, struct lb_failure *receiver, struct lb_failure *sender)
{
    /* A receive belongs to the protection domain of the queue that it was posted to. */
    const struct ibv_pd *pd = peer->srq != NULL ? peer->srq->base.pd : peer->base.qp_base.pd;
    uint64_t room = 0;

    for (uint32_t i = 0; i < recv->num_sge; i++)
        room += recv->sge[i].length;
    if (end > room) {
        *receiver = (struct lb_failure){IBV_WC_LOC_LEN_ERR, RINGPOLL_LOOPBACK_VERR_RECV_TOO_SHORT};
        *sender = (struct lb_failure){IBV_WC_REM_INV_REQ_ERR, RINGPOLL_LOOPBACK_VERR_RECV_TOO_SHORT};
        return false;
    }
    const uint32_t reason = lb_segments_hold_receive(to, pd, recv, begin, end);
    if (reason != 0) {
        *receiver = (struct lb_failure){IBV_WC_LOC_PROT_ERR, reason};
        *sender = (struct lb_failure){IBV_WC_REM_OP_ERR, RINGPOLL_LOOPBACK_VERR_RECV_BUFFER};
        return false;
    }
    return true;
}

/* Peer's rq_lock held; the message has its receive, and *to is held. Completes both sides, the sender first. */
static void complete_message(struct lb_qp *qp, const struct ibv_send_wr *wr, const struct lb_recv *recv, uint32_t length,
    struct lb_aftermath *aftermath)
{
    const bool immediate = wr->opcode != IBV_WR_SEND;
    struct lb_qp *peer = qp->peer;
    struct lb_cqe cqe = {
        .wc = {
            .wr_id = recv->wr_id,
            .status = IBV_WC_SUCCESS,
            .opcode = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
            .byte_len = qp->bytes_before + length,
            .imm_data = immediate ? wr->imm_data : 0,
            .qp_num = lb_qp_num(peer),
            .src_qp = lb_qp_num(qp),
            .wc_flags = immediate ? IBV_WC_WITH_IMM : 0,
        },
    };
    const bool solicited = wr->send_flags & IBV_SEND_SOLICITED;

    lb_complete_done(qp, wr, length, aftermath);
    push_receive(peer, &cqe, solicited, aftermath);
}

/* Peer's rq_lock held, and free meanwhile if the message is long; its memory is held if it is a write. */
static enum lb_outcome deliver(struct lb_qp *qp, const struct ibv_send_wr *wr, const struct lb_segments *from,
    const struct lb_segments *target, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    struct lb_failure receiver = {IBV_WC_SUCCESS, RINGPOLL_LOOPBACK_VERR_INJECTED};
    struct lb_failure sender = {IBV_WC_REM_OP_ERR, RINGPOLL_LOOPBACK_VERR_INJECTED};
    struct lb_qp *peer = qp->peer;
    struct lb_segments filled;
    enum lb_outcome outcome;

    const struct lb_recv *recv = take_receive(qp, peer);
    if (recv == NULL)
        return LB_NO_RECEIVE;
    if (__builtin_expect(peer->faults != NULL, 0) && !qp->is_part)
        receiver.status = lb_qp_faults_receive(peer);
    if (receiver.status != IBV_WC_SUCCESS)
        return refuse_message(qp, wr, recv, &receiver, &sender, failure, aftermath);
    if (target != NULL) {
        outcome = lb_copy(qp, peer, target, from, aftermath);
    } else {
        if (!hold_receive(peer, recv, qp->bytes_before, qp->bytes_before + from->total, &filled, &receiver, &sender))
            return refuse_message(qp, wr, recv, &receiver, &sender, failure, aftermath);
        outcome = lb_copy(qp, peer, &filled, from, aftermath);
        lb_segments_release(&filled);
    }
    if (outcome == LB_DONE && __builtin_expect(qp->is_part, 0))
        lb_complete_done(qp, wr, (uint32_t)from->total, aftermath);
    else if (outcome == LB_DONE)
        complete_message(qp, wr, recv, (uint32_t)from->total, aftermath);
    return outcome;
}

enum lb_outcome lb_send_message(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    struct lb_qp *peer = qp->peer;
    struct lb_segments segments;
    struct lb_segments target;
    struct lb_region *region = NULL;
    enum lb_outcome outcome;

    if (!lb_segments_hold(&segments, qp, wr, 0, failure))
        return LB_FAILED;
    outcome = LB_NO_PEER;
    if (peer == NULL)
        goto release_segments;
    const bool is_long = segments.total > LB_SHORT_COPY;
    if (is_long)
        lb_qp_get(peer); /* its rq_lock is taken again after the copy */
    lb_lock_acquire(&peer->rq_lock);
    if (peer->rq_error || !lb_qp_responds_to(peer, qp))
        goto unlock;
    if (wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
        target.count = 0;
        if (segments.total > 0) {
            char *host = lb_hold_remote(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, segments.total,
                IBV_ACCESS_REMOTE_WRITE, &region, failure, aftermath);

            outcome = LB_FAILED;
            if (host == NULL)
                goto unlock;
            lb_segments_of(&target, host, segments.total, region);
        }
        outcome = deliver(qp, wr, &segments, &target, failure, aftermath);
    } else {
        outcome = deliver(qp, wr, &segments, NULL, failure, aftermath);
    }
    if (region != NULL)
        lb_region_release(region);

unlock:
    lb_lock_release(&peer->rq_lock);
    if (is_long)
        lb_qp_put(peer);
release_segments:
    lb_segments_release(&segments);
    return outcome;
}
