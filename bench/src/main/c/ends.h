/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h: one end of a pair of processes, and the loops that are the same for all media. */
#ifndef BASELINE_ENDS_H
#define BASELINE_ENDS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "baseline.h"
#include "histogram.h"
#include "hot.h"

#define END_WORDS (BASELINE_END_MESSAGE_BYTES / sizeof(uint64_t))
#define END_LOOKS_PER_CLOCK 1024u
/* The answers after the end of the recording time are late by this at most. */
#define END_GRACE_NS UINT64_C(30000000000)

struct end_device; /* a connection of librpma */
struct end_lines;  /* two cache lines */

struct baseline_end {
    uint32_t medium; /* enum baseline_medium */
    uint32_t wait;   /* enum baseline_wait */
    uint32_t port;   /* of a listening end */
    int listener;    /* TCP: sockets, or -1 */
    int connection;
    struct end_lines *lines;
    struct end_device *device;
    bool is_client;
    uint64_t sequence; /* lines: of the next message, from 1 */
    size_t received;   /* TCP: bytes of a message that has arrived in part */
    uint64_t message[END_WORDS]; /* the first word is not 0 in the last message of a turn; the last word is for the medium */
};

/* Sends the message. Returns 0, or -1 with errno. */
typedef int end_send(struct baseline_end *end);

/* Receives into the message. Returns 1, 0 if nothing has arrived, or -1 with errno. */
typedef int end_receive(struct baseline_end *end);

/* Inlined with constant functions: no call through a pointer is left. */
#define END_INLINE static inline __attribute__((always_inline))

END_INLINE int end_await(struct baseline_end *end, end_receive *receive, uint64_t deadline_ns)
{
    for (uint32_t looks = 1;; looks++) {
        const int result = receive(end);

        if (result != 0)
            return result;
        if (looks % END_LOOKS_PER_CLOCK == 0 && now_ns() > deadline_ns) {
            errno = ETIMEDOUT;
            return -1;
        }
        relax(end->wait);
    }
}

END_INLINE int end_ping(struct baseline_end *end, end_send *send, end_receive *receive, uint64_t from_ns, uint64_t until_ns,
    uint64_t *histogram)
{
    const uint64_t deadline_ns = until_ns + END_GRACE_NS;
    bool last = false;

    while (!last) {
        const uint64_t sent_ns = now_ns();

        last = sent_ns >= until_ns;
        end->message[0] = last;
        if (send(end) != 0 || end_await(end, receive, deadline_ns) < 0)
            return -1;
        if (sent_ns >= from_ns && !last)
            histogram_record(histogram, (now_ns() - sent_ns) / 2);
    }
    return 0;
}

END_INLINE int end_answer(struct baseline_end *end, end_send *send, end_receive *receive, uint64_t until_ns)
{
    bool last = false;

    while (!last) {
        if (end_await(end, receive, until_ns + END_GRACE_NS) < 0)
            return -1;
        last = end->message[0] != 0;
        if (send(end) != 0)
            return -1;
    }
    return 0;
}

/* The connection of librpma; each returns 0, or -1 with errno. */
int end_device_listen(struct baseline_end *end, const char *host);
int end_device_accept(struct baseline_end *end);
int end_device_connect(struct baseline_end *end, const char *host);
int end_device_ping(struct baseline_end *end, uint64_t from_ns, uint64_t until_ns, uint64_t *histogram);
int end_device_answer(struct baseline_end *end, uint64_t until_ns);
void end_device_close(struct baseline_end *end);

#endif
