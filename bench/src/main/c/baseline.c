/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.c: the ring, the polling thread and the handlers' threads.
 *
 *       passed (handlers)         published (poller)         passed + ring_size
 *   -------------|--------------------------|-------------------------|--------->
 *    free again  |  to be handled           |  free                   |  not free yet
 *
 * Sequences count slots from 0 and never wrap in practice. Two release stores order everything: the
 * poller publishes records by one, which the handlers read with acquire; the handlers free slots by the
 * other, which the poller reads with acquire.
 *
 * docs/results.md describes the optimizations. The experiments without effect are still here, to be
 * tried on other machines by the script `variants`:
 *   TRY_PREFETCH=N    handlers prefetch the record N ahead
 *   TRY_PREFETCHW=N   the poller prefetches, to write, the slots of its next N records
 *   TRY_HUGE_PAGES    the slab asks for huge pages
 *   TRY_NO_PAUSE      waiting threads spin without `pause` (in hot.h)
 */
#include "baseline.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"
#include "hot.h"
#include "queue.h"
#include "ring.h"
#include "threads.h"

/* Two lines: processors fetch them in pairs. */
#define APART 128

struct handler {
    alignas(APART) _Atomic uint64_t passed;

    /* Owned by the handler. */
    alignas(APART) struct baseline *baseline;
    uint64_t completions;
    uint64_t sum;
    uint64_t *histogram;
    uint64_t involuntary_switches;
    uint32_t paths;
    pthread_t thread;
};

struct baseline {
    alignas(APART) _Atomic uint64_t published;

    /* Owned by the poller. */
    alignas(APART) uint64_t gating; /* the slowest handler at the last check */
    uint64_t poller_switches;
    int queue_fault;

    /* Read by all threads; written once. */
    alignas(APART) struct ibv_wc *slab;
    uint64_t mask;
    struct baseline_options options;
    struct queue queue; /* its own queue, if the caller has not passed one */
    struct rpma_cq **cqs;
    uint32_t cq_count;
    ring_handler *custom;
    void *custom_context;
    pthread_t poller;
    _Atomic bool stop_polling;
    _Atomic bool stop_handling;

    alignas(APART) struct handler handlers[BASELINE_MAX_HANDLERS];
};

/* Status and opcode are neighbours: one load decides. */
static inline uint32_t path_of(const struct ibv_wc *wc)
{
    if (wc->status != IBV_WC_SUCCESS)
        return BASELINE_ERROR;
    return (wc->opcode & IBV_WC_RECV) != 0 ? BASELINE_RECEIVE : BASELINE_SEND_WRITE;
}

static inline __attribute__((always_inline)) void handle_range(struct handler *handler,
    const struct ibv_wc *wc, const struct ibv_wc *end, uint32_t work)
{
    const struct baseline_options *options = &handler->baseline->options;
    const uint64_t from = options->record_from_ns;
    const uint64_t length = options->record_until_ns - from;
    const uint32_t paths = handler->paths;
    /* In registers: the compiler must assume that a store to the handler changes the records. */
    uint64_t completions = 0;
    uint64_t sum = 0;

    for (; wc != end; wc++) {
#ifdef TRY_PREFETCH
        __builtin_prefetch(wc + TRY_PREFETCH);
#endif
        if ((path_of(wc) & paths) == 0)
            continue;
        completions++;
        if (work == RING_CUSTOM)
            handler->baseline->custom(handler->baseline->custom_context, wc, handler->histogram);
        else if (work == BASELINE_SUM)
            sum += wc->wr_id;
        else if (wc->wr_id - from < length)
            histogram_record(handler->histogram, now_ns() - wc->wr_id);
    }
    handler->completions += completions;
    handler->sum += sum;
}

/* Handles the published records from a sequence on; returns the sequence where it stopped. */
static inline __attribute__((always_inline)) uint64_t handle_published(struct handler *handler,
    uint64_t next, uint64_t published, uint32_t work)
{
    const struct baseline *baseline = handler->baseline;
    const uint64_t size = baseline->mask + 1;
    /* A quarter of the ring: the poller gets free slots back while a long range is handled. */
    const uint64_t limit = published - next > size / 4 ? next + size / 4 : published;

    while (next != limit) {
        const uint64_t index = next & baseline->mask;
        const uint64_t count = limit - next < size - index ? limit - next : size - index;
        const struct ibv_wc *first = &baseline->slab[index];

        handle_range(handler, first, first + count, work);
        next += count;
    }
    return next;
}

static inline __attribute__((always_inline)) void run_handler(struct handler *handler, uint32_t work)
{
    struct baseline *baseline = handler->baseline;
    const uint32_t wait = baseline->options.wait;
    uint64_t next = 0;

    if (baseline->options.stall_us > 0) {
        while (atomic_load_explicit(&baseline->published, memory_order_acquire) == 0 &&
            !atomic_load_explicit(&baseline->stop_handling, memory_order_acquire))
            relax(wait);
        (void)usleep(baseline->options.stall_us);
    }
    for (;;) {
        const uint64_t published =
            atomic_load_explicit(&baseline->published, memory_order_acquire);

        if (published != next) {
            next = handle_published(handler, next, published, work);
            atomic_store_explicit(&handler->passed, next, memory_order_release);
        } else if (atomic_load_explicit(&baseline->stop_handling, memory_order_acquire)) {
            /* Set after the last publication: nothing more will be published. */
            if (atomic_load_explicit(&baseline->published, memory_order_acquire) == next)
                return;
        } else {
            relax(wait);
        }
    }
}

static uint64_t involuntary_switches(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

static void *handler_main(void *argument)
{
    struct handler *handler = argument;

    switch (handler->baseline->options.work) {
    case BASELINE_SUM: run_handler(handler, BASELINE_SUM); break;
    case BASELINE_LATENCY: run_handler(handler, BASELINE_LATENCY); break;
    default: run_handler(handler, RING_CUSTOM); break;
    }
    handler->involuntary_switches = involuntary_switches();
    return NULL;
}

static uint64_t slowest(const struct baseline *baseline)
{
    uint64_t minimum = UINT64_MAX;

    for (uint32_t i = 0; i < baseline->options.handlers; i++) {
        const uint64_t passed =
            atomic_load_explicit(&baseline->handlers[i].passed, memory_order_acquire);

        if (passed < minimum)
            minimum = passed;
    }
    return minimum;
}

/* The free slots from a sequence on, up to the end of the slab. */
static inline uint64_t claim(struct baseline *baseline, uint64_t next)
{
    const uint64_t size = baseline->mask + 1;
    const uint64_t until_end = size - (next & baseline->mask);
    const uint64_t wanted =
        baseline->options.batch < until_end ? baseline->options.batch : until_end;

    if (next + wanted > baseline->gating + size) {
        baseline->gating = slowest(baseline);
        const uint64_t free = baseline->gating + size - next;
        return wanted < free ? wanted : free;
    }
    return wanted;
}

/* The number of queues is a constant where this is inlined: one queue costs no loop. */
static inline __attribute__((always_inline)) void poll_with_hand_off(struct baseline *baseline,
    uint32_t cq_count)
{
    const uint32_t wait = baseline->options.wait;
    struct rpma_cq *const *cqs = baseline->cqs;
    uint64_t next = 0;

    while (!atomic_load_explicit(&baseline->stop_polling, memory_order_relaxed)) {
        bool idle = true;
        uint64_t claimed = claim(baseline, next);

        for (uint32_t i = 0; i < cq_count; i++) {
            int got;

            if (claimed == 0)
                break;
            const int result = rpma_cq_get_wc(cqs[i], (int)claimed,
                &baseline->slab[next & baseline->mask], &got);
            if (result == 0) {
                next += (uint64_t)got;
                atomic_store_explicit(&baseline->published, next, memory_order_release);
                idle = false;
                if (i + 1 < cq_count)
                    claimed = claim(baseline, next);
#ifdef TRY_PREFETCHW
                for (uint32_t ahead = 0; ahead < TRY_PREFETCHW; ahead++)
                    __builtin_prefetch(&baseline->slab[(next + ahead) & baseline->mask], 1);
#endif
            } else if (result != RPMA_E_NO_COMPLETION) {
                baseline->queue_fault = result;
                return;
            }
        }
        if (idle && (wait == BASELINE_YIELD || baseline->gating + baseline->mask + 1 == next))
            relax(wait);
    }
}

static inline __attribute__((always_inline)) void poll_and_handle(struct baseline *baseline,
    uint32_t cq_count, uint32_t work)
{
    struct handler *self = &baseline->handlers[0];
    const uint32_t wait = baseline->options.wait;
    struct rpma_cq *const *cqs = baseline->cqs;
    uint64_t next = 0;

    while (!atomic_load_explicit(&baseline->stop_polling, memory_order_relaxed)) {
        for (uint32_t i = 0; i < cq_count; i++) {
            const uint64_t index = next & baseline->mask;
            const uint64_t until_end = baseline->mask + 1 - index;
            const uint64_t claimed =
                baseline->options.batch < until_end ? baseline->options.batch : until_end;
            int got;
            const int result = rpma_cq_get_wc(cqs[i], (int)claimed,
                &baseline->slab[index], &got);

            if (result == 0) {
                handle_range(self, &baseline->slab[index], &baseline->slab[index] + got, work);
                next += (uint64_t)got;
                /* For baseline_sample. */
                atomic_store_explicit(&baseline->published, next, memory_order_relaxed);
                atomic_store_explicit(&self->passed, next, memory_order_relaxed);
            } else if (result != RPMA_E_NO_COMPLETION) {
                baseline->queue_fault = result;
                return;
            } else if (wait == BASELINE_YIELD) {
                relax(wait);
            }
        }
    }
}

static void *poller_main(void *argument)
{
    struct baseline *baseline = argument;
    const uint32_t count = baseline->cq_count;

    if (baseline->options.handlers > 0) {
        if (count == 1)
            poll_with_hand_off(baseline, 1);
        else
            poll_with_hand_off(baseline, count);
    } else if (baseline->options.work == BASELINE_SUM) {
        poll_and_handle(baseline, 1, BASELINE_SUM);
    } else if (baseline->options.work == BASELINE_LATENCY) {
        poll_and_handle(baseline, 1, BASELINE_LATENCY);
    } else {
        poll_and_handle(baseline, count, RING_CUSTOM);
    }
    baseline->poller_switches = involuntary_switches();
    return NULL;
}

static bool is_valid(const struct baseline_options *options)
{
    const uint32_t size = options->ring_size;

    if (size < 2 || (size & (size - 1)) != 0 || options->batch < 1 || options->batch > size ||
        options->handlers > BASELINE_MAX_HANDLERS || options->work > RING_CUSTOM ||
        options->wait > BASELINE_YIELD || options->poller_cpu >= CPU_SETSIZE)
        return false;
    if (options->more_count > 0 && (options->more == NULL || options->handlers == 0 ||
        options->more_count > options->more->count))
        return false;
    for (uint32_t i = 0; i < options->handlers; i++) {
        if (options->handler_cpu[i] >= CPU_SETSIZE)
            return false;
    }
    return true;
}

static void stop_handlers(struct baseline *baseline, uint32_t started)
{
    atomic_store_explicit(&baseline->stop_handling, true, memory_order_release);
    for (uint32_t i = 0; i < started; i++)
        (void)pthread_join(baseline->handlers[i].thread, NULL);
}

static size_t slab_bytes(const struct baseline *baseline)
{
    const size_t bytes = (baseline->mask + 1) * sizeof(struct ibv_wc);
#ifdef TRY_HUGE_PAGES
    const size_t page = (size_t)2 << 20;

    return (bytes + page - 1) & ~(page - 1);
#else
    return bytes;
#endif
}

static int start_threads(struct baseline *baseline)
{
    const struct baseline_options *options = &baseline->options;
    int error = 0;

    for (uint32_t i = 0; i < options->handlers; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "bench-c-hand-%u", i % 10);
        error = start_thread(&baseline->handlers[i].thread, name,
            options->handler_cpu[i], handler_main, &baseline->handlers[i]);
        if (error != 0) {
            stop_handlers(baseline, i);
            return error;
        }
    }
    error = start_thread(&baseline->poller, "bench-c-poller", options->poller_cpu, poller_main,
        baseline);
    if (error != 0)
        stop_handlers(baseline, options->handlers);
    return error;
}

static struct ibv_wc *new_slab(size_t bytes)
{
    struct ibv_wc *slab = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (slab == MAP_FAILED)
        return NULL;
#ifdef TRY_HUGE_PAGES
    (void)madvise(slab, bytes, MADV_HUGEPAGE);
#endif
    memset(slab, 0, bytes);
    return slab;
}

static struct baseline *new_baseline(const struct baseline_options *options, uint32_t cq_count)
{
    struct baseline *baseline = aligned_alloc(APART, sizeof(*baseline));

    if (baseline == NULL)
        return NULL;
    memset(baseline, 0, sizeof(*baseline));
    baseline->cqs = calloc(cq_count, sizeof(*baseline->cqs));
    if (baseline->cqs == NULL)
        goto free_baseline;
    baseline->cq_count = cq_count;
    baseline->options = *options;
    baseline->mask = options->ring_size - 1;
    uint64_t *histograms =
        calloc(BASELINE_MAX_HANDLERS * (size_t)HISTOGRAM_LENGTH, sizeof(uint64_t));
    if (histograms == NULL)
        goto free_cqs;
    for (uint32_t i = 0; i < BASELINE_MAX_HANDLERS; i++) {
        baseline->handlers[i].baseline = baseline;
        baseline->handlers[i].histogram = histograms + (size_t)i * HISTOGRAM_LENGTH;
        baseline->handlers[i].paths = options->handlers == 0 ?
            BASELINE_SEND_WRITE | BASELINE_RECEIVE | BASELINE_ERROR : options->handler_paths[i];
    }
    baseline->slab = new_slab(slab_bytes(baseline));
    if (baseline->slab != NULL)
        return baseline;
    free(histograms);
free_cqs:
    free(baseline->cqs);
free_baseline:
    free(baseline);
    return NULL;
}

struct baseline *ring_start(const struct baseline_options *options, struct rpma_cq *const *cqs,
    uint32_t cq_count, ring_handler *custom, void *context)
{
    int error = EINVAL;

    if (!is_valid(options))
        goto fail;
    error = ENOMEM;
    const uint32_t more = cq_count > 0 ? 0 : options->more_count;
    struct baseline *baseline = new_baseline(options, cq_count > 0 ? cq_count : 1 + more);
    if (baseline == NULL)
        goto fail;
    baseline->custom = custom;
    baseline->custom_context = context;
    if (cq_count > 0) {
        memcpy(baseline->cqs, cqs, cq_count * sizeof(*cqs));
    } else {
        error = EIO;
        if (queue_open(&baseline->queue, options->device) != 0)
            goto free_baseline;
        baseline->cqs[0] = baseline->queue.cq;
        for (uint32_t i = 0; i < more; i++)
            baseline->cqs[1 + i] = options->more->queue[i].cq;
    }
    error = start_threads(baseline);
    if (error != 0)
        goto close_queue;
    return baseline;

close_queue:
    if (cq_count == 0)
        queue_close(&baseline->queue);
free_baseline:
    baseline_free(baseline);
fail:
    errno = error;
    return NULL;
}

struct baseline *baseline_start(const struct baseline_options *options)
{
    return ring_start(options, NULL, 0, NULL, NULL);
}

void baseline_sample(const struct baseline *baseline, struct baseline_sample *sample)
{
    sample->passed = baseline->options.handlers > 0 ? slowest(baseline) :
        atomic_load_explicit(&baseline->handlers[0].passed, memory_order_acquire);
    sample->published = atomic_load_explicit(&baseline->published, memory_order_acquire);
}

void baseline_stop(struct baseline *baseline, struct baseline_result *result)
{
    struct handler *handlers = baseline->handlers;

    atomic_store_explicit(&baseline->stop_polling, true, memory_order_relaxed);
    (void)pthread_join(baseline->poller, NULL);
    stop_handlers(baseline, baseline->options.handlers);
    if (baseline->queue.cq != NULL)
        queue_close(&baseline->queue);
    memset(result, 0, sizeof(*result));
    result->published = atomic_load_explicit(&baseline->published, memory_order_relaxed);
    result->poller_switches = baseline->poller_switches;
    result->queue_fault = baseline->queue_fault;
    result->histogram = handlers[0].histogram;
    result->histogram_length = HISTOGRAM_LENGTH;
    for (uint32_t i = 0; i < BASELINE_MAX_HANDLERS; i++) {
        result->handler[i].completions = handlers[i].completions;
        result->handler[i].sum = handlers[i].sum;
        result->handler[i].involuntary_switches = handlers[i].involuntary_switches;
        for (uint32_t j = 0; i > 0 && j < HISTOGRAM_LENGTH; j++)
            handlers[0].histogram[j] += handlers[i].histogram[j];
    }
}

void baseline_free(struct baseline *baseline)
{
    (void)munmap(baseline->slab, slab_bytes(baseline));
    free(baseline->handlers[0].histogram);
    free(baseline->cqs);
    free(baseline);
}
