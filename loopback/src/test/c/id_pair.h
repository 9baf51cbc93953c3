/* SPDX-License-Identifier: Apache-2.0 */
/* id_pair.h: two connected ids of the connection manager without librpma, with completion queues of their own. */
#ifndef LOOPBACK_ID_PAIR_H
#define LOOPBACK_ID_PAIR_H

#include <rdma/rdma_cma.h>
#include <stdint.h>

struct id_pair {
    struct rdma_event_channel *channel;
    struct rdma_cm_id *listener;
    struct rdma_cm_id *active;
    struct rdma_cm_id *passive;
    struct ibv_cq *cq[2]; /* the active and the passive side's queue for all, if it is extended */
    uint64_t wc_flags;    /* their fields; 0: each id has queues of the connection manager */
};

/* A message without a receive at the other side is sent again this many times; 7: without a limit. All sends are signalled. */
void id_pair_open(struct id_pair *pair, uint8_t rnr_retry);

/* The same without such a limit, with 32 requests and receives, one extended queue for each side, and unsignalled sends. */
void id_pair_open_extended(struct id_pair *pair, uint64_t wc_flags);
void id_pair_close(struct id_pair *pair);

/* Polls one completion, waiting for thirty seconds and more. */
struct ibv_wc id_pair_wc(struct ibv_cq *cq);

#endif
