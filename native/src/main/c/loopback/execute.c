/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute.c: what one send work request does to this side's memory and the peer's. Those that
 * take a receive are in message.c.
 *
 * Checks come in the order in which hardware meets them: the local elements, the peer, the
 * peer's queue pair, its memory, its receive buffer.
 */
#include <string.h>

#include "segments.h"

enum lb_outcome lb_refuse(struct lb_qp *peer, enum ibv_event_type event,
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

char *lb_hold_remote(struct lb_qp *peer, uint32_t rkey, uint64_t address, uint64_t length,
    unsigned int access, struct lb_region **region, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    uint32_t reason;

    if (access & ~atomic_load_explicit(&peer->remote_access, memory_order_relaxed)) {
        (void)lb_refuse(peer, IBV_EVENT_QP_REQ_ERR, failure, IBV_WC_REM_INV_REQ_ERR,
            RINGPOLL_LOOPBACK_VERR_QP_ACCESS, aftermath);
        return NULL;
    }
    char *host = lb_region_hold_remote(rkey, peer->base.qp_base.pd, address, length, access,
        region, &reason);
    if (host == NULL)
        (void)lb_refuse(peer, IBV_EVENT_QP_ACCESS_ERR, failure, IBV_WC_REM_ACCESS_ERR, reason,
            aftermath);
    return host;
}

static enum lb_outcome write_remote(struct lb_qp *qp, const struct ibv_send_wr *wr,
    uint32_t *length, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    struct lb_segments segments;
    struct lb_region *region;
    enum lb_outcome outcome = LB_DONE;

    if (!lb_segments_hold(&segments, qp, wr, 0, failure))
        return LB_FAILED;
    *length = (uint32_t)segments.total;
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
    } else if (segments.total > 0) {
        char *host = lb_hold_remote(qp->peer, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
            segments.total, IBV_ACCESS_REMOTE_WRITE, &region, failure, aftermath);

        if (host == NULL) {
            outcome = LB_FAILED;
        } else {
            lb_segments_gather(host, &segments);
            lb_region_release(region);
        }
    }
    lb_segments_release(&segments);
    return outcome;
}

static enum lb_outcome read_remote(struct lb_qp *qp, const struct ibv_send_wr *wr,
    uint32_t *length, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    struct lb_segments segments;
    struct lb_region *region;
    enum lb_outcome outcome = LB_DONE;

    if (!lb_segments_hold(&segments, qp, wr, IBV_ACCESS_LOCAL_WRITE, failure))
        return LB_FAILED;
    *length = (uint32_t)segments.total;
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
    } else if (segments.total > 0) {
        const char *host = lb_hold_remote(qp->peer, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
            segments.total, IBV_ACCESS_REMOTE_READ, &region, failure, aftermath);

        if (host == NULL) {
            outcome = LB_FAILED;
        } else {
            lb_segments_scatter(&segments, host);
            lb_region_release(region);
        }
    }
    lb_segments_release(&segments);
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
    struct lb_segments segments;
    struct lb_region *region;
    enum lb_outcome outcome = LB_DONE;
    uint64_t value;

    if (!lb_segments_hold(&segments, qp, wr, writes ? 0 : IBV_ACCESS_LOCAL_WRITE, failure))
        return LB_FAILED;
    *length = 8;
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
        goto release_segments;
    }
    if (address & 7) {
        outcome = lb_refuse(qp->peer, IBV_EVENT_QP_REQ_ERR, failure, IBV_WC_REM_INV_REQ_ERR,
            RINGPOLL_LOOPBACK_VERR_ALIGNMENT, aftermath);
        goto release_segments;
    }
    _Atomic uint64_t *target = (_Atomic uint64_t *)(void *)lb_hold_remote(qp->peer, rkey, address, 8,
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
    lb_segments_release(&segments);
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
        return lb_send_message(qp, wr, length, failure, aftermath);
    default: /* check_request has let nothing else pass */
        return atomic_remote(qp, wr, length, failure, aftermath);
    }
}
