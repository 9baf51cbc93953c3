/* SPDX-License-Identifier: Apache-2.0 */
/* recv.c: posting receives to a queue pair of its own receive queue, and flushing them. */
#include <errno.h>

#include "qp.h"

static void flush_one(struct lb_qp *qp, uint64_t wr_id, struct lb_aftermath *aftermath)
{
    struct lb_cqe cqe;

    lb_cqe_fail(&cqe, wr_id, lb_qp_num(qp), IBV_WC_WR_FLUSH_ERR, RINGPOLL_LOOPBACK_VERR_NONE);
    if (!lb_cq_push(qp->recv_cq, &cqe, true) && aftermath->overrun == NULL) {
        lb_qp_get(qp);
        aftermath->overrun = qp;
    }
}

void lb_recv_flush(struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    qp->rq_epoch++;
    if (qp->recv_taken) {
        flush_one(qp, qp->taken->wr_id, aftermath);
        qp->recv_taken = false;
    }
    while (lb_recv_ring_count(&qp->recv_ring) > 0) {
        flush_one(qp, lb_recv_ring_first(&qp->recv_ring)->wr_id, aftermath);
        qp->recv_ring.consumed++;
    }
}

int lb_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);
    struct lb_aftermath aftermath = {0};
    int error = 0;

    lb_lock_acquire(&qp->rq_lock);
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
