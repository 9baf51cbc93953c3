/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_link.c: a connection of librdmacm with both ends in this process, and the cost of one post and its poll on it. */
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hot.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

struct verbs_end {
    struct rdma_cm_id *id;
    char *memory;
    struct ibv_mr *mr;
};

struct baseline_verbs {
    struct rdma_cm_id *listener;
    struct verbs_end client;
    struct verbs_end server;
    struct ibv_sge piece;
    struct ibv_send_wr request;
    struct ibv_send_wr *bad;
    struct ibv_wc wc;
};

static struct ibv_qp_init_attr attributes(void)
{
    return (struct ibv_qp_init_attr){.cap = {.max_send_wr = BASELINE_LINK_DEPTH, .max_recv_wr = BASELINE_LINK_DEPTH,
        .max_send_sge = 1, .max_recv_sge = 1}, .qp_type = IBV_QPT_RC};
}

static int create_id(const char *address, const char *port, int flags, struct rdma_cm_id **id)
{
    const struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP};
    struct ibv_qp_init_attr attr = attributes();
    struct rdma_addrinfo *info;

    if (rdma_getaddrinfo(address, port, &hints, &info) != 0)
        return -1;
    const int result = rdma_create_ep(id, info, NULL, &attr);
    rdma_freeaddrinfo(info);
    return result;
}

static int register_memory(struct verbs_end *end)
{
    end->memory = mmap(NULL, BASELINE_LINK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (end->memory == MAP_FAILED) {
        end->memory = NULL;
        return -1;
    }
    end->mr = ibv_reg_mr(end->id->qp->pd, end->memory, BASELINE_LINK_BYTES, ACCESS);
    return end->mr != NULL ? 0 : -1;
}

/* The other side of a connect, which waits for it. */
static void *accept_client(void *arg)
{
    struct baseline_verbs *verbs = arg;

    if (rdma_get_request(verbs->listener, &verbs->server.id) != 0)
        verbs->server.id = NULL;
    else
        (void)rdma_accept(verbs->server.id, NULL);
    return NULL;
}

struct baseline_verbs *baseline_verbs_open(const char *address, const char *port)
{
    struct baseline_verbs *verbs = calloc(1, sizeof(*verbs));
    struct rdma_conn_param parameters = {.initiator_depth = 1, .responder_resources = 1, .retry_count = 7,
        .rnr_retry_count = 7};
    pthread_t acceptor;

    if (verbs == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    if (create_id(address, port, RAI_PASSIVE, &verbs->listener) != 0 || rdma_listen(verbs->listener, 1) != 0 ||
        create_id(address, port, 0, &verbs->client.id) != 0 ||
        pthread_create(&acceptor, NULL, accept_client, verbs) != 0)
        goto close;
    const int connected = rdma_connect(verbs->client.id, &parameters);
    (void)pthread_join(acceptor, NULL);
    if (connected == 0 && verbs->server.id != NULL && register_memory(&verbs->client) == 0 &&
        register_memory(&verbs->server) == 0)
        return verbs;
close:
    baseline_verbs_close(verbs);
    errno = EIO;
    return NULL;
}

static void close_end(struct verbs_end *end)
{
    if (end->mr != NULL)
        (void)ibv_dereg_mr(end->mr);
    if (end->id != NULL)
        rdma_destroy_ep(end->id);
    if (end->memory != NULL)
        (void)munmap(end->memory, BASELINE_LINK_BYTES);
}

void baseline_verbs_close(struct baseline_verbs *verbs)
{
    if (verbs->client.id != NULL)
        (void)rdma_disconnect(verbs->client.id);
    close_end(&verbs->client);
    close_end(&verbs->server);
    if (verbs->listener != NULL)
        rdma_destroy_ep(verbs->listener);
    free(verbs);
}

/* A request without its wr_id. */
static void prepare(
    const struct baseline_verbs *verbs, uint32_t operation, uint32_t size, struct ibv_sge *piece, struct ibv_send_wr *request)
{
    *piece = (struct ibv_sge){.addr = (uintptr_t)verbs->client.memory, .length = size, .lkey = verbs->client.mr->lkey};
    *request = (struct ibv_send_wr){.sg_list = piece, .num_sge = 1,
        .opcode = operation == BASELINE_READ ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
        .wr.rdma = {.remote_addr = (uintptr_t)verbs->server.memory, .rkey = verbs->server.mr->rkey}};
}

void baseline_verbs_prepare(
    struct baseline_verbs *verbs, uint32_t operation, uint32_t size, struct baseline_verbs_calls *calls)
{
    struct ibv_qp *qp = verbs->client.id->qp;

    prepare(verbs, operation, size, &verbs->piece, &verbs->request);
    *calls = (struct baseline_verbs_calls){.post_send = (uintptr_t)qp->context->ops.post_send, .qp = (uintptr_t)qp,
        .request = (uintptr_t)&verbs->request, .bad = (uintptr_t)&verbs->bad,
        .poll_cq = (uintptr_t)qp->context->ops.poll_cq, .cq = (uintptr_t)qp->send_cq, .wc = (uintptr_t)&verbs->wc};
}

uint64_t baseline_verbs_posts(struct baseline_verbs *verbs, uint32_t operation, uint32_t size, uint64_t count)
{
    struct ibv_sge piece;
    struct ibv_send_wr request;
    struct ibv_qp *qp = verbs->client.id->qp;
    const uint64_t start = now_ns();
    struct ibv_send_wr *bad;
    struct ibv_wc wc;

    prepare(verbs, operation, size, &piece, &request);
    for (uint64_t i = 0; i < count; i++) {
        int got;

        request.wr_id = i;
        if (ibv_post_send(qp, &request, &bad) != 0)
            goto fail;
        while ((got = ibv_poll_cq(qp->send_cq, 1, &wc)) == 0)
            ;
        if (got < 0 || wc.status != IBV_WC_SUCCESS)
            goto fail;
    }
    return now_ns() - start;

fail:
    errno = EIO;
    return 0;
}
