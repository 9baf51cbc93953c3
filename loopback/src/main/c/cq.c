/* SPDX-License-Identifier: Apache-2.0 */
/* cq.c: completion queues: creation, polling, notification requests, overrun and destruction. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cq_fault.h"
#include "cq_ring.h"

/* Not zeroed: every entry is written before it is read, and an untouched ring costs no memory. */
static struct lb_cqe *allocate_ring(uint32_t capacity)
{
    return aligned_alloc(64, ((size_t)capacity + 1) * sizeof(struct lb_cqe));
}

/* Not zeroed either. */
static uint64_t *allocate_ticks(uint32_t capacity)
{
    return malloc(((size_t)capacity + 1) * sizeof(uint64_t));
}

/* The requests of the completions that are there are done: the thread that has completed one may not have come to count it. */
static void count_completed(struct lb_cq *cq)
{
    const uint32_t end = atomic_load_explicit(&cq->producer, memory_order_relaxed);

    if (cq->dead)
        return;
    for (uint32_t i = atomic_load_explicit(&cq->consumer, memory_order_relaxed); i != end; i++) {
        const struct lb_cqe *cqe = &cq->ring[i & cq->mask];

        if (cqe->qp != NULL && (int32_t)(cqe->retired - cqe->qp->executed) > 0) {
            cqe->qp->executed = cqe->retired;
            cqe->qp->waited_for = LB_WAIT_NONE; /* the next one has its own patience */
        }
    }
}

/*
 * A thread that is not here may have been under a lock, own it, have acknowledged an event, or have an event to acknowledge: no
 * post, poll, acknowledgement or destruction may wait for it.
 */
static void inherit(struct lb_fork_member *member)
{
    struct lb_cq *cq = LB_FORKED(struct lb_cq, fork, member);

    lb_lock_forget(&cq->push_lock);
    lb_lock_forget(&cq->poll_lock);
    lb_lock_forget(&cq->proxies_lock);
    pthread_mutex_init(&cq->base.mutex, NULL);
    pthread_cond_init(&cq->base.cond, NULL);
    cq->base.comp_events_completed = cq->comp_events_fetched;
    cq->base.async_events_completed = cq->async_events_fetched;
    count_completed(cq);
}

struct lb_cq *lb_cq_create(struct ibv_context *context, uint32_t cqe, void *cq_context, struct ibv_comp_channel *channel,
    uint32_t comp_vector, bool timestamps)
{
    struct lb_cq *cq;
    int error = EINVAL;

    if (cqe < 1 || cqe > LB_MAX_CQE || comp_vector >= LB_COMP_VECTORS)
        goto fail;
    if (channel != NULL && channel->context != context)
        goto fail;
    error = ENOMEM;
    if (!lb_reserve(RINGPOLL_LOOPBACK_CQ, LB_MAX_CQ))
        goto fail;
    cq = aligned_alloc(alignof(struct lb_cq), sizeof(*cq));
    if (cq == NULL)
        goto uncount;
    memset(cq, 0, sizeof(*cq));
    cq->capacity = lb_ring_capacity(cqe);
    cq->mask = cq->capacity;
    cq->ring = allocate_ring(cq->capacity);
    if (cq->ring == NULL)
        goto free_cq;
    if (timestamps) {
        cq->ticks = allocate_ticks(cq->capacity);
        if (cq->ticks == NULL)
            goto free_ring;
    }
    if (lb_context_of(context)->synthetic == NULL && lb_cq_faults_open(cq))
        goto free_ticks;
    cq->base.context = context;
    cq->base.channel = channel;
    cq->base.cq_context = cq_context;
    cq->base.cqe = (int)cq->capacity;
    pthread_mutex_init(&cq->base.mutex, NULL);
    pthread_cond_init(&cq->base.cond, NULL);
    if (channel != NULL)
        __atomic_fetch_add(&channel->refcnt, 1, __ATOMIC_RELAXED);
    atomic_fetch_add(&lb_context_of(context)->children, 1);
    lb_fork_join(&cq->fork, inherit);
    return cq;

free_ticks:
    free(cq->ticks);
free_ring:
    free(cq->ring);
free_cq:
    free(cq);
uncount:
    lb_count(RINGPOLL_LOOPBACK_CQ, -1);
fail:
    errno = error;
    return NULL;
}

LB_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector)
{
    if (lb_fails(__func__))
        return NULL;
    if (cqe < 1 || comp_vector < 0) {
        errno = EINVAL;
        return NULL;
    }
    struct lb_cq *cq = lb_cq_create(context, (uint32_t)cqe, cq_context, channel, (uint32_t)comp_vector, false);

    return cq != NULL ? &cq->base : NULL;
}

LB_EXPORT int ibv_resize_cq(struct ibv_cq *ibv_cq, int cqe)
{
    struct lb_cq *cq = lb_cq_of(ibv_cq);
    int error = EINVAL;

    if (cqe < 1 || cqe > LB_MAX_CQE)
        return EINVAL;
    const uint32_t capacity = lb_ring_capacity((uint32_t)cqe);
    struct lb_cqe *ring = allocate_ring(capacity);
    uint64_t *ticks = cq->ticks != NULL ? allocate_ticks(capacity) : NULL;
    if (ring == NULL || (cq->ticks != NULL && ticks == NULL)) {
        free(ticks);
        free(ring);
        return ENOMEM;
    }
    lb_lock_acquire(&cq->poll_lock);
    lb_lock_acquire(&cq->push_lock);
    if (cq->faults != NULL)
        lb_cq_faults_release(cq);
    const uint32_t consumer = atomic_load_explicit(&cq->consumer, memory_order_relaxed);
    const uint32_t producer = atomic_load_explicit(&cq->producer, memory_order_relaxed);
    if (!cq->dead && producer - consumer <= capacity) {
        struct lb_cqe *old = cq->ring;
        uint64_t *old_ticks = cq->ticks;

        for (uint32_t i = consumer; i != producer; i++)
            ring[i & capacity] = old[i & cq->mask];
        for (uint32_t i = consumer; i != producer && ticks != NULL; i++)
            ticks[i & capacity] = old_ticks[i & cq->mask];
        cq->ring = ring;
        cq->ticks = ticks;
        ticks = old_ticks;
        cq->mask = capacity;
        cq->capacity = capacity;
        cq->base.cqe = (int)capacity;
        ring = old;
        error = 0;
    }
    lb_lock_release(&cq->push_lock);
    lb_lock_release(&cq->poll_lock);
    free(ticks);
    free(ring);
    return error;
}

LB_EXPORT int ibv_destroy_cq(struct ibv_cq *ibv_cq)
{
    struct lb_cq *cq = lb_cq_of(ibv_cq);
    struct lb_context *context = lb_context_of(ibv_cq->context);

    if (atomic_load(&cq->users) != 0)
        return EBUSY;
    if (cq->faults != NULL)
        lb_cq_faults_close(cq);
    lb_async_forget(ibv_cq->context, cq);
    if (ibv_cq->channel != NULL)
        lb_event_free_list(
            lb_eventq_remove(&lb_comp_channel_of(ibv_cq->channel)->events, cq));
    pthread_mutex_lock(&ibv_cq->mutex);
    while (lb_awaits_acknowledgement(&cq->comp_events_fetched, ibv_cq->comp_events_completed) ||
        lb_awaits_acknowledgement(&cq->async_events_fetched, ibv_cq->async_events_completed))
        pthread_cond_wait(&ibv_cq->cond, &ibv_cq->mutex);
    pthread_mutex_unlock(&ibv_cq->mutex);
    if (ibv_cq->channel != NULL)
        __atomic_fetch_sub(&ibv_cq->channel->refcnt, 1, __ATOMIC_RELEASE);
    lb_fork_leave(&cq->fork);
    pthread_mutex_destroy(&ibv_cq->mutex);
    pthread_cond_destroy(&ibv_cq->cond);
    atomic_fetch_sub(&context->children, 1);
    free(cq->ticks);
    free(cq->ring);
    free(cq);
    lb_count(RINGPOLL_LOOPBACK_CQ, -1);
    return lb_fails(__func__) ? errno : 0;
}

bool lb_cq_push(struct lb_cq *cq, const struct lb_cqe *cqe, bool solicited)
{
    bool pushed;

    lb_lock_acquire(&cq->push_lock);
    if (__builtin_expect(cq->faults != NULL, 0)) {
        pushed = lb_cq_faults_push(cq, cqe, solicited);
    } else {
        const uint32_t producer = atomic_load_explicit(&cq->producer, memory_order_relaxed);

        pushed = lb_cq_write(cq, cqe, producer);
        if (pushed) {
            atomic_store_explicit(&cq->producer, producer + 1, memory_order_release);
            lb_cq_notify(cq, solicited);
        }
    }
    lb_lock_release(&cq->push_lock);
    return pushed;
}

/* poll_lock held. */
static inline int poll_ring(struct lb_cq *cq, int polled, int wanted, struct ibv_wc *wc)
{
    const uint32_t first = atomic_load_explicit(&cq->consumer, memory_order_relaxed);
    const uint32_t available =
        atomic_load_explicit(&cq->producer, memory_order_acquire) - first;
    if (atomic_load_explicit(&cq->dead, memory_order_relaxed))
        return polled > 0 ? polled : -1;
    const uint32_t room = wanted > polled ? (uint32_t)(wanted - polled) : 0;
    const uint32_t count = available < room ? available : room;
    struct lb_qp *qp = NULL;
    uint32_t retired = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct lb_cqe *cqe = &cq->ring[(first + i) & cq->mask];

        wc[polled++] = cqe->wc;
        if (cqe->qp != qp)
            lb_cq_give_back(cq, first + i, qp, retired);
        qp = cqe->qp;
        retired = cqe->retired; /* entries of one send queue are in its order: never backwards */
    }
    if (qp == NULL)
        atomic_store_explicit(&cq->consumer, first + count, memory_order_release);
    lb_cq_give_back(cq, first + count, qp, retired);
    return polled;
}

int lb_cq_poll_ring(struct lb_cq *cq, int polled, int wanted, struct ibv_wc *wc)
{
    lb_lock_acquire(&cq->poll_lock);
    polled = poll_ring(cq, polled, wanted, wc);
    lb_lock_release(&cq->poll_lock);
    return polled;
}

int lb_cq_try_poll_ring(struct lb_cq *cq, int wanted, struct ibv_wc *wc)
{
    if (!lb_lock_try(&cq->poll_lock))
        return 0;
    const int polled = poll_ring(cq, 0, wanted, wc);
    lb_lock_release(&cq->poll_lock);
    return polled > 0 ? polled : 0;
}

int lb_poll_cq(struct ibv_cq *ibv_cq, int num_entries, struct ibv_wc *wc)
{
    struct lb_cq *cq = lb_cq_of(ibv_cq);

    if (__builtin_expect(cq->faults != NULL, 0) && lb_cq_faults_poll(cq))
        return -1;
    if (!lb_cq_shows_none(cq))
        return lb_cq_poll_ring(cq, 0, num_entries, wc);
    return atomic_load_explicit(&cq->proxies, memory_order_acquire) != NULL ? cq->drive(cq, num_entries, wc) : 0;
}

int lb_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only)
{
    if (lb_fails("ibv_req_notify_cq"))
        return errno;
    struct lb_cq *cq = lb_cq_of(ibv_cq);
    const enum lb_notify wanted = solicited_only ? LB_NOTIFY_SOLICITED : LB_NOTIFY_ALL;

    /* Under the pushers' lock: a completion is either there for the next poll or raises the event. */
    lb_lock_acquire(&cq->push_lock);
    if (cq->notify < wanted)
        cq->notify = wanted;
    if (cq->faults != NULL)
        lb_cq_faults_notify(cq);
    lb_lock_release(&cq->push_lock);
    if (atomic_load_explicit(&cq->proxies, memory_order_acquire) != NULL)
        cq->sleep(cq);
    return 0;
}

void lb_cqe_fail(struct lb_cqe *cqe, uint64_t wr_id, uint32_t qp_num, enum ibv_wc_status status,
    uint32_t vendor_err)
{
    memset(&cqe->wc, RINGPOLL_LOOPBACK_POISON, sizeof(cqe->wc));
    cqe->wc.wr_id = wr_id;
    cqe->wc.status = status;
    cqe->wc.vendor_err = vendor_err;
    cqe->wc.qp_num = qp_num;
    cqe->qp = NULL;
    cqe->retired = 0;
    cqe->reserved = 0;
}

void lb_cq_clean(struct lb_cq *cq, uint32_t qp_num)
{
    lb_lock_acquire(&cq->poll_lock);
    if (cq->faults != NULL) {
        lb_lock_acquire(&cq->push_lock);
        lb_cq_faults_release(cq);
        lb_lock_release(&cq->push_lock);
    }
    if (!atomic_load_explicit(&cq->dead, memory_order_relaxed)) {
        const uint32_t first = atomic_load_explicit(&cq->consumer, memory_order_relaxed);
        const uint32_t end = atomic_load_explicit(&cq->producer, memory_order_acquire);
        uint32_t kept = end;

        /* The entries of other queue pairs move up to the newest one; pushers write behind it meanwhile. */
        for (uint32_t i = end; i != first; i--) {
            const struct lb_cqe *cqe = &cq->ring[(i - 1) & cq->mask];

            if (cqe->wc.qp_num == qp_num)
                continue;
            kept--;
            if (kept != i - 1) {
                cq->ring[kept & cq->mask] = *cqe;
                if (cq->ticks != NULL)
                    cq->ticks[kept & cq->mask] = cq->ticks[(i - 1) & cq->mask];
            }
        }
        atomic_store_explicit(&cq->consumer, kept, memory_order_release);
    }
    lb_lock_release(&cq->poll_lock);
}
