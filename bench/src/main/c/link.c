/* SPDX-License-Identifier: Apache-2.0 */
/* link.c: makes and ends the connection. */
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CQ_SIZE (4 * BASELINE_LINK_DEPTH)
#define USAGES (RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_SRC | \
    RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST)
#define REST_TRIES 50000
#define REST_US 100

int link_end_register(struct link_end *end, struct rpma_peer *peer)
{
    end->memory = mmap(NULL, BASELINE_LINK_BYTES, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (end->memory == MAP_FAILED) {
        end->memory = NULL;
        return -1;
    }
    return rpma_mr_reg(peer, end->memory, BASELINE_LINK_BYTES, USAGES, &end->local);
}

static int exchange(const struct link_end *from, struct link_end *to)
{
    char descriptor[LINK_DESCRIPTOR_BYTES];
    size_t size;

    if (rpma_mr_get_descriptor_size(from->local, &size) != 0 || size > sizeof(descriptor) ||
        rpma_mr_get_descriptor(from->local, descriptor) != 0)
        return -1;
    return rpma_mr_remote_from_descriptor(descriptor, size, &to->remote);
}

int link_end_established(struct link_end *end)
{
    enum rpma_conn_event event;

    if (rpma_conn_next_event(end->conn, &event) != 0 || event != RPMA_CONN_ESTABLISHED)
        return -1;
    return rpma_conn_get_cq(end->conn, &end->cq) != 0 ||
        rpma_conn_get_qp_num(end->conn, &end->qp_num) != 0 ? -1 : 0;
}

/* A receive is posted at both ends before the first send. */
static int connect_ends(struct baseline_link *link, const char *address, const char *port,
    const struct rpma_conn_cfg *config)
{
    struct rpma_ep *endpoint;
    struct rpma_conn_req *request;
    int result = -1;

    if (rpma_ep_listen(link->peer, address, port, &endpoint) != 0)
        return -1;
    if (rpma_conn_req_new(link->peer, address, port, config, &request) != 0)
        goto shutdown;
    if (rpma_conn_req_recv(request, link->client.local, 0, BASELINE_LINK_BYTES, NULL) != 0 ||
        rpma_conn_req_connect(&request, NULL, &link->client.conn) != 0) {
        (void)rpma_conn_req_delete(&request);
        goto shutdown;
    }
    if (rpma_ep_next_conn_req(endpoint, config, &request) != 0)
        goto shutdown;
    if (rpma_conn_req_recv(request, link->server.local, 0, BASELINE_LINK_BYTES, NULL) != 0 ||
        rpma_conn_req_connect(&request, NULL, &link->server.conn) != 0) {
        (void)rpma_conn_req_delete(&request);
        goto shutdown;
    }
    result = link_end_established(&link->client) != 0 || link_end_established(&link->server) != 0 ? -1 : 0;
shutdown:
    (void)rpma_ep_shutdown(&endpoint);
    return result;
}

int link_configure(struct rpma_conn_cfg **config)
{
    if (rpma_conn_cfg_new(config) != 0)
        return -1;
    if (rpma_conn_cfg_set_cq_size(*config, CQ_SIZE) != 0 ||
        rpma_conn_cfg_set_sq_size(*config, BASELINE_LINK_DEPTH) != 0 ||
        rpma_conn_cfg_set_rq_size(*config, BASELINE_LINK_DEPTH) != 0) {
        (void)rpma_conn_cfg_delete(config);
        return -1;
    }
    return 0;
}

struct baseline_link *baseline_link_open(const char *address, const char *port)
{
    struct baseline_link *link = aligned_alloc(alignof(struct baseline_link), sizeof(*link));
    struct ibv_context *device;
    struct rpma_conn_cfg *config;

    if (link == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(link, 0, sizeof(*link));
    if (rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device) != 0 ||
        rpma_peer_new(device, &link->peer) != 0 || link_end_register(&link->client, link->peer) != 0 ||
        link_end_register(&link->server, link->peer) != 0 || exchange(&link->client, &link->server) != 0 ||
        exchange(&link->server, &link->client) != 0 || link_configure(&config) != 0)
        goto close;
    const int result = connect_ends(link, address, port, config);
    (void)rpma_conn_cfg_delete(&config);
    if (result == 0)
        return link;
close:
    baseline_link_close(link);
    errno = EIO;
    return NULL;
}

/* Each call accepts NULL for parts that were not created. */
void link_end_close(struct link_end *end)
{
    if (end->conn != NULL) {
        (void)rpma_conn_disconnect(end->conn);
        (void)rpma_conn_delete(&end->conn);
    }
    if (end->remote != NULL)
        (void)rpma_mr_remote_delete(&end->remote);
    if (end->local != NULL)
        (void)rpma_mr_dereg(&end->local);
    if (end->memory != NULL)
        (void)munmap(end->memory, BASELINE_LINK_BYTES);
}

void baseline_link_close(struct baseline_link *link)
{
    link_end_close(&link->client);
    link_end_close(&link->server);
    if (link->peer != NULL)
        (void)rpma_peer_delete(&link->peer);
    free(link->schedule_ns);
    free(link);
}

int baseline_link_is_done(struct baseline_link *link)
{
    return atomic_load_explicit(&link->done, memory_order_acquire) ||
        atomic_load_explicit(&link->failed, memory_order_acquire);
}

static bool is_at_rest(struct baseline_link *link)
{
    struct baseline_sample sample;
    uint64_t completions;

    if (!link->has_poster)
        return atomic_load_explicit(&link->at_rest, memory_order_acquire);
    baseline_sample(link->baseline, &sample);
    completions = atomic_load_explicit(&link->posted, memory_order_acquire);
    if (link->traffic.operation == BASELINE_SEND)
        completions *= 2;
    return sample.passed >= completions;
}

int baseline_link_rest(struct baseline_link *link)
{
    atomic_store_explicit(&link->stop, true, memory_order_release);
    if (link->has_poster)
        (void)pthread_join(link->poster, NULL);
    for (int tries = 0; tries < REST_TRIES; tries++) {
        if (is_at_rest(link)) {
            /* Completions of the last sends may still be on their way to the queue. */
            (void)usleep(10 * REST_US);
            return 0;
        }
        (void)usleep(REST_US);
    }
    errno = ETIMEDOUT;
    return -1;
}
