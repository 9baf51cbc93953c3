/* SPDX-License-Identifier: Apache-2.0 */
/* ping_pong.c: one operation after the other over a link, back and forth except for reads. */
#include <errno.h>
#include <infiniband/verbs.h>

#include "histogram.h"
#include "hot.h"
#include "link.h"
#include "ring.h"

/* Every operation is signalled, so that the send queue never fills. */
static void post_from(struct baseline_link *link, struct link_end *end)
{
    const size_t size = link->traffic.size;
    int result;

    switch (link->traffic.operation) {
    case BASELINE_SEND:
        result = rpma_send(end->conn, end->local, 0, size, RPMA_F_COMPLETION_ALWAYS, NULL);
        break;
    case BASELINE_WRITE:
        result = rpma_write_with_imm(end->conn, end->remote, 0, end->local, 0, size,
            RPMA_F_COMPLETION_ALWAYS, 0, NULL);
        break;
    default:
        result = rpma_read(end->conn, end->local, 0, end->remote, 0, size,
            RPMA_F_COMPLETION_ALWAYS, NULL);
        break;
    }
    if (result != 0)
        atomic_store_explicit(&link->failed, true, memory_order_release);
}

static void receive_at(struct baseline_link *link, struct link_end *end)
{
    if (rpma_recv(end->conn, end->local, 0, BASELINE_LINK_BYTES, NULL) != 0)
        atomic_store_explicit(&link->failed, true, memory_order_release);
}

static void on_return(struct baseline_link *link, uint64_t *histogram)
{
    const uint64_t now = now_ns();
    const bool is_read = link->traffic.operation == BASELINE_READ;

    if (link->sent_ns - link->record_from_ns < link->record_length_ns) {
        histogram_record(histogram, (now - link->sent_ns) / (is_read ? 1 : 2));
        if (++link->recorded == link->traffic.round_trips) {
            atomic_store_explicit(&link->done, true, memory_order_release);
            link->record_length_ns = 0;
        }
    }
    if (!is_read)
        receive_at(link, &link->client);
    if (atomic_load_explicit(&link->stop, memory_order_relaxed)) {
        atomic_store_explicit(&link->at_rest, true, memory_order_release);
        return;
    }
    link->sent_ns = now_ns();
    post_from(link, &link->client);
}

static void handle(void *context, const struct ibv_wc *wc, uint64_t *histogram)
{
    struct baseline_link *link = context;

    if (wc->status != IBV_WC_SUCCESS) {
        atomic_store_explicit(&link->failed, true, memory_order_release);
    } else if ((wc->opcode & IBV_WC_RECV) != 0) {
        if (wc->qp_num == link->client.qp_num) {
            on_return(link, histogram);
        } else {
            receive_at(link, &link->server);
            post_from(link, &link->server);
        }
    } else if (wc->opcode == IBV_WC_RDMA_READ) {
        on_return(link, histogram);
    }
}

struct baseline *baseline_ping_pong_start(struct baseline_link *link,
    const struct baseline_options *given, const struct baseline_traffic *traffic)
{
    struct rpma_cq *cqs[2] = {link->client.cq, link->server.cq};
    struct baseline_options options = *given;

    if (traffic->size > BASELINE_LINK_BYTES || traffic->operation > BASELINE_READ ||
        options.handlers > 1) {
        errno = EINVAL;
        return NULL;
    }
    options.work = RING_CUSTOM;
    options.handler_paths[0] = BASELINE_SEND_WRITE | BASELINE_RECEIVE | BASELINE_ERROR;
    link->traffic = *traffic;
    link->record_from_ns = options.record_from_ns;
    link->record_length_ns = options.record_until_ns - options.record_from_ns;
    link->recorded = 0;
    link->has_poster = false;
    atomic_store(&link->stop, false);
    atomic_store(&link->at_rest, false);
    atomic_store(&link->done, false);
    atomic_store(&link->failed, false);
    /* Before the threads start: from then on the handler thread posts. */
    link->sent_ns = now_ns();
    post_from(link, &link->client);
    return ring_start(&options, cqs, 2, handle, link);
}
