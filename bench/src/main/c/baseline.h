/* SPDX-License-Identifier: Apache-2.0 */
/*
 * baseline.h: the job of a ringpoll pipeline in plain C, for comparison: one thread polls
 * rpma_cq_get_wc into a slab of 48-byte slots and publishes each batch by one sequence; up to three
 * handler threads read the records in place, each those of its paths.
 *
 * The functions may be called from any thread, for one baseline by one thread at a time.
 */
#ifndef RINGPOLL_BASELINE_H
#define RINGPOLL_BASELINE_H

#include <stdint.h>

#define BASELINE_MAX_HANDLERS 3u
#define BASELINE_ANY_CPU (-1)

/* Bits of a handler's set of paths. */
enum baseline_path {
    BASELINE_SEND_WRITE = 1,
    BASELINE_RECEIVE = 2,
    BASELINE_ERROR = 4,
};

enum baseline_wait {
    BASELINE_SPIN = 0,  /* the pause instruction in a loop */
    BASELINE_YIELD = 1, /* sched_yield(2) in a loop: where threads share a CPU */
};

/* What a handler does with a completion. */
enum baseline_work {
    BASELINE_SUM = 0,     /* adds up wr_id */
    BASELINE_LATENCY = 1, /* takes wr_id as a time of CLOCK_MONOTONIC and records how long ago it was */
};

struct ibv_context;

struct baseline_options {
    struct ibv_context *device;
    uint64_t record_from_ns;  /* BASELINE_LATENCY records completions whose wr_id is from here ... */
    uint64_t record_until_ns; /* ... to before here */
    uint32_t ring_size;       /* slots, a power of two */
    uint32_t batch;           /* completions a poll asks for */
    uint32_t handlers;        /* 0: the polling thread handles by itself, without any hand-off */
    uint32_t work;            /* enum baseline_work */
    uint32_t wait;            /* enum baseline_wait, of all threads */
    int32_t poller_cpu;       /* BASELINE_ANY_CPU: not pinned */
    int32_t handler_cpu[BASELINE_MAX_HANDLERS];
    uint32_t handler_paths[BASELINE_MAX_HANDLERS];
    uint32_t stall_us;        /* handlers sleep once before the first completion: the ring fills */
    uint32_t reserved;
};

/* Where a running baseline is: a moment's values. */
struct baseline_sample {
    uint64_t published;
    uint64_t passed; /* by the slowest handler */
};

struct baseline_handler_result {
    uint64_t completions;
    uint64_t sum;                  /* of wr_id */
    uint64_t involuntary_switches; /* how often the scheduler took the CPU from the thread */
};

struct baseline_result {
    uint64_t published;
    uint64_t poller_switches;
    struct baseline_handler_result handler[BASELINE_MAX_HANDLERS];
    const uint64_t *histogram;     /* of all handlers, see histogram.h; valid until baseline_free */
    uint32_t histogram_length;
    int32_t queue_fault;           /* the negative result that ended the polling, or 0 */
};

struct baseline;

/* Makes the queue and starts the threads. Returns NULL with errno: EINVAL, ENOMEM, or what
 * pthread_create(3) or librpma failed with (EIO). */
struct baseline *baseline_start(const struct baseline_options *options);

void baseline_sample(const struct baseline *baseline, struct baseline_sample *sample);

/* Stops polling, lets the handlers finish what was published, and joins the threads. */
void baseline_stop(struct baseline *baseline, struct baseline_result *result);

/* Frees a stopped baseline. */
void baseline_free(struct baseline *baseline);

/* The calls that baseline_calls can make. */
enum baseline_call {
    BASELINE_RPMA_CQ_GET_WC = 0,
    BASELINE_IBV_POLL_CQ = 1,
};

/*
 * Polls a device's queue from the calling thread, again and again into the same records. Returns
 * the nanoseconds that it took, or 0 with errno EIO if librpma failed. *completions counts what came.
 */
uint64_t baseline_calls(struct ibv_context *device, uint32_t call, uint32_t batch, uint64_t calls,
    uint64_t *completions);

/*
 * A queue of a device for callers that make the calls themselves; *poll_cq is the
 * device's function for *ibv_cq. Returns NULL with errno EIO if librpma or verbs failed, or ENOMEM.
 */
struct baseline_queue;

struct baseline_queue *baseline_queue_open(struct ibv_context *device, uint64_t *rpma_cq,
    uint64_t *ibv_cq, uint64_t *poll_cq);
void baseline_queue_close(struct baseline_queue *queue);

/*
 * A connection of librpma with both ends in this process, each with BASELINE_LINK_BYTES of memory
 * registered. One measurement at a time uses it.
 */
struct baseline_link;

#define BASELINE_LINK_BYTES (UINT32_C(1) << 23)
#define BASELINE_LINK_DEPTH 64u /* work requests in flight, at most */

/* Listens and connects at an address of this machine. Returns NULL with errno EIO if librpma
 * failed (its log says how), or ENOMEM. */
struct baseline_link *baseline_link_open(const char *address, const char *port);
void baseline_link_close(struct baseline_link *link);

enum baseline_operation {
    BASELINE_SEND = 0,
    BASELINE_WRITE = 1, /* in ping-pong with immediate data: the other end gets a completion */
    BASELINE_READ = 2,
};

/* What goes over a link. */
struct baseline_traffic {
    uint64_t start_ns;           /* paced operations: as in ringpoll_synthetic.h */
    uint64_t period_ns;
    const uint64_t *schedule_ns;
    uint64_t round_trips;        /* ping-pong: how many are recorded at most; 0: no limit */
    uint32_t schedule_length;
    uint32_t size;               /* bytes of a message, up to BASELINE_LINK_BYTES */
    uint32_t operation;          /* enum baseline_operation */
    int32_t poster_cpu;          /* of the thread that posts paced operations */
};

/*
 * Closed loop: each operation is posted by the handler (or by the polling thread, without handlers)
 * of the one before. A send or a write with immediate data is answered by the server with its like,
 * and half of the round trip is recorded; of a read, which the server has no part in, the whole.
 * Recorded is what begins within the options' times. The options' device, work and paths are not
 * used. Returns NULL as baseline_start does.
 */
struct baseline *baseline_ping_pong_start(struct baseline_link *link,
    const struct baseline_options *options, const struct baseline_traffic *traffic);

/*
 * Posts operations at their due times from a thread of its own; recorded is the time from when an
 * operation was due to its completion's handler, of a send to the handler of its receive at the
 * server. Sends are handled by one handler at most; of each, two completions pass: its own and the
 * receive's. There is always a receive posted for what is sent. Returns NULL as baseline_start does.
 */
struct baseline *baseline_paced_start(struct baseline_link *link,
    const struct baseline_options *options, const struct baseline_traffic *traffic);

/*
 * Posts an operation from the client to the server, signalled, and polls until its completion is
 * there, again and again from the calling thread; operation is BASELINE_WRITE or BASELINE_READ.
 * Returns the nanoseconds that it took, or 0 with errno EIO if something failed.
 */
uint64_t baseline_posts(struct baseline_link *link, uint32_t operation, uint32_t size,
    uint64_t count);

/* Whether ping-pong has recorded as many round trips as it was to. */
int baseline_link_is_done(struct baseline_link *link);

/*
 * Starts nothing more and waits until all that was started has completed; to be called before
 * baseline_stop. Returns 0, or -1 with errno ETIMEDOUT after five seconds.
 */
int baseline_link_rest(struct baseline_link *link);

#endif
