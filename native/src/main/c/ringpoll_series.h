/*
 * ringpoll_series.h -- series of one call of librpma, so that Java has one downcall for all of them
 *
 * The functions of librpma are passed by their addresses: libringpoll is not linked with it, as the process has loaded one.
 */
#ifndef RINGPOLL_SERIES_H
#define RINGPOLL_SERIES_H

#include <stddef.h>
#include <stdint.h>

#define RINGPOLL_EXPORT __attribute__((visibility("default")))

struct ibv_wc;
struct rpma_conn;
struct rpma_cq;
struct rpma_mr_local;

/* The queues of a poller's round. */
struct ringpoll_round {
	/* rpma_cq_get_wc(3) */
	int (*get_wc)(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc, int *num_entries_got);
	/* By place; NULL if it is not to be polled. Any thread may set one to NULL during a call. */
	struct rpma_cq *const *cqs;
	/* Places of the queues, in the order of the round. */
	const int32_t *places;
	/* The result of get_wc for an empty queue. */
	int32_t empty;
};

/* The result of a poll that has not been made. */
#define RINGPOLL_NOT_POLLED INT32_MIN

/*
 * ringpoll_poll_series -- polls up to count queues, 1 or more, from position first on, until one is not empty
 *
 * The upper half of the result is the number of empty polls before the last one. The lower half is the result of that as an int:
 * the number of completions in wc, a negative result of get_wc, 0 if all queues are empty, or RINGPOLL_NOT_POLLED.
 */
RINGPOLL_EXPORT int64_t ringpoll_poll_series(const struct ringpoll_round *round, int first, int count, struct ibv_wc *wc,
	int num_entries);

/* rpma_recv(3) */
typedef int (*ringpoll_recv)(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	const void *op_context);

/*
 * ringpoll_recv_series -- posts count receives into consecutive pieces of len bytes, with op_context and the numbers after it
 *
 * The upper half of the result is the number of accepted receives. The lower half is the result of the last one as an int; the
 * first that is not 0 ends the series.
 */
RINGPOLL_EXPORT int64_t ringpoll_recv_series(ringpoll_recv recv, struct rpma_conn *conn, struct rpma_mr_local *dst,
	size_t offset, size_t len, uintptr_t op_context, int count);

#endif
