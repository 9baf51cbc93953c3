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

/* Bits of the path set of a handler. */
enum baseline_path {
    BASELINE_SEND_WRITE = 1,
    BASELINE_RECEIVE = 2,
    BASELINE_ERROR = 4,
};

enum baseline_wait {
    BASELINE_SPIN = 0,  /* the pause instruction in a loop */
    BASELINE_YIELD = 1, /* sched_yield(2) in a loop: for threads that share a CPU */
};

/* The work of a handler per completion. */
enum baseline_work {
    BASELINE_SUM = 0,     /* adds up wr_id */
    BASELINE_LATENCY = 1, /* takes wr_id as a time of CLOCK_MONOTONIC and records how long ago it was */
};

struct ibv_context;
struct baseline_queues;

struct baseline_options {
    struct ibv_context *device;
    uint64_t record_from_ns;  /* BASELINE_LATENCY records completions with wr_id from here ... */
    uint64_t record_until_ns; /* ... to before here */
    uint32_t ring_size;       /* slots, a power of two */
    uint32_t batch;           /* completions a poll asks for */
    uint32_t handlers;        /* 0: the polling thread also handles, without a hand-off */
    uint32_t work;            /* enum baseline_work */
    uint32_t wait;            /* enum baseline_wait, of all threads */
    int32_t poller_cpu;       /* BASELINE_ANY_CPU: not pinned */
    int32_t handler_cpu[BASELINE_MAX_HANDLERS];
    uint32_t handler_paths[BASELINE_MAX_HANDLERS];
    uint32_t stall_us;        /* handlers sleep once before the first completion, so that the ring fills */
    uint32_t more_count;      /* number of the further queues that are polled */
    const struct baseline_queues *more; /* polled after the own queue in each round; with handlers only */
};

/* Progress of a running baseline: a snapshot. */
struct baseline_sample {
    uint64_t published;
    uint64_t passed; /* by the slowest handler */
};

struct baseline_handler_result {
    uint64_t completions;
    uint64_t sum;                  /* of wr_id */
    uint64_t involuntary_switches; /* involuntary context switches of the thread */
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

/*
 * Creates the queue and starts the threads. Returns NULL with errno: EINVAL, ENOMEM, the error of pthread_create(3), or
 * EIO if librpma failed.
 */
struct baseline *baseline_start(const struct baseline_options *options);

void baseline_sample(const struct baseline *baseline, struct baseline_sample *sample);

/* Stops polling, lets the handlers finish the published completions, and joins the threads. */
void baseline_stop(struct baseline *baseline, struct baseline_result *result);

/* Frees a stopped baseline. */
void baseline_free(struct baseline *baseline);

/*
 * A queue of a device for callers that call the functions directly; *poll_cq is the function of the device for *ibv_cq.
 * Returns NULL with errno EIO if librpma or verbs failed, or ENOMEM.
 */
struct baseline_queue;

struct baseline_queue *baseline_queue_open(struct ibv_context *device, uint64_t *rpma_cq,
    uint64_t *ibv_cq, uint64_t *poll_cq);
void baseline_queue_close(struct baseline_queue *queue);

/*
 * The extended queue with timestamps, a struct ibv_cq_ex; *start_poll is its function. Both are 0 if the device has no
 * such queues.
 */
uint64_t baseline_queue_extended(const struct baseline_queue *queue, uint64_t *start_poll);

/*
 * Queues of a device for baselines that poll more than their own; to be closed after the last baseline that uses them.
 * Returns NULL with errno EIO if librpma failed, or ENOMEM.
 */
struct baseline_queues *baseline_queues_open(struct ibv_context *device, uint32_t count);
void baseline_queues_close(struct baseline_queues *queues);

/* The calls that baseline_calls can make. */
enum baseline_call {
    BASELINE_RPMA_CQ_GET_WC = 0,
    BASELINE_IBV_POLL_CQ = 1,
    BASELINE_START_POLL = 2, /* of an extended queue with timestamps */
};

/*
 * Polls a queue repeatedly from the calling thread, always into the same records. Returns the elapsed nanoseconds of
 * CLOCK_MONOTONIC, or 0 with errno EINVAL. *completions counts the polled completions.
 */
uint64_t baseline_calls(const struct baseline_queue *queue, uint32_t call, uint32_t batch,
    uint64_t calls, uint64_t *completions);

/*
 * A connection of librpma with both ends in this process, each with BASELINE_LINK_BYTES of memory
 * registered. One measurement at a time uses it.
 */
struct baseline_link;

#define BASELINE_LINK_BYTES (UINT32_C(1) << 23)
#define BASELINE_LINK_DEPTH 64u /* maximum number of work requests in flight */

/*
 * Listens and connects at an address of this machine. Returns NULL with errno EIO if librpma failed (with the reason in
 * its log), or ENOMEM.
 */
struct baseline_link *baseline_link_open(const char *address, const char *port);
void baseline_link_close(struct baseline_link *link);

enum baseline_operation {
    BASELINE_SEND = 0,
    BASELINE_WRITE = 1, /* ping-pong uses immediate data, so that the peer gets a completion */
    BASELINE_READ = 2,
};

/* The traffic of a link. */
struct baseline_traffic {
    uint64_t start_ns;           /* paced operations: as in ringpoll_synthetic.h */
    uint64_t period_ns;
    const uint64_t *schedule_ns;
    uint64_t round_trips;        /* ping-pong: maximum number of recorded round trips; 0: no limit */
    uint32_t schedule_length;
    uint32_t size;               /* bytes of a message, up to BASELINE_LINK_BYTES */
    uint32_t operation;          /* enum baseline_operation */
    int32_t poster_cpu;          /* of the thread that posts paced operations */
};

/*
 * Closed loop: the handler of each operation (or the polling thread, without handlers) posts the next one. The server
 * answers a send or a write with immediate data with the same operation, and half of the round trip is recorded; for a
 * read, which does not involve the server, the whole time. Operations that start within the recording time of the
 * options are recorded. The device, work and paths of the options are not used. Returns NULL as baseline_start does.
 */
struct baseline *baseline_ping_pong_start(struct baseline_link *link,
    const struct baseline_options *options, const struct baseline_traffic *traffic);

/*
 * Posts operations at their due times from its own thread; records the time from the due time of an operation to the
 * handler of its completion, for a send to the handler of its receive at the server. Sends use one handler at most;
 * each produces two completions: its own and the receive's. A receive is always posted for each send. Returns NULL as
 * baseline_start does.
 */
struct baseline *baseline_paced_start(struct baseline_link *link,
    const struct baseline_options *options, const struct baseline_traffic *traffic);

/*
 * Posts signalled operations from the client to the server, one at a time, and polls for the completion of each, from
 * the calling thread; operation is BASELINE_WRITE or BASELINE_READ. Returns the elapsed nanoseconds, or 0 with errno
 * EIO on failure.
 */
uint64_t baseline_posts(struct baseline_link *link, uint32_t operation, uint32_t size,
    uint64_t count);

/* A connection of librdmacm with both ends in this process, each with BASELINE_LINK_BYTES of memory; without librpma. */
struct baseline_verbs;

/* Returns NULL with errno EIO or ENOMEM. */
struct baseline_verbs *baseline_verbs_open(const char *address, const char *port);
void baseline_verbs_close(struct baseline_verbs *verbs);

/* As baseline_posts, by ibv_post_send and ibv_poll_cq. */
uint64_t baseline_verbs_posts(struct baseline_verbs *verbs, uint32_t operation, uint32_t size, uint64_t count);

/* The addresses for a caller that makes the two calls of baseline_verbs_posts itself. */
struct baseline_verbs_calls {
    uint64_t post_send; /* int (*)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **) */
    uint64_t qp;
    uint64_t request;   /* struct ibv_send_wr; its first member is the wr_id */
    uint64_t bad;
    uint64_t poll_cq;   /* int (*)(struct ibv_cq *, int, struct ibv_wc *) */
    uint64_t cq;
    uint64_t wc;        /* struct ibv_wc: wr_id, then a 32-bit status */
};

/* Prepares a request in memory that the next call for this connection replaces. */
void baseline_verbs_prepare(
    struct baseline_verbs *verbs, uint32_t operation, uint32_t size, struct baseline_verbs_calls *calls);

/* Whether ping-pong has recorded the requested number of round trips. */
int baseline_link_is_done(struct baseline_link *link);

/*
 * Posts nothing more and waits until all posted operations have completed; must be called before baseline_stop. Returns
 * 0, or -1 with errno ETIMEDOUT after five seconds.
 */
int baseline_link_rest(struct baseline_link *link);

/*
 * An echo over connections with both ends in this process: one thread of the client and one of the server, each of which
 * polls its connections in turn and answers. The threads sleep between turns.
 */
struct baseline_echo;

#define BASELINE_ECHO_MAX_BYTES 256u
#define BASELINE_ECHO_SENDS_PER_WINDOW 4u

struct baseline_echo_options {
    uint32_t connections;
    uint32_t window;    /* buffers in each direction */
    uint32_t in_flight; /* messages in flight on each connection, less than the window */
    uint32_t size;      /* bytes of a message, 1 to BASELINE_ECHO_MAX_BYTES */
    uint32_t wait;      /* enum baseline_wait */
    int32_t client_cpu; /* may be BASELINE_ANY_CPU */
    int32_t server_cpu;
};

/* Connects at an address of this machine. Returns NULL with errno: EINVAL, ENOMEM, or EIO if librpma or a thread failed. */
struct baseline_echo *baseline_echo_open(const char *address, const char *port,
    const struct baseline_echo_options *options);

/*
 * Starts a turn: each answer is followed by the next message, on the same connection, or for ping-pong, with one message in
 * flight at all, on the next one. Ping-pong records the round trips that start within the recording time.
 */
void baseline_echo_start(struct baseline_echo *echo, uint32_t ping_pong, uint64_t record_from_ns,
    uint64_t record_until_ns);

/* The answers since the echo was opened. */
uint64_t baseline_echo_answers(struct baseline_echo *echo);

/* Ends a turn. Returns 0, or -1 with errno EIO, or ETIMEDOUT if answers are missing after five seconds. */
int baseline_echo_stop(struct baseline_echo *echo);

/* The round trips of the last turn, see histogram.h; HISTOGRAM_LENGTH counts, valid until the next turn. */
const uint64_t *baseline_echo_histogram(const struct baseline_echo *echo);

void baseline_echo_close(struct baseline_echo *echo);

/*
 * One end of a pair of processes, each with one thread, which calls these functions: a listening end answers, and a connecting
 * one measures. No function waits longer than half a minute after the end of its turn.
 */
struct baseline_end;

#define BASELINE_END_MESSAGE_BYTES 64u

enum baseline_medium {
    BASELINE_DEVICE = 0, /* sends over a connection of librpma */
    BASELINE_LINES = 1,  /* two cache lines of a file that both processes map; the last word of a message is its number */
    BASELINE_TCP = 2,    /* a connection of TCP, without delay */
};

/*
 * Listens. place is the address of this end, or the path of the file of BASELINE_LINES, which is created if there is none. port
 * is for BASELINE_DEVICE only; wait is an enum baseline_wait. Returns NULL with errno; EIO if librpma failed (with the reason in
 * its log).
 */
struct baseline_end *baseline_end_listen(uint32_t medium, const char *place, uint32_t port, uint32_t wait);

/* The port on which an end listens. */
uint32_t baseline_end_port(const struct baseline_end *end);

/* Waits until the other end has connected. Returns 0, or -1 with errno. */
int baseline_end_accept(struct baseline_end *end);

/* Connects to a listening end. Returns NULL as baseline_end_listen does. */
struct baseline_end *baseline_end_connect(uint32_t medium, const char *place, uint32_t port, uint32_t wait);

/*
 * Sends a message and waits for its answer, over and over until a time; then a last message, which ends the turn of the other
 * end. Half of each round trip that starts within the recording time is added to a histogram of HISTOGRAM_LENGTH counts.
 * Returns 0, or -1 with errno.
 */
int baseline_end_ping(struct baseline_end *end, uint64_t from_ns, uint64_t until_ns, uint64_t *histogram);

/* Answers each message until the last one, which is expected soon after a time. Returns 0, or -1 with errno. */
int baseline_end_answer(struct baseline_end *end, uint64_t until_ns);

/* What was transferred in the recording time. */
struct baseline_transfers {
    uint64_t count; /* 0 if the time was too short */
    uint64_t elapsed_ns;
};

/*
 * BASELINE_DEVICE: writes from slots of memory to those of the other end, with a number of writes in flight and as many slots,
 * until a time; then sends a last message. Returns 0, or -1 with errno.
 */
int baseline_end_writes(struct baseline_end *end, uint32_t size, uint32_t depth, uint64_t from_ns, uint64_t until_ns,
    struct baseline_transfers *transfers);

void baseline_end_close(struct baseline_end *end);

/* The same with memcpy(3) between slots of memory of this process. Returns 0, or -1 with errno if there is no memory. */
int baseline_copies(uint32_t size, uint32_t slots, uint64_t from_ns, uint64_t until_ns, struct baseline_transfers *transfers);

/*
 * From now on a thread survives the trap flag that a step of a debugger has left in it, or in flags that it saved: the flag is
 * cleared by a handler of SIGTRAP. Returns 0, or -1 with errno. Does nothing on other architectures than x86-64.
 */
int baseline_survive_steps(void);

#endif
