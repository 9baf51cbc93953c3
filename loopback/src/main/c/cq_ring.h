/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq_ring.h: the two sides of a completion queue, for cq.c, cq_ex.c, cq_fault.c and message_list.c: push_lock held, at the end
 * poll_lock.
 */
#ifndef LOOPBACK_CQ_RING_H
#define LOOPBACK_CQ_RING_H

#include "cq.h"
#include "qp.h"

/* Raises the requested event, unless the fault plan delays it. */
void lb_cq_raise(struct lb_cq *cq);

/* The queue has lost a completion: it is dead, and every poll fails. */
void lb_cq_die(struct lb_cq *cq, uint32_t position);

/* Notes the time of the completion with this index. */
void lb_cq_stamp(struct lb_cq *cq, uint32_t position);

/* Raises the requested event if a completion of this kind was requested. */
static inline void lb_cq_notify(struct lb_cq *cq, bool solicited)
{
    if (cq->notify != LB_NOTIFY_NONE && (cq->notify == LB_NOTIFY_ALL || solicited))
        lb_cq_raise(cq);
}

/* Writes the completion with this index without the fault plan. Returns false if the queue is dead or overran just now. */
static inline bool lb_cq_write(struct lb_cq *cq, const struct lb_cqe *cqe, uint32_t position)
{
    /* Acquire: the poller has read the entry that is about to be overwritten. */
    const uint32_t consumer = atomic_load_explicit(&cq->consumer, memory_order_acquire);

    if (atomic_load_explicit(&cq->dead, memory_order_relaxed))
        return false;
    if (position - consumer >= cq->capacity) {
        lb_cq_die(cq, position);
        return false;
    }
    cq->ring[position & cq->mask] = *cqe;
    if (__builtin_expect(cq->ticks != NULL, 0))
        lb_cq_stamp(cq, position);
    return true;
}

/* Completions that become visible together, one at least. The queue has no fault plan. */
struct lb_cq_run {
    struct lb_cq *cq;
    uint32_t next;  /* index of the next completion */
    bool solicited; /* one of them */
    bool is_lost;   /* the queue is dead: the run ends without a publication */
};

static inline void lb_cq_run_begin(struct lb_cq_run *run, struct lb_cq *cq)
{
    lb_lock_acquire(&cq->push_lock);
    run->cq = cq;
    run->next = atomic_load_explicit(&cq->producer, memory_order_relaxed);
    run->solicited = false;
    run->is_lost = atomic_load_explicit(&cq->dead, memory_order_relaxed);
}

/* The entry of the next completion, to be filled by the caller. NULL if the queue is dead or overran just now. */
static inline struct lb_cqe *lb_cq_run_next(struct lb_cq_run *run, bool solicited)
{
    struct lb_cq *cq = run->cq;

    if (__builtin_expect(run->is_lost, 0))
        return NULL;
    /* Acquire, as in lb_cq_write. */
    if (__builtin_expect(run->next - atomic_load_explicit(&cq->consumer, memory_order_acquire) >= cq->capacity, 0)) {
        lb_cq_die(cq, run->next);
        run->is_lost = true;
        return NULL;
    }
    if (__builtin_expect(cq->ticks != NULL, 0))
        lb_cq_stamp(cq, run->next);
    run->solicited |= solicited;
    return &cq->ring[run->next++ & cq->mask];
}

static inline void lb_cq_run_end(struct lb_cq_run *run)
{
    if (!run->is_lost) {
        atomic_store_explicit(&run->cq->producer, run->next, memory_order_release);
        lb_cq_notify(run->cq, run->solicited);
    }
    lb_lock_release(&run->cq->push_lock);
}

/*
 * poll_lock held. Returns entries before `consumed` and the slots of a send queue. The entries must be free first, since new
 * posts to these slots could overrun the queue otherwise.
 */
static inline void lb_cq_give_back(struct lb_cq *cq, uint32_t consumed, struct lb_qp *qp, uint32_t retired)
{
    if (qp == NULL)
        return;
    atomic_store_explicit(&cq->consumer, consumed, memory_order_release);
    atomic_store_explicit(&qp->retired, retired, memory_order_release);
}

/* No lock held. Whether there is no completion, also not from another process. */
static inline bool lb_cq_is_empty(struct lb_cq *cq)
{
    if (!lb_cq_shows_none(cq))
        return false;
    if (__builtin_expect(atomic_load_explicit(&cq->proxies, memory_order_acquire) != NULL, 0))
        (void)cq->drive(cq, 0, NULL);
    return lb_cq_shows_none(cq);
}

#endif
