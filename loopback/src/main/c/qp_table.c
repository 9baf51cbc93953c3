/* SPDX-License-Identifier: Apache-2.0 */
/* qp_table.c: numbers of queue pairs, references to them, and the end of what they do under their locks. */
#include "memory.h"
#include "qp.h"

#define QPN_INDEX_MASK 0xffffu
#define QPN_FIRST_INDEX 17u /* numbers 0 and 1 belong to management, the next few look like them */

static struct lb_lock qp_table_lock;
static struct lb_qp *qp_table[QPN_INDEX_MASK + 1];
static uint64_t qp_used[(QPN_INDEX_MASK + 1) / 64]; /* a bit for each index that is in use */
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
            qp_used[index / 64] |= UINT64_C(1) << index % 64;
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
    const uint32_t index = lb_qp_num(qp) & QPN_INDEX_MASK;

    lb_lock_acquire(&qp_table_lock);
    qp_table[index] = NULL;
    qp_used[index / 64] &= ~(UINT64_C(1) << index % 64);
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

/* The queue pair with the lowest index from *index on, with a reference, or NULL; *index is then behind it. */
static struct lb_qp *next_qp(uint32_t *index)
{
    struct lb_qp *qp = NULL;

    lb_lock_acquire(&qp_table_lock);
    while (*index <= QPN_INDEX_MASK && qp == NULL) {
        const uint64_t used = qp_used[*index / 64] >> *index % 64;

        if (used == 0) {
            *index = (*index / 64 + 1) * 64;
            continue;
        }
        *index += (uint32_t)__builtin_ctzll(used);
        qp = qp_table[(*index)++];
        lb_qp_get(qp);
    }
    lb_lock_release(&qp_table_lock);
    return qp;
}

/* A short message uses a region without a hold, under the sq_lock of its requester. */
static void await_sections(void)
{
    struct lb_qp *qp;
    uint32_t index = 0;

    lb_lock_fence();
    while ((qp = next_qp(&index)) != NULL) {
        lb_lock_pass(&qp->sq_lock);
        lb_qp_put(qp);
    }
}

static void hold(void)
{
    lb_lock_acquire(&qp_table_lock);
}

static void release(void)
{
    lb_lock_release(&qp_table_lock);
}

static void (*inherit)(struct lb_qp *qp);
static void (*restart)(struct lb_qp *qp);

void lb_qp_on_fork(void (*first)(struct lb_qp *qp), void (*second)(struct lb_qp *qp))
{
    inherit = first;
    restart = second;
}

static void call_for_all(void (*function)(struct lb_qp *qp))
{
    struct lb_qp *qp;

    for (uint32_t index = 0; (qp = next_qp(&index)) != NULL; lb_qp_put(qp)) {
        if (qp->proxy == NULL)
            function(qp);
    }
}

static void forget_events(struct lb_qp *qp)
{
    struct ibv_qp *base = &qp->base.qp_base;

    pthread_mutex_init(&base->mutex, NULL);
    pthread_cond_init(&base->cond, NULL);
    base->events_completed = qp->async_events_fetched;
}

/*
 * A thread that is not here may have been under the lock of a queue pair, or own it, or have acknowledged an event: neither
 * await_sections nor a post or an acknowledgement may wait for it. It may have an event to acknowledge: no destruction may wait
 * for that.
 */
static void forget_sections(void)
{
    for (uint32_t index = 0; index <= QPN_INDEX_MASK; index++) {
        struct lb_qp *qp = qp_table[index];

        if (qp == NULL)
            continue;
        lb_lock_forget(&qp->sq_lock);
        lb_lock_forget(&qp->rq_lock);
        if (qp->peer != NULL) { /* which may be destroyed, and in the table no more */
            lb_lock_forget(&qp->peer->sq_lock);
            lb_lock_forget(&qp->peer->rq_lock);
        }
        if (qp->proxy == NULL)
            forget_events(qp);
        qp->keeps = false; /* memory.c has forgotten the holds */
        qp->kept_local = NULL;
        qp->kept_remote = NULL;
        qp->kept_receive = NULL;
        atomic_store_explicit(&qp->copies, 0, memory_order_relaxed);
        qp->copies_out = 0;
        qp->copies_in = 0;
    }
    release();
    call_for_all(inherit);
    call_for_all(restart);
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, forget_sections);
    lb_region_on_removal(await_sections);
}
