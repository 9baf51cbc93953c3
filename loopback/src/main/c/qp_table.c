/* SPDX-License-Identifier: Apache-2.0 */
/* qp_table.c: numbers of queue pairs, and references to them. */
#include "qp.h"

#define QPN_INDEX_MASK 0xffffu
#define QPN_FIRST_INDEX 17u /* numbers 0 and 1 belong to management, the next few look like them */

static struct lb_lock qp_table_lock;
static struct lb_qp *qp_table[QPN_INDEX_MASK + 1];
static uint8_t qp_generation[QPN_INDEX_MASK + 1];
static uint32_t qp_next_index = QPN_FIRST_INDEX;

/* Indices are used round-robin, so a number is not reused for a long time. */
bool lb_qp_assign_number(struct lb_qp *qp)
{
    bool assigned = false;

    lb_lock_acquire(&qp_table_lock);
    for (uint32_t tries = 0; tries <= QPN_INDEX_MASK && !assigned; tries++) {
        const uint32_t index = qp_next_index;

        qp_next_index = index == QPN_INDEX_MASK ? QPN_FIRST_INDEX : index + 1;
        if (qp_table[index] == NULL) {
            qp_table[index] = qp;
            qp->base.qp_base.qp_num = (uint32_t)qp_generation[index]++ << 16 | index;
            qp->base.qp_base.handle = index;
            assigned = true;
        }
    }
    lb_lock_release(&qp_table_lock);
    return assigned;
}

void lb_qp_release_number(struct lb_qp *qp)
{
    lb_lock_acquire(&qp_table_lock);
    qp_table[lb_qp_num(qp) & QPN_INDEX_MASK] = NULL;
    lb_lock_release(&qp_table_lock);
}

struct lb_qp *lb_qp_find(uint32_t qp_num)
{
    struct lb_qp *qp;

    lb_lock_acquire(&qp_table_lock);
    qp = qp_table[qp_num & QPN_INDEX_MASK];
    if (qp != NULL && lb_qp_num(qp) == qp_num)
        lb_qp_get(qp);
    else
        qp = NULL;
    lb_lock_release(&qp_table_lock);
    return qp;
}

void lb_qp_put(struct lb_qp *qp)
{
    if (atomic_fetch_sub_explicit(&qp->references, 1, memory_order_acq_rel) == 1)
        qp->free(qp);
}

static void hold(void)
{
    lb_lock_acquire(&qp_table_lock);
}

static void release(void)
{
    lb_lock_release(&qp_table_lock);
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, release);
}
