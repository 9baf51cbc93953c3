/* SPDX-License-Identifier: Apache-2.0 */
/* test_fault.c: the fault plan: each kind of fault, its trigger, and repetition by its seed. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

#define MS UINT64_C(1000000)

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void plan(uint64_t seed, struct ringpoll_loopback_fault rule)
{
    CHECK_EQ(ringpoll_loopback_plan(seed, &rule, 1), 0);
}

static void end_plan(void)
{
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
}

/* Under a plan for the first queue pair, or completion queue: side 0's. */
static void open_under(struct verbs_pair *pair, struct ringpoll_loopback_fault rule)
{
    plan(1, rule);
    verbs_pair_open(pair, NULL);
}

static void close_with(struct verbs_pair *pair, uint64_t injected)
{
    CHECK_EQ(ringpoll_loopback_injected(0), injected);
    verbs_pair_close(pair);
    end_plan();
}

static void write_from(struct verbs_pair *pair, int side, uint64_t wr_id)
{
    verbs_send(pair, side, wr_id, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
    const struct ibv_wc wc = verbs_wc(cq);

    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, status);
    if (status != IBV_WC_SUCCESS && status != IBV_WC_WR_FLUSH_ERR)
        CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_INJECTED);
}

static void should_end_the_nth_operation_with_any_status(void)
{
    for (uint32_t status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++) {
        struct verbs_pair pair;

        open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = status,
            .at = 3, .object = 1});
        for (uint64_t i = 1; i <= 4; i++)
            write_from(&pair, 0, i);
        expect(pair.cq[0], 1, IBV_WC_SUCCESS);
        expect(pair.cq[0], 2, IBV_WC_SUCCESS);
        const struct ibv_wc wc = verbs_wc(pair.cq[0]);
        check_failed(&wc, 3, (enum ibv_wc_status)status, pair.qp[0]->qp_num);
        CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_INJECTED);
        expect(pair.cq[0], 4, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(verbs_state(pair.qp[0]), IBV_QPS_ERR);
        close_with(&pair, 1);
    }
}

static void should_count_each_opcode_for_itself(void)
{
    struct verbs_pair pair;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_STATUS,
        .operation = RINGPOLL_LOOPBACK_OPERATION_READ, .code = IBV_WC_RETRY_EXC_ERR, .at = 2});
    verbs_send(&pair, 0, 1, IBV_WR_RDMA_READ, 8, IBV_SEND_SIGNALED);
    write_from(&pair, 0, 2);
    write_from(&pair, 0, 3);
    verbs_send(&pair, 1, 4, IBV_WR_RDMA_READ, 8, IBV_SEND_SIGNALED);
    verbs_send(&pair, 0, 5, IBV_WR_RDMA_READ, 8, IBV_SEND_SIGNALED);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    expect(pair.cq[0], 2, IBV_WC_SUCCESS);
    expect(pair.cq[0], 3, IBV_WC_SUCCESS);
    expect(pair.cq[0], 5, IBV_WC_RETRY_EXC_ERR);
    expect(pair.cq[1], 4, IBV_WC_SUCCESS);
    close_with(&pair, 1);
}

static void should_fail_a_message_at_its_receiver(void)
{
    struct verbs_pair pair;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_STATUS,
        .operation = RINGPOLL_LOOPBACK_OPERATION_RECEIVE, .code = IBV_WC_LOC_QP_OP_ERR, .at = 2});
    for (uint64_t i = 11; i <= 13; i++)
        verbs_recv(&pair, 1, i, 0, 64);
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    verbs_send(&pair, 0, 2, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    expect(pair.cq[0], 2, IBV_WC_REM_OP_ERR);
    expect(pair.cq[1], 11, IBV_WC_SUCCESS);
    expect(pair.cq[1], 12, IBV_WC_LOC_QP_OP_ERR);
    expect(pair.cq[1], 13, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(verbs_state(pair.qp[1]), IBV_QPS_ERR);
    close_with(&pair, 1);
}

static void should_refuse_posts_to_a_full_queue(void)
{
    struct verbs_pair pair;
    int refused = 0;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_FULL, .times = 2, .at = 3,
        .every = 5});
    for (uint64_t i = 1; i <= 9; i++) {
        const int error = verbs_try_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);

        CHECK_EQ(error, i == 3 || i == 4 || i == 8 || i == 9 ? ENOMEM : 0);
        refused += error != 0;
    }
    for (uint64_t i = 1; i <= 7; i++) {
        if (i != 3 && i != 4)
            expect(pair.cq[0], i, IBV_WC_SUCCESS);
    }
    close_with(&pair, (uint64_t)refused);
}

static void should_send_again_to_a_receiver_that_was_not_ready(void)
{
    const struct verbs_options options = {.rnr_retry = 3, .min_rnr_timer = 20 /* 10.24 ms */, .timeout = 14,
        .retry_cnt = 7};
    struct verbs_pair pair;

    /* As many tries as there are retries: the last one finds it ready. */
    plan(1, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_RNR, .times = 3, .at = 2});
    verbs_pair_open(&pair, &options);
    for (uint64_t i = 11; i <= 13; i++)
        verbs_recv(&pair, 1, i, 0, 64);
    const uint64_t start = now_ns();
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    verbs_send(&pair, 0, 2, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    write_from(&pair, 0, 3);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    expect(pair.cq[0], 2, IBV_WC_SUCCESS);
    CHECK(now_ns() - start >= 20 * MS);
    expect(pair.cq[0], 3, IBV_WC_SUCCESS);
    expect(pair.cq[1], 11, IBV_WC_SUCCESS);
    expect(pair.cq[1], 12, IBV_WC_SUCCESS);
    close_with(&pair, 1);
}

static void should_give_up_when_the_receiver_is_not_ready_for_too_long(void)
{
    const struct verbs_options options = {.rnr_retry = 2, .min_rnr_timer = 20, .timeout = 14, .retry_cnt = 7};
    struct verbs_pair pair;

    plan(1, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_RNR, .times = 6, .at = 1});
    verbs_pair_open(&pair, &options);
    verbs_recv(&pair, 1, 11, 0, 64);
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    verbs_recv(&pair, 1, 12, 0, 64); /* it is not for want of receives */
    const struct ibv_wc wc = verbs_wc(pair.cq[0]);
    check_failed(&wc, 1, IBV_WC_RNR_RETRY_EXC_ERR, pair.qp[0]->qp_num);
    close_with(&pair, 1);
}

static void should_end_a_wait_for_the_receiver_when_the_queue_pair_goes(void)
{
    struct verbs_pair pair;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_RNR, .times = 10, .at = 1});
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    close_with(&pair, 1);
}

static void should_disconnect_behind_the_nth_post(void)
{
    struct ringpoll_loopback_fault rule = {.kind = RINGPOLL_LOOPBACK_FAULT_DISCONNECT, .at = 2, .object = 1};
    struct pair pair;

    plan(1, rule);
    pair_open(&pair, NULL);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(21)), 0);
    for (int i = 1; i <= 3; i++)
        CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS,
            WR_ID(i)), 0);
    for (int i = 1; i <= 2; i++) {
        const struct ibv_wc wc = next_wc(pair.client.cq);

        CHECK_EQ(wc.wr_id, i);
        /* Between processes they may be on their way. */
        if (!test_between_processes() || wc.status != IBV_WC_WR_FLUSH_ERR)
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    }
    CHECK_EQ(next_wc(pair.client.cq).status, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(next_wc(pair.server.cq).wr_id, 21);
    CHECK_EQ(next_event(pair.client.conn), RPMA_CONN_CLOSED);
    CHECK_EQ(next_event(pair.server.conn), RPMA_CONN_CLOSED);
    CHECK_EQ(ringpoll_loopback_injected(0), 1);
    pair_close(&pair);
    end_plan();
}

/* Also where the peer is in another process: that process refuses. */
static void should_let_the_peer_of_a_connection_refuse_the_nth_operation(void)
{
    static const enum ibv_wc_status refusals[] = {IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR};

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct ringpoll_loopback_fault rule = {
            .kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .operation = RINGPOLL_LOOPBACK_OPERATION_ANY, .code = refusals[i], .at = 2};
        struct pair pair;

        plan(1, rule);
        pair_open(&pair, NULL);
        CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(21)), 0);
        for (int n = 1; n <= 3; n++)
            CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS,
                WR_ID(n)), 0);
        CHECK_EQ(next_wc(pair.client.cq).status, IBV_WC_SUCCESS);
        const struct ibv_wc refused = next_wc(pair.client.cq);
        check_failed(&refused, 2, refusals[i], pair.client.qp_num);
        CHECK_EQ(refused.vendor_err, RINGPOLL_LOOPBACK_VERR_INJECTED);
        CHECK_EQ(next_wc(pair.client.cq).status, IBV_WC_WR_FLUSH_ERR);
        const struct ibv_wc flushed = next_wc(pair.server.cq); /* its queue pair has failed, too */
        check_failed(&flushed, 21, IBV_WC_WR_FLUSH_ERR, pair.server.qp_num);
        CHECK_EQ(ringpoll_loopback_injected(0), 1);
        pair_close(&pair);
        end_plan();
    }
}

static void should_fail_the_nth_poll_and_lose_nothing_by_it(void)
{
    struct verbs_pair pair;
    struct ibv_wc wc;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_POLL, .times = 2, .at = 2,
        .object = 1});
    write_from(&pair, 0, 1);
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 0, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), -1);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), -1);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
    CHECK_EQ(wc.wr_id, 1);
    close_with(&pair, 2);
}

static void should_overrun_at_the_nth_completion(void)
{
    struct ibv_async_event event;
    struct verbs_pair pair;
    struct ibv_wc wc;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_OVERRUN, .at = 2, .object = 1});
    write_from(&pair, 0, 1);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    write_from(&pair, 0, 2);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), -1);
    CHECK_EQ(ibv_get_async_event(pair.context, &event), 0);
    CHECK_EQ(event.event_type, IBV_EVENT_CQ_ERR);
    ibv_ack_async_event(&event);
    CHECK_EQ(ibv_get_async_event(pair.context, &event), 0);
    CHECK_EQ(event.event_type, IBV_EVENT_QP_FATAL);
    ibv_ack_async_event(&event);
    close_with(&pair, 1);
}

static void should_delay_a_completion_and_all_behind_it(void)
{
    struct verbs_pair pair;
    uint64_t start;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .at = 2, .object = 1,
        .duration_ns = 50 * MS});
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    write_from(&pair, 0, 1);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    struct ibv_cq *cq;
    void *context;
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    start = now_ns();
    write_from(&pair, 0, 2);
    write_from(&pair, 0, 3);
    /* The event is raised with them, not before. */
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK(now_ns() - start >= 50 * MS);
    ibv_ack_cq_events(cq, 2);
    expect(pair.cq[0], 2, IBV_WC_SUCCESS);
    expect(pair.cq[0], 3, IBV_WC_SUCCESS);
    close_with(&pair, 1);
}

static void should_let_other_queues_go_first(void)
{
    struct verbs_pair pair;
    struct ibv_wc wc;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_REORDER, .at = 1, .object = 1,
        .times = 2});
    const uint64_t start = now_ns();
    write_from(&pair, 0, 1);
    const int early = ibv_poll_cq(pair.cq[0], 1, &wc);
    CHECK(early == 0 || now_ns() - start > 15 * MS);
    write_from(&pair, 1, 2);
    write_from(&pair, 1, 3);
    if (early == 0)
        CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
    CHECK_EQ(wc.wr_id, 1);
    expect(pair.cq[1], 2, IBV_WC_SUCCESS);
    expect(pair.cq[1], 3, IBV_WC_SUCCESS);
    close_with(&pair, 1);
}

static void should_show_held_completions_when_nobody_else_completes(void)
{
    struct verbs_pair pair;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_REORDER, .at = 1, .object = 1,
        .times = 100});
    write_from(&pair, 0, 1);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    close_with(&pair, 1);
}

static void should_close_a_queue_that_holds_completions_back(void)
{
    struct verbs_pair pair;
    struct ibv_wc wc;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .at = 1,
        .duration_ns = 5000 * MS});
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    write_from(&pair, 0, 1);
    write_from(&pair, 0, 2);
    write_from(&pair, 1, 3);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &wc), 0);
    close_with(&pair, 2);
}

static void should_resize_a_queue_that_holds_completions_back(void)
{
    struct verbs_pair pair;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .at = 1, .object = 1,
        .duration_ns = 5000 * MS});
    write_from(&pair, 0, 1);
    write_from(&pair, 0, 2);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 255), 0);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    expect(pair.cq[0], 2, IBV_WC_SUCCESS);
    close_with(&pair, 1);
}

static void should_raise_an_event_without_a_completion(void)
{
    struct verbs_pair pair;
    struct ibv_cq *cq;
    struct ibv_wc wc;
    void *context;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_SPURIOUS_EVENT, .at = 1,
        .object = 1});
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK(cq == pair.cq[0]);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    /* The requested event is raised nevertheless. */
    write_from(&pair, 0, 1);
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 2);
    close_with(&pair, 1);
}

static void should_raise_an_event_late(void)
{
    struct verbs_pair pair;
    struct ibv_cq *cq;
    void *context;

    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_LATE_EVENT, .at = 1,
        .object = 1, .duration_ns = 30 * MS});
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    const uint64_t start = now_ns();
    write_from(&pair, 0, 1);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK(now_ns() - start >= 30 * MS);
    ibv_ack_cq_events(cq, 1);
    /* An event still delayed when its queue is destroyed is never raised. */
    close_with(&pair, 1);
    open_under(&pair, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_LATE_EVENT, .at = 1,
        .duration_ns = 20 * MS});
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    write_from(&pair, 0, 1);
    close_with(&pair, 1);
}

static void should_fail_the_nth_call_of_a_function(void)
{
    struct ringpoll_loopback_fault rule = {.kind = RINGPOLL_LOOPBACK_FAULT_CALL, .code = ENOMEM, .at = 2,
        .function = "ibv_reg_mr"};
    struct rpma_peer *peer = test_peer();
    struct rpma_mr_local *mr[2] = {NULL, NULL};
    static char memory[4096];

    plan(1, rule);
    CHECK_EQ(rpma_mr_reg(peer, memory, sizeof(memory), ALL_USAGES, &mr[0]), 0);
    CHECK_EQ(rpma_mr_reg(peer, memory, sizeof(memory), ALL_USAGES, &mr[1]), RPMA_E_PROVIDER);
    CHECK_EQ(errno, ENOMEM);
    CHECK_EQ(rpma_mr_reg(peer, memory, sizeof(memory), ALL_USAGES, &mr[1]), 0);
    CHECK_EQ(ringpoll_loopback_injected(0), 1);
    end_plan();
    CHECK_EQ(rpma_mr_dereg(&mr[0]), 0);
    CHECK_EQ(rpma_mr_dereg(&mr[1]), 0);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
}

/* How many writes of side 0 succeed before the first that the seed lets fail. */
static int successes(uint64_t seed)
{
    struct verbs_pair pair;
    int count = 0;

    plan(seed, (struct ringpoll_loopback_fault){.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_FATAL_ERR,
        .one_in = 100});
    verbs_pair_open(&pair, NULL);
    for (;; count++) {
        CHECK(count < 10000);
        write_from(&pair, 0, 1);
        if (verbs_wc(pair.cq[0]).status != IBV_WC_SUCCESS)
            break;
    }
    verbs_pair_close(&pair);
    end_plan();
    return count;
}

static void should_draw_the_same_from_the_same_seed(void)
{
    int differing = 0;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        CHECK_EQ(successes(seed), successes(seed));
        differing += successes(seed) != successes(seed + 1);
    }
    CHECK(differing >= 3);
}

static void should_refuse_a_plan_that_makes_no_sense(void)
{
    const struct ringpoll_loopback_fault senseless[] = {
        {.kind = RINGPOLL_LOOPBACK_FAULT_KINDS, .at = 1},
        {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_FATAL_ERR},
        {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_FATAL_ERR, .at = 1, .one_in = 1},
        {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_SUCCESS, .at = 1},
        {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_GENERAL_ERR + 1, .at = 1},
        {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_FATAL_ERR, .at = 1,
            .operation = RINGPOLL_LOOPBACK_OPERATIONS},
        {.kind = RINGPOLL_LOOPBACK_FAULT_POLL, .at = 1, .times = 5000},
        {.kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .at = 1, .duration_ns = UINT64_MAX},
        {.kind = RINGPOLL_LOOPBACK_FAULT_CALL, .at = 1},
    };
    struct ringpoll_loopback_fault unended = {.kind = RINGPOLL_LOOPBACK_FAULT_CALL, .at = 1, .code = EIO};

    for (size_t i = 0; i < sizeof(senseless) / sizeof(senseless[0]); i++)
        CHECK_EQ(ringpoll_loopback_plan(1, &senseless[i], 1), EINVAL);
    memset(unended.function, 'x', sizeof(unended.function));
    CHECK_EQ(ringpoll_loopback_plan(1, &unended, 1), EINVAL);
    CHECK_EQ(ringpoll_loopback_plan(1, NULL, 65), EINVAL);
    CHECK_EQ(ringpoll_loopback_injected(0), 0);
}

enum { THREADS = 3, WRITES = 2000 };

/* The pair of one thread: all its completions are polled, in order, despite the delays. */
static void *write_and_poll_all(void *unused)
{
    struct verbs_pair pair;

    (void)unused;
    verbs_pair_open(&pair, NULL);
    for (uint64_t i = 0; i < WRITES; i++) {
        struct ibv_cq *cq;
        void *context;

        CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
        write_from(&pair, 0, i);
        if (i % 8 == 0) {
            CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
            ibv_ack_cq_events(cq, 1);
        }
        if (i % 16 == 15) {
            for (uint64_t j = i - 15; j <= i; j++)
                expect(pair.cq[0], j, IBV_WC_SUCCESS);
        }
    }
    /* Fetched events are acknowledged; the others are dropped with the queue. */
    verbs_pair_close(&pair);
    return NULL;
}

static void should_keep_the_order_of_each_queue_among_threads(void)
{
    const struct ringpoll_loopback_fault rules[] = {
        {.kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .one_in = 200, .duration_ns = 100000},
        {.kind = RINGPOLL_LOOPBACK_FAULT_REORDER, .one_in = 50, .times = 20},
        {.kind = RINGPOLL_LOOPBACK_FAULT_LATE_EVENT, .one_in = 100, .duration_ns = 200000},
        {.kind = RINGPOLL_LOOPBACK_FAULT_SPURIOUS_EVENT, .one_in = 20},
    };
    pthread_t threads[THREADS];

    CHECK_EQ(ringpoll_loopback_plan(7, rules, 4), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, write_and_poll_all, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    for (uint32_t rule = 0; rule < 4; rule++)
        CHECK(ringpoll_loopback_injected(rule) > 0);
    end_plan();
}

/*
 * The scenario of './ringpoll torture' in C, for ThreadSanitizer, which cannot see how a JVM's threads synchronise: two
 * threads post on the two sides of a connection that breaks somewhere, two others poll the completions, and each
 * request must complete once, in order. Without data: the memory of both sides is read and written by both.
 */
enum { TORTURED = 400 };

struct tortured_side {
    struct verbs_pair *pair;
    int side;
};

static void *post_until_done(void *argument)
{
    const struct tortured_side *own = argument;

    for (uint64_t i = 0; i < TORTURED; i++) {
        const enum ibv_wr_opcode opcode = i % 3 == 0 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;

        while (verbs_try_send(own->pair, own->side, i, opcode, 0, IBV_SEND_SIGNALED) != 0)
            (void)sched_yield();
    }
    return NULL;
}

static void *poll_until_ended(void *argument)
{
    const struct tortured_side *own = argument;
    const uint64_t deadline = now_ns() + 60000 * MS;
    bool failed = false;
    uint64_t next = 0;

    while (next < TORTURED) {
        struct ibv_wc wc[8];
        const int polled = ibv_poll_cq(own->pair->cq[own->side], 8, wc);

        CHECK(now_ns() < deadline);
        for (int i = 0; i < polled; i++) {
            if (wc[i].wr_id >= TORTURED) /* a receive */
                continue;
            CHECK_EQ(wc[i].wr_id, next++);
            CHECK(!failed || wc[i].status == IBV_WC_WR_FLUSH_ERR);
            failed |= wc[i].status != IBV_WC_SUCCESS;
        }
        if (polled <= 0)
            (void)sched_yield();
    }
    return NULL;
}

static void should_end_each_request_once_whatever_breaks(void)
{
    const struct ringpoll_loopback_fault rules[] = {
        {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_REM_ACCESS_ERR, .one_in = 900},
        {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_FATAL_ERR, .one_in = 200,
            .operation = RINGPOLL_LOOPBACK_OPERATION_RECEIVE},
        {.kind = RINGPOLL_LOOPBACK_FAULT_DISCONNECT, .one_in = 900},
        {.kind = RINGPOLL_LOOPBACK_FAULT_FULL, .one_in = 50, .times = 3},
        {.kind = RINGPOLL_LOOPBACK_FAULT_POLL, .one_in = 60, .times = 2},
        {.kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .one_in = 100, .duration_ns = 100000},
        {.kind = RINGPOLL_LOOPBACK_FAULT_REORDER, .one_in = 60, .times = 10},
    };
    const struct verbs_options options = {.cqe = 4096, .max_wr = 256, .rnr_retry = 7, .timeout = 8, .retry_cnt = 1};

    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct verbs_pair pair;
        struct tortured_side sides[2] = {{&pair, 0}, {&pair, 1}};
        pthread_t threads[4];

        CHECK_EQ(ringpoll_loopback_plan(seed, rules, sizeof(rules) / sizeof(rules[0])), 0);
        verbs_pair_open(&pair, &options);
        for (int i = 0; i < 200; i++) {
            verbs_recv(&pair, 0, TORTURED + (uint64_t)i, 0, 64);
            verbs_recv(&pair, 1, TORTURED + (uint64_t)i, 0, 64);
        }
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(pthread_create(&threads[i], NULL, post_until_done, &sides[i]), 0);
            CHECK_EQ(pthread_create(&threads[i + 2], NULL, poll_until_ended, &sides[i]), 0);
        }
        for (int i = 0; i < 4; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
        verbs_pair_close(&pair);
        end_plan();
    }
}

const struct test fault_tests[] = {
    {"fault plan: the n-th operation ends with any status", should_end_the_nth_operation_with_any_status},
    {"fault plan: each opcode is counted for itself", should_count_each_opcode_for_itself},
    {"fault plan: a message fails at its receiver", should_fail_a_message_at_its_receiver},
    {"fault plan: posts find the send queue full", should_refuse_posts_to_a_full_queue},
    {"fault plan: a receiver that is not ready is tried again", should_send_again_to_a_receiver_that_was_not_ready},
    {"fault plan: RNR_RETRY_EXC_ERR when it is not ready for too long",
        should_give_up_when_the_receiver_is_not_ready_for_too_long},
    {"fault plan: a queue pair goes while its receiver is not ready",
        should_end_a_wait_for_the_receiver_when_the_queue_pair_goes},
    {"fault plan: a disconnect behind the n-th post", should_disconnect_behind_the_nth_post},
    {"fault plan: the peer of a connection refuses the n-th operation",
        should_let_the_peer_of_a_connection_refuse_the_nth_operation},
    {"fault plan: the n-th poll fails and loses nothing", should_fail_the_nth_poll_and_lose_nothing_by_it},
    {"fault plan: an overrun at the n-th completion", should_overrun_at_the_nth_completion},
    {"fault plan: a late completion, and all behind it", should_delay_a_completion_and_all_behind_it},
    {"fault plan: other queues go first", should_let_other_queues_go_first},
    {"fault plan: held completions come though no others do", should_show_held_completions_when_nobody_else_completes},
    {"fault plan: a queue that holds completions back is closed", should_close_a_queue_that_holds_completions_back},
    {"fault plan: a queue that holds completions back is resized", should_resize_a_queue_that_holds_completions_back},
    {"fault plan: a spurious event", should_raise_an_event_without_a_completion},
    {"fault plan: a late event", should_raise_an_event_late},
    {"fault plan: the n-th call of a function fails", should_fail_the_nth_call_of_a_function},
    {"fault plan: the same seed draws the same", should_draw_the_same_from_the_same_seed},
    {"fault plan: what makes no sense is refused", should_refuse_a_plan_that_makes_no_sense},
    {"fault plan: each request ends once whatever breaks", should_end_each_request_once_whatever_breaks},
    {"fault plan: each queue keeps its order among threads", should_keep_the_order_of_each_queue_among_threads},
    {NULL, NULL},
};
