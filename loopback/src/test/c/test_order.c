/* SPDX-License-Identifier: Apache-2.0 */
/* test_order.c: a send completion is there no later than the receive completion that it causes. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "test.h"
#include "verbs_pair.h"

static const enum ibv_wr_opcode messages[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM};
enum { MESSAGES = sizeof(messages) / sizeof(messages[0]) };

/* One completion of each side: the sender's first. */
static void check_order(struct ibv_cq *cq, uint64_t sent, uint64_t received, bool successful)
{
    const struct ibv_wc first = verbs_wc(cq);
    const struct ibv_wc second = verbs_wc(cq);

    CHECK_EQ(first.wr_id, sent);
    CHECK_EQ(second.wr_id, received);
    CHECK_EQ(first.status == IBV_WC_SUCCESS, successful);
    CHECK_EQ(second.status == IBV_WC_SUCCESS, successful);
}

static void should_complete_the_sender_first_in_one_queue(void)
{
    struct verbs_options options = {.one_cq = true, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct verbs_pair pair;

    for (options.srq_wr = 0; options.srq_wr <= 8; options.srq_wr += 8) {
        verbs_pair_open(&pair, &options);
        for (uint64_t i = 0; i < MESSAGES; i++) {
            verbs_recv(&pair, 1, 100 + i, 0, 64);
            verbs_send(&pair, 0, i, messages[i], 64, IBV_SEND_SIGNALED);
            check_order(pair.cq[0], i, 100 + i, true);
            /* The same when the message has waited for its receive. */
            verbs_send(&pair, 0, i, messages[i], 64, IBV_SEND_SIGNALED);
            verbs_recv(&pair, 1, 100 + i, 0, 64);
            check_order(pair.cq[0], i, 100 + i, true);
            /* Unsignalled requests have none. */
            verbs_send(&pair, 0, i, messages[i], 64, 0);
            verbs_recv(&pair, 1, 100 + i, 0, 64);
            CHECK_EQ(verbs_wc(pair.cq[0]).wr_id, 100 + i);
        }
        /* A message that its receive cannot take fails on both sides. */
        verbs_recv(&pair, 1, 100, 0, 8);
        verbs_send(&pair, 0, 1, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
        check_order(pair.cq[0], 1, 100, false);
        verbs_pair_close(&pair);
    }
}

static struct ibv_cq *next_event_of(struct verbs_pair *pair)
{
    struct ibv_cq *cq;
    void *context;

    CHECK(readable(pair->channel->fd, 10000));
    CHECK_EQ(ibv_get_cq_event(pair->channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
    return cq;
}

/* Two queues with one channel: the events have the order of the completions. */
static void should_complete_the_sender_first_in_two_queues(void)
{
    struct verbs_options options = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct verbs_pair pair;

    for (options.srq_wr = 0; options.srq_wr <= 8; options.srq_wr += 8) {
        verbs_pair_open(&pair, &options);
        for (uint64_t i = 0; i < 2 * MESSAGES; i++) {
            const bool waits = i >= MESSAGES;

            CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
            CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 0), 0);
            if (!waits)
                verbs_recv(&pair, 1, 100 + i, 0, 64);
            verbs_send(&pair, 0, i, messages[i % MESSAGES], 64, IBV_SEND_SIGNALED);
            if (waits)
                verbs_recv(&pair, 1, 100 + i, 0, 64);
            CHECK(next_event_of(&pair) == pair.cq[0]);
            CHECK(next_event_of(&pair) == pair.cq[1]);
            CHECK_EQ(verbs_wc(pair.cq[0]).wr_id, i);
            CHECK_EQ(verbs_wc(pair.cq[1]).wr_id, 100 + i);
        }
        verbs_pair_close(&pair);
    }
}

#define MAX_ROUNDS 50000
#define SECONDS 10 /* two spinning threads make few rounds where other programs have the CPUs */

struct receiver {
    struct verbs_pair *pair;
    _Atomic uint32_t rounds;
    _Atomic uint32_t received;
    uint32_t late; /* send completions that were not there with the receive's */
};

static void *receive_and_look(void *argument)
{
    struct receiver *receiver = argument;
    struct ibv_wc wc;

    for (uint32_t i = 0; i < atomic_load(&receiver->rounds); i++) {
        while (ibv_poll_cq(receiver->pair->cq[1], 1, &wc) == 0)
            ;
        if (ibv_poll_cq(receiver->pair->cq[0], 1, &wc) == 0) {
            receiver->late++;
            wc = verbs_wc(receiver->pair->cq[0]);
        }
        CHECK_EQ(wc.wr_id, i);
        verbs_recv(receiver->pair, 1, 0, 0, 64);
        atomic_store(&receiver->received, i + 1);
    }
    return NULL;
}

/*
 * The official examples 09scch and 12scch depend on this: once the message is received, its send completion is visible.
 */
static void should_let_no_receiver_see_a_message_before_its_sender_sees_it_sent(void)
{
    struct receiver receiver = {.rounds = MAX_ROUNDS};
    const time_t end = time(NULL) + SECONDS;
    struct verbs_pair pair;
    pthread_t thread;

    verbs_pair_open(&pair, NULL);
    receiver.pair = &pair;
    verbs_recv(&pair, 1, 0, 0, 64);
    CHECK_EQ(pthread_create(&thread, NULL, receive_and_look, &receiver), 0);
    for (uint32_t i = 0; i < receiver.rounds; i++) {
        if (time(NULL) >= end)
            receiver.rounds = i + 1; /* before the last message, so that its receiver finds it */
        verbs_send(&pair, 0, i, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
        while (atomic_load(&receiver.received) == i)
            ;
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(receiver.late, 0);
    verbs_pair_close(&pair);
}

const struct test order_tests[] = {
    {"the sender's completion comes first in one queue", should_complete_the_sender_first_in_one_queue},
    {"the sender's completion comes first in two queues", should_complete_the_sender_first_in_two_queues},
    {"no receiver sees a message before its sender sees it sent",
        should_let_no_receiver_see_a_message_before_its_sender_sees_it_sent},
    {NULL, NULL},
};
