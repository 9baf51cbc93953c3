/* SPDX-License-Identifier: Apache-2.0 */
/* recv.c: posting receives to a queue pair with its own receive queue, and to a shared receive queue. */
#include <errno.h>

#include "execute.h"

/* rq_lock held, and released. */
static __attribute__((noinline)) int post_list(struct lb_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    struct lb_aftermath aftermath = {0};
    int error = 0;

    if (qp->srq != NULL || qp->state == IBV_QPS_RESET) {
        error = EINVAL;
        *bad_wr = wr;
        wr = NULL;
    }
    for (; wr != NULL; wr = wr->next) {
        error = lb_recv_ring_put(&qp->recv_ring, wr);
        if (error) {
            *bad_wr = wr;
            break;
        }
    }
    if (qp->rq_error) {
        lb_recv_flush(qp, &aftermath);
    } else if (qp->sender_waits && lb_recv_ring_count(&qp->recv_ring) > 0 && qp->peer != NULL) {
        qp->sender_waits = false;
        lb_qp_get(qp->peer);
        aftermath.kick = qp->peer;
    }
    lb_lock_release(&qp->rq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
    return error;
}

int lb_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);
    const bool biased = lb_lock_take(&qp->rq_lock);

    /* A single receive that nobody waits for. The ring beside a shared receive queue has no room. */
    if (wr == NULL || wr->next != NULL || qp->state == IBV_QPS_RESET || qp->rq_error || qp->sender_waits ||
            !lb_recv_ring_put_one(&qp->recv_ring, wr))
        return post_list(qp, wr, bad_wr);
    lb_lock_return(&qp->rq_lock, biased);
    return 0;
}

void lb_srq_wake(struct lb_srq *srq)
{
    uint64_t budget = LB_CALL_BUDGET;
    struct lb_qp *sender;

    while ((sender = lb_srq_next_to_wake(srq)) != NULL) {
        lb_qp_kick(sender, &budget);
        lb_qp_put(sender);
    }
}

int lb_post_srq_recv(struct ibv_srq *ibv_srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    struct lb_srq *srq = lb_srq_of(ibv_srq);
    int error = 0;

    lb_lock_acquire(&srq->lock);
    for (; wr != NULL; wr = wr->next) {
        error = lb_recv_ring_put(&srq->ring, wr);
        if (error) {
            *bad_wr = wr;
            break;
        }
    }
    const bool wake = srq->first_waiter != NULL;
    lb_lock_release(&srq->lock);
    if (wake)
        lb_srq_wake(srq);
    return error;
}
