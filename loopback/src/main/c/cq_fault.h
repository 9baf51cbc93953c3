/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq_fault.h: effects of the fault plan on a completion queue; called only for queues that were created under a plan.
 */
#ifndef LOOPBACK_CQ_FAULT_H
#define LOOPBACK_CQ_FAULT_H

#include "cq.h"

/* Puts a queue under the present plan, if there is one. Returns 0 or ENOMEM. */
int lb_cq_faults_open(struct lb_cq *cq);

/* No lock held. Nothing of the plan touches the queue from here on. */
void lb_cq_faults_close(struct lb_cq *cq);

/* push_lock held, as for all that follow but the poll. Takes the place of lb_cq_push. */
bool lb_cq_faults_push(struct lb_cq *cq, const struct lb_cqe *cqe, bool solicited);

/* Makes the completions that were held back visible. */
void lb_cq_faults_release(struct lb_cq *cq);

/* An event was asked for: raises one if the plan wants a spurious one. */
void lb_cq_faults_notify(struct lb_cq *cq);

/*
 * No lock held. Returns whether this poll has to fail; otherwise it may have released completions that were held back.
 */
bool lb_cq_faults_poll(struct lb_cq *cq);

#endif
