/* SPDX-License-Identifier: Apache-2.0 */
/* id_pair.c: two connected ids of the connection manager. */
#include <arpa/inet.h>
#include <time.h>

#include "id_pair.h"
#include "test.h"

#define PATIENCE_MS 30000

static struct rdma_cm_id *expect(const struct id_pair *pair, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event;

    CHECK(readable(pair->channel->fd, PATIENCE_MS));
    CHECK_EQ(rdma_get_cm_event(pair->channel, &event), 0);
    CHECK_EQ(event->event, type);
    struct rdma_cm_id *id = event->id;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return id;
}

static struct ibv_cq *extended_cq(struct ibv_context *context, uint64_t wc_flags)
{
    struct ibv_cq_init_attr_ex attr = {.cqe = 64, .wc_flags = wc_flags};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(context, &attr);

    CHECK(cq != NULL);
    return ibv_cq_ex_to_cq(cq);
}

static void create_qp(struct id_pair *pair, int side)
{
    struct rdma_cm_id *id = side == 0 ? pair->active : pair->passive;
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 6},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
    };

    if (pair->wc_flags != 0) {
        pair->cq[side] = extended_cq(id->verbs, pair->wc_flags);
        attr.send_cq = attr.recv_cq = pair->cq[side];
        attr.cap.max_send_wr = attr.cap.max_recv_wr = 31;
        attr.cap.max_send_sge = 16;
        attr.sq_sig_all = 0;
    }
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
}

static void open_pair(struct id_pair *pair, uint8_t rnr_retry)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = rnr_retry};

    pair->channel = rdma_create_event_channel();
    CHECK(pair->channel != NULL);
    CHECK_EQ(rdma_create_id(pair->channel, &pair->listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(pair->listener, (struct sockaddr *)&address), 0);
    CHECK_EQ(rdma_listen(pair->listener, 1), 0);
    address.sin_port = rdma_get_src_port(pair->listener);
    CHECK_EQ(rdma_create_id(pair->channel, &pair->active, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(pair->active, NULL, (struct sockaddr *)&address, 1000), 0);
    (void)expect(pair, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK_EQ(rdma_resolve_route(pair->active, 1000), 0);
    (void)expect(pair, RDMA_CM_EVENT_ROUTE_RESOLVED);
    create_qp(pair, 0);
    CHECK_EQ(rdma_connect(pair->active, &param), 0);
    pair->passive = expect(pair, RDMA_CM_EVENT_CONNECT_REQUEST);
    create_qp(pair, 1);
    CHECK_EQ(rdma_accept(pair->passive, &param), 0);
    (void)expect(pair, RDMA_CM_EVENT_ESTABLISHED);
    (void)expect(pair, RDMA_CM_EVENT_ESTABLISHED);
}

void id_pair_open(struct id_pair *pair, uint8_t rnr_retry)
{
    *pair = (struct id_pair){0};
    open_pair(pair, rnr_retry);
}

void id_pair_open_extended(struct id_pair *pair, uint64_t wc_flags)
{
    *pair = (struct id_pair){.wc_flags = wc_flags};
    open_pair(pair, 7);
}

void id_pair_close(struct id_pair *pair)
{
    rdma_destroy_qp(pair->active);
    rdma_destroy_qp(pair->passive);
    for (int side = 0; side < 2 && pair->wc_flags != 0; side++)
        CHECK_EQ(ibv_destroy_cq(pair->cq[side]), 0);
    CHECK_EQ(rdma_destroy_id(pair->active), 0);
    CHECK_EQ(rdma_destroy_id(pair->passive), 0);
    CHECK_EQ(rdma_destroy_id(pair->listener), 0);
    rdma_destroy_event_channel(pair->channel);
}

struct ibv_wc id_pair_wc(struct ibv_cq *cq)
{
    const struct timespec moment = {.tv_nsec = 100000};
    struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};
    int polled = 0;

    for (int tries = 0; tries < PATIENCE_MS * 10 && (polled = ibv_poll_cq(cq, 1, &wc)) == 0; tries++)
        (void)nanosleep(&moment, NULL);
    CHECK_EQ(polled, 1);
    return wc;
}
