/* SPDX-License-Identifier: Apache-2.0 */
/* test_message_failure.c: a message in the middle of a list waits, fails, or overruns a queue. */
#include <string.h>

#include "list_end.h"

/* The receives end at any place of the list: the messages before it arrive, the others wait for receives or fail. */
static void should_wait_in_the_middle_of_a_list(void)
{
    static struct list_end end;
    int error;

    for (uint32_t receives = 0; receives <= 16; receives++) {
        for (int kind = 0; kind < 4; kind++) {
            struct verbs_options options = list_defaults;
            const bool fails = kind >= 2 && receives < 16;

            options.srq_wr = kind % 2 ? QUEUE : 0;
            options.rnr_retry = fails ? 0 : 7;
            list_end_open(&end, &options);
            list_make_plain(&end, 16, IBV_SEND_SIGNALED);
            for (uint32_t i = 0; i < receives; i++)
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
            CHECK_EQ(list_post(&end, 0, 16, false, &error), 16);
            for (uint32_t i = 0; i < receives; i++) {
                verbs_expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
                verbs_expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            }
            for (uint32_t i = receives; i < 16 && !fails; i++) {
                CHECK_EQ(ibv_poll_cq(end.pair.cq[0], 1, &(struct ibv_wc){0}), 0);
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
                verbs_expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
                verbs_expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            }
            for (uint32_t i = receives; i < 16 && fails; i++)
                verbs_expect(end.pair.cq[0], i, i == receives ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR);
            CHECK(memcmp(end.pair.buffer[0], end.pair.buffer[1], fails ? 64 * receives : 64 * 16) == 0);
            list_end_close(&end);
        }
    }
}

/* A receive that cannot take its message, or an invalid message, fails both sides; the messages before it are delivered. */
static void should_fail_in_the_middle_of_a_list(void)
{
    static struct list_end end;
    int error;

    for (uint32_t bad = 0; bad < 16; bad++) {
        for (int kind = 0; kind < 6; kind++) {
            struct verbs_options options = list_defaults;
            const bool local = kind >= 4;

            options.srq_wr = kind % 2 ? QUEUE : 0;
            list_end_open(&end, &options);
            list_make_plain(&end, 16, IBV_SEND_SIGNALED);
            for (uint32_t i = 0; i < 16; i++) {
                if (i == bad && kind >= 2 && !local) {
                    struct ibv_sge sge = list_element(&end, 1, 64 * i, 64, false, true);
                    struct ibv_recv_wr recv = {.wr_id = 100 + i, .sg_list = &sge, .num_sge = 1};
                    struct ibv_recv_wr *bad_recv;

                    CHECK_EQ(end.pair.srq != NULL ? ibv_post_srq_recv(end.pair.srq, &recv, &bad_recv) :
                        ibv_post_recv(end.pair.qp[1], &recv, &bad_recv), 0);
                    continue;
                }
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, i == bad && !local ? 63 : 64);
            }
            if (local)
                end.sge[bad][0].lkey = end.foreign[0]->lkey;
            CHECK_EQ(list_post(&end, 0, 16, false, &error), 16);
            for (uint32_t i = 0; i < bad; i++) {
                verbs_expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
                verbs_expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            }
            verbs_expect(end.pair.cq[0], bad, local ? IBV_WC_LOC_PROT_ERR : kind < 2 ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR);
            if (!local)
                verbs_expect(end.pair.cq[1], 100 + bad, kind < 2 ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
            for (uint32_t i = bad + 1; i < 16; i++) {
                verbs_expect(end.pair.cq[0], i, IBV_WC_WR_FLUSH_ERR);
                if (!local && end.pair.srq == NULL)
                    verbs_expect(end.pair.cq[1], 100 + i, IBV_WC_WR_FLUSH_ERR);
            }
            CHECK_EQ(ibv_poll_cq(end.pair.cq[1], 1, &(struct ibv_wc){0}), 0);
            CHECK_EQ(verbs_state(end.pair.qp[1]), local ? IBV_QPS_RTS : IBV_QPS_ERR);
            CHECK(memcmp(end.pair.buffer[0], end.pair.buffer[1], 64 * bad) == 0);
            list_end_close(&end);
        }
    }
}

/* A queue that overruns in the middle is dead, and so is its queue pair. The other queue has the completions before. */
static void should_overrun_a_queue_in_the_middle_of_a_list(void)
{
    static struct list_end end;
    struct ibv_wc wc[COMPLETIONS];
    int error;

    for (int side = 0; side < 2; side++) {
        struct verbs_options options = list_defaults;
        struct ibv_async_event event;

        list_end_open(&end, &options);
        list_make_plain(&end, 16, IBV_SEND_SIGNALED);
        CHECK_EQ(ibv_resize_cq(end.pair.cq[side], 15), 0);
        for (uint32_t i = 0; i < 32; i++)
            verbs_recv(&end.pair, 1, 100 + i, 64 * (i % 16), 64);
        /* Eight have been there, fifteen have room. */
        CHECK_EQ(list_post(&end, 8, 16, false, &error), 8);
        CHECK_EQ(list_post(&end, 0, 16, false, &error), 16);
        CHECK_EQ(list_poll_all(end.pair.cq[side], wc), -1);
        CHECK_EQ(verbs_state(end.pair.qp[side]), IBV_QPS_ERR);
        CHECK_EQ(ibv_get_async_event(end.pair.context, &event), 0);
        CHECK(event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == end.pair.cq[side]);
        ibv_ack_async_event(&event);
        CHECK_EQ(ibv_get_async_event(end.pair.context, &event), 0);
        CHECK(event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == end.pair.qp[side]);
        ibv_ack_async_event(&event);
        CHECK_EQ(list_poll_all(end.pair.cq[1 - side], wc), 24);
        list_end_close(&end);
    }
}

const struct test message_failure_tests[] = {
    {"message list: a message without a receive waits, with those behind it", should_wait_in_the_middle_of_a_list},
    {"message list: a message fails where it does not fit", should_fail_in_the_middle_of_a_list},
    {"message list: a queue overruns", should_overrun_a_queue_in_the_middle_of_a_list},
    {NULL, NULL},
};
