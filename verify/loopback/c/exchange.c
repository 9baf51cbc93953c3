/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c: a server and a client on plain verbs that exchange messages of all sizes, for verify/loopback/containers.
 *
 *   exchange server PORT CLIENTS    serves so many clients to their end, one after the other; others may fail
 *   exchange client PORT            prints the number of lengths and bytes
 *
 * For each length the client sends a message, which the server checks and sends back; then it writes the message to the server's
 * memory, with immediate data, and reads it from there. Each byte depends on its place and on the length. A failure has exit
 * code 1 and one line.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST (4u << 20)
/* Lengths around the powers of two, and a few more. */
#define AROUND 3
#define LIMIT_S 50

struct told {
    uint64_t address;
    uint32_t rkey;
};

/* Memory: what is sent and written | what is received or read. */
struct side {
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    unsigned char *out;
    unsigned char *in;
    struct told other;
};

_Noreturn static void fail(const char *what, int error)
{
    fprintf(stderr, "exchange: %s: %s\n", what, strerror(error));
    exit(1);
}

static void check(int result, const char *what)
{
    if (result != 0)
        fail(what, errno);
}

static unsigned char byte_at(uint32_t length, uint32_t place)
{
    return (unsigned char)(length * 31 + place * 7 + (place >> 8));
}

static void fill(unsigned char *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = byte_at(length, i);
}

static bool is_whole(const unsigned char *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        if (bytes[i] != byte_at(length, i)) {
            fprintf(stderr, "exchange: byte %u of a message of %u bytes is wrong\n", i, length);
            return false;
        }
    }
    return true;
}

/* The length of a message; LONGEST is that of the last one. */
static uint32_t length_of(int number)
{
    if (number == 0)
        return 0;
    const int64_t length = (INT64_C(1) << (number - 1) / AROUND) + (number - 1) % AROUND - 1;
    return length > LONGEST ? LONGEST : (uint32_t)length;
}

static void open_side(struct side *side)
{
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
    };

    check(rdma_create_qp(side->id, NULL, &attr), "rdma_create_qp");
    side->out = aligned_alloc(4096, 2 * LONGEST);
    if (side->out == NULL)
        fail("memory", ENOMEM);
    memset(side->out, 0, 2 * LONGEST);
    side->in = side->out + LONGEST;
    side->mr = ibv_reg_mr(side->id->pd, side->out, 2 * LONGEST,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    if (side->mr == NULL)
        fail("ibv_reg_mr", errno);
}

static void receive(const struct side *side)
{
    struct ibv_sge sge = {.addr = (uintptr_t)side->in, .length = LONGEST, .lkey = side->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;
    const int error = ibv_post_recv(side->id->qp, &wr, &bad);

    if (error)
        fail("ibv_post_recv", error);
}

/* Waits for a completion; false: it is a failure, which is printed. */
static bool await(struct ibv_cq *cq, struct ibv_wc *wc)
{
    int count;

    do
        count = ibv_poll_cq(cq, 1, wc);
    while (count == 0);
    if (count < 0)
        fail("ibv_poll_cq", EIO);
    if (wc->status != IBV_WC_SUCCESS)
        fprintf(stderr, "exchange: %s\n", ibv_wc_status_str(wc->status));
    return wc->status == IBV_WC_SUCCESS;
}

/* Posts a request and waits for its completion. */
static bool request(const struct side *side, enum ibv_wr_opcode opcode, const unsigned char *local, uint64_t offset, uint32_t length)
{
    struct ibv_sge sge = {.addr = (uintptr_t)local, .length = length, .lkey = side->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode};
    struct ibv_send_wr *bad;
    struct ibv_wc wc;

    wr.wr.rdma.remote_addr = side->other.address + offset;
    wr.wr.rdma.rkey = side->other.rkey;
    wr.imm_data = htonl(length);
    const int error = ibv_post_send(side->id->qp, &wr, &bad);
    if (error)
        fail("ibv_post_send", error);
    return await(side->id->send_cq, &wc);
}

static struct rdma_conn_param parameters(const struct told *told)
{
    return (struct rdma_conn_param){
        .private_data = told,
        .private_data_len = sizeof(*told),
        .responder_resources = 4,
        .initiator_depth = 4,
        .retry_count = 7,
        .rnr_retry_count = 7,
    };
}

static struct told describe(const struct side *side)
{
    return (struct told){.address = (uintptr_t)side->out, .rkey = side->mr->rkey};
}

static void adopt(struct side *side)
{
    memcpy(&side->other, side->id->event->param.conn.private_data, sizeof(side->other));
}

static struct sockaddr_in address_of(const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* Receives a message and sends it back, and receives another one in its place; *length is that of both. */
static bool serve_length(const struct side *side, uint32_t *length)
{
    struct ibv_wc wc;

    if (!await(side->id->recv_cq, &wc))
        return false;
    *length = wc.byte_len;
    if (!is_whole(side->in, *length))
        return false;
    memcpy(side->out, side->in, *length);
    memset(side->in, 0, *length);
    receive(side);
    if (!request(side, IBV_WR_SEND, side->out, 0, *length) || !await(side->id->recv_cq, &wc) || !is_whole(side->in, *length))
        return false;
    receive(side);
    return ntohl(wc.imm_data) == *length;
}

/* Whether the next client was served to its end. */
static bool serve_client(struct rdma_cm_id *listener)
{
    struct side side;
    uint32_t length = 0;

    check(rdma_get_request(listener, &side.id), "rdma_get_request");
    open_side(&side);
    adopt(&side);
    receive(&side);
    const struct told told = describe(&side);
    struct rdma_conn_param param = parameters(&told);
    bool is_served = rdma_accept(side.id, &param) == 0;
    while (is_served && length < LONGEST)
        is_served = serve_length(&side, &length);
    /* The client still reads. */
    struct pollfd ended = {.fd = side.id->channel->fd, .events = POLLIN};
    if (is_served)
        (void)poll(&ended, 1, -1);
    (void)rdma_disconnect(side.id);
    rdma_destroy_qp(side.id);
    (void)ibv_dereg_mr(side.mr);
    (void)rdma_destroy_id(side.id);
    free(side.out);
    return is_served;
}

static void serve(const char *port, int clients)
{
    struct rdma_cm_id *listener;
    struct sockaddr_in address = address_of(port);

    check(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), "rdma_create_id");
    check(rdma_bind_addr(listener, (struct sockaddr *)&address), "rdma_bind_addr");
    check(rdma_listen(listener, 8), "rdma_listen");
    while (clients > 0)
        clients -= serve_client(listener);
    (void)rdma_destroy_id(listener);
}

/* Sends a message and receives it again; writes it to the server's memory, and reads it from there. */
static bool exchange_length(const struct side *side, uint32_t length)
{
    struct ibv_wc wc;

    fill(side->out, length);
    if (!request(side, IBV_WR_SEND, side->out, 0, length) || !await(side->id->recv_cq, &wc) || wc.byte_len != length ||
            !is_whole(side->in, length))
        return false;
    receive(side);
    if (!request(side, IBV_WR_RDMA_WRITE_WITH_IMM, side->out, LONGEST, length))
        return false;
    memset(side->in, 0, length);
    return request(side, IBV_WR_RDMA_READ, side->in, LONGEST, length) && is_whole(side->in, length);
}

static void exchange(const char *port)
{
    struct side side;
    struct sockaddr_in address = address_of(port);
    int lengths = 0;
    uint64_t bytes = 0;

    check(rdma_create_id(NULL, &side.id, NULL, RDMA_PS_TCP), "rdma_create_id");
    check(rdma_resolve_addr(side.id, NULL, (struct sockaddr *)&address, 1000), "rdma_resolve_addr");
    check(rdma_resolve_route(side.id, 1000), "rdma_resolve_route");
    open_side(&side);
    const struct told told = describe(&side);
    struct rdma_conn_param param = parameters(&told);
    receive(&side);
    check(rdma_connect(side.id, &param), "rdma_connect");
    adopt(&side);
    for (uint32_t length = 0; length < LONGEST; lengths++) {
        length = length_of(lengths);
        if (!exchange_length(&side, length))
            exit(1);
        bytes += UINT64_C(4) * length;
    }
    (void)rdma_disconnect(side.id);
    printf("%d lengths from 0 to %u bytes, %llu bytes in all\n", lengths, LONGEST, (unsigned long long)bytes);
}

int main(int argc, char **argv)
{
    (void)alarm(LIMIT_S);
    if (argc == 4 && strcmp(argv[1], "server") == 0)
        serve(argv[2], atoi(argv[3]));
    else if (argc == 3 && strcmp(argv[1], "client") == 0)
        exchange(argv[2]);
    else
        fail("usage: exchange server PORT CLIENTS, or exchange client PORT", EINVAL);
    return 0;
}
