/* SPDX-License-Identifier: Apache-2.0 */
/* synthetic.c: programs of the synthetic device, and the poll that carries them out. */
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "ringpoll_synthetic.h"

/* A program as it is carried out; never changed once it is published. */
struct program {
    struct program *older;
    uint64_t count;
    uint64_t start_ns;
    uint64_t period_ns;
    uint64_t *schedule_ns;
    struct ibv_wc *pattern; /* whole records but for wr_id */
    uint32_t schedule_length;
    uint32_t pattern_mask;
    uint32_t max_batch;
    uint32_t empty_polls;
};

struct lb_synthetic {
    _Atomic(struct program *) latest; /* published with release */
    struct lb_lock lock;              /* around changes of latest */
    struct lb_fork_member fork;

    /* The polling thread's. */
    alignas(64) const struct program *current;
    uint64_t position;    /* completions given */
    uint64_t due_ns;      /* when the next one is due */
    uint64_t period_start_ns;
    uint64_t last_poll_ns;
    uint32_t schedule_index;
    uint32_t empty_polls_left;

    /* Written by the polling thread, read by any. */
    alignas(64) _Atomic(const struct program *) counted; /* the program that the numbers are of */
    _Atomic uint64_t given;
    _Atomic uint64_t longest_gap_ns;
};

static struct ibv_device device = {
    .node_type = IBV_NODE_CA,
    .transport_type = IBV_TRANSPORT_IB,
    .name = "synthetic0",
    .dev_name = "synthetic0",
    .dev_path = "",
    .ibdev_path = "",
};

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void free_program(struct program *program)
{
    free(program->schedule_ns);
    free(program->pattern);
    free(program);
}

static void delete_synthetic(struct lb_synthetic *synthetic)
{
    struct program *program = atomic_load(&synthetic->latest);

    while (program != NULL) {
        struct program *older = program->older;

        free_program(program);
        program = older;
    }
    lb_fork_leave(&synthetic->fork);
    free(synthetic);
}

static void inherit(struct lb_fork_member *member)
{
    lb_lock_forget(&LB_FORKED(struct lb_synthetic, fork, member)->lock);
}

static struct lb_synthetic *synthetic_of(struct ibv_context *context)
{
    /* A context of another libibverbs has nothing of ours around it. */
    return context->device == &device ? lb_context_of(context)->synthetic : NULL;
}

static bool is_valid(const struct ringpoll_synthetic_program *program)
{
    const uint32_t length = program->pattern_length;

    if (program->pattern == NULL || length == 0 || (length & (length - 1)) != 0 ||
        length > RINGPOLL_SYNTHETIC_MAX_PATTERN)
        return false;
    if (program->period_ns == 0)
        return true;
    if (program->schedule_ns == NULL || program->schedule_length == 0 ||
        program->schedule_length > RINGPOLL_SYNTHETIC_MAX_SCHEDULE)
        return false;
    for (uint32_t i = 0; i < program->schedule_length; i++) {
        if (program->schedule_ns[i] >= program->period_ns ||
            (i > 0 && program->schedule_ns[i] < program->schedule_ns[i - 1]))
            return false;
    }
    return true;
}

static void make_record(struct ibv_wc *wc, const struct ringpoll_synthetic_kind *kind)
{
    if (kind->status != IBV_WC_SUCCESS) {
        memset(wc, RINGPOLL_LOOPBACK_POISON, sizeof(*wc));
        wc->vendor_err = RINGPOLL_LOOPBACK_VERR_NONE;
    } else {
        memset(wc, 0, sizeof(*wc));
        wc->opcode = (enum ibv_wc_opcode)kind->opcode;
        wc->byte_len = kind->byte_len;
    }
    wc->status = (enum ibv_wc_status)kind->status;
    wc->qp_num = kind->qp_num;
}

static struct program *copy_program(const struct ringpoll_synthetic_program *given)
{
    struct program *program = calloc(1, sizeof(*program));

    if (program == NULL)
        return NULL;
    program->count = given->count;
    program->start_ns = given->start_ns;
    program->period_ns = given->period_ns;
    program->pattern_mask = given->pattern_length - 1;
    program->max_batch = given->max_batch;
    program->empty_polls = given->empty_polls;
    program->pattern = aligned_alloc(64,
        (given->pattern_length * sizeof(struct ibv_wc) + 63) & ~(size_t)63);
    if (program->pattern == NULL)
        goto fail;
    for (uint32_t i = 0; i < given->pattern_length; i++)
        make_record(&program->pattern[i], &given->pattern[i]);
    if (given->period_ns != 0) {
        program->schedule_length = given->schedule_length;
        program->schedule_ns = malloc(given->schedule_length * sizeof(uint64_t));
        if (program->schedule_ns == NULL)
            goto fail;
        memcpy(program->schedule_ns, given->schedule_ns,
            given->schedule_length * sizeof(uint64_t));
    }
    return program;

fail:
    free_program(program);
    return NULL;
}

LB_EXPORT int ringpoll_synthetic_start(struct ibv_context *context,
    const struct ringpoll_synthetic_program *given)
{
    struct lb_synthetic *synthetic = synthetic_of(context);

    if (synthetic == NULL || !is_valid(given))
        return EINVAL;
    struct program *program = copy_program(given);
    if (program == NULL)
        return ENOMEM;
    lb_lock_acquire(&synthetic->lock);
    program->older = atomic_load_explicit(&synthetic->latest, memory_order_relaxed);
    atomic_store_explicit(&synthetic->latest, program, memory_order_release);
    lb_lock_release(&synthetic->lock);
    return 0;
}

/* Whether the polling thread has taken up the latest program. */
static bool is_counted(struct lb_synthetic *synthetic)
{
    return atomic_load_explicit(&synthetic->counted, memory_order_acquire) ==
        atomic_load_explicit(&synthetic->latest, memory_order_acquire);
}

LB_EXPORT int ringpoll_synthetic_given(struct ibv_context *context, uint64_t *completions)
{
    struct lb_synthetic *synthetic = synthetic_of(context);

    if (synthetic == NULL)
        return EINVAL;
    *completions = is_counted(synthetic) ?
        atomic_load_explicit(&synthetic->given, memory_order_relaxed) : 0;
    return 0;
}

/* The polling thread may raise it concurrently: that gap is then part of one period or the other. */
LB_EXPORT int ringpoll_synthetic_take_longest_gap(struct ibv_context *context, uint64_t *gap_ns)
{
    struct lb_synthetic *synthetic = synthetic_of(context);

    if (synthetic == NULL)
        return EINVAL;
    *gap_ns = is_counted(synthetic) ?
        atomic_exchange_explicit(&synthetic->longest_gap_ns, 0, memory_order_relaxed) : 0;
    return 0;
}

static void begin(struct lb_synthetic *synthetic, const struct program *program)
{
    const uint64_t now = now_ns();

    synthetic->current = program;
    synthetic->position = 0;
    synthetic->empty_polls_left = 0;
    synthetic->schedule_index = 0;
    synthetic->last_poll_ns = now;
    synthetic->period_start_ns = program->start_ns != 0 ? program->start_ns : now;
    synthetic->due_ns = synthetic->period_start_ns +
        (program->period_ns != 0 ? program->schedule_ns[0] : 0);
    atomic_store_explicit(&synthetic->given, 0, memory_order_relaxed);
    atomic_store_explicit(&synthetic->longest_gap_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&synthetic->counted, program, memory_order_release);
}

static inline void put(struct ibv_wc *wc, const struct program *program, uint64_t k, uint64_t wr_id)
{
    *wc = program->pattern[k & program->pattern_mask];
    wc->wr_id = wr_id;
}

static int poll_saturated(struct lb_synthetic *synthetic, const struct program *program,
    uint64_t limit, struct ibv_wc *wc)
{
    const uint64_t first = synthetic->position;

    if (synthetic->empty_polls_left > 0) {
        synthetic->empty_polls_left--;
        return 0;
    }
    for (uint64_t i = 0; i < limit; i++)
        put(&wc[i], program, first + i, first + i);
    synthetic->position = first + limit;
    synthetic->empty_polls_left = program->empty_polls;
    atomic_store_explicit(&synthetic->given, first + limit, memory_order_relaxed);
    return (int)limit;
}

static int poll_due(struct lb_synthetic *synthetic, const struct program *program, uint64_t limit,
    struct ibv_wc *wc)
{
    const uint64_t now = now_ns();
    const uint64_t gap = now - synthetic->last_poll_ns;

    synthetic->last_poll_ns = now;
    if (gap > atomic_load_explicit(&synthetic->longest_gap_ns, memory_order_relaxed))
        atomic_store_explicit(&synthetic->longest_gap_ns, gap, memory_order_relaxed);
    uint64_t due = synthetic->due_ns;
    /* Signed: a start in the future is far from now. */
    if ((int64_t)(now - due) < 0)
        return 0;
    uint64_t given = 0;
    do {
        put(&wc[given], program, synthetic->position + given, due);
        given++;
        if (++synthetic->schedule_index == program->schedule_length) {
            synthetic->schedule_index = 0;
            synthetic->period_start_ns += program->period_ns;
        }
        due = synthetic->period_start_ns + program->schedule_ns[synthetic->schedule_index];
    } while (given < limit && (int64_t)(now - due) >= 0);
    synthetic->due_ns = due;
    synthetic->position += given;
    atomic_store_explicit(&synthetic->given, synthetic->position, memory_order_relaxed);
    return (int)given;
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
    struct lb_synthetic *synthetic = lb_context_of(cq->context)->synthetic;
    const struct program *program =
        atomic_load_explicit(&synthetic->latest, memory_order_acquire);

    if (__builtin_expect(program != synthetic->current, 0))
        begin(synthetic, program);
    if (__builtin_expect(program == NULL, 0) || num_entries <= 0)
        return 0;
    uint64_t limit = (uint64_t)num_entries;
    if (program->max_batch != 0 && limit > program->max_batch)
        limit = program->max_batch;
    if (limit > program->count - synthetic->position) {
        limit = program->count - synthetic->position;
        if (limit == 0)
            return 0;
    }
    return program->period_ns == 0 ? poll_saturated(synthetic, program, limit, wc) :
        poll_due(synthetic, program, limit, wc);
}

LB_EXPORT struct ibv_context *ringpoll_synthetic_open(void)
{
    struct lb_synthetic *synthetic = aligned_alloc(alignof(struct lb_synthetic), sizeof(*synthetic));

    if (synthetic == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(synthetic, 0, sizeof(*synthetic));
    struct ibv_context *context = lb_open_context(&device, false);
    if (context == NULL) {
        free(synthetic);
        return NULL;
    }
    lb_fork_join(&synthetic->fork, inherit);
    lb_context_of(context)->synthetic = synthetic;
    lb_context_of(context)->delete_synthetic = delete_synthetic;
    context->ops.poll_cq = poll_cq;
    lb_context_of(context)->verbs.create_cq_ex = NULL; /* its completions are made by poll_cq */
    return context;
}
