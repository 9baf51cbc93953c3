/* SPDX-License-Identifier: Apache-2.0 */
/* cq_ring.c: the end of a completion queue that has lost a completion, requested events, timestamps. */
#include "clock.h"
#include "cq_ring.h"

void lb_cq_raise(struct lb_cq *cq)
{
    cq->notify = LB_NOTIFY_NONE;
    if (cq->base.channel != NULL && (cq->delay_event == NULL || !cq->delay_event(cq)))
        lb_comp_channel_raise(cq);
}

/* From here on every poll sees a queue that is not empty, and then that it is dead. */
void lb_cq_die(struct lb_cq *cq, uint32_t position)
{
    atomic_store_explicit(&cq->dead, true, memory_order_relaxed);
    atomic_store_explicit(&cq->producer, position + cq->capacity + 1, memory_order_release);
    lb_async_raise(cq->base.context, IBV_EVENT_CQ_ERR, &cq->base, &cq->async_events_fetched);
    lb_cq_notify(cq, true);
}

void lb_cq_stamp(struct lb_cq *cq, uint32_t position)
{
    cq->ticks[position & cq->mask] = lb_clock_ticks();
}
