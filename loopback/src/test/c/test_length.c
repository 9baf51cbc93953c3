/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_length.c: requests of all lengths, at all alignments: between processes long ones are sent in parts through a ring, whose
 * sizes are the limits here.
 */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "wire.h"

#define ROOM (3u * 1024 * 1024)
#define GUARD 64u

static const uint32_t limits[] = {0, 8, 64, LB_WIRE_CHUNK, 2 * LB_WIRE_CHUNK, LB_WIRE_RING / 2, LB_WIRE_RING, 2 * LB_WIRE_RING,
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

    CHECK_EQ(rpma_write(pair->client.conn, server->remote, to, client->local, from, length, RPMA_F_COMPLETION_ALWAYS, WR_ID(1)), 0);
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

    CHECK_EQ(rpma_read(pair->client.conn, client->local, to, server->remote, from, length, RPMA_F_COMPLETION_ALWAYS, WR_ID(6)), 0);
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

const struct test length_tests[] = {
    {"writes and messages of every length arrive", should_carry_requests_of_every_length},
    {"reads of every length arrive", should_read_every_length},
    {NULL, NULL},
};
