/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_length.c: requests of all lengths, at all alignments: between processes long ones are sent in parts through a ring, whose
 * sizes are the limits here.
 */
#include <stdlib.h>
#include <string.h>

#include "id_pair.h"
#include "test.h"
#include "wire.h"

#define ROOM (2 * LB_WIRE_RING + 1024 * 1024)
#define GUARD 64u
#define ELEMENTS 6

static const uint32_t limits[] = {0, 8, 64, LB_STREAM_MIN, LB_WIRE_CHUNK, 2 * LB_WIRE_CHUNK, LB_WIRE_RING / 2, LB_WIRE_RING, 2 * LB_WIRE_RING,
    ROOM - 2 * GUARD - 1};

/* Memory of one side, which the other side may write and read. */
struct memory {
    char *bytes;
    struct rpma_mr_local *local;
    struct rpma_mr_remote *remote; /* for the other side */
};

static void open_memory(struct memory *memory, struct rpma_peer *peer)
{
    char descriptor[64];
    size_t size;

    memory->bytes = aligned_alloc(4096, ROOM);
    CHECK(memory->bytes != NULL);
    CHECK_EQ(rpma_mr_reg(peer, memory->bytes, ROOM, ALL_USAGES, &memory->local), 0);
    CHECK_EQ(rpma_mr_get_descriptor_size(memory->local, &size), 0);
    CHECK(size <= sizeof(descriptor));
    CHECK_EQ(rpma_mr_get_descriptor(memory->local, descriptor), 0);
    CHECK_EQ(rpma_mr_remote_from_descriptor(descriptor, size, &memory->remote), 0);
}

static void close_memory(struct memory *memory)
{
    CHECK_EQ(rpma_mr_remote_delete(&memory->remote), 0);
    CHECK_EQ(rpma_mr_dereg(&memory->local), 0);
    free(memory->bytes);
}

/* Bytes that repeat after no length of a part. */
static void fill(char *bytes, uint32_t seed)
{
    uint32_t value = seed * 2654435761u + 1;

    for (uint32_t i = 0; i < ROOM; i++) {
        value = value * 1664525u + 1013904223u;
        bytes[i] = (char)(value >> 24);
    }
}

/* The bytes have arrived, and those around them are as they were. */
static void check_copy(const struct memory *to, uint64_t to_at, const struct memory *from, uint64_t from_at, uint32_t length)
{
    static const char untouched[GUARD];

    CHECK(memcmp(to->bytes + to_at, from->bytes + from_at, length) == 0);
    CHECK(memcmp(to->bytes + to_at - GUARD, untouched, GUARD) == 0);
    CHECK(memcmp(to->bytes + to_at + length, untouched, GUARD) == 0);
    memset(to->bytes + to_at, 0, length);
}

static void carry(struct pair *pair, struct memory *client, struct memory *server, uint32_t length)
{
    const uint64_t from = GUARD + length % 3;
    const uint64_t to = GUARD + length % 2;
    const uint32_t qp_num = pair->client.qp_num;
    struct ibv_wc wc;

    CHECK_EQ(rpma_write(pair->client.conn, server->remote, to, client->local, from, length, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(1)), 0);
    wc = next_wc(pair->client.cq);
    check_success(&wc, 1, IBV_WC_RDMA_WRITE, length, qp_num);
    check_copy(server, to, client, from, length);

    CHECK_EQ(rpma_recv(pair->server.conn, NULL, 0, 0, WR_ID(2)), 0);
    CHECK_EQ(rpma_write_with_imm(pair->client.conn, server->remote, to, client->local, from, length, RPMA_F_COMPLETION_ALWAYS, 5,
        WR_ID(3)), 0);
    wc = next_wc(pair->server.cq);
    check_success(&wc, 2, IBV_WC_RECV_RDMA_WITH_IMM, length, pair->server.qp_num);
    wc = next_wc(pair->client.cq);
    check_success(&wc, 3, IBV_WC_RDMA_WRITE, length, qp_num);
    check_copy(server, to, client, from, length);

    CHECK_EQ(rpma_recv(pair->server.conn, server->local, to, length, WR_ID(4)), 0);
    CHECK_EQ(rpma_send(pair->client.conn, client->local, from, length, RPMA_F_COMPLETION_ALWAYS, WR_ID(5)), 0);
    wc = next_wc(pair->server.cq);
    check_success(&wc, 4, IBV_WC_RECV, length, pair->server.qp_num);
    wc = next_wc(pair->client.cq);
    check_success(&wc, 5, IBV_WC_SEND, length, qp_num);
    check_copy(server, to, client, from, length);
}

static void carry_back(struct pair *pair, struct memory *client, struct memory *server, uint32_t length)
{
    const uint64_t from = GUARD + length % 3;
    const uint64_t to = GUARD + length % 2;

    CHECK_EQ(rpma_read(pair->client.conn, client->local, to, server->remote, from, length, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(6)), 0);
    struct ibv_wc wc = next_wc(pair->client.cq);
    check_success(&wc, 6, IBV_WC_RDMA_READ, length, pair->client.qp_num);
    check_copy(client, to, server, from, length);
}

static void with_all_lengths(void (*operation)(struct pair *, struct memory *, struct memory *, uint32_t), bool client_has_bytes)
{
    struct pair pair;
    struct memory client;
    struct memory server;

    pair_open(&pair, NULL);
    open_memory(&client, pair.client.peer);
    open_memory(&server, pair.server.peer);
    fill(client_has_bytes ? client.bytes : server.bytes, 1);
    memset(client_has_bytes ? server.bytes : client.bytes, 0, ROOM);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        for (uint32_t length = limits[i] > 0 ? limits[i] - 1 : 0; length <= limits[i] + 1; length++)
            operation(&pair, &client, &server, length);
    }
    close_memory(&client);
    close_memory(&server);
    pair_close(&pair);
}

static void should_carry_requests_of_every_length(void)
{
    with_all_lengths(carry, true);
}

static void should_read_every_length(void)
{
    with_all_lengths(carry_back, false);
}

/* The elements begin and end within the parts of a message, at their limits, and one has no bytes. */
static void should_fill_all_elements_of_a_receive(void)
{
    static const uint32_t lengths[ELEMENTS] = {LB_WIRE_CHUNK - 7, 7, 0, 1, 2 * LB_WIRE_CHUNK + 5, 3 * LB_WIRE_CHUNK};
    const uint32_t length = 5 * LB_WIRE_CHUNK + 3;
    const int access = IBV_ACCESS_LOCAL_WRITE;
    struct id_pair ids;
    struct memory from = {.bytes = aligned_alloc(4096, ROOM)};
    struct memory to = {.bytes = aligned_alloc(4096, ROOM)};
    struct ibv_sge elements[ELEMENTS];
    struct ibv_qp_init_attr init_attr;
    struct ibv_qp_attr attr;
    struct ibv_wc wc;

    CHECK(from.bytes != NULL && to.bytes != NULL);
    id_pair_open(&ids, 7);
    struct ibv_mr *from_mr = ibv_reg_mr(ids.active->pd, from.bytes, ROOM, access);
    struct ibv_mr *to_mr = ibv_reg_mr(ids.passive->pd, to.bytes, ROOM, access);
    CHECK(from_mr != NULL && to_mr != NULL);
    fill(from.bytes, 2);
    memset(to.bytes, 0, ROOM);
    uint64_t at = GUARD;
    for (int i = 0; i < ELEMENTS; i++) {
        elements[i] = (struct ibv_sge){.addr = (uintptr_t)to.bytes + at, .length = lengths[i], .lkey = to_mr->lkey};
        at += lengths[i] + GUARD;
    }
    struct ibv_recv_wr receive = {.wr_id = 1, .sg_list = elements, .num_sge = ELEMENTS};
    struct ibv_recv_wr *bad_receive;
    CHECK_EQ(ibv_post_recv(ids.passive->qp, &receive, &bad_receive), 0);
    struct ibv_sge source[] = {
        {.addr = (uintptr_t)from.bytes, .length = LB_WIRE_CHUNK + 1, .lkey = from_mr->lkey},
        {.addr = (uintptr_t)from.bytes + LB_WIRE_CHUNK + 1, .length = length - LB_WIRE_CHUNK - 1, .lkey = from_mr->lkey},
    };
    struct ibv_send_wr message = {.wr_id = 2, .sg_list = source, .num_sge = 2, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad_message;
    CHECK_EQ(ibv_post_send(ids.active->qp, &message, &bad_message), 0);

    wc = id_pair_wc(ids.passive->recv_cq);
    check_success(&wc, 1, IBV_WC_RECV, length, ids.passive->qp->qp_num);
    CHECK_EQ(ibv_query_qp(ids.passive->qp, &attr, IBV_QP_DEST_QPN, &init_attr), 0);
    CHECK_EQ(wc.src_qp, attr.dest_qp_num);
    wc = id_pair_wc(ids.active->send_cq);
    check_success(&wc, 2, IBV_WC_SEND, length, ids.active->qp->qp_num);
    uint32_t done = 0;
    at = GUARD;
    for (int i = 0; i < ELEMENTS; i++) {
        const uint32_t count = lengths[i] < length - done ? lengths[i] : length - done;

        check_copy(&to, at, &from, done, count);
        at += lengths[i] + GUARD;
        done += count;
    }
    CHECK_EQ(done, length);
    CHECK_EQ(ibv_dereg_mr(from_mr), 0);
    CHECK_EQ(ibv_dereg_mr(to_mr), 0);
    id_pair_close(&ids);
    free(from.bytes);
    free(to.bytes);
}

/* The receive has room for the first parts. */
static void should_refuse_a_message_that_is_longer_than_its_receive(void)
{
    const uint32_t room = 2 * LB_WIRE_CHUNK + 100;
    const uint32_t length = room + 1;
    struct pair pair;
    struct memory client;
    struct memory server;

    pair_open(&pair, NULL);
    open_memory(&client, pair.client.peer);
    open_memory(&server, pair.server.peer);
    memset(client.bytes, 1, ROOM);
    memset(server.bytes, 0, ROOM);
    CHECK_EQ(rpma_recv(pair.server.conn, server.local, 0, room, WR_ID(1)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, client.local, 0, length, RPMA_F_COMPLETION_ALWAYS, WR_ID(2)), 0);
    struct ibv_wc wc = next_wc(pair.server.cq);
    check_failed(&wc, 1, IBV_WC_LOC_LEN_ERR, pair.server.qp_num);
    wc = next_wc(pair.client.cq);
    check_failed(&wc, 2, IBV_WC_REM_INV_REQ_ERR, pair.client.qp_num);
    for (uint32_t i = room; i < ROOM; i++)
        CHECK_EQ(server.bytes[i], 0);
    close_memory(&client);
    close_memory(&server);
    pair_close(&pair);
}

/* A message takes its receive with its first part: the next message fills the next one. */
static void should_wait_for_the_receive_of_each_long_message(void)
{
    const uint32_t length = 3 * LB_WIRE_CHUNK + 1;
    struct pair pair;
    struct memory client;
    struct memory server;
    struct ibv_wc wc;

    pair_open(&pair, NULL);
    open_memory(&client, pair.client.peer);
    open_memory(&server, pair.server.peer);
    fill(client.bytes, 3);
    memset(server.bytes, 0, ROOM);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_EQ(rpma_send(pair.client.conn, client.local, i, length, RPMA_F_COMPLETION_ALWAYS, WR_ID(i)), 0);
    check_empty(pair.server.cq);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(rpma_recv(pair.server.conn, server.local, GUARD, length, WR_ID(10 + i)), 0);
        wc = next_wc(pair.server.cq);
        check_success(&wc, 10 + i, IBV_WC_RECV, length, pair.server.qp_num);
        check_copy(&server, GUARD, &client, i, length);
        wc = next_wc(pair.client.cq);
        check_success(&wc, i, IBV_WC_SEND, length, pair.client.qp_num);
    }
    close_memory(&client);
    close_memory(&server);
    pair_close(&pair);
}

const struct test length_tests[] = {
    {"writes and messages of every length arrive", should_carry_requests_of_every_length},
    {"reads of every length arrive", should_read_every_length},
    {"a long message fills all elements of its receive", should_fill_all_elements_of_a_receive},
    {"a long message that is longer than its receive is refused", should_refuse_a_message_that_is_longer_than_its_receive},
    {"each long message waits for its receive", should_wait_for_the_receive_of_each_long_message},
    {NULL, NULL},
};
