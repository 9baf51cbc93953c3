/* ringpoll_series.c -- series of one call of librpma, so that Java has one downcall for all of them */

#include "ringpoll_series.h"

static inline int64_t
pair(int64_t number, int result)
{
	return (int64_t)((uint64_t)number << 32 | (uint32_t)result);
}

int64_t
ringpoll_poll_series(const struct ringpoll_round *round, int first, int count, struct ibv_wc *wc, int num_entries)
{
	const int32_t *const begin = round->places + first;
	const int32_t *const end = begin + count;
	const int32_t *place = begin;
	int got = 0;

	for (;;) {
		struct rpma_cq *cq = __atomic_load_n(&round->cqs[*place], __ATOMIC_RELAXED);
		int result;

		if (__builtin_expect(cq == NULL, 0))
			return pair(place - begin, RINGPOLL_NOT_POLLED);
		result = round->get_wc(cq, num_entries, wc, &got);
		if (__builtin_expect(result != round->empty, 0))
			return pair(place - begin, result == 0 ? got : result);
		if (++place == end)
			return pair(count - 1, 0);
	}
}

int64_t
ringpoll_recv_series(ringpoll_recv recv, struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
	uintptr_t op_context, int count)
{
	int result = 0;
	int accepted = 0;

	while (accepted < count) {
		result = recv(conn, dst, offset, len, (const void *)op_context);
		if (result != 0)
			break;
		offset += len;
		op_context++;
		accepted++;
	}
	return pair(accepted, result);
}
