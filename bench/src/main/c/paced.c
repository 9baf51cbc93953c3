/* SPDX-License-Identifier: Apache-2.0 */
/* paced.c: operations posted at their due times over a link. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "hot.h"
#include "link.h"
#include "ring.h"
#include "threads.h"

#define CATCH_UP_NS UINT64_C(4000000000)

static int post(struct baseline_link *link, uint64_t due_ns)
{
    const struct link_end *client = &link->client;
    const size_t size = link->traffic.size;
    const void *id = (const void *)(uintptr_t)due_ns;

    if (link->traffic.operation == BASELINE_READ)
        return rpma_read(client->conn, client->local, 0, client->remote, 0, size,
            RPMA_F_COMPLETION_ALWAYS, id);
    return rpma_write(client->conn, client->remote, 0, client->local, 0, size,
        RPMA_F_COMPLETION_ALWAYS, id);
}

/*
 * Whether nothing is to be posted any more. What was due within the time that is recorded is posted
 * however late, or the latest would be missing from the histogram.
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

/*
 * An operation that has to wait for room is posted late, and its latency counts from when it was
 * due. The poller's sequence is looked at only when there may be no room: its line is hot.
 */
static bool await_turn(struct baseline_link *link, uint64_t due_ns, uint64_t posted,
    uint64_t *completed)
{
    for (;;) {
        if (posted - *completed >= BASELINE_LINK_DEPTH) {
            struct baseline_sample sample;

            baseline_sample(link->baseline, &sample);
            *completed = sample.published;
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
        if (++index == traffic->schedule_length) {
            index = 0;
            period_start += traffic->period_ns;
        }
    }
    return NULL;
}

struct baseline *baseline_paced_start(struct baseline_link *link,
    const struct baseline_options *given, const struct baseline_traffic *traffic)
{
    struct baseline_options options = *given;
    const size_t bytes = traffic->schedule_length * sizeof(uint64_t);

    if (traffic->size > BASELINE_LINK_BYTES || traffic->schedule_length == 0) {
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
    options.work = BASELINE_LATENCY;
    link->traffic = *traffic;
    link->wait = options.wait;
    link->post_until_ns = options.record_until_ns;
    atomic_store(&link->stop, false);
    atomic_store(&link->failed, false);
    atomic_store(&link->done, false);
    atomic_store(&link->posted, 0);
    link->baseline = ring_start(&options, &link->client.cq, 1, NULL, NULL);
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
