/* SPDX-License-Identifier: Apache-2.0 */
/* message.c: work requests that take one of the peer's receives, and what can go wrong with it. */
#include "qp_fault.h"
#include "segments.h"

/* A receive of the peer, in the peer's ring or copied out of its shared receive queue. */
struct received {
    const struct lb_recv *recv;
    _Alignas(struct lb_recv) char room[sizeof(struct lb_recv) + LB_MAX_SGE * sizeof(struct ibv_sge)];
};

/* Peer's rq_lock held. Takes the oldest receive, or leaves word that we wait for one. */
static bool take_receive(struct lb_qp *qp, struct lb_qp *peer, struct received *received)
{
    if (peer->srq != NULL) {
        struct lb_recv *copied = (struct lb_recv *)(void *)received->room;

        received->recv = copied;
        if (lb_srq_take(peer->srq, copied, qp))
            return true;
        qp->waiting_srq = peer->srq;
    } else if (lb_recv_ring_count(&peer->recv_ring) > 0) {
        received->recv = lb_recv_ring_first(&peer->recv_ring);
        return true;
    }
    peer->sender_waits = true;
    return false;
}

static void push_receive(struct lb_qp *peer, struct lb_cqe *cqe, bool solicited,
    struct lb_aftermath *aftermath)
{
    if (peer->srq == NULL)
        peer->recv_ring.consumed++;
    cqe->qp = NULL; /* a receive's slot was free when it was taken */
    if (!lb_cq_push(peer->recv_cq, cqe, solicited) && aftermath->fail == NULL) {
        lb_qp_get(peer);
        aftermath->fail = peer;
        aftermath->event = IBV_EVENT_QP_FATAL;
    }
}

/* Peer's rq_lock held. A message that its receive cannot take brings both sides down. */
static enum lb_outcome refuse_message(struct lb_qp *peer, const struct lb_recv *recv,
    enum ibv_wc_status recv_status, uint32_t vendor_err, struct lb_failure *failure,
    enum ibv_wc_status send_status, struct lb_aftermath *aftermath)
{
    struct lb_cqe cqe;

    lb_cqe_fail(&cqe, recv->wr_id, lb_qp_num(peer), recv_status, vendor_err);
    push_receive(peer, &cqe, true, aftermath);
    (void)lb_refuse(peer, IBV_EVENT_QP_REQ_ERR, failure, send_status, vendor_err, aftermath);
    peer->rq_error = true;
    lb_recv_flush(peer, aftermath);
    return LB_FAILED;
}

/* Copies a message into the elements of a receive. Returns 0, or why its region is not usable. */
static uint32_t fill(const struct lb_qp *peer, const struct lb_recv *recv,
    const struct lb_segments *from)
{
    /* A receive belongs to the protection domain of the queue that it was posted to. */
    const struct ibv_pd *pd = peer->srq != NULL ? peer->srq->base.pd : peer->base.qp_base.pd;
    uint64_t left = from->total;
    int segment = 0;
    uint32_t offset = 0;

    for (uint32_t i = 0; i < recv->num_sge && left > 0; i++) {
        const struct ibv_sge *sge = &recv->sge[i];
        uint32_t room = sge->length < left ? sge->length : (uint32_t)left;
        struct lb_region *region;
        uint32_t reason;

        if (room == 0)
            continue;
        char *to = lb_region_hold_local(sge->lkey, pd, sge->addr, room, IBV_ACCESS_LOCAL_WRITE, &region, &reason);
        if (to == NULL)
            return reason;
        left -= room;
        while (room > 0) {
            const uint32_t piece = from->at[segment].length - offset < room ?
                from->at[segment].length - offset : room;

            lb_copy(to, from->at[segment].host + offset, piece);
            to += piece;
            room -= piece;
            offset += piece;
            if (offset == from->at[segment].length) {
                segment++;
                offset = 0;
            }
        }
        lb_region_release(region);
    }
    return 0;
}

/* SEND, SEND with immediate and WRITE with immediate: what takes one of the peer's receives. */
enum lb_outcome lb_send_message(struct lb_qp *qp, const struct ibv_send_wr *wr,
    uint32_t *length, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    const bool writes = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    const bool immediate = wr->opcode != IBV_WR_SEND;
    struct lb_qp *peer = qp->peer;
    struct lb_segments segments;
    struct lb_region *region = NULL;
    struct received received;
    char *target = NULL;
    enum lb_outcome outcome;

    if (!lb_segments_hold(&segments, qp, wr, 0, failure))
        return LB_FAILED;
    *length = (uint32_t)segments.total;
    outcome = LB_NO_PEER;
    if (peer == NULL)
        goto release_segments;
    lb_lock_acquire(&peer->rq_lock);
    if (peer->rq_error || !lb_qp_responds_to(peer, qp))
        goto unlock;
    outcome = LB_FAILED;
    if (writes && segments.total > 0) {
        target = lb_hold_remote(peer, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, segments.total,
            IBV_ACCESS_REMOTE_WRITE, &region, failure, aftermath);
        if (target == NULL)
            goto unlock;
    }
    if (!take_receive(qp, peer, &received)) {
        outcome = LB_NO_RECEIVE;
        goto release_region;
    }
    const struct lb_recv *recv = received.recv;
    const enum ibv_wc_status planned =
        __builtin_expect(peer->faults != NULL, 0) ? lb_qp_faults_receive(peer) : IBV_WC_SUCCESS;
    if (planned != IBV_WC_SUCCESS) {
        outcome = refuse_message(peer, recv, planned, RINGPOLL_LOOPBACK_VERR_INJECTED, failure, IBV_WC_REM_OP_ERR,
            aftermath);
        goto release_region;
    }
    if (writes) {
        if (target != NULL)
            lb_segments_gather(target, &segments);
    } else {
        uint64_t room = 0;

        for (uint32_t i = 0; i < recv->num_sge; i++)
            room += recv->sge[i].length;
        if (segments.total > room) {
            outcome = refuse_message(peer, recv, IBV_WC_LOC_LEN_ERR,
                RINGPOLL_LOOPBACK_VERR_RECV_TOO_SHORT, failure, IBV_WC_REM_INV_REQ_ERR, aftermath);
            goto release_region;
        }
        const uint32_t reason = fill(peer, recv, &segments);
        if (reason != 0) {
            outcome = refuse_message(peer, recv, IBV_WC_LOC_PROT_ERR, reason, failure,
                IBV_WC_REM_OP_ERR, aftermath);
            failure->vendor_err = RINGPOLL_LOOPBACK_VERR_RECV_BUFFER;
            goto release_region;
        }
    }
    struct lb_cqe cqe = {
        .wc = {
            .wr_id = recv->wr_id,
            .status = IBV_WC_SUCCESS,
            .opcode = writes ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
            .byte_len = *length,
            .imm_data = immediate ? wr->imm_data : 0,
            .qp_num = lb_qp_num(peer),
            .src_qp = lb_qp_num(qp),
            .wc_flags = immediate ? IBV_WC_WITH_IMM : 0,
        },
    };
    push_receive(peer, &cqe, wr->send_flags & IBV_SEND_SOLICITED, aftermath);
    outcome = LB_DONE;

release_region:
    if (region != NULL)
        lb_region_release(region);
unlock:
    lb_lock_release(&peer->rq_lock);
release_segments:
    lb_segments_release(&segments);
    return outcome;
}
