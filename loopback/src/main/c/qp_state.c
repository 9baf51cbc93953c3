/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_state.c: queue pairs: attributes and state transitions, and the owner of a queue pair.
 */
#include <errno.h>
#include <string.h>

#include "qp_fault.h"
#include "uncancelled.h"

/* The valid transitions and the attributes that each requires (ibv_modify_qp(3), RC). */
static int check_transition(enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
    int required = 0;

    if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
        return 0;
    if (to == IBV_QPS_INIT && (from == IBV_QPS_RESET || from == IBV_QPS_INIT)) {
        if (from == IBV_QPS_RESET)
            required = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    } else if (to == IBV_QPS_RTR && from == IBV_QPS_INIT) {
        required = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    } else if (to == IBV_QPS_RTS && from == IBV_QPS_RTR) {
        required = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
            IBV_QP_MAX_QP_RD_ATOMIC;
    } else if (!(to == IBV_QPS_RTS && from == IBV_QPS_RTS)) {
        return EINVAL;
    }
    return (mask & required) == required ? 0 : EINVAL;
}

static void store_attributes(struct lb_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    struct ibv_qp_attr *own = &qp->attr;

    if (mask & IBV_QP_PKEY_INDEX)
        own->pkey_index = attr->pkey_index;
    if (mask & IBV_QP_PORT)
        own->port_num = attr->port_num;
    if (mask & IBV_QP_ACCESS_FLAGS) {
        own->qp_access_flags = attr->qp_access_flags;
        atomic_store_explicit(&qp->remote_access, attr->qp_access_flags, memory_order_relaxed);
    }
    if (mask & IBV_QP_AV)
        own->ah_attr = attr->ah_attr;
    if (mask & IBV_QP_PATH_MTU)
        own->path_mtu = attr->path_mtu;
    if (mask & IBV_QP_TIMEOUT)
        own->timeout = attr->timeout & 31;
    if (mask & IBV_QP_RETRY_CNT)
        own->retry_cnt = attr->retry_cnt & 7;
    if (mask & IBV_QP_RNR_RETRY)
        own->rnr_retry = attr->rnr_retry & 7;
    if (mask & IBV_QP_RQ_PSN)
        own->rq_psn = attr->rq_psn;
    if (mask & IBV_QP_SQ_PSN)
        own->sq_psn = attr->sq_psn;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
        own->max_rd_atomic = attr->max_rd_atomic;
    if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
        own->max_dest_rd_atomic = attr->max_dest_rd_atomic;
    if (mask & IBV_QP_MIN_RNR_TIMER) {
        own->min_rnr_timer = attr->min_rnr_timer & 31;
        atomic_store_explicit(&qp->min_rnr_timer, own->min_rnr_timer, memory_order_relaxed);
    }
    if (mask & IBV_QP_DEST_QPN)
        own->dest_qp_num = attr->dest_qp_num;
}

/*
 * No further copy begins. A short one is made under the sq_lock of its requester, which is the former peer; a long one of the
 * longest message takes less than a second.
 */
static void await_copies(struct lb_qp *qp, struct lb_qp *former_peer)
{
    const struct timespec moment = {.tv_nsec = 50000};

    if (former_peer != NULL) {
        lb_lock_fence();
        lb_lock_pass(&former_peer->sq_lock);
    }
    /* Not a load: a copy that begins behind this sees that the queue pair does not respond (lb_copy_aside). */
    while (atomic_fetch_add_explicit(&qp->copies, 0, memory_order_acq_rel) != 0)
        lb_sleep(&moment);
}

/* No copy fills it any more. Without memory for it in the queue, it stays the queue pair's. */
static void give_back_receive(struct lb_qp *qp)
{
    bool given_back;

    lb_lock_acquire(&qp->rq_lock);
    given_back = qp->recv_taken && lb_srq_give_back(qp->srq, qp->taken);
    if (given_back)
        qp->recv_taken = false;
    lb_lock_release(&qp->rq_lock);
    if (given_back)
        lb_srq_wake(qp->srq);
}

void lb_qp_clean_queues(struct lb_qp *qp, struct lb_qp *former_peer)
{
    await_copies(qp, former_peer);
    lb_cq_clean(qp->send_cq, lb_qp_num(qp));
    if (qp->recv_cq != qp->send_cq)
        lb_cq_clean(qp->recv_cq, lb_qp_num(qp));
    if (qp->srq != NULL)
        give_back_receive(qp);
}

/* Both locks held. Back to where ibv_create_qp left it, up to end_reset; nothing is completed. */
static void reset(struct lb_qp *qp)
{
    lb_send_stop_waiting(qp);
    qp->sq_epoch++;
    qp->rq_epoch++;
    qp->send_flush_due = false;
    qp->recv_flush_due = false;
    qp->posted = 0;
    qp->executed = 0;
    qp->sent = 0;
    qp->sent_bytes = 0;
    if (qp->faults != NULL)
        lb_qp_faults_reset(qp);
    qp->retired_seen = 0;
    qp->sq_error = false;
    qp->rq_error = false;
    qp->recv_ring.consumed = qp->recv_ring.posted;
    memset(&qp->attr, 0, sizeof(qp->attr));
    atomic_store_explicit(&qp->remote_access, 0, memory_order_relaxed);
    atomic_store_explicit(&qp->dest_qp_num, 0, memory_order_relaxed);
}

/*
 * No lock held: who reads a batch of completions may wait for the locks of queue pairs, to deregister memory. Until it is in
 * another state, nothing is posted to the queue pair, and nothing completes.
 */
static void end_reset(struct lb_qp *qp, struct lb_qp *former_peer)
{
    lb_qp_clean_queues(qp, former_peer);
    atomic_store_explicit(&qp->retired, 0, memory_order_relaxed); /* polls have stored it up to now */
}

/* No lock held. A queue pair that was connected to this one's number before this one had it has its peer from now on. */
static void adopt(struct lb_qp *peer, struct lb_qp *qp)
{
    if (peer->proxy != NULL)
        return;
    lb_lock_acquire(&peer->sq_lock);
    lb_lock_acquire(&peer->rq_lock);
    if (!peer->gone && peer->peer == NULL && lb_qp_responds_to(peer, qp)) {
        lb_qp_get(qp);
        peer->peer = qp;
    }
    lb_lock_release(&peer->rq_lock);
    lb_lock_release(&peer->sq_lock);
}

void lb_qp_set_owner(struct ibv_qp *qp, void *owner)
{
    struct lb_qp *owned = lb_qp_of(qp);
    const bool was_owned = owned->owner != NULL;

    owned->owner = owner;
    if (owner != NULL && !was_owned)
        lb_qp_get(owned);
    else if (owner == NULL && was_owned)
        lb_qp_put(owned);
}

void *lb_qp_owner(struct ibv_qp *qp)
{
    return lb_qp_of(qp)->owner;
}

LB_EXPORT int ibv_modify_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);
    struct lb_aftermath aftermath = {0};
    struct lb_qp *peer = NULL;
    struct lb_qp *former_peer = NULL;
    struct lb_qp *proxy = NULL;
    int error = 0;

    if (mask & IBV_QP_PORT && attr->port_num != 1)
        return EINVAL;
    if (mask & IBV_QP_PKEY_INDEX && attr->pkey_index != 0)
        return EINVAL;
    if ((mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > LB_MAX_RD_ATOMIC) ||
        (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > LB_MAX_RD_ATOMIC))
        return EINVAL;
    if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR && mask & IBV_QP_DEST_QPN)
        peer = lb_qp_find(attr->dest_qp_num);

    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    const enum ibv_qp_state from = qp->state;
    const enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
    if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != from)
        error = EINVAL;
    if (!error && mask & IBV_QP_STATE)
        error = check_transition(from, to, mask);
    if (error)
        goto unlock;
    store_attributes(qp, attr, mask);
    if (mask & IBV_QP_STATE) {
        switch (to) {
        case IBV_QPS_RESET:
            qp->state = to; /* before: see has_to_fail in qp_fork.c */
            atomic_store_explicit(&qp->responding, false, memory_order_release);
            lb_qp_take_waiting_sender(qp, &aftermath);
            reset(qp);
            former_peer = qp->peer;
            qp->peer = NULL;
            qp->remote = NULL;
            break;
        case IBV_QPS_ERR:
            lb_qp_enter_error(qp, &aftermath);
            break;
        case IBV_QPS_RTR:
            former_peer = qp->peer;
            qp->peer = peer;
            qp->remote = peer != NULL && peer->proxy != NULL ? peer : NULL;
            proxy = qp->remote;
            peer = NULL;
            atomic_store_explicit(&qp->dest_qp_num, attr->dest_qp_num, memory_order_relaxed);
            atomic_store_explicit(&qp->responding, true, memory_order_release);
            qp->state = to; /* behind: see has_to_fail in qp_fork.c */
            /* It may have been ready before us, and have something for us. */
            if (qp->peer != NULL) {
                lb_qp_get(qp->peer);
                aftermath.kick = qp->peer;
            }
            if (proxy != NULL)
                lb_qp_get(proxy);
            break;
        default:
            qp->state = to;
            break;
        }
    }
    ibv_qp->state = to;
unlock:
    lb_lock_release(&qp->rq_lock);
    lb_lock_release(&qp->sq_lock);
    if (former_peer != NULL && former_peer->proxy != NULL)
        former_peer->proxy->detach(former_peer, qp);
    if (!error && mask & IBV_QP_STATE && to == IBV_QPS_RESET)
        end_reset(qp, former_peer);
    if (proxy != NULL) {
        proxy->proxy->attach(proxy, qp);
        lb_qp_put(proxy);
    } else if (!error && mask & IBV_QP_STATE && to == IBV_QPS_RTR && aftermath.kick != NULL) {
        adopt(aftermath.kick, qp);
    }
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
    if (peer != NULL)
        lb_qp_put(peer);
    if (former_peer != NULL)
        lb_qp_put(former_peer);
    return error;
}

LB_EXPORT int ibv_query_qp(struct ibv_qp *ibv_qp, struct ibv_qp_attr *attr, int mask,
    struct ibv_qp_init_attr *init_attr)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);

    (void)mask; /* attributes that were not requested are set as well */
    lb_lock_acquire(&qp->sq_lock);
    *attr = qp->attr;
    attr->qp_state = qp->state;
    attr->cur_qp_state = qp->state;
    attr->path_mig_state = IBV_MIG_MIGRATED;
    attr->cap = qp->cap;
    ibv_qp->state = qp->state;
    lb_lock_release(&qp->sq_lock);
    memset(init_attr, 0, sizeof(*init_attr));
    init_attr->qp_context = ibv_qp->qp_context;
    init_attr->send_cq = ibv_qp->send_cq;
    init_attr->recv_cq = ibv_qp->recv_cq;
    init_attr->srq = ibv_qp->srq;
    init_attr->cap = qp->cap;
    init_attr->qp_type = ibv_qp->qp_type;
    init_attr->sq_sig_all = qp->signal_all;
    return 0;
}
