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

/* A batch of completions, field by field, with their timestamps. */
static uint64_t call_extended(struct ibv_cq_ex *cq, int batch, uint64_t calls, struct ibv_wc *wc, uint64_t *ticks)
{
    uint64_t completions = 0;

    for (uint64_t i = 0; i < calls; i++) {
        struct ibv_poll_cq_attr attr = {0};
        int got = 0;

        if (ibv_start_poll(cq, &attr) != 0)
            continue;
        do {
            wc[got] = (struct ibv_wc){.wr_id = cq->wr_id, .status = cq->status, .opcode = ibv_wc_read_opcode(cq),
                .byte_len = ibv_wc_read_byte_len(cq), .qp_num = ibv_wc_read_qp_num(cq),
                .wc_flags = ibv_wc_read_wc_flags(cq)};
            ticks[got] = ibv_wc_read_completion_ts(cq);
        } while (++got < batch && ibv_next_poll(cq) == 0);
        ibv_end_poll(cq);
        completions += (uint64_t)got;
    }
    return completions;
}

struct baseline_queue {
    struct queue queue;
    struct ibv_cq *verbs;
    struct ibv_cq_ex *extended; /* NULL if the device has none */
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
    struct ibv_cq_init_attr_ex attr = {.cqe = 1, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM |
        IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    opened->extended = ibv_create_cq_ex(device, &attr);
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

uint64_t baseline_queue_extended(const struct baseline_queue *queue, uint64_t *start_poll)
{
    *start_poll = queue->extended != NULL ? (uintptr_t)queue->extended->start_poll : 0;
    return (uintptr_t)queue->extended;
}

void baseline_queue_close(struct baseline_queue *queue)
{
    if (queue->extended != NULL)
        (void)ibv_destroy_cq(ibv_cq_ex_to_cq(queue->extended));
    queue_close(&queue->queue);
    (void)ibv_destroy_cq(queue->verbs);
    free(queue);
}

uint64_t baseline_calls(const struct baseline_queue *queue, uint32_t call, uint32_t batch,
    uint64_t calls, uint64_t *completions)
{
    /* On the stack: the address of a thread's own variable would be looked up for each call. */
    alignas(64) struct ibv_wc wc[MAX_BATCH];
    uint64_t ticks[MAX_BATCH];

    if (batch < 1 || batch > MAX_BATCH || (call == BASELINE_START_POLL && queue->extended == NULL)) {
        errno = EINVAL;
        return 0;
    }
    const uint64_t start = now_ns();

    *completions = call == BASELINE_RPMA_CQ_GET_WC ?
        call_rpma(queue->queue.cq, (int)batch, calls, wc) : call == BASELINE_START_POLL ?
        call_extended(queue->extended, (int)batch, calls, wc, ticks) :
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
