/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h: copies into shared memory that another process reads next.
 *
 * A copy through the cache leaves modified lines in the cache of this processor. If the other end runs on a processor that shares
 * a cache with it, or on the same one, that is the fastest way. If not, each line moves from cache to cache when it is read, and
 * back when it is written again, which may take several times as long as a copy. Stores that go around the cache put the bytes
 * into memory, from which the other end reads them ahead. Which of the two is faster depends on the processors, and on where the
 * scheduler has put both ends. Both ends copy at the same time, so the slower one determines the bandwidth. A producer therefore
 * measures its copies, and the consumer those out of the ring, for each way of the producer; the consumer publishes its costs in
 * the segment. The producer takes the way whose higher cost is lower, and keeps it for several laps of the ring: the cost of a
 * copy depends on where earlier copies have left the lines, and on how far the consumer is behind. From time to time it tries the
 * other way for as long, or until that costs several times as much: soon after a change of the way, rarely after trials without
 * a change.
 *
 * A copy out of shared memory has two ways, too: that of the C library, and a plain loop of loads of 32 bytes. The instruction
 * that the C library takes for some lengths (rep movsb) reads lines that another processor has written more slowly on some
 * processors, up to half as fast.
 */
#ifndef LOOPBACK_STREAM_H
#define LOOPBACK_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Shorter copies go through the cache, as the C library makes them: the end of stores around it takes as long as they do. */
#define LB_STREAM_MIN 4096u

/* The ways of a copy. */
enum lb_stream_way {
    LB_STREAM_CACHED,                    /* into shared memory: by a plain loop, if there is AVX; out of it: by the C library */
    LB_STREAM_AROUND,                    /* into shared memory: around the cache */
    LB_STREAM_PLAIN = LB_STREAM_AROUND,  /* out of it: by a plain loop */
};

/* In a segment: the cost of the consumer's copies, by the way of the producer; 0: not measured yet. */
struct lb_stream_costs {
    _Atomic uint32_t of[2];
};

/* The measured costs of the copies of one producer or consumer; zeroed before the first. One thread at a time uses it. */
struct lb_stream {
    bool reads;       /* a consumer's */
    bool was_around;  /* producer: the way of the last long copy; consumer: that of the present bytes */
    uint32_t copies;  /* long ones so far; producer: in the present run */
    enum lb_stream_way way;    /* producer: that of the present run ... */
    bool is_trial;             /* ... which is not the better one */
    enum lb_stream_way better; /* producer: the cheaper way, as far as is known */
    uint32_t runs;    /* producer: of it, since the last trial */
    uint32_t pause;   /* producer: so many of them until the next trial */
    uint32_t cost[2]; /* of each way, nanoseconds for 1024 bytes; 0: not measured yet */
    uint32_t come[2]; /* consumer: the same, by the producer's way of the bytes */
    struct lb_stream_costs *costs; /* of the consumer, shared with the other end, which may write anything; or NULL */
};

/* The way of the next long copy; sets *measured if its time is to be passed to lb_stream_learn. */
enum lb_stream_way lb_stream_choose(struct lb_stream *stream, bool *measured);
void lb_stream_learn(struct lb_stream *stream, enum lb_stream_way way, uint64_t ns, size_t length);

/* Copies at least LB_STREAM_MIN bytes. Stores that follow are visible behind the bytes, whichever way they have gone. */
void lb_stream_copy(struct lb_stream *stream, char *to, const char *from, size_t length);

/* Copies at least LB_STREAM_MIN bytes out of shared memory, by the stream of a consumer. They do not overlap. */
void lb_stream_fetch(struct lb_stream *stream, char *to, const char *from, size_t length);

/* Whether the processor has registers of 32 bytes (AVX). Set before there are connections. */
extern bool lb_stream_has_avx;

#define LB_STREAM_LINE 64u

/*
 * Copies a line of a short message, in as few pieces as possible: a program that reads its buffer by wider loads than it was
 * stored has to wait until the stores have reached the cache.
 */
static inline void lb_stream_line(char *to, const char *from)
{
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they see no assembler */
    struct half {
        char bytes[32];
    };

    if (__builtin_expect(lb_stream_has_avx, 1)) {
        const struct half *source = (const struct half *)(const void *)from;
        struct half *target = (struct half *)(void *)to;

        __asm__("vmovdqu %2, %%ymm0\n\tvmovdqu %3, %%ymm1\n\tvmovdqu %%ymm0, %0\n\tvmovdqu %%ymm1, %1\n\tvzeroupper"
                : "=m"(target[0]), "=m"(target[1]) : "m"(source[0]), "m"(source[1]) : "xmm0", "xmm1");
        return;
    }
#endif
    /* In pieces for which a compiler uses a register. */
    memcpy(to, from, 16);
    memcpy(to + 16, from + 16, 16);
    memcpy(to + 32, from + 32, 16);
    memcpy(to + 48, from + 48, 16);
}

static inline void lb_stream_word(char *to, const char *from)
{
    uint64_t word;

    memcpy(&word, from, sizeof(word));
    __asm__ volatile("" : "+r"(word)); /* not together with others */
    memcpy(to, &word, sizeof(word));
}

/*
 * Copies a line that the program may just have written word by word: a wider load has to wait until these words have reached the
 * cache.
 */
static inline void lb_stream_line_of_words(char *to, const char *from)
{
    lb_stream_word(to, from);
    lb_stream_word(to + 8, from + 8);
    lb_stream_word(to + 16, from + 16);
    lb_stream_word(to + 24, from + 24);
    lb_stream_word(to + 32, from + 32);
    lb_stream_word(to + 40, from + 40);
    lb_stream_word(to + 48, from + 48);
    lb_stream_word(to + 56, from + 56);
}

#endif
