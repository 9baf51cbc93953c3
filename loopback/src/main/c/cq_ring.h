/* SPDX-License-Identifier: Apache-2.0 */
/* cq_ring.h: the producer side of a completion queue, for cq.c and cq_fault.c. push_lock held for all of it. */
#ifndef LOOPBACK_CQ_RING_H
#define LOOPBACK_CQ_RING_H

#include "cq.h"

/* Raises the requested event, unless the fault plan delays it. */
void lb_cq_raise(struct lb_cq *cq);

/* The queue has lost a completion: it is dead, and every poll fails. */
void lb_cq_die(struct lb_cq *cq, uint32_t position);

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
    return true;
}

#endif
