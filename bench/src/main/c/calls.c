/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c: what one poll costs in C, without any ring. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdalign.h>

#include "baseline.h"
#include "hot.h"
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

uint64_t baseline_calls(struct ibv_context *device, uint32_t call, uint32_t batch, uint64_t calls,
    uint64_t *completions)
{
    alignas(64) static _Thread_local struct ibv_wc wc[MAX_BATCH];
    uint64_t start = 0;
    uint64_t end = 0;

    if (batch < 1 || batch > MAX_BATCH) {
        errno = EINVAL;
        return 0;
    }
    if (call == BASELINE_RPMA_CQ_GET_WC) {
        struct queue queue;

        if (queue_open(&queue, device) != 0)
            goto fail;
        start = now_ns();
        *completions = call_rpma(queue.cq, (int)batch, calls, wc);
        end = now_ns();
        queue_close(&queue);
    } else {
        struct ibv_cq *cq = ibv_create_cq(device, 1, NULL, NULL, 0);

        if (cq == NULL)
            goto fail;
        start = now_ns();
        *completions = call_ibv(cq, (int)batch, calls, wc);
        end = now_ns();
        (void)ibv_destroy_cq(cq);
    }
    return end - start;

fail:
    errno = EIO;
    return 0;
}
