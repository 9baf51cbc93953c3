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
/* So many of a producer fill a ring; the second half of such a run is measured. One run of so many goes the other way. */
#define RUN 64u
#define RUNS 32u

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

__attribute__((target("avx")))
static void copy_blocks(char *to, const char *from, size_t blocks)
{
    for (; blocks > 0; blocks--, to += BLOCK, from += BLOCK) {
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
}

/* Needs AVX. */
static void copy_plain(char *to, const char *from, size_t length)
{
    const size_t blocks = length / BLOCK;
    const size_t copied = blocks * BLOCK;

    copy_blocks(to, from, blocks);
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

#endif

static bool is_trial(uint32_t copy)
{
    return copy % TRIAL == 0 || (copy < TRIAL && (copy & (copy - 1)) == 0);
}

static enum lb_stream_way choose_to_fetch(struct lb_stream *stream, bool *measured)
{
    const uint32_t copy = stream->copies++;
    const uint32_t other = stream->cost[LB_STREAM_PLAIN];
    const enum lb_stream_way better = other != 0 && other < stream->cost[LB_STREAM_CACHED] ? LB_STREAM_PLAIN : LB_STREAM_CACHED;

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

enum lb_stream_way lb_stream_choose(struct lb_stream *stream, bool *measured)
{
    if (stream->reads)
        return choose_to_fetch(stream, measured);
    const uint32_t copy = stream->copies++;
    const uint32_t run = copy / RUN % RUNS;

    *measured = can_go_around && copy % RUN >= RUN / 2 && copy % MEASURED == 0;
    if (!can_go_around || copy < RUN)
        return LB_STREAM_CACHED;
    /* The second run is a trial also before the first way is known to be the better one. */
    return is_cheaper_around(stream) == (run != 1) ? LB_STREAM_AROUND : LB_STREAM_CACHED;
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

/* Copies by the way that is chosen, and measures it if that is due. */
static inline void copy_by(struct lb_stream *stream, char *to, const char *from, size_t length,
    void (*other)(char *to, const char *from, size_t length))
{
    bool measured;
    const enum lb_stream_way way = lb_stream_choose(stream, &measured);
    const uint64_t begun_ns = measured ? lb_now_ns() : 0;

    if (way == LB_STREAM_CACHED)
        memcpy(to, from, length);
    else
        other(to, from, length);
    if (!stream->reads)
        stream->was_around = way == LB_STREAM_AROUND;
    if (measured)
        lb_stream_learn(stream, way, lb_now_ns() - begun_ns, length);
}

void lb_stream_copy(struct lb_stream *stream, char *to, const char *from, size_t length)
{
    copy_by(stream, to, from, length, copy_around);
}

void lb_stream_fetch(struct lb_stream *stream, char *to, const char *from, size_t length)
{
    copy_by(stream, to, from, length, copy_plain);
}
