/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h: a completion queue of librpma on a device, without a connection. */
#ifndef BASELINE_QUEUE_H
#define BASELINE_QUEUE_H

#include <librpma.h>
#include <stdint.h>

struct queue {
    struct rpma_peer *peer;
    struct rpma_srq *srq; /* the connection of its receive queue */
    struct rpma_cq *cq;
};

/* Returns 0, or -1 with nothing created. */
int queue_open(struct queue *queue, struct ibv_context *device);
void queue_close(struct queue *queue);

struct baseline_queues {
    uint32_t count;
    struct queue queue[];
};

#endif
