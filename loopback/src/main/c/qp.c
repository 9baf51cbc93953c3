/* SPDX-License-Identifier: Apache-2.0 */
/* qp.c: queue pairs: their numbers, creation and destruction. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qp.h"
#include "qp_fault.h"

/* Without references, or not created completely. */
static void free_qp(struct lb_qp *qp)
{
    free(qp->sq_slots);
    free(qp->recv_ring.slots);
    free(qp->taken);
    lb_qp_ex_close(qp);
    if (qp->faults != NULL)
        lb_qp_faults_free(qp);
    free(qp);
}

static int check_init_attr(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
    const struct ibv_qp_cap *cap = &attr->cap;

    if (attr->qp_type != IBV_QPT_RC)
        return EOPNOTSUPP;
    if (attr->pd == NULL || attr->send_cq == NULL || attr->recv_cq == NULL)
        return EINVAL;
    if (attr->pd->context != context || attr->send_cq->context != context || attr->recv_cq->context != context)
        return EINVAL;
    if (attr->srq != NULL && attr->srq->context != attr->pd->context)
        return EINVAL;
    if (cap->max_send_wr > LB_MAX_QP_WR || cap->max_send_sge > LB_MAX_SGE ||
        cap->max_inline_data > LB_MAX_INLINE)
        return EINVAL;
    if (attr->srq == NULL && (cap->max_recv_wr > LB_MAX_QP_WR || cap->max_recv_sge > LB_MAX_SGE))
        return EINVAL;
    return 0;
}

/* ibv_wr_atomic_write(3) carries its value in the work request, independent of the requested inline size. */
static uint32_t granted_inline(uint32_t wanted, uint64_t send_operations)
{
    return send_operations & LB_QP_EX_WITH_ATOMIC_WRITE && wanted < sizeof(uint64_t) ? sizeof(uint64_t) : wanted;
}

static int allocate_send_ring(struct lb_qp *qp, const struct ibv_qp_cap *cap)
{
    /* Inline data is copied behind the elements; an inline request then has one element. */
    const uint32_t max_sge = cap->max_send_sge > 0 ? cap->max_send_sge : 1;
    const size_t stride = sizeof(struct lb_send) + max_sge * sizeof(struct ibv_sge) +
        (cap->max_inline_data + 7u) / 8 * 8;

    qp->sq_capacity = lb_ring_capacity(cap->max_send_wr > 0 ? cap->max_send_wr : 1);
    qp->sq_mask = qp->sq_capacity;
    qp->sq_stride = stride;
    qp->sq_slots = calloc((size_t)qp->sq_capacity + 1, stride);
    return qp->sq_slots != NULL ? 0 : ENOMEM;
}

static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
    uint64_t send_operations)
{
    struct lb_qp *qp;
    int error;

    error = EOPNOTSUPP;
    if (lb_context_of(context)->synthetic != NULL)
        goto fail;
    error = check_init_attr(context, attr);
    if (error)
        goto fail;
    error = ENOMEM;
    if (!lb_reserve(RINGPOLL_LOOPBACK_QP, LB_MAX_QP))
        goto fail;
    qp = aligned_alloc(alignof(struct lb_qp), sizeof(*qp));
    if (qp == NULL)
        goto uncount;
    memset(qp, 0, sizeof(*qp));
    attr->cap.max_inline_data = granted_inline(attr->cap.max_inline_data, send_operations);
    error = allocate_send_ring(qp, &attr->cap);
    if (error)
        goto free_qp;
    if (attr->srq == NULL) {
        error = lb_recv_ring_init(&qp->recv_ring, attr->cap.max_recv_wr, attr->cap.max_recv_sge);
        if (error)
            goto free_qp;
    } else {
        error = ENOMEM;
        qp->taken = calloc(1, sizeof(*qp->taken) + LB_MAX_SGE * sizeof(qp->taken->sge[0]));
        if (qp->taken == NULL)
            goto free_qp;
    }
    error = lb_qp_ex_init(qp, send_operations, attr->cap.max_inline_data);
    if (error)
        goto free_qp;
    struct ibv_qp *base = &qp->base.qp_base;
    base->context = context;
    base->qp_context = attr->qp_context;
    base->pd = attr->pd;
    base->send_cq = attr->send_cq;
    base->recv_cq = attr->recv_cq;
    base->srq = attr->srq;
    base->state = IBV_QPS_RESET;
    base->qp_type = attr->qp_type;
    qp->references = 1;
    qp->free = free_qp;
    qp->send_cq = lb_cq_of(attr->send_cq);
    qp->recv_cq = lb_cq_of(attr->recv_cq);
    qp->srq = attr->srq != NULL ? lb_srq_of(attr->srq) : NULL;
    qp->signal_all = attr->sq_sig_all != 0;
    qp->state = IBV_QPS_RESET;
    qp->sent_from = &lb_no_region;
    qp->received_in = &lb_no_region;
    error = lb_qp_faults_open(qp, lb_qp_kick);
    if (error)
        goto free_qp;
    error = ENOMEM;
    if (!lb_qp_assign_number(qp))
        goto free_qp;

    attr->cap.max_send_wr = qp->sq_capacity;
    if (qp->srq == NULL)
        attr->cap.max_recv_wr = qp->recv_ring.capacity;
    qp->cap = attr->cap;
    pthread_mutex_init(&base->mutex, NULL);
    pthread_cond_init(&base->cond, NULL);
    atomic_fetch_add(&qp->send_cq->users, 1);
    atomic_fetch_add(&qp->recv_cq->users, 1);
    atomic_fetch_add(&lb_pd_of(attr->pd)->children, 1);
    if (qp->srq != NULL)
        atomic_fetch_add(&qp->srq->users, 1);
    return base;

free_qp:
    free_qp(qp);
uncount:
    lb_count(RINGPOLL_LOOPBACK_QP, -1);
fail:
    errno = error;
    return NULL;
}

LB_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr)
{
    if (lb_fails(__func__))
        return NULL;
    struct ibv_qp_init_attr_ex attr = lb_extended_attr(init_attr, pd);
    struct ibv_qp *qp = create_qp(pd->context, &attr, 0);

    if (qp != NULL)
        init_attr->cap = attr.cap;
    return qp;
}

struct ibv_qp *lb_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    if (lb_fails("ibv_create_qp_ex"))
        return NULL;
    const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

    if (attr->comp_mask & ~known) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD)) {
        errno = EINVAL;
        return NULL;
    }
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
        return create_qp(context, attr, 0);
    if (attr->send_ops_flags & ~LB_SEND_OPERATIONS) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return create_qp(context, attr, attr->send_ops_flags | LB_WITH_BUILDER);
}

LB_EXPORT int ibv_destroy_qp(struct ibv_qp *ibv_qp)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);
    struct lb_aftermath aftermath = {0};
    struct lb_qp *peer;

    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    qp->gone = true;
    qp->sq_epoch++;
    qp->rq_epoch++;
    qp->sq_error = true;
    qp->rq_error = true;
    atomic_store_explicit(&qp->responding, false, memory_order_release);
    lb_send_stop_waiting(qp);
    lb_qp_take_waiting_sender(qp, &aftermath);
    peer = qp->peer;
    qp->peer = NULL;
    qp->remote = NULL;
    lb_lock_release(&qp->rq_lock);
    lb_lock_release(&qp->sq_lock);

    if (peer != NULL && peer->proxy != NULL)
        peer->proxy->detach(peer, qp);
    if (qp->faults != NULL)
        lb_qp_faults_close(qp);
    lb_qp_clean_queues(qp, peer);
    lb_qp_release_number(qp); /* last: a queue pair that gets it has completions in these queues, too */
    /*
     * A sender waiting for this queue pair may be in the list of our shared receive queue: remove it before the
     * reference is dropped.
     */
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
    lb_async_forget(ibv_qp->context, qp);
    pthread_mutex_lock(&ibv_qp->mutex);
    while (lb_awaits_acknowledgement(&qp->async_events_fetched, ibv_qp->events_completed))
        pthread_cond_wait(&ibv_qp->cond, &ibv_qp->mutex);
    pthread_mutex_unlock(&ibv_qp->mutex);
    pthread_mutex_destroy(&ibv_qp->mutex);
    pthread_cond_destroy(&ibv_qp->cond);
    if (qp->srq != NULL)
        atomic_fetch_sub(&qp->srq->users, 1);
    atomic_fetch_sub(&qp->recv_cq->users, 1);
    atomic_fetch_sub(&qp->send_cq->users, 1);
    atomic_fetch_sub(&lb_pd_of(ibv_qp->pd)->children, 1);
    if (peer != NULL)
        lb_qp_put(peer);
    lb_qp_put(qp);
    lb_count(RINGPOLL_LOOPBACK_QP, -1);
    return 0;
}

/* Enhanced connection establishment is a matter of vendors; there is none here. */
LB_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp, (void)ece;
    return EOPNOTSUPP;
}

LB_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp, (void)ece;
    return EOPNOTSUPP;
}

LB_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode,
    uint32_t flags)
{
    (void)qp, (void)opcode, (void)flags;
    return 0;
}
