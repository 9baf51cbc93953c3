/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute.c: execution of one send work request on the memory of both sides. See message.c for requests that consume a
 * receive.
 *
 * The order of the checks is that of hardware: the local elements, the peer, the peer's queue pair, its memory, its
 * receive buffer.
 */
#include <string.h>

#include "qp_fault.h"
#include "segments.h"

/* Apart from the next two, which are on the path of every short write and read. */
static __attribute__((noinline)) enum lb_outcome copy_long(struct lb_qp *qp, const struct lb_segments *local, char *host,
    bool writes, struct lb_aftermath *aftermath)
{
    struct lb_segments remote;

    lb_segments_of(&remote, host, local->total, NULL);
    return writes ? lb_copy_aside(qp, NULL, &remote, local, aftermath) :
        lb_copy_aside(qp, NULL, local, &remote, aftermath);
}

/* A proxy's request has one element, of the bytes of one record: a place in the segment. */
static __attribute__((noinline)) enum lb_outcome gather_for_proxy(struct lb_qp *qp, char *to, const struct lb_segments *from)
{
    if (from->count > 0)
        qp->proxy->fetch(qp, to, from->at[0].host, from->at[0].length);
    return LB_DONE;
}

static inline enum lb_outcome gather(struct lb_qp *qp, char *to, const struct lb_segments *from, struct lb_aftermath *aftermath)
{
    if (__builtin_expect(qp->proxy != NULL, 0))
        return gather_for_proxy(qp, to, from);
    if (__builtin_expect(from->total > LB_SHORT_COPY, 0))
        return copy_long(qp, from, to, true, aftermath);
    for (int i = 0; i < from->count; i++) {
        lb_copy_bytes(to, from->at[i].host, from->at[i].length);
        to += from->at[i].length;
    }
    return LB_DONE;
}

static __attribute__((noinline)) enum lb_outcome scatter_for_proxy(struct lb_qp *qp, const struct lb_segments *to, char *from)
{
    qp->proxy->copy(qp, to->at[0].host, from, to->at[0].length);
    return LB_DONE;
}

static inline enum lb_outcome scatter(struct lb_qp *qp, const struct lb_segments *to, char *from, struct lb_aftermath *aftermath)
{
    if (__builtin_expect(qp->proxy != NULL, 0))
        return scatter_for_proxy(qp, to, from);
    if (__builtin_expect(to->total > LB_SHORT_COPY, 0))
        return copy_long(qp, to, from, false, aftermath);
    for (int i = 0; i < to->count; i++) {
        lb_copy_bytes(to->at[i].host, from, to->at[i].length);
        from += to->at[i].length;
    }
    return LB_DONE;
}

/* The remote memory of a write or read, held; *region is NULL if the queue pair keeps it. */
static inline char *hold_remote(struct lb_qp *qp, const struct ibv_send_wr *wr, uint64_t length, unsigned int access,
    struct lb_region **region, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    if (__builtin_expect(!qp->keeps, 1))
        return lb_hold_remote(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, length, access, region, failure, aftermath);
    char *host = lb_look_at_kept(qp, wr, length, access);

    *region = NULL;
    if (host != NULL)
        return host;
    host = lb_hold_remote(qp, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, length, access, region, failure, aftermath);
    if (host != NULL) {
        if (qp->kept_remote != NULL)
            lb_region_release(qp->kept_remote);
        qp->kept_remote = *region;
        *region = NULL;
    }
    return host;
}

bool lb_write_kept(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_aftermath *aftermath)
{
    if (qp->kept_local == NULL || wr->num_sge != 1 || wr->send_flags & IBV_SEND_INLINE || qp->peer == NULL ||
            !lb_qp_responds_to(qp->peer, qp))
        return false;
    const struct ibv_sge *sge = &wr->sg_list[0];

    if (sge->length == 0 || sge->length > LB_SHORT_COPY)
        return false;
    const char *from = lb_region_look(qp->kept_local, sge->lkey, qp->base.qp_base.pd, sge->addr, sge->length, 0);
    char *to = lb_look_at_kept(qp, wr, sge->length, IBV_ACCESS_REMOTE_WRITE);

    if (from == NULL || to == NULL)
        return false;
    lb_copy_bytes(to, from, sge->length);
    lb_complete_done(qp, wr, sge->length, aftermath);
    return true;
}

/* RDMA write and read: bytes of this side's elements to, or from, the peer's memory. */
static inline __attribute__((always_inline)) enum lb_outcome access_remote(struct lb_qp *qp, const struct ibv_send_wr *wr,
    bool writes, struct lb_failure *failure, struct lb_aftermath *aftermath)
{
    struct lb_segments local;
    struct lb_region *region;
    enum lb_outcome outcome = LB_DONE;

    if (!lb_segments_hold(&local, qp, wr, writes ? 0 : IBV_ACCESS_LOCAL_WRITE, failure))
        return LB_FAILED;
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
    } else if (local.total > 0) {
        char *host = hold_remote(qp, wr, local.total, writes ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ, &region,
            failure, aftermath);

        if (host == NULL)
            outcome = LB_FAILED;
        else
            outcome = writes ? gather(qp, host, &local, aftermath) : scatter(qp, &local, host, aftermath);
        if (host != NULL && region != NULL)
            lb_region_release(region);
    }
    if (outcome == LB_DONE)
        lb_complete_done(qp, wr, (uint32_t)local.total, aftermath);
    lb_segments_release(&local);
    return outcome;
}

/* Compare-and-swap, fetch-and-add and atomic write: eight aligned bytes of the peer's memory. */
static enum lb_outcome atomic_remote(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
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
    /* check_request has seen 8 bytes. If another thread has changed the request since, by mistake, there is no memory. */
    if (segments.count == 0 || segments.at[0].length < sizeof(value)) {
        failure->status = IBV_WC_LOC_LEN_ERR;
        failure->vendor_err = RINGPOLL_LOOPBACK_VERR_LOCAL_BOUNDS;
        outcome = LB_FAILED;
        goto release_segments;
    }
    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp)) {
        outcome = LB_NO_PEER;
        goto release_segments;
    }
    if (address & 7) {
        outcome = lb_refuse(qp, IBV_EVENT_QP_REQ_ERR, failure, IBV_WC_REM_INV_REQ_ERR,
            RINGPOLL_LOOPBACK_VERR_ALIGNMENT, aftermath);
        goto release_segments;
    }
    _Atomic uint64_t *target = (_Atomic uint64_t *)(void *)lb_hold_remote(qp, rkey, address, 8,
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
    lb_complete_done(qp, wr, 8, aftermath);

release_segments:
    lb_segments_release(&segments);
    return outcome;
}

/* A proxy's request that the fault plan of the other process wants to be refused. */
static enum lb_outcome refuse_as_planned(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    const enum ibv_wc_status status = (enum ibv_wc_status)wr->imm_data;

    if (qp->peer == NULL || !lb_qp_responds_to(qp->peer, qp))
        return LB_NO_PEER;
    return lb_refuse(qp, status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR, failure,
        status, RINGPOLL_LOOPBACK_VERR_INJECTED, aftermath);
}

enum lb_outcome lb_execute(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    const unsigned int opcode = wr->opcode;

    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
        if (__builtin_expect(qp->keeps, 0) && lb_write_kept(qp, wr, aftermath))
            return LB_DONE;
        return access_remote(qp, wr, true, failure, aftermath);
    case IBV_WR_RDMA_READ:
        return access_remote(qp, wr, false, failure, aftermath);
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return lb_send_message(qp, wr, failure, aftermath);
    case LB_WR_REFUSED:
        return refuse_as_planned(qp, wr, failure, aftermath);
    default: /* check_request has let nothing else pass */
        return atomic_remote(qp, wr, failure, aftermath);
    }
}

enum lb_outcome lb_execute_under_plan(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    const enum lb_outcome outcome = lb_qp_faults_before(qp, wr, failure, aftermath);

    return outcome == LB_DONE ? lb_execute(qp, wr, failure, aftermath) : outcome;
}
