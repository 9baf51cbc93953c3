/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute.c: what one send work request does to this side's memory, the peer's, and its receives.
 *
 * Checks come in the order in which hardware meets them: the local elements, the peer, the
 * peer's queue pair, its memory, its receive buffer.
 */
#include <string.h>

#include "execute.h"
#include "memory.h"

/* The memory a work request's elements stand for, held until released. */
struct segments {
    int count;
    uint64_t total;
    struct {
        char *host;
        uint32_t length;
        struct lb_region *region; /* NULL for inline data */
    } at[LB_MAX_SGE];
};

static void release(const struct segments *segments)
{
    for (int i = 0; i < segments->count; i++) {
        if (segments->at[i].region != NULL)
            lb_region_release(segments->at[i].region);
    }
}

static bool hold(struct segments *segments, const struct lb_qp *qp, const struct ibv_send_wr *wr,
    unsigned int access, struct lb_failure *failure)
{
    const bool is_inline = wr->send_flags & IBV_SEND_INLINE;

    segments->count = 0;
    segments->total = 0;
    for (int i = 0; i < wr->num_sge; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        const int at = segments->count;

        if (sge->length == 0) /* nothing is touched, so no key is looked at */
            continue;
        if (is_inline) {
            segments->at[at].host = (char *)(uintptr_t)sge->addr;
            segments->at[at].region = NULL;
        } else {
            segments->at[at].host = lb_region_hold_local(sge->lkey, qp->base.qp_base.pd, sge->addr,
                sge->length, access, &segments->at[at].region, &failure->vendor_err);
            if (segments->at[at].host == NULL) {
                failure->status = IBV_WC_LOC_PROT_ERR;
                release(segments);
                return false;
            }
        }
        segments->at[at].length = sge->length;
        segments->total += sge->length;
        segments->count++;
    }
    if (segments->total > LB_MAX_MESSAGE) {
        failure->status = IBV_WC_LOC_LEN_ERR;
        failure->vendor_err = RINGPOLL_LOOPBACK_VERR_MESSAGE_SIZE;
        release(segments);
        return false;
    }
    return true;
}

/* Copies; eight aligned bytes in one piece, for librpma writes them so as an atomic write. */
static void copy(char *to, const char *from, size_t length)
{
    if (length == 8 && ((uintptr_t)to & 7) == 0) {
        uint64_t value;

        memcpy(&value, from, sizeof(value));
        atomic_store_explicit((_Atomic uint64_t *)(void *)to, value, memory_order_release);
    } else {
        memmove(to, from, length);
    }
}

static void gather(char *to, const struct segments *from)
{
    for (int i = 0; i < from->count; i++) {
        copy(to, from->at[i].host, from->at[i].length);
        to += from->at[i].length;
    }
}

static void scatter(const struct segments *to, const char *from)
{
    for (int i = 0; i < to->count; i++) {
        copy(to->at[i].host, from, to->at[i].length);
        from += to->at[i].length;
    }
}

/* What the peer refuses brings it down as well; the requester's failure says why. */
static enum lb_outcome refuse(struct lb_qp *peer, enum ibv_event_type event,
    struct lb_failure *failure, enum ibv_wc_status status, uint32_t vendor_err,
    struct lb_aftermath *aftermath)
{
    failure->status = status;
    failure->vendor_err = vendor_err;
    atomic_store_explicit(&peer->responding, false, memory_order_release);
    if (aftermath->fail == NULL) {
        lb_qp_get(peer);
        aftermath->fail = peer;
        aftermath->event = event;
    }
    return LB_FAILED;
}

/* Holds the peer's memory that an operation names, with the rights that it needs. */
static char *hold_remote(struct lb_qp *peer, uint32_t rkey, uint64_t address, uint64_t length,
    unsigned int access, struct lb_region **region, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    uint32_t reason;

    if (access & ~atomic_load_explicit(&peer->remote_access, memory_order_relaxed)) {
        (void)refuse(peer, IBV_EVENT_QP_REQ_ERR, failure, IBV_WC_REM_INV_REQ_ERR,
            RINGPOLL_LOOPBACK_VERR_QP_ACCESS, aftermath);
        return NULL;
    }
    char *host = lb_region_hold_remote(rkey, peer->base.qp_base.pd, address, length, access,
        region, &reason);
    if (host == NULL)
        (void)refuse(peer, IBV_EVENT_QP_ACCESS_ERR, failure, IBV_WC_REM_ACCESS_ERR, reason,
            aftermath);
    return host;
}

static enum lb_outcome write_remote(struct lb_qp *qp, const struct ibv_send_wr *wr,
    uint32_t *length, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    struct segments segments;
    struct lb_region *region;
    enum lb_outcome outcome = LB_DONE;

    if (!hold(&segments, qp, wr, 0, failure))
        return LB_FAILED;
    *length = (uint32_t)segments.total;
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
    } else if (segments.total > 0) {
        char *host = hold_remote(qp->peer, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
            segments.total, IBV_ACCESS_REMOTE_WRITE, &region, failure, aftermath);

        if (host == NULL) {
            outcome = LB_FAILED;
        } else {
            gather(host, &segments);
            lb_region_release(region);
        }
    }
    release(&segments);
    return outcome;
}

static enum lb_outcome read_remote(struct lb_qp *qp, const struct ibv_send_wr *wr,
    uint32_t *length, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    struct segments segments;
    struct lb_region *region;
    enum lb_outcome outcome = LB_DONE;

    if (!hold(&segments, qp, wr, IBV_ACCESS_LOCAL_WRITE, failure))
        return LB_FAILED;
    *length = (uint32_t)segments.total;
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
    } else if (segments.total > 0) {
        const char *host = hold_remote(qp->peer, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
            segments.total, IBV_ACCESS_REMOTE_READ, &region, failure, aftermath);

        if (host == NULL) {
            outcome = LB_FAILED;
        } else {
            scatter(&segments, host);
            lb_region_release(region);
        }
    }
    release(&segments);
    return outcome;
}

/* Compare-and-swap, fetch-and-add and atomic write: eight aligned bytes of the peer's memory. */
static enum lb_outcome atomic_remote(struct lb_qp *qp, const struct ibv_send_wr *wr,
    uint32_t *length, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    const unsigned int opcode = wr->opcode;
    const bool writes = opcode == LB_WR_ATOMIC_WRITE;
    const uint64_t address = writes ? wr->wr.rdma.remote_addr : wr->wr.atomic.remote_addr;
    const uint32_t rkey = writes ? wr->wr.rdma.rkey : wr->wr.atomic.rkey;
    struct segments segments;
    struct lb_region *region;
    enum lb_outcome outcome = LB_DONE;
    uint64_t value;

    if (!hold(&segments, qp, wr, writes ? 0 : IBV_ACCESS_LOCAL_WRITE, failure))
        return LB_FAILED;
    *length = 8;
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
        goto release_segments;
    }
    if (address & 7) {
        outcome = refuse(qp->peer, IBV_EVENT_QP_REQ_ERR, failure, IBV_WC_REM_INV_REQ_ERR,
            RINGPOLL_LOOPBACK_VERR_ALIGNMENT, aftermath);
        goto release_segments;
    }
    _Atomic uint64_t *target = (_Atomic uint64_t *)(void *)hold_remote(qp->peer, rkey, address, 8,
        writes ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_ATOMIC, &region, failure, aftermath);
    if (target == NULL) {
        outcome = LB_FAILED;
        goto release_segments;
    }
    if (writes) {
        memcpy(&value, segments.at[0].host, sizeof(value));
        atomic_store(target, value);
    } else {
        if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            value = atomic_fetch_add(target, wr->wr.atomic.compare_add);
        } else {
            value = wr->wr.atomic.compare_add;
            (void)atomic_compare_exchange_strong(target, &value, wr->wr.atomic.swap);
        }
        memcpy(segments.at[0].host, &value, sizeof(value));
    }
    lb_region_release(region);

release_segments:
    release(&segments);
    return outcome;
}

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
    (void)refuse(peer, IBV_EVENT_QP_REQ_ERR, failure, send_status, vendor_err, aftermath);
    peer->rq_error = true;
    lb_recv_flush(peer, aftermath);
    return LB_FAILED;
}

/* Copies a message into the elements of a receive. Returns 0, or why its region is not usable. */
static uint32_t fill(const struct lb_qp *peer, const struct lb_recv *recv,
    const struct segments *from)
{
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
        char *to = lb_region_hold_local(sge->lkey, peer->base.qp_base.pd, sge->addr, room,
            IBV_ACCESS_LOCAL_WRITE, &region, &reason);
        if (to == NULL)
            return reason;
        left -= room;
        while (room > 0) {
            const uint32_t piece = from->at[segment].length - offset < room ?
                from->at[segment].length - offset : room;

            copy(to, from->at[segment].host + offset, piece);
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
static enum lb_outcome send_message(struct lb_qp *qp, const struct ibv_send_wr *wr,
    uint32_t *length, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    const bool writes = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    const bool immediate = wr->opcode != IBV_WR_SEND;
    struct lb_qp *peer = qp->peer;
    struct segments segments;
    struct lb_region *region = NULL;
    struct received received;
    char *target = NULL;
    enum lb_outcome outcome;

    if (!hold(&segments, qp, wr, 0, failure))
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
        target = hold_remote(peer, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, segments.total,
            IBV_ACCESS_REMOTE_WRITE, &region, failure, aftermath);
        if (target == NULL)
            goto unlock;
    }
    if (!take_receive(qp, peer, &received)) {
        outcome = LB_NO_RECEIVE;
        goto release_region;
    }
    const struct lb_recv *recv = received.recv;
    if (writes) {
        if (target != NULL)
            gather(target, &segments);
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
    release(&segments);
    return outcome;
}

enum lb_outcome lb_execute(struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t *length,
    struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    const unsigned int opcode = wr->opcode;

    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
        return write_remote(qp, wr, length, failure, aftermath);
    case IBV_WR_RDMA_READ:
        return read_remote(qp, wr, length, failure, aftermath);
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return send_message(qp, wr, length, failure, aftermath);
    default: /* check_request has let nothing else pass */
        return atomic_remote(qp, wr, length, failure, aftermath);
    }
}
