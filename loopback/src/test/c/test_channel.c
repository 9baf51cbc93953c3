/* SPDX-License-Identifier: Apache-2.0 */
/* test_channel.c: ids that change their event channel, or lose it, before their requests are fetched. */
#include <errno.h>
#include <string.h>

#include "process_end.h"
#include "ringpoll_loopback.h"

#define PATIENCE_MS 30000

/* A listener on one channel, and an id on another one that has sent a request to it, which is not fetched. */
struct request {
    struct rdma_event_channel *listening;
    struct rdma_event_channel *connecting;
    struct rdma_cm_id *listener;
    struct rdma_cm_id *active;
};

static struct rdma_cm_event *fetch(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event;

    CHECK(readable(channel->fd, PATIENCE_MS));
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(event->event, type);
    return event;
}

static void expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    CHECK_EQ(rdma_ack_cm_event(fetch(channel, type)), 0);
}

/* With a listener that has a channel of its own, or with one on `listening`. */
static void open_request(struct request *request, bool has_own_channel)
{
    struct sockaddr_in address = address_of(0);
    struct rdma_conn_param parameters = {.qp_num = 1};

    request->listening = has_own_channel ? NULL : rdma_create_event_channel();
    request->connecting = rdma_create_event_channel();
    CHECK(request->connecting != NULL);
    CHECK_EQ(rdma_create_id(request->listening, &request->listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(request->listener, (struct sockaddr *)&address), 0);
    CHECK_EQ(rdma_listen(request->listener, 1), 0);
    address.sin_port = rdma_get_src_port(request->listener);
    CHECK_EQ(rdma_create_id(request->connecting, &request->active, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(request->active, NULL, (struct sockaddr *)&address, 1000), 0);
    expect(request->connecting, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK_EQ(rdma_resolve_route(request->active, 1000), 0);
    expect(request->connecting, RDMA_CM_EVENT_ROUTE_RESOLVED);
    CHECK_EQ(rdma_connect(request->active, &parameters), 0);
    CHECK(readable(request->listener->channel->fd, PATIENCE_MS));
}

static void close_active(struct request *request)
{
    CHECK_EQ(rdma_destroy_id(request->active), 0);
    rdma_destroy_event_channel(request->connecting);
}

/* The listener goes with its channel, and so does the id of the request. */
static void should_reject_requests_that_nobody_fetches(void)
{
    struct request request;

    open_request(&request, false);
    rdma_destroy_event_channel(request.listening);
    expect(request.connecting, RDMA_CM_EVENT_REJECTED);
    close_active(&request);
}

/* The old channel is destroyed: by the program, or with the migration of a listener that had one of its own. */
static void should_move_requests_with_their_listener(void)
{
    for (int has_own_channel = 0; has_own_channel < 2; has_own_channel++) {
        struct rdma_event_channel *channel = rdma_create_event_channel();
        struct request request;

        CHECK(channel != NULL);
        open_request(&request, has_own_channel);
        CHECK_EQ(rdma_migrate_id(request.listener, channel), 0);
        if (!has_own_channel)
            rdma_destroy_event_channel(request.listening);
        struct rdma_cm_event *event = fetch(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
        struct rdma_cm_id *passive = event->id;
        CHECK(event->listen_id == request.listener);
        CHECK(passive->channel == channel);
        CHECK_EQ(rdma_ack_cm_event(event), 0);
        CHECK_EQ(rdma_reject(passive, NULL, 0), 0);
        expect(request.connecting, RDMA_CM_EVENT_REJECTED);
        CHECK_EQ(rdma_destroy_id(passive), 0);
        CHECK_EQ(rdma_destroy_id(request.listener), 0);
        rdma_destroy_event_channel(channel);
        close_active(&request);
    }
}

static struct rdma_cm_id *bound_id(struct rdma_event_channel *channel)
{
    struct sockaddr_in address = address_of(0);
    struct rdma_cm_id *id;

    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
    CHECK(id->pd != NULL);
    return id;
}

/* The ids' protection domain goes with the last id; a planned failure of that call is that of a domain in use. */
static void should_not_use_a_protection_domain_that_is_gone(void)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();

    CHECK(channel != NULL);
    struct rdma_cm_id *id = bound_id(channel);
    CHECK_EQ(ringpoll_loopback_live(RINGPOLL_LOOPBACK_PD), 1);
    CHECK_EQ(ringpoll_loopback_fail_call(1, EBUSY), 0);
    CHECK_EQ(rdma_destroy_id(id), 0);
    CHECK(strcmp(ringpoll_loopback_failed_call(), "ibv_dealloc_pd") == 0);
    CHECK_EQ(ringpoll_loopback_live(RINGPOLL_LOOPBACK_PD), 0);
    id = bound_id(channel);
    CHECK_EQ(ringpoll_loopback_live(RINGPOLL_LOOPBACK_PD), 1);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

const struct test channel_tests[] = {
    {"requests that nobody fetches are rejected with their channel", should_reject_requests_that_nobody_fetches},
    {"requests go to another channel with their listener", should_move_requests_with_their_listener},
    {"a protection domain that is gone is not used", should_not_use_a_protection_domain_that_is_gone},
    {NULL, NULL},
};
