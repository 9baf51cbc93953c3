/* SPDX-License-Identifier: Apache-2.0 */
/* qp_fault.h: effects of the fault plan on a queue pair; called only for queue pairs that were created under a plan. */
#ifndef LOOPBACK_QP_FAULT_H
#define LOOPBACK_QP_FAULT_H

#include "execute.h"

/*
 * Puts a queue pair under the present plan, if there is one; `kick` continues its send ring when the receiver of the plan
 * is ready (lb_qp_kick, which is in a higher layer). Returns 0 or ENOMEM.
 */
int lb_qp_faults_open(struct lb_qp *qp, void (*kick)(struct lb_qp *qp, uint64_t *budget));

/* No lock held: the queue pair goes. Its timer is stopped, or keeps the queue pair's memory until it has run. */
void lb_qp_faults_close(struct lb_qp *qp);

/* In the child of a fork: the receiver is ready, since the timer is the parent's. */
void lb_qp_faults_forget_timer(struct lb_qp *qp);

/* With the last reference gone. */
void lb_qp_faults_free(struct lb_qp *qp);

/* sq_lock held, as for the next two. Whether this post is to find the send queue full. */
bool lb_qp_faults_refuse(struct lb_qp *qp);

/* A post was accepted: puts the queue pair into aftermath->disconnect if the plan ends its connection here. */
void lb_qp_faults_accepted(struct lb_qp *qp, struct lb_aftermath *aftermath);

/*
 * Called before a work request is executed. LB_DONE: it is executed as without a plan; otherwise the outcome of the
 * plan. Counts each work request once, however often it tries.
 */
enum lb_outcome lb_qp_faults_before(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath);

/* sq_lock held. The numbers of the work requests restart; the counts of the plan continue. */
void lb_qp_faults_reset(struct lb_qp *qp);

/* rq_lock held. The status that the plan has for a message that has just taken a receive; IBV_WC_SUCCESS if none. */
enum ibv_wc_status lb_qp_faults_receive(struct lb_qp *qp);

#endif
