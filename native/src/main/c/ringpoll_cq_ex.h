/*
 * ringpoll_cq_ex.h -- extended completion queues of libibverbs (ibv_create_cq_ex(3)) for Java
 *
 * An extended queue returns its completions one by one and field by field through function pointers. Here a batch of them is one
 * call: Java has one downcall for it, not ten for each completion. The other functions are inline in verbs.h, so libibverbs has
 * no symbols of them.
 */
#ifndef RINGPOLL_CQ_EX_H
#define RINGPOLL_CQ_EX_H

#include <stdint.h>

#define RINGPOLL_EXPORT __attribute__((visibility("default")))

struct ibv_comp_channel;
struct ibv_context;
struct ibv_cq_ex;
struct ibv_wc;

/*
 * ringpoll_create_cq_ex -- creates a queue whose completions have device timestamps, for one connection type, RC
 *
 * Destroyed by ibv_destroy_cq(3). NULL with errno: EOPNOTSUPP if the device has no extended queues, or none with timestamps.
 */
RINGPOLL_EXPORT struct ibv_cq_ex *ringpoll_create_cq_ex(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
	int comp_vector);

/*
 * ringpoll_poll_cq_ex -- moves up to num_entries completions, at least 1, into the records from wc on; one thread at a time
 *
 * If ticks is not NULL, the timestamp of the record at first + i goes to ticks[i]; wc lies within the array that begins at first.
 * Returns the number of completions, 0 if the queue is empty, or a negative errno value if it has failed.
 */
RINGPOLL_EXPORT int ringpoll_poll_cq_ex(struct ibv_cq_ex *cq, int num_entries, struct ibv_wc *wc, const struct ibv_wc *first,
	uint64_t *ticks);

/* ringpoll_query_clock -- the device's clock: its frequency and the valid bits of a timestamp; 0, or EOPNOTSUPP if it has none */
RINGPOLL_EXPORT int ringpoll_query_clock(struct ibv_context *context, uint64_t *frequency_khz, uint64_t *mask);

/* The three clocks at one moment. */
struct ringpoll_clocks {
	uint64_t ticks;		/* the device's */
	int64_t monotonic_ns;	/* CLOCK_MONOTONIC, that of System.nanoTime() */
	int64_t realtime_ns;	/* CLOCK_REALTIME, since 1970 */
	int64_t error_ns;	/* how far the moment of ticks may be from monotonic_ns, at most */
};

/*
 * ringpoll_read_clocks -- reads the clocks as close to each other as a few tries allow: a thread may lose its processor in between
 *
 * Returns 0 or an errno value.
 */
RINGPOLL_EXPORT int ringpoll_read_clocks(struct ibv_context *context, struct ringpoll_clocks *clocks);

#endif
