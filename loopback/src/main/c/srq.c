/* SPDX-License-Identifier: Apache-2.0 */
/* srq.c: receive rings and shared receive queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qp.h"

int lb_recv_ring_init(struct lb_recv_ring *ring, uint32_t max_wr, uint32_t max_sge)
{
    memset(ring, 0, sizeof(*ring));
    ring->max_sge = max_sge;
    if (max_wr == 0)
        return 0;
    ring->capacity = lb_ring_capacity(max_wr);
    ring->mask = ring->capacity;
    ring->stride = sizeof(struct lb_recv) + max_sge * sizeof(struct ibv_sge);
    ring->slots = calloc((size_t)ring->capacity + 1, ring->stride);
    return ring->slots != NULL ? 0 : ENOMEM;
}

int lb_recv_ring_put(struct lb_recv_ring *ring, const struct ibv_recv_wr *wr)
{
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > ring->max_sge)
        return EINVAL;
    if (lb_recv_ring_count(ring) >= ring->capacity)
        return ENOMEM;
    struct lb_recv *recv =
        (struct lb_recv *)(void *)(ring->slots + (ring->posted & ring->mask) * ring->stride);
    recv->wr_id = wr->wr_id;
    recv->num_sge = (uint32_t)wr->num_sge;
    for (uint32_t i = 0; i < recv->num_sge; i++)
        recv->sge[i] = wr->sg_list[i];
    ring->posted++;
    return 0;
}

/* A thread that is not here may have been under a lock, have acknowledged an event, or have an event to acknowledge. */
static void inherit(struct lb_fork_member *member)
{
    struct lb_srq *srq = LB_FORKED(struct lb_srq, fork, member);

    lb_lock_forget(&srq->lock);
    srq->last_waiter = NULL;
    for (struct lb_qp *waiter = srq->first_waiter; waiter != NULL; waiter = waiter->next_waiter) {
        waiter->in_waiters = true;
        srq->last_waiter = waiter;
    }
    pthread_mutex_init(&srq->base.mutex, NULL);
    pthread_cond_init(&srq->base.cond, NULL);
    srq->base.events_completed = srq->async_events_fetched;
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, void *srq_context, struct ibv_srq_attr *attr)
{
    struct lb_srq *srq;
    int error = EINVAL;

    if (attr->max_wr < 1 || attr->max_wr > LB_MAX_SRQ_WR || attr->max_sge > LB_MAX_SGE)
        goto fail;
    error = ENOMEM;
    if (!lb_reserve(RINGPOLL_LOOPBACK_SRQ, LB_MAX_SRQ))
        goto fail;
    srq = calloc(1, sizeof(*srq));
    if (srq == NULL)
        goto uncount;
    error = lb_recv_ring_init(&srq->ring, attr->max_wr, attr->max_sge);
    if (error)
        goto free_srq;
    attr->max_wr = srq->ring.capacity;
    srq->base.context = pd->context;
    srq->base.srq_context = srq_context;
    srq->base.pd = pd;
    pthread_mutex_init(&srq->base.mutex, NULL);
    pthread_cond_init(&srq->base.cond, NULL);
    atomic_fetch_add(&lb_pd_of(pd)->children, 1);
    lb_fork_join(&srq->fork, inherit);
    return &srq->base;

free_srq:
    free(srq);
uncount:
    lb_count(RINGPOLL_LOOPBACK_SRQ, -1);
fail:
    errno = error;
    return NULL;
}

LB_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init_attr)
{
    if (lb_fails(__func__))
        return NULL;
    return create_srq(pd, init_attr->srq_context, &init_attr->attr);
}

struct ibv_srq *lb_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    (void)context;
    if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || attr->pd == NULL) {
        errno = EINVAL;
        return NULL;
    }
    if (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return create_srq(attr->pd, attr->srq_context, &attr->attr);
}

LB_EXPORT int ibv_modify_srq(struct ibv_srq *ibv_srq, struct ibv_srq_attr *attr, int mask)
{
    struct lb_srq *srq = lb_srq_of(ibv_srq);
    int error = 0;

    if (mask & IBV_SRQ_MAX_WR) /* resizing is an optional capability; it is not among ours */
        return EOPNOTSUPP;
    if (mask & IBV_SRQ_LIMIT) {
        lb_lock_acquire(&srq->lock);
        if (attr->srq_limit > srq->ring.capacity)
            error = EINVAL;
        else
            srq->limit = attr->srq_limit;
        lb_lock_release(&srq->lock);
    }
    return error;
}

LB_EXPORT int ibv_query_srq(struct ibv_srq *ibv_srq, struct ibv_srq_attr *attr)
{
    struct lb_srq *srq = lb_srq_of(ibv_srq);

    lb_lock_acquire(&srq->lock);
    attr->max_wr = srq->ring.capacity;
    attr->max_sge = srq->ring.max_sge;
    attr->srq_limit = srq->limit;
    lb_lock_release(&srq->lock);
    return 0;
}

LB_EXPORT int ibv_destroy_srq(struct ibv_srq *ibv_srq)
{
    struct lb_srq *srq = lb_srq_of(ibv_srq);

    if (atomic_load(&srq->users) != 0)
        return EBUSY;
    lb_fork_leave(&srq->fork);
    lb_async_forget(ibv_srq->context, srq);
    pthread_mutex_lock(&ibv_srq->mutex);
    while (lb_awaits_acknowledgement(&srq->async_events_fetched, ibv_srq->events_completed))
        pthread_cond_wait(&ibv_srq->cond, &ibv_srq->mutex);
    pthread_mutex_unlock(&ibv_srq->mutex);
    pthread_mutex_destroy(&ibv_srq->mutex);
    pthread_cond_destroy(&ibv_srq->cond);
    atomic_fetch_sub(&lb_pd_of(ibv_srq->pd)->children, 1);
    free(srq->ring.slots);
    free(srq);
    lb_count(RINGPOLL_LOOPBACK_SRQ, -1);
    return lb_fails(__func__) ? errno : 0;
}

bool lb_srq_take(struct lb_srq *srq, struct lb_recv *recv, struct lb_qp *sender)
{
    bool taken = false;

    lb_lock_acquire(&srq->lock);
    if (lb_recv_ring_count(&srq->ring) > 0) {
        const struct lb_recv *first = lb_recv_ring_first(&srq->ring);

        memcpy(recv, first, sizeof(*first) + first->num_sge * sizeof(first->sge[0]));
        srq->ring.consumed++;
        taken = true;
        if (srq->limit > lb_recv_ring_count(&srq->ring)) {
            srq->limit = 0; /* one event per arming */
            lb_async_raise(srq->base.context, IBV_EVENT_SRQ_LIMIT_REACHED, srq,
                &srq->async_events_fetched);
        }
    } else if (sender != NULL && !sender->in_waiters) {
        lb_qp_get(sender);
        sender->next_waiter = NULL;
        if (srq->last_waiter != NULL)
            srq->last_waiter->next_waiter = sender;
        else
            srq->first_waiter = sender;
        srq->last_waiter = sender;
        /* Only while it is in the list, also for the child of a fork: see inherit. */
        atomic_signal_fence(memory_order_release);
        sender->in_waiters = true;
    }
    lb_lock_release(&srq->lock);
    return taken;
}

/* Moves the receives to twice as many slots; their numbers stay. Returns false with nothing done if there is no memory. */
static bool widen(struct lb_recv_ring *ring)
{
    const uint32_t mask = ring->mask * 2 + 1;
    char *slots = calloc((size_t)mask + 1, ring->stride);

    if (slots == NULL)
        return false;
    for (uint32_t i = ring->consumed; i != ring->posted; i++)
        memcpy(slots + (i & mask) * ring->stride, ring->slots + (i & ring->mask) * ring->stride, ring->stride);
    char *old = ring->slots;
    ring->slots = slots;
    ring->mask = mask;
    free(old);
    return true;
}

bool lb_srq_give_back(struct lb_srq *srq, const struct lb_recv *recv)
{
    struct lb_recv_ring *ring = &srq->ring;

    lb_lock_acquire(&srq->lock);
    /* Those that have been posted since may have taken its place. */
    const bool has_place = lb_recv_ring_count(ring) <= ring->mask || widen(ring);
    if (has_place) {
        ring->consumed--;
        memcpy(lb_recv_ring_first(ring), recv, sizeof(*recv) + recv->num_sge * sizeof(recv->sge[0]));
    }
    lb_lock_release(&srq->lock);
    return has_place;
}

struct lb_qp *lb_srq_next_to_wake(struct lb_srq *srq)
{
    struct lb_qp *sender = NULL;

    lb_lock_acquire(&srq->lock);
    if (srq->first_waiter != NULL && lb_recv_ring_count(&srq->ring) > 0) {
        sender = srq->first_waiter;
        sender->in_waiters = false;
        atomic_signal_fence(memory_order_release);
        srq->first_waiter = sender->next_waiter;
        if (srq->first_waiter == NULL)
            srq->last_waiter = NULL;
    }
    lb_lock_release(&srq->lock);
    return sender;
}

void lb_srq_stop_waiting(struct lb_srq *srq, struct lb_qp *sender)
{
    lb_lock_acquire(&srq->lock);
    const bool was_in = sender->in_waiters;
    if (was_in) {
        struct lb_qp *before = NULL;
        struct lb_qp **link = &srq->first_waiter;

        while (*link != NULL && *link != sender) {
            before = *link;
            link = &before->next_waiter;
        }
        sender->in_waiters = false;
        atomic_signal_fence(memory_order_release);
        if (*link != NULL)
            *link = sender->next_waiter;
        if (srq->last_waiter == sender)
            srq->last_waiter = before;
    }
    lb_lock_release(&srq->lock);
    if (was_in)
        lb_qp_put(sender);
}
