/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paced.c: operations posted at their due times over a link. A write or read ends with the completion at the client,
 * with the due time as its wr_id; a send ends with the receive at the server. Messages arrive in send order, so the
 * schedule has the due time of each.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "hot.h"
#include "link.h"
#include "ring.h"
#include "threads.h"

#define CATCH_UP_NS UINT64_C(4000000000)

/* Written by one thread only. */
static void count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
        memory_order_release);
}

static int post(struct baseline_link *link, uint64_t due_ns)
{
    const struct link_end *client = &link->client;
    const size_t size = link->traffic.size;
    const void *id = (const void *)(uintptr_t)due_ns;

    if (link->traffic.operation == BASELINE_SEND)
        return rpma_send(client->conn, client->local, 0, size, RPMA_F_COMPLETION_ALWAYS, id);
    if (link->traffic.operation == BASELINE_READ)
        return rpma_read(client->conn, client->local, 0, client->remote, 0, size,
            RPMA_F_COMPLETION_ALWAYS, id);
    return rpma_write(client->conn, client->remote, 0, client->local, 0, size,
        RPMA_F_COMPLETION_ALWAYS, id);
}

/*
 * Whether posting is over. Operations that were due within the recording time are posted even if late: otherwise the
 * highest latencies would be missing from the histogram.
 */
static bool is_over(struct baseline_link *link, uint64_t due_ns)
{
    if (!atomic_load_explicit(&link->stop, memory_order_acquire))
        return false;
    if (due_ns >= link->post_until_ns)
        return true;
    if (now_ns() < link->post_until_ns + CATCH_UP_NS)
        return false;
    atomic_store_explicit(&link->failed, true, memory_order_release);
    return true;
}

/* The next due time of the schedule. */
static void advance(const struct baseline_link *link, uint64_t *period_start, uint32_t *index)
{
    if (++*index == link->traffic.schedule_length) {
        *index = 0;
        *period_start += link->traffic.period_ns;
    }
}

static void on_message(struct baseline_link *link, uint64_t *histogram)
{
    const uint64_t due = link->period_start_ns + link->schedule_ns[link->index];

    if (due - link->record_from_ns < link->record_length_ns)
        histogram_record(histogram, now_ns() - due);
    advance(link, &link->period_start_ns, &link->index);
    if (rpma_recv(link->server.conn, link->server.local, 0, BASELINE_LINK_BYTES, NULL) != 0)
        atomic_store_explicit(&link->failed, true, memory_order_release);
    count(&link->received);
}

static void handle(void *context, const struct ibv_wc *wc, uint64_t *histogram)
{
    struct baseline_link *link = context;

    if (wc->status != IBV_WC_SUCCESS)
        atomic_store_explicit(&link->failed, true, memory_order_release);
    else if ((wc->opcode & IBV_WC_RECV) != 0)
        on_message(link, histogram);
    else
        count(&link->sent);
}

/* The number of operations that have completed at both ends and have made room for others. */
static uint64_t ended(struct baseline_link *link)
{
    if (link->traffic.operation == BASELINE_SEND) {
        const uint64_t sent = atomic_load_explicit(&link->sent, memory_order_acquire);
        const uint64_t received = atomic_load_explicit(&link->received, memory_order_acquire);

        return sent < received ? sent : received;
    }
    struct baseline_sample sample;

    baseline_sample(link->baseline, &sample);
    return sample.published;
}

/*
 * An operation that waits for room is posted late, and its latency counts from its due time. The ended counter is read
 * only when there may be no room, because its cache line is hot.
 */
static bool await_turn(struct baseline_link *link, uint64_t due_ns, uint64_t posted,
    uint64_t *completed)
{
    for (;;) {
        if (posted - *completed >= BASELINE_LINK_DEPTH) {
            *completed = ended(link);
        } else if ((int64_t)(now_ns() - due_ns) >= 0) {
            return true;
        }
        if (is_over(link, due_ns))
            return false;
        relax(link->wait);
    }
}

static void *poster_main(void *argument)
{
    struct baseline_link *link = argument;
    const struct baseline_traffic *traffic = &link->traffic;
    uint64_t period_start = traffic->start_ns;
    uint64_t posted = 0;
    uint64_t completed = 0;
    uint32_t index = 0;

    for (;;) {
        const uint64_t due = period_start + link->schedule_ns[index];

        if (!await_turn(link, due, posted, &completed))
            break;
        if (post(link, due) != 0) {
            atomic_store_explicit(&link->failed, true, memory_order_release);
            break;
        }
        posted++;
        atomic_store_explicit(&link->posted, posted, memory_order_release);
        advance(link, &period_start, &index);
    }
    return NULL;
}

/* One receive is posted when the connection is made, and each used one is posted again. */
static int receive_ahead(struct baseline_link *link)
{
    if (link->receives_ahead)
        return 0;
    for (uint32_t i = 1; i < BASELINE_LINK_DEPTH; i++) {
        if (rpma_recv(link->server.conn, link->server.local, 0, BASELINE_LINK_BYTES, NULL) != 0)
            return -1;
    }
    link->receives_ahead = true;
    return 0;
}

/* A send has two completions: its own and that of the receive. */
static struct baseline *start_ring(struct baseline_link *link, struct baseline_options *options)
{
    struct rpma_cq *cqs[2] = {link->client.cq, link->server.cq};

    if (link->traffic.operation != BASELINE_SEND) {
        options->work = BASELINE_LATENCY;
        return ring_start(options, cqs, 1, NULL, NULL);
    }
    if (receive_ahead(link) != 0) {
        errno = EIO;
        return NULL;
    }
    options->work = RING_CUSTOM;
    options->handler_paths[0] = BASELINE_SEND_WRITE | BASELINE_RECEIVE | BASELINE_ERROR;
    return ring_start(options, cqs, 2, handle, link);
}

struct baseline *baseline_paced_start(struct baseline_link *link,
    const struct baseline_options *given, const struct baseline_traffic *traffic)
{
    struct baseline_options options = *given;
    const size_t bytes = traffic->schedule_length * sizeof(uint64_t);

    if (traffic->size > BASELINE_LINK_BYTES || traffic->schedule_length == 0 ||
        (traffic->operation == BASELINE_SEND && options.handlers > 1)) {
        errno = EINVAL;
        return NULL;
    }
    free(link->schedule_ns);
    link->schedule_ns = malloc(bytes);
    if (link->schedule_ns == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(link->schedule_ns, traffic->schedule_ns, bytes);
    link->traffic = *traffic;
    link->record_from_ns = options.record_from_ns;
    link->record_length_ns = options.record_until_ns - options.record_from_ns;
    link->period_start_ns = traffic->start_ns;
    link->index = 0;
    link->wait = options.wait;
    link->post_until_ns = options.record_until_ns;
    atomic_store(&link->stop, false);
    atomic_store(&link->failed, false);
    atomic_store(&link->done, false);
    atomic_store(&link->posted, 0);
    atomic_store(&link->sent, 0);
    atomic_store(&link->received, 0);
    link->baseline = start_ring(link, &options);
    if (link->baseline == NULL)
        return NULL;
    const int error =
        start_thread(&link->poster, "bench-c-poster", traffic->poster_cpu, poster_main, link);
    link->has_poster = error == 0;
    if (error != 0) {
        struct baseline_result ignored;

        baseline_stop(link->baseline, &ignored);
        baseline_free(link->baseline);
        errno = error;
        return NULL;
    }
    return link->baseline;
}
