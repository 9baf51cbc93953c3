/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ringpoll_synthetic.h: a device whose completion queues produce completions without posted work requests, at the pace
 * of a program. It measures the completion path: it costs next to nothing, needs no thread and no peer, and records the
 * intended time of each completion.
 *
 * The device is a struct ibv_context of its own. A queue that ibv_create_cq creates on it, also through librpma
 * (rpma_peer_new, then the receive queue of rpma_srq_new), is polled like any other queue; queue pairs cannot be
 * created. The queues of one device draw from one program: poll one of them, from one thread at a time. There are no
 * completion events.
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
 * The completions of a device's queues. Completion k is of kind pattern[k % pattern_length].
 *
 * Saturation (period_ns is 0): every poll returns as many completions as it requests, at most max_batch if that is not
 * 0; after a poll with completions the next empty_polls polls return none. wr_id is k.
 *
 * Open loop (period_ns is not 0): completion k is due at
 *     start_ns + (k / schedule_length) * period_ns + schedule_ns[k % schedule_length]
 * of CLOCK_MONOTONIC, and every poll from then on may return it, independent of the time at which earlier ones were
 * polled. wr_id is the time at which it was due. max_batch counts, empty_polls does not.
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
 * Opens a device; it produces no completions until it has a program. ibv_close_device(3) closes it once all objects
 * created on it are gone. Any thread. Returns NULL with errno ENOMEM or EMFILE.
 */
struct ibv_context *ringpoll_synthetic_open(void);

/*
 * Sets another program of a device, which starts with the next poll, from completion 0. All arrays are copied. The
 * memory of earlier programs is kept until the device is closed, because the polling thread may be reading it. Any
 * thread. Returns 0, EINVAL if the context is no synthetic device or the program is invalid, or ENOMEM.
 */
int ringpoll_synthetic_start(struct ibv_context *context,
    const struct ringpoll_synthetic_program *program);

/*
 * Reads the number of completions that the current program has produced. Any thread. Returns 0, or EINVAL if the
 * context is no synthetic device.
 */
int ringpoll_synthetic_given(struct ibv_context *context, uint64_t *completions);

/*
 * Reads the longest time between two consecutive polls, in open loop, since the start of the program or the last call:
 * the polling thread was descheduled or busy during that time. Any thread. Returns 0, or EINVAL if the context is no
 * synthetic device.
 */
int ringpoll_synthetic_take_longest_gap(struct ibv_context *context, uint64_t *gap_ns);

#ifdef __cplusplus
}
#endif

#endif
