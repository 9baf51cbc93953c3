/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c: opens and closes queues by librpma's public functions. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "baseline.h"
#include "queue.h"

#define ENTRIES 16

int queue_open(struct queue *queue, struct ibv_context *device)
{
    struct rpma_srq_cfg *config;

    if (rpma_peer_new(device, &queue->peer) != 0)
        return -1;
    if (rpma_srq_cfg_new(&config) != 0)
        goto delete_peer;
    const int failed = rpma_srq_cfg_set_rcq_size(config, ENTRIES) != 0 ||
        rpma_srq_new(queue->peer, config, &queue->srq) != 0;
    (void)rpma_srq_cfg_delete(&config);
    if (failed)
        goto delete_peer;
    if (rpma_srq_get_rcq(queue->srq, &queue->cq) == 0 && queue->cq != NULL)
        return 0;
    (void)rpma_srq_delete(&queue->srq);
delete_peer:
    (void)rpma_peer_delete(&queue->peer);
    return -1;
}

void queue_close(struct queue *queue)
{
    (void)rpma_srq_delete(&queue->srq);
    (void)rpma_peer_delete(&queue->peer);
}

struct baseline_queues *baseline_queues_open(struct ibv_context *device, uint32_t count)
{
    struct baseline_queues *queues = malloc(sizeof(*queues) + count * sizeof(queues->queue[0]));

    if (queues == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    for (queues->count = 0; queues->count < count; queues->count++) {
        if (queue_open(&queues->queue[queues->count], device) != 0) {
            baseline_queues_close(queues);
            errno = EIO;
            return NULL;
        }
    }
    return queues;
}

void baseline_queues_close(struct baseline_queues *queues)
{
    for (uint32_t i = 0; i < queues->count; i++)
        queue_close(&queues->queue[i]);
    free(queues);
}
