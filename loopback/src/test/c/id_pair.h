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
};

/* A message without a receive at the other side is sent again this many times; 7: without a limit. All sends are signalled. */
void id_pair_open(struct id_pair *pair, uint8_t rnr_retry);
void id_pair_close(struct id_pair *pair);

/* Polls one completion, waiting for thirty seconds and more. */
struct ibv_wc id_pair_wc(struct ibv_cq *cq);

#endif
