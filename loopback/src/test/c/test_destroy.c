/* SPDX-License-Identifier: Apache-2.0 */
/* test_destroy.c: a queue pair that is destroyed or reset leaves nothing behind. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "test.h"
#include "verbs_pair.h"

static const struct verbs_options shared =
    {.one_cq = true, .max_wr = 32, .cqe = 256, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};

/* Completions of both sides, by turns: two writes of side 0 for each of side 1, and received messages of both. */
static void fill(struct verbs_pair *pair)
{
    for (uint64_t i = 0; i < 8; i++) {
        verbs_recv(pair, 0, 100 + i, 0, 8);
        verbs_recv(pair, 1, 200 + i, 0, 8);
    }
    for (uint64_t i = 0; i < 4; i++) {
        verbs_send(pair, 0, 2 * i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
        verbs_send(pair, 1, 300 + i, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
        verbs_send(pair, 0, 2 * i + 1, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    }
}

static void check_only_side_1_is_left(struct verbs_pair *pair)
{
    uint64_t sent = 300;
    uint64_t received = 200;
    struct ibv_wc wc[32];

    const int count = ibv_poll_cq(pair->cq[0], 32, wc);
    CHECK_EQ(count, 8);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(wc[i].qp_num, pair->qp[1]->qp_num);
        if (wc[i].opcode & IBV_WC_RECV)
            CHECK_EQ(wc[i].wr_id, received++);
        else
            CHECK_EQ(wc[i].wr_id, sent++);
    }
    CHECK_EQ(received, 204);
    CHECK_EQ(sent, 304);
}

static void should_have_no_completions_of_a_destroyed_queue_pair(void)
{
    struct verbs_pair pair;

    verbs_pair_open(&pair, &shared);
    fill(&pair);
    CHECK_EQ(ibv_destroy_qp(pair.qp[0]), 0);
    pair.qp[0] = NULL;
    check_only_side_1_is_left(&pair);
    verbs_pair_close(&pair);
}

static void should_have_no_completions_of_a_queue_pair_that_was_reset(void)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct verbs_pair pair;

    verbs_pair_open(&pair, &shared);
    fill(&pair);
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE), 0);
    check_only_side_1_is_left(&pair);
    verbs_pair_close(&pair);
}

struct polled {
    struct ibv_cq *cq;
    _Atomic uint32_t destroyed; /* number of the queue pair that was destroyed last */
    _Atomic bool stop;
};

static void *poll_always(void *argument)
{
    struct polled *polled = argument;
    struct ibv_wc wc[4];

    while (!atomic_load(&polled->stop)) {
        const uint32_t destroyed = atomic_load(&polled->destroyed);
        const int count = ibv_poll_cq(polled->cq, 4, wc);

        CHECK(count >= 0);
        for (int i = 0; i < count; i++)
            CHECK(wc[i].qp_num != destroyed);
    }
    return NULL;
}

static void should_give_no_poll_that_begins_later_a_destroyed_queue_pairs_completions(void)
{
    enum { ROUNDS = 2000 };
    struct verbs_options options = shared;
    struct polled polled = {0};
    struct verbs_pair pair;
    pthread_t poller;

    verbs_pair_open(&pair, &options);
    CHECK_EQ(ibv_destroy_qp(pair.qp[0]), 0);
    polled.cq = pair.cq[0];
    CHECK_EQ(pthread_create(&poller, NULL, poll_always, &polled), 0);
    for (int round = 0; round < ROUNDS; round++) {
        struct ibv_qp_init_attr init = {.send_cq = pair.cq[0], .recv_cq = pair.cq[0], .qp_type = IBV_QPT_RC,
            .cap = {.max_send_wr = 31, .max_recv_wr = 31, .max_send_sge = 1, .max_recv_sge = 1}};
        struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

        pair.qp[0] = ibv_create_qp(pair.pd, &init);
        CHECK(pair.qp[0] != NULL);
        CHECK_EQ(ibv_modify_qp(pair.qp[1], &reset, IBV_QP_STATE), 0);
        verbs_connect(pair.qp[1], pair.qp[0]->qp_num, &options);
        verbs_connect(pair.qp[0], pair.qp[1]->qp_num, &options);
        for (uint64_t i = 0; i < 31; i++)
            verbs_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
        const uint32_t number = pair.qp[0]->qp_num;
        CHECK_EQ(ibv_destroy_qp(pair.qp[0]), 0);
        atomic_store(&polled.destroyed, number);
    }
    pair.qp[0] = NULL;
    atomic_store(&polled.stop, true);
    CHECK_EQ(pthread_join(poller, NULL), 0);
    verbs_pair_close(&pair);
}

const struct test destroy_tests[] = {
    {"a destroyed queue pair leaves no completions", should_have_no_completions_of_a_destroyed_queue_pair},
    {"a queue pair that was reset leaves no completions", should_have_no_completions_of_a_queue_pair_that_was_reset},
    {"no later poll has a destroyed queue pair's completions",
        should_give_no_poll_that_begins_later_a_destroyed_queue_pairs_completions},
    {NULL, NULL},
};
