/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c: opens and closes a queue by librpma's public functions. */
#include <stddef.h>

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
