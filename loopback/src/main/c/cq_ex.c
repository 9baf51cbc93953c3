/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq_ex.c: extended completion queues (ibv_create_cq_ex(3)): completions read one by one and field by field, with the time at
 * which the device has generated them.
 *
 * poll_lock is held from a successful start_poll to end_poll. The entries are given back at the end of a batch, or when all
 * completions that a look at the queue has found are polled, so that a batch without an end does not overrun the queue.
 */
#include <errno.h>

#include "clock.h"
#include "cq_fault.h"
#include "cq_ring.h"

#define TIMESTAMPS ((uint64_t)(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
#define FIELDS ((uint64_t)IBV_WC_STANDARD_FLAGS | TIMESTAMPS)
/* A comparison of the device's clock with the wall clock serves completions so long; a read of both is close if it took so long. */
#define COMPARED_FOR_NS 100000
#define CLOSE_NS 200

static struct lb_cq *cq_of(struct ibv_cq_ex *ex)
{
    return (struct lb_cq *)(void *)ex;
}

/* poll_lock held. Makes the completion at batch.next the one that is read. */
static inline void take(struct lb_cq *cq)
{
    const struct lb_cqe *cqe = &cq->ring[cq->batch.next & cq->mask];

    if (cqe->qp != cq->batch.qp)
        lb_cq_give_back(cq, cq->batch.next, cq->batch.qp, cq->batch.retired);
    cq->batch.qp = cqe->qp;
    cq->batch.retired = cqe->retired;
    cq->batch.next++;
    cq->current = cqe;
    cq->ex.status = cqe->wc.status;
    cq->ex.wr_id = cqe->wc.wr_id;
}

/* poll_lock held. The completions up to batch.next have been read. */
static void give_back_all(struct lb_cq *cq)
{
    atomic_store_explicit(&cq->consumer, cq->batch.next, memory_order_release);
    lb_cq_give_back(cq, cq->batch.next, cq->batch.qp, cq->batch.retired);
    cq->batch.qp = NULL;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
    struct lb_cq *cq = cq_of(ex);

    if (attr->comp_mask != 0)
        return EINVAL;
    if (__builtin_expect(cq->faults != NULL, 0) && lb_cq_faults_poll(cq))
        return EIO;
    if (lb_cq_is_empty(cq))
        return ENOENT;
    lb_lock_acquire(&cq->poll_lock);
    const uint32_t first = atomic_load_explicit(&cq->consumer, memory_order_relaxed);
    const uint32_t end = atomic_load_explicit(&cq->producer, memory_order_acquire);
    if (atomic_load_explicit(&cq->dead, memory_order_relaxed)) {
        lb_lock_release(&cq->poll_lock);
        return EIO;
    }
    if (first == end) { /* another thread has polled them */
        lb_lock_release(&cq->poll_lock);
        return ENOENT;
    }
    cq->batch = (struct lb_cq_batch){.next = first, .end = end};
    take(cq);
    return 0;
}

static int next_poll(struct ibv_cq_ex *ex)
{
    struct lb_cq *cq = cq_of(ex);

    if (cq->batch.next == cq->batch.end) {
        give_back_all(cq);
        cq->batch.end = atomic_load_explicit(&cq->producer, memory_order_acquire);
        if (atomic_load_explicit(&cq->dead, memory_order_relaxed)) {
            cq->batch.end = cq->batch.next;
            return EIO;
        }
        if (cq->batch.next == cq->batch.end)
            return ENOENT;
    }
    take(cq);
    return 0;
}

static void end_poll(struct ibv_cq_ex *ex)
{
    struct lb_cq *cq = cq_of(ex);

    give_back_all(cq);
    lb_lock_release(&cq->poll_lock);
}

/* The function read_NAME, which returns a field of the completion that is read. */
#define READER(type, name, field) \
    static type read_##name(struct ibv_cq_ex *ex) \
    { \
        return cq_of(ex)->current->wc.field; \
    }

READER(enum ibv_wc_opcode, opcode, opcode)
READER(uint32_t, vendor_err, vendor_err)
READER(uint32_t, byte_len, byte_len)
READER(__be32, imm_data, imm_data)
READER(uint32_t, qp_num, qp_num)
READER(uint32_t, src_qp, src_qp)
READER(unsigned int, wc_flags, wc_flags)
READER(uint32_t, slid, slid)
READER(uint8_t, sl, sl)
READER(uint8_t, dlid_path_bits, dlid_path_bits)

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
    const struct lb_cq *cq = cq_of(ex);

    return cq->ticks[(cq->batch.next - 1) & cq->mask];
}

/* The difference of the two clocks now; of the try that took least time, since a thread may lose its processor between two reads. */
static void compare_clocks(struct lb_cq *cq)
{
    uint64_t shortest = UINT64_MAX;

    for (int i = 0; i < 8 && shortest > CLOSE_NS; i++) {
        const uint64_t before = lb_clock_ticks();
        const uint64_t wall = lb_clock_ns(CLOCK_REALTIME);
        const uint64_t took = lb_clock_ticks() - before;

        if (took < shortest) {
            shortest = took;
            cq->wall_ticks = before + took;
            cq->wall_offset_ns = wall - (before + took / 2);
        }
    }
}

/* As on a NIC, by a difference of the clocks that is compared from time to time. */
static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ex)
{
    struct lb_cq *cq = cq_of(ex);
    const uint64_t ticks = read_completion_ts(ex);

    /* Signed: completions from before the comparison use it as well. */
    if (cq->wall_ticks == 0 || (int64_t)(ticks - cq->wall_ticks) > COMPARED_FOR_NS)
        compare_clocks(cq);
    return ticks + cq->wall_offset_ns;
}

struct ibv_cq_ex *lb_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    if (lb_fails("ibv_create_cq_ex"))
        return NULL;
    int error = EINVAL;

    if (attr->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
        goto fail;
    if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) /* the device has no parent domains */
        goto fail;
    if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) {
        if (attr->flags & ~(uint32_t)(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN))
            goto fail;
        error = EOPNOTSUPP;
        if (attr->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
            goto fail;
    }
    error = EOPNOTSUPP;
    if (attr->wc_flags & ~FIELDS)
        goto fail;
    struct lb_cq *cq = lb_cq_create(context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector,
        (attr->wc_flags & TIMESTAMPS) != 0);
    if (cq == NULL)
        return NULL;
    struct ibv_cq_ex *ex = &cq->ex;
    lb_lock_share(&cq->poll_lock); /* end_poll may be called by another thread than start_poll */
    const uint64_t fields = attr->wc_flags;

    ex->start_poll = start_poll;
    ex->next_poll = next_poll;
    ex->end_poll = end_poll;
    ex->read_opcode = read_opcode;
    ex->read_vendor_err = read_vendor_err;
    ex->read_wc_flags = read_wc_flags;
    ex->read_byte_len = fields & IBV_WC_EX_WITH_BYTE_LEN ? read_byte_len : NULL;
    ex->read_imm_data = fields & IBV_WC_EX_WITH_IMM ? read_imm_data : NULL;
    ex->read_qp_num = fields & IBV_WC_EX_WITH_QP_NUM ? read_qp_num : NULL;
    ex->read_src_qp = fields & IBV_WC_EX_WITH_SRC_QP ? read_src_qp : NULL;
    ex->read_slid = fields & IBV_WC_EX_WITH_SLID ? read_slid : NULL;
    ex->read_sl = fields & IBV_WC_EX_WITH_SL ? read_sl : NULL;
    ex->read_dlid_path_bits = fields & IBV_WC_EX_WITH_DLID_PATH_BITS ? read_dlid_path_bits : NULL;
    ex->read_completion_ts = fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP ? read_completion_ts : NULL;
    ex->read_completion_wallclock_ns =
        fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK ? read_completion_wallclock_ns : NULL;
    return ex;

fail:
    errno = error;
    return NULL;
}

int lb_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    (void)context;
    if (lb_fails("ibv_query_rt_values_ex"))
        return errno;
    if (values->comp_mask & ~(uint32_t)IBV_VALUES_MASK_RAW_CLOCK)
        return EINVAL;
    /* As mlx5 does: all ticks in tv_nsec. */
    if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK)
        values->raw_clock = (struct timespec){.tv_nsec = (long)lb_clock_ticks()};
    return 0;
}
