/* SPDX-License-Identifier: Apache-2.0 */
/* test_failure.c: every error status of an operation, and the requests that fail with it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "id_pair.h"
#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

static uint64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* The next asynchronous event of a context, acknowledged. */
static struct ibv_async_event next_async(struct ibv_context *context)
{
    struct ibv_async_event event;

    CHECK(readable(context->async_fd, 30000));
    CHECK_EQ(ibv_get_async_event(context, &event), 0);
    ibv_ack_async_event(&event);
    return event;
}

static void should_refuse_a_write_beyond_the_remote_region(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(51)), 0);
    CHECK_EQ(rpma_recv(pair.client.conn, pair.client.mr, 0, 64, WR_ID(61)), 0);
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, BUFFER_SIZE - 8, pair.client.mr, 0, 9,
        RPMA_F_COMPLETION_ON_ERROR, WR_ID(1)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_failed(&wc, 1, IBV_WC_REM_ACCESS_ERR, pair.client.qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_REMOTE_BOUNDS);
    /* Both queue pairs are in the error state: outstanding requests are flushed. */
    wc = next_wc(pair.client.cq);
    check_failed(&wc, 61, IBV_WC_WR_FLUSH_ERR, pair.client.qp_num);
    wc = next_wc(pair.server.cq);
    check_failed(&wc, 51, IBV_WC_WR_FLUSH_ERR, pair.server.qp_num);
    check_empty(pair.client.cq);
    check_empty(pair.server.cq);
    pair_close(&pair);
}

static void should_refuse_what_the_remote_region_does_not_allow(void)
{
    struct pair_options options = {.server_usage = RPMA_MR_USAGE_READ_SRC};
    struct pair pair;

    pair_open(&pair, &options);
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(1)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_failed(&wc, 1, IBV_WC_REM_ACCESS_ERR, pair.client.qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_REMOTE_ACCESS);
    CHECK_EQ(pair.server.buffer[0], 0);
    pair_close(&pair);
    options.server_usage = RPMA_MR_USAGE_WRITE_DST;
    pair_open(&pair, &options);
    CHECK_EQ(rpma_read(pair.client.conn, pair.client.mr, 0, pair.client.remote, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(2)), 0);
    wc = next_wc(pair.client.cq);
    check_failed(&wc, 2, IBV_WC_REM_ACCESS_ERR, pair.client.qp_num);
    pair_close(&pair);
}

static void should_refuse_a_region_that_was_deregistered(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_mr_dereg(&pair.server.mr), 0);
    /* The memory may even be gone: nothing touches it any more. */
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(1)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_failed(&wc, 1, IBV_WC_REM_ACCESS_ERR, pair.client.qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_RKEY);
    pair_close(&pair);
}

static void should_refuse_local_memory_that_may_not_be_written(void)
{
    struct pair_options options = {.client_usage = RPMA_MR_USAGE_SEND};
    struct pair pair;

    pair_open(&pair, &options);
    CHECK_EQ(rpma_read(pair.client.conn, pair.client.mr, 0, pair.client.remote, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(1)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_failed(&wc, 1, IBV_WC_LOC_PROT_ERR, pair.client.qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_LOCAL_ACCESS);
    pair_close(&pair);
}

static void should_refuse_a_local_range_outside_its_region(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, BUFFER_SIZE, 1,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(1)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_failed(&wc, 1, IBV_WC_LOC_PROT_ERR, pair.client.qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_LOCAL_BOUNDS);
    pair_close(&pair);
}

static void should_refuse_a_message_longer_than_its_receive(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 63, WR_ID(51)), 0);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(52)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(1)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_failed(&wc, 1, IBV_WC_REM_INV_REQ_ERR, pair.client.qp_num);
    wc = next_wc(pair.server.cq);
    check_failed(&wc, 51, IBV_WC_LOC_LEN_ERR, pair.server.qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_RECV_TOO_SHORT);
    wc = next_wc(pair.server.cq);
    check_failed(&wc, 52, IBV_WC_WR_FLUSH_ERR, pair.server.qp_num);
    pair_close(&pair);
}

static void should_fail_both_sides_if_the_receive_has_no_memory(void)
{
    struct pair_options options = {.server_usage = RPMA_MR_USAGE_SEND};
    struct pair pair;

    pair_open(&pair, &options);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(51)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(1)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_failed(&wc, 1, IBV_WC_REM_OP_ERR, pair.client.qp_num);
    wc = next_wc(pair.server.cq);
    check_failed(&wc, 51, IBV_WC_LOC_PROT_ERR, pair.server.qp_num);
    pair_close(&pair);
}

static void should_flush_all_that_is_outstanding_once_and_in_order(void)
{
    struct pair_options options = {.cq_size = 64, .sq_size = 16, .rq_size = 16};
    struct pair pair;
    struct ibv_wc wc;

    pair_open(&pair, &options);
    for (uintptr_t i = 0; i < 10; i++) {
        CHECK_EQ(rpma_recv(pair.client.conn, pair.client.mr, 0, 64, WR_ID(100 + i)), 0);
        /* The first finds no receive; all others, signalled or not, wait behind it. */
        CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64,
            i % 2 ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR, WR_ID(i)), 0);
    }
    check_empty(pair.client.cq);
    CHECK_EQ(rpma_conn_disconnect(pair.client.conn), 0);
    for (uint64_t i = 0; i < 10; i++) {
        wc = next_wc(pair.client.cq);
        check_failed(&wc, i, IBV_WC_WR_FLUSH_ERR, pair.client.qp_num);
        CHECK_EQ(wc.vendor_err, 0);
    }
    for (uint64_t i = 0; i < 10; i++) {
        wc = next_wc(pair.client.cq);
        check_failed(&wc, 100 + i, IBV_WC_WR_FLUSH_ERR, pair.client.qp_num);
    }
    check_empty(pair.client.cq);
    /* Requests posted from now on are accepted and flushed. */
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8,
        RPMA_F_COMPLETION_ON_ERROR, WR_ID(200)), 0);
    CHECK_EQ(rpma_recv(pair.client.conn, pair.client.mr, 0, 64, WR_ID(201)), 0);
    wc = next_wc(pair.client.cq);
    check_failed(&wc, 200, IBV_WC_WR_FLUSH_ERR, pair.client.qp_num);
    wc = next_wc(pair.client.cq);
    check_failed(&wc, 201, IBV_WC_WR_FLUSH_ERR, pair.client.qp_num);
    check_empty(pair.client.cq);
    pair_close(&pair);
}

static void should_keep_the_other_side_until_it_disconnects_too(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(51)), 0);
    CHECK_EQ(rpma_conn_disconnect(pair.client.conn), 0);
    CHECK_EQ(next_event(pair.server.conn), RPMA_CONN_CLOSED);
    /* The event does nothing to the queue pair; the server's own disconnect does. */
    check_empty(pair.server.cq);
    CHECK_EQ(rpma_conn_disconnect(pair.server.conn), 0);
    struct ibv_wc wc = next_wc(pair.server.cq);
    check_failed(&wc, 51, IBV_WC_WR_FLUSH_ERR, pair.server.qp_num);
    pair_close(&pair);
}

static void should_run_out_of_retries_when_the_peer_is_gone(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_conn_disconnect(pair.client.conn), 0);
    const uint64_t start = now_ms();
    CHECK_EQ(rpma_write(pair.server.conn, pair.server.remote, 0, pair.server.mr, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(1)), 0);
    CHECK_EQ(rpma_write(pair.server.conn, pair.server.remote, 0, pair.server.mr, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(2)), 0);
    struct ibv_wc wc = next_wc(pair.server.cq);
    check_failed(&wc, 1, IBV_WC_RETRY_EXC_ERR, pair.server.qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_NO_PEER);
    CHECK(now_ms() - start >= 500); /* 8 tries of 67 ms */
    wc = next_wc(pair.server.cq);
    check_failed(&wc, 2, IBV_WC_WR_FLUSH_ERR, pair.server.qp_num);
    pair_close(&pair);
}

static void should_give_up_on_a_receive_after_rnr_retries(void)
{
    struct verbs_options options = {.rnr_retry = 3, .min_rnr_timer = 20 /* 10.24 ms */,
        .timeout = 14, .retry_cnt = 7};
    struct verbs_pair pair;

    verbs_pair_open(&pair, &options);
    const uint64_t start = now_ms();
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, 0);
    verbs_send(&pair, 0, 2, IBV_WR_SEND, 8, 0);
    struct ibv_wc wc = verbs_wc(pair.cq[0]);
    check_failed(&wc, 1, IBV_WC_RNR_RETRY_EXC_ERR, pair.qp[0]->qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_RNR);
    CHECK(now_ms() - start >= 30);
    wc = verbs_wc(pair.cq[0]);
    check_failed(&wc, 2, IBV_WC_WR_FLUSH_ERR, pair.qp[0]->qp_num);
    CHECK_EQ(verbs_state(pair.qp[0]), IBV_QPS_ERR);
    /* It is the sender's failure: the other side has not noticed. */
    CHECK_EQ(verbs_state(pair.qp[1]), IBV_QPS_RTS);
    verbs_pair_close(&pair);

    options.rnr_retry = 0;
    verbs_pair_open(&pair, &options);
    verbs_send(&pair, 0, 1, IBV_WR_RDMA_WRITE_WITH_IMM, 8, 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1); /* without waiting */
    check_failed(&wc, 1, IBV_WC_RNR_RETRY_EXC_ERR, pair.qp[0]->qp_num);
    CHECK_EQ(pair.buffer[1][0], 0);
    verbs_pair_close(&pair);
}

static void should_count_rnr_retries_anew_for_each_message(void)
{
    struct verbs_options options = {.rnr_retry = 6, .min_rnr_timer = 31 /* 491.52 ms */,
        .timeout = 14, .retry_cnt = 7};
    const struct timespec moment = {.tv_nsec = 800000000};
    struct verbs_pair pair;

    verbs_pair_open(&pair, &options);
    for (uint64_t i = 0; i < 4; i++)
        verbs_send(&pair, 0, i, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    /* 3.2 s in all, but never 2.95 s without a receive: a busy machine may stop this thread for a while. */
    for (uint64_t i = 0; i < 4; i++) {
        (void)nanosleep(&moment, NULL);
        verbs_recv(&pair, 1, 10 + i, 0, 8);
        struct ibv_wc wc = verbs_wc(pair.cq[0]);
        check_success(&wc, i, IBV_WC_SEND, 8, pair.qp[0]->qp_num);
    }
    verbs_pair_close(&pair);
}

static void should_refuse_what_the_queue_pair_does_not_allow(void)
{
    struct verbs_options options = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7,
        .access = IBV_ACCESS_REMOTE_WRITE};
    struct verbs_pair pair;

    verbs_pair_open(&pair, &options);
    verbs_recv(&pair, 1, 51, 0, 8);
    verbs_send(&pair, 0, 1, IBV_WR_RDMA_READ, 8, 0);
    struct ibv_wc wc = verbs_wc(pair.cq[0]);
    check_failed(&wc, 1, IBV_WC_REM_INV_REQ_ERR, pair.qp[0]->qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_QP_ACCESS);
    wc = verbs_wc(pair.cq[1]);
    check_failed(&wc, 51, IBV_WC_WR_FLUSH_ERR, pair.qp[1]->qp_num);
    struct ibv_async_event event = next_async(pair.context);
    CHECK_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
    CHECK(event.element.qp == pair.qp[1]);
    verbs_pair_close(&pair);
}

static void should_report_an_access_violation_to_the_side_it_happened_on(void)
{
    struct verbs_pair pair;

    verbs_pair_open(&pair, NULL);
    struct ibv_mr gone = *pair.mr[1];
    CHECK_EQ(ibv_dereg_mr(pair.mr[1]), 0);
    pair.mr[1] = &gone;
    verbs_send(&pair, 0, 1, IBV_WR_RDMA_WRITE, 8, 0);
    struct ibv_wc wc = verbs_wc(pair.cq[0]);
    check_failed(&wc, 1, IBV_WC_REM_ACCESS_ERR, pair.qp[0]->qp_num);
    struct ibv_async_event event = next_async(pair.context);
    CHECK_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
    CHECK(event.element.qp == pair.qp[1]);
    CHECK_EQ(verbs_state(pair.qp[1]), IBV_QPS_ERR);
    pair.mr[1] = ibv_reg_mr(pair.pd, pair.buffer[1], 8, 0);
    CHECK(pair.mr[1] != NULL);
    verbs_pair_close(&pair);
}

static void should_refuse_keys_that_do_not_fit(void)
{
    struct verbs_pair pair;
    struct ibv_sge sge;
    struct ibv_send_wr *bad_wr;
    struct ibv_wc wc;

    for (int kind = 0; kind < 5; kind++) {
        struct ibv_send_wr wr = {.wr_id = 9, .sg_list = &sge, .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE};
        enum ibv_wc_status expected = IBV_WC_LOC_PROT_ERR;
        uint32_t reason = 0;

        verbs_pair_open(&pair, NULL);
        struct ibv_pd *other_pd = ibv_alloc_pd(pair.context);
        CHECK(other_pd != NULL);
        struct ibv_mr *other_mr = ibv_reg_mr(other_pd, pair.buffer[0], 4096,
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        CHECK(other_mr != NULL);
        sge = (struct ibv_sge){(uintptr_t)pair.buffer[0], 8, pair.mr[0]->lkey};
        wr.wr.rdma.remote_addr = (uintptr_t)pair.buffer[1];
        wr.wr.rdma.rkey = pair.mr[1]->rkey;
        switch (kind) {
        case 0: /* an rkey is no lkey */
            CHECK(pair.mr[0]->lkey != pair.mr[0]->rkey);
            sge.lkey = pair.mr[0]->rkey;
            reason = RINGPOLL_LOOPBACK_VERR_LKEY;
            break;
        case 1: /* nor the other way */
            wr.wr.rdma.rkey = pair.mr[1]->lkey;
            expected = IBV_WC_REM_ACCESS_ERR;
            reason = RINGPOLL_LOOPBACK_VERR_RKEY;
            break;
        case 2: /* a region of another protection domain */
            sge.lkey = other_mr->lkey;
            reason = RINGPOLL_LOOPBACK_VERR_LOCAL_PD;
            break;
        case 3:
            wr.wr.rdma.rkey = other_mr->rkey;
            wr.wr.rdma.remote_addr = (uintptr_t)pair.buffer[0];
            expected = IBV_WC_REM_ACCESS_ERR;
            reason = RINGPOLL_LOOPBACK_VERR_REMOTE_PD;
            break;
        default: /* no key at all */
            sge.lkey = 0;
            reason = RINGPOLL_LOOPBACK_VERR_LKEY;
            break;
        }
        CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad_wr), 0);
        wc = verbs_wc(pair.cq[0]);
        check_failed(&wc, 9, expected, pair.qp[0]->qp_num);
        CHECK_EQ(wc.vendor_err, reason);
        CHECK_EQ(ibv_dereg_mr(other_mr), 0);
        CHECK_EQ(ibv_dealloc_pd(other_pd), 0);
        verbs_pair_close(&pair);
    }
}

static void should_refuse_a_message_longer_than_the_port_takes(void)
{
    struct ibv_port_attr port;
    struct verbs_pair pair;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ibv_query_port(pair.context, 1, &port), 0);
    CHECK_EQ(port.state, IBV_PORT_ACTIVE);
    const size_t length = (size_t)port.max_msg_sz + 4096;
    char *large = mmap(NULL, length, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(large != MAP_FAILED);
    /* On demand: without touching a gigabyte of memory. */
    struct ibv_mr *mr = ibv_reg_mr(pair.pd, large, length, IBV_ACCESS_ON_DEMAND);
    CHECK(mr != NULL);
    struct ibv_sge sge = {(uintptr_t)large, port.max_msg_sz + 1, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE};
    struct ibv_send_wr *bad_wr;
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad_wr), 0);
    struct ibv_wc wc = verbs_wc(pair.cq[0]);
    check_failed(&wc, 1, IBV_WC_LOC_LEN_ERR, pair.qp[0]->qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_MESSAGE_SIZE);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(munmap(large, length), 0);
    verbs_pair_close(&pair);
}

static void should_kill_a_completion_queue_that_overruns(void)
{
    struct pair_options options = {.cq_size = 10, .sq_size = 40};
    struct ibv_context *context = NULL;
    struct ibv_async_event event;
    struct ibv_wc wc;
    struct pair pair;
    int fd;

    pair_open(&pair, &options);
    CHECK_EQ(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context), 0);
    CHECK(!readable(context->async_fd, 0));
    for (uintptr_t i = 0; i < 15; i++) /* granted as 15 */
        CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8,
            RPMA_F_COMPLETION_ALWAYS, WR_ID(i)), 0);
    CHECK(!readable(context->async_fd, 0));
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(15)), 0);
    CHECK(readable(context->async_fd, 1000));
    CHECK_EQ(ibv_get_async_event(context, &event), 0);
    CHECK_EQ(event.event_type, IBV_EVENT_CQ_ERR);
    CHECK(strcmp(ibv_event_type_str(event.event_type), "CQ error") == 0);
    ibv_ack_async_event(&event);
    event = next_async(context);
    CHECK_EQ(event.event_type, IBV_EVENT_QP_FATAL);
    CHECK_EQ(event.element.qp->qp_num, pair.client.qp_num);
    /* Dead from now on; a waiting thread is woken. */
    CHECK_EQ(rpma_cq_get_wc(pair.client.cq, 1, &wc, NULL), RPMA_E_PROVIDER);
    CHECK_EQ(rpma_cq_get_wc(pair.client.cq, 1, &wc, NULL), RPMA_E_PROVIDER);
    CHECK_EQ(rpma_cq_get_fd(pair.client.cq, &fd), 0);
    CHECK(readable(fd, 0));
    CHECK_EQ(rpma_cq_wait(pair.client.cq), 0);
    pair_close(&pair);
}

static void should_fail_the_receiver_whose_queue_overruns(void)
{
    struct verbs_options options = {.cqe = 3, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct verbs_pair pair;
    struct ibv_wc wc;

    verbs_pair_open(&pair, &options);
    for (uint64_t i = 0; i < 4; i++) {
        verbs_recv(&pair, 1, i, 0, 8);
        verbs_send(&pair, 0, i, IBV_WR_SEND, 8, 0);
    }
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &wc), -1);
    CHECK_EQ(next_async(pair.context).event_type, IBV_EVENT_CQ_ERR);
    struct ibv_async_event event = next_async(pair.context);
    CHECK_EQ(event.event_type, IBV_EVENT_QP_FATAL);
    CHECK(event.element.qp == pair.qp[1]);
    CHECK_EQ(verbs_state(pair.qp[1]), IBV_QPS_ERR);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    verbs_pair_close(&pair);
}

/* A message without bytes. */
static void send_over(struct id_pair *pair, uint64_t wr_id)
{
    struct ibv_send_wr message = {.wr_id = wr_id, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad;

    CHECK_EQ(ibv_post_send(pair->active->qp, &message, &bad), 0);
}

/* Of a connection, so also between processes. */
static void should_give_up_on_a_receive_of_a_connection_after_rnr_retries(void)
{
    for (uint8_t retries = 0; retries < 2; retries++) {
        struct id_pair pair;

        id_pair_open(&pair, retries);
        const uint64_t start = now_ms();
        send_over(&pair, 1);
        send_over(&pair, 2);
        struct ibv_wc wc = id_pair_wc(pair.active->send_cq);
        check_failed(&wc, 1, IBV_WC_RNR_RETRY_EXC_ERR, pair.active->qp->qp_num);
        CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_RNR);
        CHECK(now_ms() - start >= retries * 655u);
        wc = id_pair_wc(pair.active->send_cq);
        check_failed(&wc, 2, IBV_WC_WR_FLUSH_ERR, pair.active->qp->qp_num);
        CHECK_EQ(verbs_state(pair.active->qp), IBV_QPS_ERR);
        CHECK_EQ(verbs_state(pair.passive->qp), IBV_QPS_RTS);
        id_pair_close(&pair);
    }
}

static void should_fail_the_receiver_of_a_connection_whose_queue_overruns(void)
{
    struct id_pair pair;
    struct ibv_wc wc;

    id_pair_open(&pair, 7);
    const uint64_t capacity = (uint64_t)pair.passive->recv_cq->cqe;
    for (uint64_t i = 0; i <= capacity; i++) {
        struct ibv_recv_wr receive = {.wr_id = i};
        struct ibv_recv_wr *bad;

        CHECK_EQ(ibv_post_recv(pair.passive->qp, &receive, &bad), 0);
        send_over(&pair, i);
        wc = id_pair_wc(pair.active->send_cq);
        check_success(&wc, i, IBV_WC_SEND, 0, pair.active->qp->qp_num);
    }
    CHECK_EQ(next_async(pair.passive->verbs).event_type, IBV_EVENT_CQ_ERR);
    struct ibv_async_event event = next_async(pair.passive->verbs);
    CHECK_EQ(event.event_type, IBV_EVENT_QP_FATAL);
    CHECK(event.element.qp == pair.passive->qp);
    CHECK_EQ(verbs_state(pair.passive->qp), IBV_QPS_ERR);
    CHECK_EQ(ibv_poll_cq(pair.passive->recv_cq, 1, &wc), -1);
    /* The messages were delivered; the next one finds nobody. */
    CHECK_EQ(verbs_state(pair.active->qp), IBV_QPS_RTS);
    send_over(&pair, 100);
    wc = id_pair_wc(pair.active->send_cq);
    check_failed(&wc, 100, IBV_WC_RETRY_EXC_ERR, pair.active->qp->qp_num);
    id_pair_close(&pair);
}

static void should_raise_events_of_device_and_port_on_request(void)
{
    struct ibv_context *context;
    struct ibv_async_event event;

    CHECK_EQ(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context), 0);
    CHECK_EQ(ringpoll_loopback_raise(context, IBV_EVENT_CQ_ERR), EINVAL);
    CHECK_EQ(ringpoll_loopback_raise(context, IBV_EVENT_DEVICE_FATAL), 0);
    CHECK_EQ(ringpoll_loopback_raise(context, IBV_EVENT_PORT_ERR), 0);
    event = next_async(context);
    CHECK_EQ(event.event_type, IBV_EVENT_DEVICE_FATAL);
    event = next_async(context);
    CHECK_EQ(event.event_type, IBV_EVENT_PORT_ERR);
    CHECK_EQ(event.element.port_num, 1);
    CHECK(!readable(context->async_fd, 0));
}

const struct test failure_tests[] = {
    {"REM_ACCESS_ERR: beyond the remote region", should_refuse_a_write_beyond_the_remote_region},
    {"REM_ACCESS_ERR: a right that the remote region lacks",
        should_refuse_what_the_remote_region_does_not_allow},
    {"REM_ACCESS_ERR: a deregistered region", should_refuse_a_region_that_was_deregistered},
    {"LOC_PROT_ERR: memory that may not be written",
        should_refuse_local_memory_that_may_not_be_written},
    {"LOC_PROT_ERR: outside the local region", should_refuse_a_local_range_outside_its_region},
    {"LOC_PROT_ERR, REM_ACCESS_ERR: keys that do not fit", should_refuse_keys_that_do_not_fit},
    {"LOC_LEN_ERR: a message longer than the port takes",
        should_refuse_a_message_longer_than_the_port_takes},
    {"LOC_LEN_ERR, REM_INV_REQ_ERR: a receive that is too short",
        should_refuse_a_message_longer_than_its_receive},
    {"LOC_PROT_ERR, REM_OP_ERR: a receive without memory",
        should_fail_both_sides_if_the_receive_has_no_memory},
    {"REM_INV_REQ_ERR: what the queue pair does not allow",
        should_refuse_what_the_queue_pair_does_not_allow},
    {"WR_FLUSH_ERR: all outstanding, once and in order",
        should_flush_all_that_is_outstanding_once_and_in_order},
    {"WR_FLUSH_ERR: on the other side when it disconnects, too",
        should_keep_the_other_side_until_it_disconnects_too},
    {"RETRY_EXC_ERR: the peer is gone", should_run_out_of_retries_when_the_peer_is_gone},
    {"RNR_RETRY_EXC_ERR: no receive in time", should_give_up_on_a_receive_after_rnr_retries},
    {"RNR retries count for each message", should_count_rnr_retries_anew_for_each_message},
    {"access violations are reported where they happen",
        should_report_an_access_violation_to_the_side_it_happened_on},
    {"a CQ that overruns is dead and says so", should_kill_a_completion_queue_that_overruns},
    {"a receiver whose CQ overruns fails", should_fail_the_receiver_whose_queue_overruns},
    {"RNR_RETRY_EXC_ERR: no receive of a connection in time", should_give_up_on_a_receive_of_a_connection_after_rnr_retries},
    {"a receiver of a connection whose CQ overruns fails", should_fail_the_receiver_of_a_connection_whose_queue_overruns},
    {"events of device and port are raised on request", should_raise_events_of_device_and_port_on_request},
    {NULL, NULL},
};
