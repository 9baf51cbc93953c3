/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c: the cost of one poll, or one post and its poll, in C, without a ring. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdalign.h>
#include <stdlib.h>

#include "hot.h"
#include "link.h"
#include "queue.h"

#define MAX_BATCH 1024

static uint64_t call_rpma(struct rpma_cq *cq, int batch, uint64_t calls, struct ibv_wc *wc)
{
    uint64_t completions = 0;
    int got;

    for (uint64_t i = 0; i < calls; i++) {
        if (rpma_cq_get_wc(cq, batch, wc, &got) == 0)
            completions += (uint64_t)got;
    }
    return completions;
}

static uint64_t call_ibv(struct ibv_cq *cq, int batch, uint64_t calls, struct ibv_wc *wc)
{
    uint64_t completions = 0;

    for (uint64_t i = 0; i < calls; i++) {
        const int got = ibv_poll_cq(cq, batch, wc);

        if (got > 0)
            completions += (uint64_t)got;
    }
    return completions;
}

struct baseline_queue {
    struct queue queue;
    struct ibv_cq *verbs;
};

struct baseline_queue *baseline_queue_open(struct ibv_context *device, uint64_t *rpma_cq,
    uint64_t *ibv_cq, uint64_t *poll_cq)
{
    struct baseline_queue *opened = malloc(sizeof(*opened));

    if (opened == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    opened->verbs = ibv_create_cq(device, 1, NULL, NULL, 0);
    if (opened->verbs == NULL)
        goto free_opened;
    if (queue_open(&opened->queue, device) != 0)
        goto destroy_verbs;
    *rpma_cq = (uintptr_t)opened->queue.cq;
    *ibv_cq = (uintptr_t)opened->verbs;
    *poll_cq = (uintptr_t)device->ops.poll_cq;
    return opened;

destroy_verbs:
    (void)ibv_destroy_cq(opened->verbs);
free_opened:
    free(opened);
    errno = EIO;
    return NULL;
}

void baseline_queue_close(struct baseline_queue *queue)
{
    queue_close(&queue->queue);
    (void)ibv_destroy_cq(queue->verbs);
    free(queue);
}

uint64_t baseline_calls(const struct baseline_queue *queue, uint32_t call, uint32_t batch,
    uint64_t calls, uint64_t *completions)
{
    /* On the stack: the address of a thread's own variable would be looked up for each call. */
    alignas(64) struct ibv_wc wc[MAX_BATCH];

    if (batch < 1 || batch > MAX_BATCH) {
        errno = EINVAL;
        return 0;
    }
    const uint64_t start = now_ns();

    *completions = call == BASELINE_RPMA_CQ_GET_WC ?
        call_rpma(queue->queue.cq, (int)batch, calls, wc) :
        call_ibv(queue->verbs, (int)batch, calls, wc);
    return now_ns() - start;
}

static int post_client(const struct link_end *client, uint32_t operation, size_t size)
{
    if (operation == BASELINE_READ)
        return rpma_read(client->conn, client->local, 0, client->remote, 0, size,
            RPMA_F_COMPLETION_ALWAYS, NULL);
    return rpma_write(client->conn, client->remote, 0, client->local, 0, size,
        RPMA_F_COMPLETION_ALWAYS, NULL);
}

uint64_t baseline_posts(struct baseline_link *link, uint32_t operation, uint32_t size,
    uint64_t count)
{
    const struct link_end *client = &link->client;
    const uint64_t start = now_ns();
    struct ibv_wc wc;
    int got;

    for (uint64_t i = 0; i < count; i++) {
        if (post_client(client, operation, size) != 0)
            goto fail;
        for (;;) {
            const int result = rpma_cq_get_wc(client->cq, 1, &wc, &got);

            if (result == 0)
                break;
            if (result != RPMA_E_NO_COMPLETION)
                goto fail;
        }
        if (wc.status != IBV_WC_SUCCESS)
            goto fail;
    }
    return now_ns() - start;

fail:
    errno = EIO;
    return 0;
}
