/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ringpoll_synthetic.h: a device whose completion queues give completions that nobody posted for,
 * at the pace of a program. It is there to measure the path of completions: it costs next to
 * nothing, needs no thread and no peer, and knows when each completion was due.
 *
 * The device is a struct ibv_context of its own. What ibv_create_cq makes of it, librpma's way to
 * it included (rpma_peer_new, then the receive queue of rpma_srq_new), is polled like any other
 * queue; queue pairs cannot be made. The queues of one device draw from one program: poll one of
 * them, from one thread at a time. There are no completion events.
 */
#ifndef RINGPOLL_SYNTHETIC_H
#define RINGPOLL_SYNTHETIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_context;

/* One kind of completion of a program's mix. */
struct ringpoll_synthetic_kind {
    uint32_t status;   /* enum ibv_wc_status; if it is not success, the invalid fields are poisoned */
    uint32_t opcode;   /* enum ibv_wc_opcode */
    uint32_t qp_num;
    uint32_t byte_len;
};

#define RINGPOLL_SYNTHETIC_MAX_PATTERN 4096u
#define RINGPOLL_SYNTHETIC_MAX_SCHEDULE 65536u
#define RINGPOLL_SYNTHETIC_ENDLESS UINT64_MAX

/*
 * What a device's queues give. Completion k is of kind pattern[k % pattern_length].
 *
 * Saturation (period_ns is 0): every poll gives as many completions as it asks for, at most
 * max_batch if that is not 0; after a poll that gave any, the next empty_polls polls give none.
 * wr_id is k.
 *
 * Open loop (period_ns is not 0): completion k is due at
 *     start_ns + (k / schedule_length) * period_ns + schedule_ns[k % schedule_length]
 * of CLOCK_MONOTONIC, and every poll from then on may give it, whether earlier ones were fetched
 * late or not. wr_id is the time at which it was due. max_batch counts, empty_polls does not.
 */
struct ringpoll_synthetic_program {
    uint64_t count;          /* completions in all, or RINGPOLL_SYNTHETIC_ENDLESS */
    uint64_t start_ns;       /* 0: the time of the first poll that sees the program */
    uint64_t period_ns;
    const uint64_t *schedule_ns; /* ascending, each less than period_ns; unused in saturation */
    const struct ringpoll_synthetic_kind *pattern;
    uint32_t schedule_length;    /* 1 to RINGPOLL_SYNTHETIC_MAX_SCHEDULE */
    uint32_t pattern_length;     /* a power of two up to RINGPOLL_SYNTHETIC_MAX_PATTERN */
    uint32_t max_batch;          /* 0: as many as asked for */
    uint32_t empty_polls;
};

/*
 * Opens a device; it gives nothing until it has a program. ibv_close_device(3) closes it, when
 * nothing that was made of it is left. Any thread. Returns NULL with errno ENOMEM or EMFILE.
 */
struct ibv_context *ringpoll_synthetic_open(void);

/*
 * Gives a device another program, which begins with the next poll, from completion 0. All that
 * is pointed to is copied. The memory of earlier programs is kept until the device is closed,
 * because the polling thread may be reading it. Any thread. Returns 0, EINVAL if the context is no
 * synthetic device or the program is not as said above, or ENOMEM.
 */
int ringpoll_synthetic_start(struct ibv_context *context,
    const struct ringpoll_synthetic_program *program);

/*
 * Tells how many completions of the present program have been given. Any thread. Returns 0, or
 * EINVAL if the context is no synthetic device.
 */
int ringpoll_synthetic_given(struct ibv_context *context, uint64_t *completions);

/*
 * Tells the longest time between two polls that followed each other, in open loop, since the
 * program began or this was called last: then the polling thread was away, or busy with something
 * else. Any thread. Returns 0, or EINVAL if the context is no synthetic device.
 */
int ringpoll_synthetic_take_longest_gap(struct ibv_context *context, uint64_t *gap_ns);

#ifdef __cplusplus
}
#endif

#endif
