/* SPDX-License-Identifier: Apache-2.0 */
/* pair.c: a server and a client connected through librpma, and how their completions are read. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ringpoll_loopback.h"
#include "test.h"

#define PATIENCE_MS 10000

static _Atomic int last_port = 20000;

void test_next_port(char port[16])
{
    (void)snprintf(port, 16, "%d", ++last_port);
}

struct rpma_peer *test_peer(void)
{
    struct ibv_context *context = NULL;
    struct rpma_peer *peer = NULL;

    CHECK_EQ(rpma_utils_get_ibv_context(ADDRESS, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context), 0);
    CHECK_EQ(rpma_peer_new(context, &peer), 0);
    return peer;
}

bool readable(int fd, int timeout_ms)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};

    return poll(&waiting, 1, timeout_ms) == 1;
}

enum rpma_conn_event next_event(struct rpma_conn *conn)
{
    enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
    int fd;

    CHECK_EQ(rpma_conn_get_event_fd(conn, &fd), 0);
    CHECK(readable(fd, PATIENCE_MS));
    CHECK_EQ(rpma_conn_next_event(conn, &event), 0);
    return event;
}

struct ibv_wc next_wc(struct rpma_cq *cq)
{
    const struct timespec moment = {.tv_nsec = 100000};
    struct ibv_wc wc;

    for (int tries = 0; tries < PATIENCE_MS * 10; tries++) {
        const int result = rpma_cq_get_wc(cq, 1, &wc, NULL);

        if (result == 0)
            return wc;
        CHECK_EQ(result, RPMA_E_NO_COMPLETION);
        (void)nanosleep(&moment, NULL);
    }
    CHECK(!"a completion came in time");
    return wc;
}

void check_empty(struct rpma_cq *cq)
{
    struct ibv_wc wc;

    CHECK_EQ(rpma_cq_get_wc(cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);
}

void check_success(const struct ibv_wc *wc, uint64_t wr_id, enum ibv_wc_opcode opcode,
    uint32_t byte_len, uint32_t qp_num)
{
    CHECK_EQ(wc->status, IBV_WC_SUCCESS);
    CHECK_EQ(wc->wr_id, wr_id);
    CHECK_EQ(wc->opcode, opcode);
    CHECK_EQ(wc->byte_len, byte_len);
    CHECK_EQ(wc->qp_num, qp_num);
    CHECK_EQ(wc->vendor_err, 0);
}

void check_failed(const struct ibv_wc *wc, uint64_t wr_id, enum ibv_wc_status status,
    uint32_t qp_num)
{
    struct ibv_wc poisoned;

    CHECK_EQ(wc->status, status);
    CHECK_EQ(wc->wr_id, wr_id);
    CHECK_EQ(wc->qp_num, qp_num);
    /* Everything else is poison. */
    memset(&poisoned, RINGPOLL_LOOPBACK_POISON, sizeof(poisoned));
    poisoned.wr_id = wc->wr_id;
    poisoned.status = wc->status;
    poisoned.vendor_err = wc->vendor_err;
    poisoned.qp_num = wc->qp_num;
    CHECK(memcmp(&poisoned, wc, sizeof(poisoned)) == 0);
}

static struct rpma_conn_cfg *make_cfg(const struct pair_options *options, struct rpma_srq *srq)
{
    struct rpma_conn_cfg *cfg;

    CHECK_EQ(rpma_conn_cfg_new(&cfg), 0);
    if (options == NULL)
        return cfg;
    if (options->cq_size)
        CHECK_EQ(rpma_conn_cfg_set_cq_size(cfg, options->cq_size), 0);
    if (options->rcq_size)
        CHECK_EQ(rpma_conn_cfg_set_rcq_size(cfg, options->rcq_size), 0);
    if (options->sq_size)
        CHECK_EQ(rpma_conn_cfg_set_sq_size(cfg, options->sq_size), 0);
    if (options->rq_size)
        CHECK_EQ(rpma_conn_cfg_set_rq_size(cfg, options->rq_size), 0);
    CHECK_EQ(rpma_conn_cfg_set_compl_channel(cfg, options->shared_channel), 0);
    if (srq != NULL)
        CHECK_EQ(rpma_conn_cfg_set_srq(cfg, srq), 0);
    return cfg;
}

static void register_buffer(struct side *side, int usage)
{
    side->buffer = aligned_alloc(4096, BUFFER_SIZE);
    CHECK(side->buffer != NULL);
    memset(side->buffer, 0, BUFFER_SIZE);
    CHECK_EQ(rpma_mr_reg(side->peer, side->buffer, BUFFER_SIZE, usage ? usage : ALL_USAGES,
        &side->mr), 0);
}

static void adopt(struct side *side, const struct side *other)
{
    char descriptor[64];
    size_t size;

    CHECK_EQ(rpma_mr_get_descriptor_size(other->mr, &size), 0);
    CHECK(size <= sizeof(descriptor));
    CHECK_EQ(rpma_mr_get_descriptor(other->mr, descriptor), 0);
    CHECK_EQ(rpma_mr_remote_from_descriptor(descriptor, size, &side->remote), 0);
    CHECK_EQ(rpma_conn_get_cq(side->conn, &side->cq), 0);
    CHECK_EQ(rpma_conn_get_rcq(side->conn, &side->rcq), 0);
    CHECK_EQ(rpma_conn_get_qp_num(side->conn, &side->qp_num), 0);
}

void pair_open(struct pair *pair, const struct pair_options *options)
{
    struct rpma_conn_req *request;

    memset(pair, 0, sizeof(*pair));
    pair->client.peer = test_peer();
    pair->server.peer = test_peer();
    register_buffer(&pair->client, options != NULL ? options->client_usage : 0);
    register_buffer(&pair->server, options != NULL ? options->server_usage : 0);
    if (options != NULL && options->srq_size) {
        struct rpma_srq_cfg *srq_cfg;

        CHECK_EQ(rpma_srq_cfg_new(&srq_cfg), 0);
        CHECK_EQ(rpma_srq_cfg_set_rq_size(srq_cfg, options->srq_size), 0);
        CHECK_EQ(rpma_srq_cfg_set_rcq_size(srq_cfg, options->srq_size), 0);
        CHECK_EQ(rpma_srq_new(pair->server.peer, srq_cfg, &pair->srq), 0);
        CHECK_EQ(rpma_srq_cfg_delete(&srq_cfg), 0);
    }
    struct rpma_conn_cfg *client_cfg = make_cfg(options, NULL);
    struct rpma_conn_cfg *server_cfg = make_cfg(options, pair->srq);

    test_next_port(pair->port);
    CHECK_EQ(rpma_ep_listen(pair->server.peer, ADDRESS, pair->port, &pair->ep), 0);
    CHECK_EQ(rpma_conn_req_new(pair->client.peer, ADDRESS, pair->port, client_cfg, &request), 0);
    CHECK_EQ(rpma_conn_req_connect(&request, NULL, &pair->client.conn), 0);
    CHECK_EQ(rpma_ep_next_conn_req(pair->ep, server_cfg, &request), 0);
    CHECK_EQ(rpma_conn_req_connect(&request, NULL, &pair->server.conn), 0);
    CHECK_EQ(next_event(pair->client.conn), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(next_event(pair->server.conn), RPMA_CONN_ESTABLISHED);
    adopt(&pair->client, &pair->server);
    adopt(&pair->server, &pair->client);
    if (pair->srq != NULL)
        CHECK_EQ(rpma_srq_get_rcq(pair->srq, &pair->server.rcq), 0);
    CHECK_EQ(rpma_conn_cfg_delete(&client_cfg), 0);
    CHECK_EQ(rpma_conn_cfg_delete(&server_cfg), 0);
}

void pair_close(struct pair *pair)
{
    CHECK_EQ(rpma_conn_disconnect(pair->client.conn), 0);
    CHECK_EQ(rpma_conn_disconnect(pair->server.conn), 0);
    CHECK_EQ(rpma_conn_delete(&pair->client.conn), 0);
    CHECK_EQ(rpma_conn_delete(&pair->server.conn), 0);
    CHECK_EQ(rpma_ep_shutdown(&pair->ep), 0);
    CHECK_EQ(rpma_srq_delete(&pair->srq), 0);
    struct side *sides[] = {&pair->client, &pair->server};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(rpma_mr_remote_delete(&sides[i]->remote), 0);
        CHECK_EQ(rpma_mr_dereg(&sides[i]->mr), 0);
        CHECK_EQ(rpma_peer_delete(&sides[i]->peer), 0);
        free(sides[i]->buffer);
    }
}
