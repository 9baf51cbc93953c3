/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h: copies into shared memory that another process reads next.
 *
 * A copy through the cache leaves modified lines in the cache of this processor. If the other end runs on a processor that shares
 * a cache with it, or on the same one, that is the fastest way. If not, each line moves from cache to cache when it is read, and
 * back when it is written again, which may take several times as long as a copy. Stores that go around the cache put the bytes
 * into memory, from which the other end reads them ahead. Which of the two is faster depends on the processors, and on where the
 * scheduler has put both ends: so a stream measures its copies, tries the other way now and then, and takes the cheaper one.
 */
#ifndef LOOPBACK_STREAM_H
#define LOOPBACK_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shorter copies go through the cache: the end of stores around it takes as long as they do. */
#define LB_STREAM_MIN 4096u

/* The ways of a copy. */
enum lb_stream_way {
    LB_STREAM_CACHED,
    LB_STREAM_AROUND, /* the cache */
};

/* What the copies of one producer have cost; zeroed before the first. One thread at a time uses it. */
struct lb_stream {
    uint32_t copies;  /* long ones so far */
    uint32_t cost[2]; /* of each way, nanoseconds for 1024 bytes; 0: not measured yet */
};

/* The way of the next long copy; sets *measured if its time is to be given to lb_stream_learn. */
enum lb_stream_way lb_stream_choose(struct lb_stream *stream, bool *measured);
void lb_stream_learn(struct lb_stream *stream, enum lb_stream_way way, uint64_t ns, size_t length);

/* Copies at least LB_STREAM_MIN bytes. Stores that follow are visible behind the bytes, whichever way they have gone. */
void lb_stream_copy(struct lb_stream *stream, char *to, const char *from, size_t length);

#endif
