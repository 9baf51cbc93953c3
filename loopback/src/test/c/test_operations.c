/* SPDX-License-Identifier: Apache-2.0 */
/* test_operations.c: each operation and its completions. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static void fill(char *buffer, size_t length, unsigned int seed)
{
    for (size_t i = 0; i < length; i++)
        buffer[i] = (char)(seed + i * 7);
}

static void should_write(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    fill(pair.client.buffer, 4096, 1);
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 128, pair.client.mr, 64, 1000,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(7)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_success(&wc, 7, IBV_WC_RDMA_WRITE, 1000, pair.client.qp_num);
    CHECK_EQ(wc.wc_flags, 0);
    CHECK(memcmp(pair.server.buffer + 128, pair.client.buffer + 64, 1000) == 0);
    CHECK_EQ(pair.server.buffer[127], 0);
    CHECK_EQ(pair.server.buffer[1128], 0);
    check_empty(pair.client.cq);
    check_empty(pair.server.cq);
    pair_close(&pair);
}

static void should_read(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    fill(pair.server.buffer, BUFFER_SIZE, 3);
    CHECK_EQ(rpma_read(pair.client.conn, pair.client.mr, 0, pair.client.remote, 0, BUFFER_SIZE,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(8)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_success(&wc, 8, IBV_WC_RDMA_READ, BUFFER_SIZE, pair.client.qp_num);
    CHECK(memcmp(pair.client.buffer, pair.server.buffer, BUFFER_SIZE) == 0);
    check_empty(pair.server.cq);
    pair_close(&pair);
}

static void should_send_both_ways(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    struct side *sides[2] = {&pair.client, &pair.server};
    for (unsigned int i = 0; i < 2; i++) {
        struct side *from = sides[i];
        struct side *to = sides[1 - i];

        fill(from->buffer, 100, i);
        CHECK_EQ(rpma_recv(to->conn, to->mr, 1024, 200, WR_ID(20 + i)), 0);
        CHECK_EQ(rpma_send(from->conn, from->mr, 0, 100, RPMA_F_COMPLETION_ALWAYS,
            WR_ID(10 + i)), 0);
        struct ibv_wc wc = next_wc(from->cq);
        check_success(&wc, 10 + i, IBV_WC_SEND, 100, from->qp_num);
        wc = next_wc(to->cq);
        check_success(&wc, 20 + i, IBV_WC_RECV, 100, to->qp_num);
        if (!test_between_processes()) /* there it is the number of its proxy */
            CHECK_EQ(wc.src_qp, from->qp_num);
        CHECK_EQ(wc.wc_flags, 0);
        CHECK(memcmp(to->buffer + 1024, from->buffer, 100) == 0);
        CHECK_EQ(to->buffer[1124], 0);
    }
    pair_close(&pair);
}

static void should_carry_immediate_data(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    fill(pair.client.buffer, 64, 5);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(1)), 0);
    CHECK_EQ(rpma_recv(pair.server.conn, NULL, 0, 0, WR_ID(2)), 0);
    CHECK_EQ(rpma_send_with_imm(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
        0x12345678, WR_ID(3)), 0);
    CHECK_EQ(rpma_write_with_imm(pair.client.conn, pair.client.remote, 512, pair.client.mr, 0, 32,
        RPMA_F_COMPLETION_ALWAYS, 0xfedcba98, WR_ID(4)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_success(&wc, 3, IBV_WC_SEND, 64, pair.client.qp_num);
    wc = next_wc(pair.client.cq);
    check_success(&wc, 4, IBV_WC_RDMA_WRITE, 32, pair.client.qp_num);
    wc = next_wc(pair.server.cq);
    check_success(&wc, 1, IBV_WC_RECV, 64, pair.server.qp_num);
    CHECK_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
    CHECK_EQ(ntohl(wc.imm_data), 0x12345678);
    wc = next_wc(pair.server.cq);
    check_success(&wc, 2, IBV_WC_RECV_RDMA_WITH_IMM, 32, pair.server.qp_num);
    CHECK_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
    CHECK_EQ(ntohl(wc.imm_data), 0xfedcba98);
    CHECK(memcmp(pair.server.buffer, pair.client.buffer, 64) == 0);
    CHECK(memcmp(pair.server.buffer + 512, pair.client.buffer, 32) == 0);
    pair_close(&pair);
}

static void should_write_eight_bytes_atomically(void)
{
    struct pair pair;
    const char value[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_atomic_write(pair.client.conn, pair.client.remote, 16, value,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(5)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, 5);
    /* librpma 1.2 writes inline; 1.3, built with headers that have it, asks for the real thing. */
    CHECK(wc.opcode == IBV_WC_RDMA_WRITE || wc.opcode == IBV_WC_ATOMIC_WRITE);
    CHECK_EQ(wc.byte_len, 8);
    CHECK(memcmp(pair.server.buffer + 16, value, 8) == 0);
    pair_close(&pair);
}

static void should_flush(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    fill(pair.client.buffer, 256, 9);
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 256,
        RPMA_F_COMPLETION_ON_ERROR, WR_ID(1)), 0);
    CHECK_EQ(rpma_flush(pair.client.conn, pair.client.remote, 0, 256, RPMA_FLUSH_TYPE_VISIBILITY,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(2)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, 2);
    CHECK_EQ(wc.opcode, IBV_WC_RDMA_READ);
    check_empty(pair.client.cq);
    CHECK(memcmp(pair.server.buffer, pair.client.buffer, 256) == 0);
    pair_close(&pair);
}

static void should_take_operations_of_length_zero(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_write(pair.client.conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(1)), 0);
    CHECK_EQ(rpma_read(pair.client.conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(2)), 0);
    CHECK_EQ(rpma_recv(pair.server.conn, NULL, 0, 0, WR_ID(3)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, WR_ID(4)), 0);
    CHECK_EQ(rpma_recv(pair.server.conn, NULL, 0, 0, WR_ID(5)), 0);
    CHECK_EQ(rpma_write_with_imm(pair.client.conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
        99, WR_ID(6)), 0);
    struct ibv_wc wc = next_wc(pair.client.cq);
    check_success(&wc, 1, IBV_WC_RDMA_WRITE, 0, pair.client.qp_num);
    wc = next_wc(pair.client.cq);
    check_success(&wc, 2, IBV_WC_RDMA_READ, 0, pair.client.qp_num);
    wc = next_wc(pair.client.cq);
    check_success(&wc, 4, IBV_WC_SEND, 0, pair.client.qp_num);
    wc = next_wc(pair.client.cq);
    check_success(&wc, 6, IBV_WC_RDMA_WRITE, 0, pair.client.qp_num);
    wc = next_wc(pair.server.cq);
    check_success(&wc, 3, IBV_WC_RECV, 0, pair.server.qp_num);
    wc = next_wc(pair.server.cq);
    check_success(&wc, 5, IBV_WC_RECV_RDMA_WITH_IMM, 0, pair.server.qp_num);
    pair_close(&pair);
}

static void should_complete_only_what_is_signalled(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    for (uintptr_t i = 0; i < 9; i++)
        CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8,
            i % 3 == 2 ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR, WR_ID(i)), 0);
    for (uint64_t i = 2; i < 9; i += 3) {
        struct ibv_wc wc = next_wc(pair.client.cq);

        check_success(&wc, i, IBV_WC_RDMA_WRITE, 8, pair.client.qp_num);
    }
    check_empty(pair.client.cq);
    pair_close(&pair);
}

static void should_poll_several_at_once(void)
{
    struct pair pair;
    struct pair_options options = {.cq_size = 64, .sq_size = 64};
    struct ibv_wc wc[64];
    int got = 0;

    pair_open(&pair, &options);
    for (uintptr_t round = 0; round < 100; round++) {
        for (uintptr_t i = 0; i < 50; i++)
            CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 0, pair.client.mr, 0, 8,
                RPMA_F_COMPLETION_ALWAYS, WR_ID(i)), 0);
        if (test_between_processes()) {
            for (int i = 0; i < 50; i++)
                wc[i] = next_wc(pair.client.cq);
        } else {
            CHECK_EQ(rpma_cq_get_wc(pair.client.cq, 32, wc, &got), 0);
            CHECK_EQ(got, 32);
            CHECK_EQ(rpma_cq_get_wc(pair.client.cq, 32, wc + 32, &got), 0);
            CHECK_EQ(got, 18);
        }
        for (uint64_t i = 0; i < 50; i++)
            check_success(&wc[i], i, IBV_WC_RDMA_WRITE, 8, pair.client.qp_num);
    }
    pair_close(&pair);
}

static void should_receive_on_a_queue_of_its_own(void)
{
    struct pair pair;
    struct pair_options options = {.rcq_size = 8};

    pair_open(&pair, &options);
    CHECK(pair.server.rcq != NULL);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(1)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(2)), 0);
    struct ibv_wc wc = next_wc(pair.server.rcq);
    check_success(&wc, 1, IBV_WC_RECV, 64, pair.server.qp_num);
    check_empty(pair.server.cq);
    wc = next_wc(pair.client.cq);
    check_success(&wc, 2, IBV_WC_SEND, 64, pair.client.qp_num);
    check_empty(pair.client.rcq);
    pair_close(&pair);
}

static void should_receive_from_a_shared_receive_queue(void)
{
    struct pair pair;
    struct pair_options options = {.srq_size = 8};

    pair_open(&pair, &options);
    fill(pair.client.buffer, 64, 11);
    for (uintptr_t i = 0; i < 4; i++)
        CHECK_EQ(rpma_srq_recv(pair.srq, pair.server.mr, i * 64, 64, WR_ID(i)), 0);
    for (uintptr_t i = 0; i < 4; i++)
        CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
            WR_ID(10 + i)), 0);
    for (uint64_t i = 0; i < 4; i++) {
        struct ibv_wc wc = next_wc(pair.server.rcq);

        check_success(&wc, i, IBV_WC_RECV, 64, pair.server.qp_num);
        CHECK(memcmp(pair.server.buffer + i * 64, pair.client.buffer, 64) == 0);
        wc = next_wc(pair.client.cq);
        check_success(&wc, 10 + i, IBV_WC_SEND, 64, pair.client.qp_num);
    }
    pair_close(&pair);
}

static void should_hold_a_send_until_a_receive_is_posted(void)
{
    struct pair pair;
    uint64_t expected = 1;

    pair_open(&pair, NULL);
    fill(pair.client.buffer, 64, 13);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(1)), 0);
    CHECK_EQ(rpma_write(pair.client.conn, pair.client.remote, 4096, pair.client.mr, 0, 64,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(2)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 32, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(3)), 0);
    check_empty(pair.client.cq);
    /* The requests behind it wait as well. */
    CHECK_EQ(pair.server.buffer[4096], 0);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(11)), 0);
    for (; expected <= 2; expected++)
        CHECK_EQ(next_wc(pair.client.cq).wr_id, expected);
    check_empty(pair.client.cq);
    CHECK(memcmp(pair.server.buffer, pair.client.buffer, 64) == 0);
    CHECK(memcmp(pair.server.buffer + 4096, pair.client.buffer, 64) == 0);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 64, 64, WR_ID(12)), 0);
    CHECK_EQ(next_wc(pair.client.cq).wr_id, 3);
    CHECK_EQ(next_wc(pair.server.cq).wr_id, 11);
    CHECK_EQ(next_wc(pair.server.cq).wr_id, 12);
    pair_close(&pair);
}

static void should_hold_sends_until_a_shared_receive_is_posted(void)
{
    struct pair pair;
    struct pair_options options = {.srq_size = 8};

    pair_open(&pair, &options);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(1)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(2)), 0);
    check_empty(pair.client.cq);
    CHECK_EQ(rpma_srq_recv(pair.srq, pair.server.mr, 0, 64, WR_ID(11)), 0);
    CHECK_EQ(next_wc(pair.client.cq).wr_id, 1);
    check_empty(pair.client.cq);
    CHECK_EQ(rpma_srq_recv(pair.srq, pair.server.mr, 0, 64, WR_ID(12)), 0);
    CHECK_EQ(next_wc(pair.client.cq).wr_id, 2);
    CHECK_EQ(next_wc(pair.server.rcq).wr_id, 11);
    CHECK_EQ(next_wc(pair.server.rcq).wr_id, 12);
    pair_close(&pair);
}

const struct test operation_tests[] = {
    {"a write changes exactly the remote range", should_write},
    {"a read fetches the remote range", should_read},
    {"a send meets a receive, both ways", should_send_both_ways},
    {"send and write carry immediate data", should_carry_immediate_data},
    {"an atomic write stores eight bytes", should_write_eight_bytes_atomically},
    {"a flush completes as a read", should_flush},
    {"operations of length zero need no memory", should_take_operations_of_length_zero},
    {"only signalled work requests complete", should_complete_only_what_is_signalled},
    {"completions are polled in batches, in order", should_poll_several_at_once},
    {"receives complete on the receive CQ alone", should_receive_on_a_queue_of_its_own},
    {"receives come from a shared receive queue", should_receive_from_a_shared_receive_queue},
    {"a send waits for a receive, and all behind it", should_hold_a_send_until_a_receive_is_posted},
    {"sends wait for a shared receive",
        should_hold_sends_until_a_shared_receive_is_posted},
    {NULL, NULL},
};
