/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c: the effect of a requester on its peer: held memory, refusals, long copies; the pause that the peer asks for.
 */
#include "segments.h"

/* Nanoseconds of the 5-bit min_rnr_timer codes: InfiniBand specification, table "RNR NAK timer". */
static const uint32_t rnr_timer_us[32] = {
    655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840,
    5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680,
    491520,
};

enum lb_outcome lb_refuse(struct lb_qp *qp, enum ibv_event_type event,
    struct lb_failure *failure, enum ibv_wc_status status, uint32_t vendor_err,
    struct lb_aftermath *aftermath)
{
    failure->status = status;
    failure->vendor_err = vendor_err;
    lb_send_note_failure(qp, failure);
    lb_aftermath_fail(aftermath, qp->peer, event);
    atomic_store_explicit(&qp->peer->responding, false, memory_order_release);
    return LB_FAILED;
}

char *lb_hold_remote(struct lb_qp *qp, uint32_t rkey, uint64_t address, uint64_t length,
    unsigned int access, struct lb_region **region, struct lb_failure *failure,
    struct lb_aftermath *aftermath)
{
    struct lb_qp *peer = qp->peer;
    uint32_t reason;

    if (access & ~atomic_load_explicit(&peer->remote_access, memory_order_relaxed)) {
        (void)lb_refuse(qp, IBV_EVENT_QP_REQ_ERR, failure, IBV_WC_REM_INV_REQ_ERR,
            RINGPOLL_LOOPBACK_VERR_QP_ACCESS, aftermath);
        return NULL;
    }
    char *host = lb_region_hold_remote(rkey, peer->base.qp_base.pd, address, length, access,
        region, &reason);
    if (host == NULL)
        (void)lb_refuse(qp, IBV_EVENT_QP_ACCESS_ERR, failure, IBV_WC_REM_ACCESS_ERR, reason,
            aftermath);
    return host;
}

/* Both locks held; the receiver is NULL for a request without a receive. */
static void begin_copy(struct lb_qp *qp, struct lb_qp *receiver, struct lb_qp *peer)
{
    lb_qp_get(peer);
    atomic_fetch_add_explicit(&peer->copies, 1, memory_order_acq_rel);
    atomic_fetch_add_explicit(&qp->copies, 1, memory_order_relaxed);
    qp->copies_out++;
    qp->wait = LB_WAIT_COPY;
    if (receiver != NULL)
        receiver->copies_in++;
}

/* Both locks held. Makes the flushes that have waited for the copy. */
static void end_copy(struct lb_qp *qp, struct lb_qp *receiver, struct lb_qp *peer, struct lb_aftermath *aftermath)
{
    if (--qp->copies_out == 0 && qp->send_flush_due && !qp->gone)
        lb_send_flush(qp, aftermath);
    if (receiver != NULL && --receiver->copies_in == 0 && receiver->recv_flush_due && !receiver->gone) {
        lb_recv_flush(receiver, aftermath);
        lb_recv_end(receiver);
    }
    /* Release: the ends of the queue pairs see the bytes, and no access behind these. */
    atomic_fetch_sub_explicit(&qp->copies, 1, memory_order_release);
    atomic_fetch_sub_explicit(&peer->copies, 1, memory_order_release);
    lb_qp_put(peer);
}

enum lb_outcome lb_copy_aside(struct lb_qp *qp, struct lb_qp *receiver, const struct lb_segments *to,
    const struct lb_segments *from, struct lb_aftermath *aftermath)
{
    const uint32_t sq_epoch = qp->sq_epoch;
    const uint32_t rq_epoch = receiver != NULL ? receiver->rq_epoch : 0;
    struct lb_qp *peer = qp->peer;

    begin_copy(qp, receiver, peer);
    /* Without the peer's lock: either we see that it ends, or its end sees this copy. */
    if (receiver == NULL && !lb_qp_responds_to(peer, qp)) {
        end_copy(qp, receiver, peer, aftermath);
        qp->wait = LB_WAIT_NONE;
        return LB_AGAIN;
    }
    if (receiver != NULL)
        lb_lock_release(&receiver->rq_lock);
    lb_lock_release(&qp->sq_lock);
    lb_segments_copy(to, from);
    lb_lock_acquire(&qp->sq_lock);
    if (receiver != NULL)
        lb_lock_acquire(&receiver->rq_lock);
    end_copy(qp, receiver, peer, aftermath);
    if (qp->sq_epoch != sq_epoch)
        return LB_DROPPED;
    qp->wait = LB_WAIT_NONE;
    return receiver != NULL && receiver->rq_epoch != rq_epoch ? LB_AGAIN : LB_DONE;
}

uint64_t lb_rnr_pause_ns(const struct lb_qp *receiver)
{
    return rnr_timer_us[atomic_load_explicit(&receiver->min_rnr_timer, memory_order_relaxed)] * UINT64_C(1000);
}
