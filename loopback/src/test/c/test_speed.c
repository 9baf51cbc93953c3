/* SPDX-License-Identifier: Apache-2.0 */
/* test_speed.c: costs of the device, the lower bound of every figure measured on it. */
#include <stdio.h>
#include <time.h>

#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

#define LIMIT_NS 200
#define ROUNDS 20
#define OPERATIONS 50000

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Nanoseconds an operation in the best of the rounds: the others were disturbed. */
static double best_of_rounds(void (*operation)(void *), void *context)
{
    double best = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t start = now_ns();

        for (int i = 0; i < OPERATIONS; i++)
            operation(context);
        const double each = (double)(now_ns() - start) / OPERATIONS;
        if (round == 0 || each < best)
            best = each;
    }
    return best;
}

static void write_and_poll(void *context)
{
    struct verbs_pair *pair = context;
    struct ibv_sge sge = {(uintptr_t)pair->buffer[0], 64, pair->mr[0]->lkey};
    struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad_wr;
    struct ibv_wc wc;

    wr.wr.rdma.remote_addr = (uintptr_t)pair->buffer[1];
    wr.wr.rdma.rkey = pair->mr[1]->rkey;
    if (ibv_post_send(pair->qp[0], &wr, &bad_wr) || ibv_poll_cq(pair->cq[0], 1, &wc) != 1 ||
        wc.status != IBV_WC_SUCCESS)
        CHECK(!"a write was posted and polled");
}

static void send_and_poll(void *context)
{
    struct verbs_pair *pair = context;
    struct ibv_wc wc;

    verbs_recv(pair, 1, 2, 0, 64);
    verbs_send(pair, 0, 1, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    if (ibv_poll_cq(pair->cq[0], 1, &wc) != 1 || ibv_poll_cq(pair->cq[1], 1, &wc) != 1 ||
        wc.status != IBV_WC_SUCCESS)
        CHECK(!"a message was sent and received");
}

static void poll_empty(void *context)
{
    struct verbs_pair *pair = context;
    struct ibv_wc wc;

    if (ibv_poll_cq(pair->cq[0], 1, &wc) != 0)
        CHECK(!"the queue was empty");
}

static void rpma_write_and_get_wc(void *context)
{
    struct pair *pair = context;
    struct ibv_wc wc;

    if (rpma_write(pair->client.conn, pair->client.remote, 0, pair->client.mr, 0, 64,
            RPMA_F_COMPLETION_ALWAYS, NULL) ||
        rpma_cq_get_wc(pair->client.cq, 1, &wc, NULL) || wc.status != IBV_WC_SUCCESS)
        CHECK(!"a write was posted and polled");
}

static void should_be_fast(void)
{
    struct verbs_pair verbs;
    struct pair rpma;

    verbs_pair_open(&verbs, NULL);
    const double write = best_of_rounds(write_and_poll, &verbs);
    const double send = best_of_rounds(send_and_poll, &verbs);
    const double empty = best_of_rounds(poll_empty, &verbs);
    verbs_pair_close(&verbs);
    pair_open(&rpma, NULL);
    const double through_rpma = best_of_rounds(rpma_write_and_get_wc, &rpma);
    pair_close(&rpma);
    printf("        post + poll of a 64-byte write     %6.1f ns (to reach: %d)\n", write,
        LIMIT_NS);
    printf("        the same through librpma           %6.1f ns\n", through_rpma);
    printf("        post, receive + polls of a send    %6.1f ns\n", send);
    printf("        poll of an empty queue             %6.1f ns\n", empty);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    printf("        (under a sanitizer the limit does not count)\n");
#else
    /* The figure is for people: on a shared machine only a gross loss of speed is a failure. */
    CHECK(write < 10 * LIMIT_NS);
#endif
}

const struct test speed_tests[] = {
    {"a signalled 64-byte write is posted and polled in time", should_be_fast},
    {NULL, NULL},
};
