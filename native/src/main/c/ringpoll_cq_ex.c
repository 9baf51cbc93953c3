/* ringpoll_cq_ex.c -- extended completion queues of libibverbs for Java */

#include "ringpoll_cq_ex.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

/* Of a reliable connection; the others are of datagrams. */
#define FIELDS (IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

#define TRIES 8
#define CLOSE_NS 250

struct ibv_cq_ex *
ringpoll_create_cq_ex(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = (uint32_t)cqe,
		.channel = channel,
		.comp_vector = (uint32_t)comp_vector,
		.wc_flags = FIELDS,
	};

	if (cqe < 1 || comp_vector < 0) {
		errno = EINVAL;
		return NULL;
	}
	return ibv_create_cq_ex(context, &attr);
}

/* fill -- writes all fields of the present completion; those that are invalid or of datagrams are 0 */
static inline void
fill(struct ibv_cq_ex *cq, struct ibv_wc *wc)
{
	unsigned flags;

	*wc = (struct ibv_wc){.wr_id = cq->wr_id, .status = cq->status, .qp_num = ibv_wc_read_qp_num(cq)};
	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0)) {
		wc->vendor_err = ibv_wc_read_vendor_err(cq);
		return;
	}
	flags = ibv_wc_read_wc_flags(cq);
	wc->opcode = ibv_wc_read_opcode(cq);
	wc->byte_len = ibv_wc_read_byte_len(cq);
	wc->wc_flags = flags;
	if (flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV))
		wc->imm_data = ibv_wc_read_imm_data(cq);
}

/* The arguments of a poll. They are in memory, so that a poll of an empty queue saves no registers. */
struct batch {
	struct ibv_poll_cq_attr attr;
	int num_entries;
	struct ibv_cq_ex *cq;
	struct ibv_wc *wc;
	const struct ibv_wc *first;
	uint64_t *ticks;
};

/* take -- moves the completions of a queue whose poll has been started, and ends the poll */
static __attribute__((noinline)) int
take(const struct batch *batch)
{
	struct ibv_cq_ex *cq = batch->cq;
	struct ibv_wc *wc = batch->wc;
	uint64_t *ticks = batch->ticks;
	int n = 0;

	if (ticks != NULL)
		ticks += wc - batch->first;
	do {
		fill(cq, &wc[n]);
		if (ticks != NULL)
			ticks[n] = ibv_wc_read_completion_ts(cq);
	} while (++n < batch->num_entries && ibv_next_poll(cq) == 0);
	/* The failure of a queue in the middle of a batch is that of the next start. */
	ibv_end_poll(cq);
	return n;
}

int
ringpoll_poll_cq_ex(struct ibv_cq_ex *cq, int num_entries, struct ibv_wc *wc, const struct ibv_wc *first, uint64_t *ticks)
{
	struct batch batch = {.num_entries = num_entries, .cq = cq, .wc = wc, .first = first, .ticks = ticks};
	const int error = ibv_start_poll(cq, &batch.attr);

	if (__builtin_expect(error == ENOENT, 1))
		return 0;
	/* Also mlx5's CQ_POLL_ERR, which is negative: it must not look like completions. */
	return error == 0 ? take(&batch) : error < 0 ? error : -error;
}

int
ringpoll_query_clock(struct ibv_context *context, uint64_t *frequency_khz, uint64_t *mask)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, query_device_ex);
	struct ibv_device_attr_ex attr;
	int error;

	memset(&attr, 0, sizeof(attr));
	if (verbs == NULL || verbs_get_ctx_op(context, query_rt_values) == NULL)
		return EOPNOTSUPP;
	error = verbs->query_device_ex(context, NULL, &attr, sizeof(attr));
	if (error != 0)
		return error;
	*frequency_khz = attr.hca_core_clock;
	*mask = attr.completion_timestamp_mask;
	return attr.hca_core_clock != 0 && attr.completion_timestamp_mask != 0 ? 0 : EOPNOTSUPP;
}

static int64_t
now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int
ringpoll_read_clocks(struct ibv_context *context, struct ringpoll_clocks *clocks)
{
	int64_t shortest = INT64_MAX;

	for (int i = 0; i < TRIES && shortest > CLOSE_NS; i++) {
		struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
		const int64_t before = now_ns(CLOCK_MONOTONIC);
		const int error = ibv_query_rt_values_ex(context, &values);
		const int64_t realtime = now_ns(CLOCK_REALTIME);
		const int64_t took = now_ns(CLOCK_MONOTONIC) - before;

		if (error != 0)
			return error;
		if ((values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK) == 0)
			return EOPNOTSUPP;
		if (took < shortest) {
			shortest = took;
			clocks->monotonic_ns = before + took / 2;
			clocks->realtime_ns = realtime;
			clocks->error_ns = took - took / 2;
			/* All ticks may be in tv_nsec (mlx5). */
			clocks->ticks = (uint64_t)values.raw_clock.tv_sec * 1000000000u + (uint64_t)values.raw_clock.tv_nsec;
		}
	}
	return 0;
}
