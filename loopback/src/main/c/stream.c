/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c: the ways of copies into shared memory and out of it, and the choice between them. */
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "stream.h"
#include "timer.h"

/* One copy of so many is measured. */
#define MEASURED 8u
/* One copy of so many of a consumer goes the other way; among the first, each whose number is a power of two. */
#define TRIAL 512u
/*
 * So many of a producer are a run, which goes one way: four laps of a ring. In the first laps the lines are where the other way has
 * left them, and the ring fills until its oldest lines have left the producer's cache. The second half is measured.
 */
#define RUN 256u
/*
 * Runs of the better way before one of the other way, a trial: at first, and when the better way has changed. With each trial that
 * changes nothing they double, up to the second number.
 */
#define SOON 2u
#define LATE 128u
/* A trial ends early if its way costs more than so many times the other one. */
#define HOPELESS 3u

bool lb_stream_has_avx;

#if defined(__x86_64__)

#define LINE 64u

/* Bytes before the first whole line of the target. */
static size_t to_line(const char *to)
{
    return (LINE - (uintptr_t)to % LINE) % LINE;
}

/* So many whole lines, to the beginning of one. */
__attribute__((target("avx512f")))
static void stream_wide(char *to, const char *from, size_t lines)
{
    for (; lines > 0; lines--, to += LINE, from += LINE)
        _mm512_stream_si512((__m512i *)(void *)to, _mm512_loadu_si512(from));
}

static void stream(char *to, const char *from, size_t lines)
{
    for (; lines > 0; lines--, to += LINE, from += LINE) {
        const __m128i *source = (const __m128i *)(const void *)from;
        __m128i *target = (__m128i *)(void *)to;
        const __m128i first = _mm_loadu_si128(source);
        const __m128i second = _mm_loadu_si128(source + 1);
        const __m128i third = _mm_loadu_si128(source + 2);
        const __m128i fourth = _mm_loadu_si128(source + 3);

        _mm_stream_si128(target, first);
        _mm_stream_si128(target + 1, second);
        _mm_stream_si128(target + 2, third);
        _mm_stream_si128(target + 3, fourth);
    }
}

static void copy_around(char *to, const char *from, size_t length)
{
    const size_t head = to_line(to);
    const size_t lines = (length - head) / LINE;
    const size_t streamed = lines * LINE;

    memcpy(to, from, head);
    if (__builtin_cpu_supports("avx512f"))
        stream_wide(to + head, from + head, lines);
    else
        stream(to + head, from + head, lines);
    memcpy(to + head + streamed, from + head + streamed, length - head - streamed);
    _mm_sfence(); /* other stores do not wait for these */
}

static const bool can_go_around = true;

/* Whole blocks of so many bytes. */
#define BLOCK 128u
/* Blocks that are fetched ahead, no further than to the end: the producer may be about to write behind it. */
#define AHEAD 16u

__attribute__((target("avx")))
static inline void copy_block(char *to, const char *from)
{
    const __m256i *source = (const __m256i *)(const void *)from;
    __m256i *target = (__m256i *)(void *)to;
    const __m256i first = _mm256_loadu_si256(source);
    const __m256i second = _mm256_loadu_si256(source + 1);
    const __m256i third = _mm256_loadu_si256(source + 2);
    const __m256i fourth = _mm256_loadu_si256(source + 3);

    _mm256_storeu_si256(target, first);
    _mm256_storeu_si256(target + 1, second);
    _mm256_storeu_si256(target + 2, third);
    _mm256_storeu_si256(target + 3, fourth);
}

__attribute__((target("avx")))
static void copy_blocks(char *to, const char *from, size_t blocks)
{
    for (; blocks > 0; blocks--, to += BLOCK, from += BLOCK)
        copy_block(to, from);
}

__attribute__((target("avx")))
static void copy_blocks_ahead(char *to, const char *from, size_t blocks)
{
    for (; blocks > AHEAD; blocks--, to += BLOCK, from += BLOCK) {
        _mm_prefetch(from + AHEAD * BLOCK, _MM_HINT_T0);
        _mm_prefetch(from + AHEAD * BLOCK + LINE, _MM_HINT_T0);
        copy_block(to, from);
    }
    copy_blocks(to, from, blocks);
}

/* Needs AVX, as the next. */
static void copy_plain(char *to, const char *from, size_t length)
{
    const size_t blocks = length / BLOCK;
    const size_t copied = blocks * BLOCK;

    copy_blocks(to, from, blocks);
    memcpy(to + copied, from + copied, length - copied);
}

/* The same for bytes that are in a cache. Those that are in memory the processor fetches ahead by itself. */
static void copy_ahead(char *to, const char *from, size_t length)
{
    const size_t blocks = length / BLOCK;
    const size_t copied = blocks * BLOCK;

    copy_blocks_ahead(to, from, blocks);
    memcpy(to + copied, from + copied, length - copied);
}

__attribute__((constructor))
static void look_for_avx(void)
{
    __builtin_cpu_init();
    lb_stream_has_avx = __builtin_cpu_supports("avx");
}

#else /* no such stores that C programs can use */

static void copy_around(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
}

static const bool can_go_around = false;

static void copy_plain(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
}

static void copy_ahead(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
}

#endif

static bool is_trial(uint32_t copy)
{
    return copy % TRIAL == 0 || (copy < TRIAL && (copy & (copy - 1)) == 0);
}

static enum lb_stream_way choose_to_fetch(struct lb_stream *stream, bool *measured)
{
    const uint32_t copy = stream->copies++;
    const uint32_t other = stream->cost[LB_STREAM_PLAIN];
    const uint32_t library = stream->cost[LB_STREAM_CACHED];
    /* Where both cost about the same, measurements do not decide. */
    const enum lb_stream_way better = other != 0 && other < library + library / 8 ? LB_STREAM_PLAIN : LB_STREAM_CACHED;

    *measured = copy % MEASURED == 0 || (lb_stream_has_avx && is_trial(copy));
    if (!lb_stream_has_avx || !is_trial(copy))
        return better;
    return better == LB_STREAM_CACHED && copy != 0 ? LB_STREAM_PLAIN : LB_STREAM_CACHED;
}

/* What a way costs the slower end. */
static uint32_t cost_of(const struct lb_stream *stream, enum lb_stream_way way)
{
    const uint32_t ours = stream->cost[way];
    const uint32_t its = stream->costs != NULL ? atomic_load_explicit(&stream->costs->of[way], memory_order_relaxed) : 0;

    return its > ours ? its : ours;
}

/* Around the cache: not for a difference that changes from one measurement to the next. */
static bool is_cheaper_around(const struct lb_stream *stream)
{
    const uint32_t cached = cost_of(stream, LB_STREAM_CACHED);
    const uint32_t around = cost_of(stream, LB_STREAM_AROUND);

    return around != 0 && around < cached - cached / 32;
}

static enum lb_stream_way other_way(enum lb_stream_way way)
{
    return way == LB_STREAM_CACHED ? LB_STREAM_AROUND : LB_STREAM_CACHED;
}

/* Whether to end a trial that has made so many copies; one of them was measured. */
static bool is_hopeless(const struct lb_stream *stream, uint32_t copies)
{
    /* The other end has made its first copies of a trial when that has filled the ring twice at the latest. */
    const uint32_t cost = copies < RUN / 2 ? stream->cost[stream->way] : cost_of(stream, stream->way);

    return cost / HOPELESS > cost_of(stream, other_way(stream->way));
}

/* The next run of a producer. */
static void begin_run(struct lb_stream *stream)
{
    const enum lb_stream_way better = is_cheaper_around(stream) ? LB_STREAM_AROUND : LB_STREAM_CACHED;

    stream->copies = 0;
    if (better != stream->better) {
        stream->better = better;
        stream->runs = 0;
        stream->pause = SOON;
    } else if (stream->pause == 0) {
        stream->pause = 1; /* the second run of all is a trial */
    }
    stream->is_trial = stream->runs == stream->pause;
    if (stream->is_trial) {
        stream->runs = 0;
        stream->pause = stream->pause < LATE ? 2 * stream->pause : LATE;
        stream->way = other_way(better);
    } else {
        stream->runs++;
        stream->way = better;
    }
}

/* The way of a producer's next copy: that of its run. */
static enum lb_stream_way choose_to_put(struct lb_stream *stream, bool *measured)
{
    if (stream->copies % RUN == 0 || (stream->is_trial && is_hopeless(stream, stream->copies)))
        begin_run(stream);
    *measured = stream->copies % MEASURED == 0 && (stream->is_trial || stream->copies >= RUN / 2);
    stream->copies++;
    return stream->way;
}

enum lb_stream_way lb_stream_choose(struct lb_stream *stream, bool *measured)
{
    if (stream->reads)
        return choose_to_fetch(stream, measured);
    if (can_go_around)
        return choose_to_put(stream, measured);
    *measured = false;
    return LB_STREAM_CACHED;
}

/*
 * A copy that takes longer than it should was interrupted, or its pages were not there yet: lower values count
 * immediately, higher ones when they have been measured several times.
 */
static void learn(uint32_t *cost, uint64_t ns, size_t length)
{
    const uint64_t each = ns * 1024 / length + 1;
    const uint32_t sample = each < UINT32_MAX ? (uint32_t)each : UINT32_MAX;

    if (*cost == 0 || sample < *cost)
        *cost = sample;
    else
        *cost += ((sample - *cost < *cost ? sample - *cost : *cost) + 3) / 4;
}

void lb_stream_learn(struct lb_stream *stream, enum lb_stream_way way, uint64_t ns, size_t length)
{
    learn(&stream->cost[way], ns, length);
    if (!stream->reads || stream->costs == NULL)
        return;
    learn(&stream->come[stream->was_around], ns, length);
    atomic_store_explicit(&stream->costs->of[stream->was_around], stream->come[stream->was_around], memory_order_relaxed);
}

typedef void copy_function(char *to, const char *from, size_t length);

/* Copies by one of these ways, as chosen, and measures it if that is due. */
static inline void copy_by(struct lb_stream *stream, char *to, const char *from, size_t length, copy_function *cached,
    copy_function *other)
{
    bool measured;
    const enum lb_stream_way way = lb_stream_choose(stream, &measured);
    const uint64_t begun_ns = measured ? lb_now_ns() : 0;

    (way == LB_STREAM_CACHED ? cached : other)(to, from, length);
    if (!stream->reads)
        stream->was_around = way == LB_STREAM_AROUND;
    if (measured)
        lb_stream_learn(stream, way, lb_now_ns() - begun_ns, length);
}

static void copy_as_the_library(char *to, const char *from, size_t length)
{
    memcpy(to, from, length);
}

void lb_stream_copy(struct lb_stream *stream, char *to, const char *from, size_t length)
{
    copy_by(stream, to, from, length, lb_stream_has_avx ? copy_plain : copy_as_the_library, copy_around);
}

void lb_stream_fetch(struct lb_stream *stream, char *to, const char *from, size_t length)
{
    copy_by(stream, to, from, length, copy_as_the_library, stream->was_around ? copy_plain : copy_ahead);
}
