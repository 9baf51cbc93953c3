/* SPDX-License-Identifier: Apache-2.0 */
/* test_connection.c: establishment, failure and end of connections. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "ringpoll_loopback.h"
#include "test.h"

#define MANY 200
#define CYCLES 2000

/* A server that listens, without a client so far. */
struct listener {
    struct rpma_peer *peer;
    struct rpma_ep *ep;
    char port[16];
};

static void listen_on(struct listener *listener)
{
    listener->peer = test_peer();
    test_next_port(listener->port);
    CHECK_EQ(rpma_ep_listen(listener->peer, ADDRESS, listener->port, &listener->ep), 0);
}

static void stop_listening(struct listener *listener)
{
    CHECK_EQ(rpma_ep_shutdown(&listener->ep), 0);
    CHECK_EQ(rpma_peer_delete(&listener->peer), 0);
}

static struct rpma_conn *connect_to(struct rpma_peer *peer, const char *port)
{
    struct rpma_conn_req *request;
    struct rpma_conn *conn;

    CHECK_EQ(rpma_conn_req_new(peer, ADDRESS, port, NULL, &request), 0);
    CHECK_EQ(rpma_conn_req_connect(&request, NULL, &conn), 0);
    return conn;
}

static struct rpma_conn *accept_on(struct rpma_ep *ep)
{
    struct rpma_conn_req *request;
    struct rpma_conn *conn;

    CHECK_EQ(rpma_ep_next_conn_req(ep, NULL, &request), 0);
    CHECK_EQ(rpma_conn_req_connect(&request, NULL, &conn), 0);
    return conn;
}

static void close_both(struct rpma_conn **client, struct rpma_conn **server)
{
    CHECK_EQ(rpma_conn_disconnect(*client), 0);
    CHECK_EQ(next_event(*server), RPMA_CONN_CLOSED);
    CHECK_EQ(rpma_conn_disconnect(*server), 0);
    CHECK_EQ(next_event(*client), RPMA_CONN_CLOSED);
    CHECK_EQ(rpma_conn_delete(client), 0);
    CHECK_EQ(rpma_conn_delete(server), 0);
}

static int count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    CHECK(directory != NULL);
    while (readdir(directory) != NULL)
        count++;
    (void)closedir(directory);
    return count;
}

static void should_pass_private_data_both_ways(void)
{
    struct rpma_conn_private_data from_client = {.ptr = "hello, server", .len = 14};
    struct rpma_conn_private_data from_server = {.ptr = "hello, client", .len = 14};
    struct rpma_conn_private_data got;
    struct rpma_conn_req *client_request;
    struct rpma_conn_req *server_request;
    struct rpma_conn *client;
    struct rpma_conn *server;
    struct listener listener;
    char zeros[256] = {0};

    listen_on(&listener);
    CHECK_EQ(rpma_conn_req_new(listener.peer, ADDRESS, listener.port, NULL, &client_request), 0);
    CHECK_EQ(rpma_conn_req_connect(&client_request, &from_client, &client), 0);
    CHECK_EQ(rpma_ep_next_conn_req(listener.ep, NULL, &server_request), 0);
    CHECK_EQ(rpma_conn_req_get_private_data(server_request, &got), 0);
    /* As with RoCE: the whole private data field arrives, padded with zeros. */
    CHECK_EQ(got.len, 56);
    CHECK(memcmp(got.ptr, "hello, server", 14) == 0);
    CHECK(memcmp((char *)got.ptr + 14, zeros, 56 - 14) == 0);
    CHECK_EQ(rpma_conn_req_connect(&server_request, &from_server, &server), 0);
    CHECK_EQ(next_event(client), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(next_event(server), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(rpma_conn_get_private_data(client, &got), 0);
    CHECK_EQ(got.len, 196);
    CHECK(memcmp(got.ptr, "hello, client", 14) == 0);
    CHECK(memcmp((char *)got.ptr + 14, zeros, 196 - 14) == 0);
    CHECK_EQ(rpma_conn_get_private_data(server, &got), 0);
    CHECK_EQ(got.len, 56);
    close_both(&client, &server);
    stop_listening(&listener);
}

static void should_refuse_private_data_that_is_too_long(void)
{
    char data[200] = {0};
    struct rpma_conn_private_data too_long = {.ptr = data, .len = 57};
    struct rpma_conn_req *request;
    struct rpma_conn *conn;
    struct listener listener;

    listen_on(&listener);
    CHECK_EQ(rpma_conn_req_new(listener.peer, ADDRESS, listener.port, NULL, &request), 0);
    CHECK_EQ(rpma_conn_req_connect(&request, &too_long, &conn), RPMA_E_PROVIDER);
    conn = connect_to(listener.peer, listener.port);
    CHECK_EQ(rpma_ep_next_conn_req(listener.ep, NULL, &request), 0);
    too_long.len = 197;
    struct rpma_conn *server = NULL;
    CHECK_EQ(rpma_conn_req_connect(&request, &too_long, &server), RPMA_E_PROVIDER);
    CHECK(server == NULL);
    CHECK_EQ(rpma_conn_delete(&conn), 0);
    stop_listening(&listener);
}

static void should_tell_the_client_that_it_was_rejected(void)
{
    struct rpma_conn_req *request;
    struct listener listener;

    listen_on(&listener);
    struct rpma_conn *client = connect_to(listener.peer, listener.port);
    CHECK_EQ(rpma_ep_next_conn_req(listener.ep, NULL, &request), 0);
    CHECK_EQ(rpma_conn_req_delete(&request), 0);
    CHECK_EQ(next_event(client), RPMA_CONN_REJECTED);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    stop_listening(&listener);
}

static void should_refuse_where_nobody_listens(void)
{
    char port[16];
    struct rpma_peer *peer = test_peer();

    test_next_port(port);
    struct rpma_conn *client = connect_to(peer, port);
    CHECK_EQ(next_event(client), RPMA_CONN_REJECTED);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
}

static void should_reject_what_a_closed_endpoint_never_fetched(void)
{
    struct listener listener;

    listen_on(&listener);
    struct rpma_peer *peer = test_peer();
    struct rpma_conn *client = connect_to(peer, listener.port);
    stop_listening(&listener);
    CHECK_EQ(next_event(client), RPMA_CONN_REJECTED);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
}

static void should_refuse_a_port_that_is_taken(void)
{
    struct listener listener;
    struct rpma_ep *second = NULL;

    listen_on(&listener);
    CHECK_EQ(rpma_ep_listen(listener.peer, ADDRESS, listener.port, &second), RPMA_E_PROVIDER);
    CHECK_EQ(rpma_ep_listen(listener.peer, "0.0.0.0", listener.port, &second), RPMA_E_PROVIDER);
    /* Another address of this machine has ports of its own. */
    CHECK_EQ(rpma_ep_listen(listener.peer, "127.0.0.2", listener.port, &second), 0);
    CHECK_EQ(rpma_ep_shutdown(&second), 0);
    stop_listening(&listener);
    /* And a port that was given back can be taken again. */
    struct rpma_peer *peer = test_peer();
    CHECK_EQ(rpma_ep_listen(peer, ADDRESS, listener.port, &second), 0);
    CHECK_EQ(rpma_ep_shutdown(&second), 0);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
}

static struct sockaddr_in address_of(const char *text, uint16_t port)
{
    struct rdma_addrinfo *found;
    struct sockaddr_in address;

    CHECK_EQ(rdma_getaddrinfo(text, NULL, NULL, &found), 0);
    CHECK_EQ(found->ai_dst_addr->sa_family, AF_INET);
    memcpy(&address, found->ai_dst_addr, sizeof(address));
    address.sin_port = htons(port);
    rdma_freeaddrinfo(found);
    return address;
}

static void should_refuse_addresses_of_other_machines(void)
{
    struct sockaddr_in elsewhere = address_of("192.0.2.1", 7777); /* reserved for documentation */
    struct ibv_context *context = NULL;
    struct rpma_conn_req *request = NULL;
    struct rpma_peer *peer = test_peer();
    struct rpma_ep *ep = NULL;
    struct rdma_cm_id *id;

    CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&elsewhere), -1);
    CHECK_EQ(errno, EADDRNOTAVAIL);
    CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&elsewhere, 100), -1);
    CHECK_EQ(errno, ENODEV);
    CHECK_EQ(rdma_destroy_id(id), 0);
    CHECK_EQ(rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &context),
        RPMA_E_PROVIDER);
    CHECK_EQ(rpma_ep_listen(peer, "192.0.2.1", "7777", &ep), RPMA_E_PROVIDER);
    CHECK_EQ(rpma_conn_req_new(peer, "192.0.2.1", "7777", NULL, &request), RPMA_E_PROVIDER);
    CHECK_EQ(rpma_conn_req_new(peer, "no-such-host.invalid", "7777", NULL, &request),
        RPMA_E_PROVIDER);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
}

static void connect_through(const char *listen_address, const char *connect_address)
{
    struct rpma_peer *peer = test_peer();
    struct rpma_conn_req *request;
    struct rpma_conn *client;
    struct rpma_ep *ep;
    char port[16];

    test_next_port(port);
    CHECK_EQ(rpma_ep_listen(peer, listen_address, port, &ep), 0);
    CHECK_EQ(rpma_conn_req_new(peer, connect_address, port, NULL, &request), 0);
    CHECK_EQ(rpma_conn_req_connect(&request, NULL, &client), 0);
    struct rpma_conn *server = accept_on(ep);
    CHECK_EQ(next_event(client), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(next_event(server), RPMA_CONN_ESTABLISHED);
    close_both(&client, &server);
    CHECK_EQ(rpma_ep_shutdown(&ep), 0);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
}

static void should_connect_through_every_form_of_local_address(void)
{
    char host[256];
    struct rdma_addrinfo *found;

    /* A machine without /etc/hosts knows no names at all. */
    if (rdma_getaddrinfo("localhost", NULL, NULL, &found) == 0) {
        rdma_freeaddrinfo(found);
        connect_through("127.0.0.1", "localhost");
    } else {
        printf("        (without a name: localhost does not resolve here)\n");
    }
    connect_through("0.0.0.0", "127.0.0.1");
    connect_through("127.0.0.3", "127.0.0.3");
    if (access("/proc/net/if_inet6", F_OK) == 0) {
        connect_through("::1", "::1");
        connect_through("::", "127.0.0.1");
    }
    CHECK_EQ(gethostname(host, sizeof(host)), 0);
    if (rdma_getaddrinfo(host, NULL, NULL, &found) == 0) {
        rdma_freeaddrinfo(found);
        connect_through("0.0.0.0", host);
    }
}

static void should_find_the_right_one_of_several_listeners(void)
{
    struct listener listeners[5];
    struct rpma_conn *clients[5];

    for (int i = 0; i < 5; i++)
        listen_on(&listeners[i]);
    for (int i = 4; i >= 0; i--)
        clients[i] = connect_to(listeners[0].peer, listeners[i].port);
    for (int i = 0; i < 5; i++) {
        struct rpma_conn *server = accept_on(listeners[i].ep);

        CHECK_EQ(next_event(clients[i]), RPMA_CONN_ESTABLISHED);
        CHECK_EQ(next_event(server), RPMA_CONN_ESTABLISHED);
        close_both(&clients[i], &server);
    }
    for (int i = 0; i < 5; i++)
        stop_listening(&listeners[i]);
}

static void should_tell_both_sides_of_a_disconnect(void)
{
    struct listener listener;

    listen_on(&listener);
    struct rpma_conn *client = connect_to(listener.peer, listener.port);
    struct rpma_conn *server = accept_on(listener.ep);
    int client_fd;

    CHECK_EQ(next_event(client), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(next_event(server), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(rpma_conn_get_event_fd(client, &client_fd), 0);
    CHECK_EQ(rpma_conn_disconnect(client), 0);
    CHECK_EQ(next_event(server), RPMA_CONN_CLOSED);
    /* The disconnecting side gets its event after the reply of the other side. */
    CHECK(!readable(client_fd, 50));
    CHECK_EQ(rpma_conn_disconnect(server), 0);
    CHECK_EQ(next_event(client), RPMA_CONN_CLOSED);
    /* The end of the time-wait state is an event of its own; librpma calls it by the same name. */
    CHECK_EQ(next_event(client), RPMA_CONN_CLOSED);
    CHECK_EQ(next_event(server), RPMA_CONN_CLOSED);
    CHECK_EQ(rpma_conn_disconnect(client), 0);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    CHECK_EQ(rpma_conn_delete(&server), 0);
    stop_listening(&listener);
}

static void should_give_up_on_a_disconnect_that_nobody_answers(void)
{
    struct listener listener;

    listen_on(&listener);
    struct rpma_conn *client = connect_to(listener.peer, listener.port);
    struct rpma_conn *server = accept_on(listener.ep);
    int fd;

    CHECK_EQ(next_event(client), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(rpma_conn_disconnect(client), 0);
    CHECK_EQ(rpma_conn_get_event_fd(client, &fd), 0);
    CHECK(readable(fd, 10000));
    CHECK_EQ(next_event(client), RPMA_CONN_CLOSED);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    CHECK_EQ(rpma_conn_delete(&server), 0);
    stop_listening(&listener);
}

static void should_notice_a_peer_that_vanishes(void)
{
    struct listener listener;

    listen_on(&listener);
    struct rpma_conn *client = connect_to(listener.peer, listener.port);
    struct rpma_conn *server = accept_on(listener.ep);

    CHECK_EQ(next_event(client), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(next_event(server), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    CHECK_EQ(next_event(server), RPMA_CONN_CLOSED);
    CHECK_EQ(rpma_conn_delete(&server), 0);
    stop_listening(&listener);
}

static void should_fail_an_accept_whose_client_has_gone(void)
{
    struct listener listener;
    struct rpma_conn_req *request;
    struct rpma_conn *server = NULL;

    listen_on(&listener);
    struct rpma_conn *client = connect_to(listener.peer, listener.port);
    CHECK_EQ(rpma_ep_next_conn_req(listener.ep, NULL, &request), 0);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    const int result = rpma_conn_req_connect(&request, NULL, &server);
    if (test_between_processes() && result == 0) {
        /* The accept and the news of the end have crossed. */
        CHECK_EQ(next_event(server), RPMA_CONN_REJECTED);
        CHECK_EQ(rpma_conn_delete(&server), 0);
    } else {
        CHECK_EQ(result, RPMA_E_PROVIDER);
    }
    /* The server gets no event other than the failed accept. */
    int fd;
    CHECK_EQ(rpma_ep_get_fd(listener.ep, &fd), 0);
    CHECK(!readable(fd, 0));
    stop_listening(&listener);
}

static void should_time_out_a_connect_that_nobody_answers(void)
{
    struct listener listener;

    CHECK_EQ(ringpoll_loopback_set_connect_timeout(0), EINVAL);
    CHECK_EQ(ringpoll_loopback_set_connect_timeout(50), 0);
    listen_on(&listener);
    struct rpma_conn *client = connect_to(listener.peer, listener.port);
    CHECK_EQ(next_event(client), RPMA_CONN_UNREACHABLE);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    /* And an accept that never reaches the client. */
    CHECK_EQ(ringpoll_loopback_set_connect_timeout(60000), 0);
    client = connect_to(listener.peer, listener.port);
    CHECK_EQ(ringpoll_loopback_set_connect_timeout(50), 0);
    struct rpma_conn_req *request;
    CHECK_EQ(rpma_ep_next_conn_req(listener.ep, NULL, &request), 0);
    /* The one that timed out; between processes, it may not have been heard of yet. */
    const int result = rpma_conn_req_delete(&request);
    if (!test_between_processes() || result != 0)
        CHECK_EQ(result, RPMA_E_PROVIDER);
    struct rpma_conn *server = accept_on(listener.ep);
    CHECK_EQ(next_event(server), RPMA_CONN_UNREACHABLE);
    const enum rpma_conn_event event = next_event(client);
    if (test_between_processes() && event == RPMA_CONN_ESTABLISHED)
        CHECK_EQ(next_event(client), RPMA_CONN_CLOSED); /* the accept was before the end of the connection */
    else
        CHECK_EQ(event, RPMA_CONN_LOST);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    CHECK_EQ(rpma_conn_delete(&server), 0);
    stop_listening(&listener);
    CHECK_EQ(ringpoll_loopback_set_connect_timeout(60000), 0);
}

static void should_reject_what_the_backlog_cannot_hold(void)
{
    struct sockaddr_in address = address_of(ADDRESS, 0);
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rpma_peer *peer = test_peer();
    struct rpma_conn *clients[3];
    struct rdma_cm_event *event;
    struct rdma_cm_id *id;
    char port[16];

    test_next_port(port);
    address.sin_port = htons((uint16_t)atoi(port));
    CHECK(channel != NULL);
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
    CHECK_EQ(rdma_listen(id, 2), 0);
    for (int i = 0; i < 3; i++)
        clients[i] = connect_to(peer, port);
    CHECK_EQ(next_event(clients[2]), RPMA_CONN_REJECTED);
    CHECK_EQ(rpma_conn_delete(&clients[2]), 0);
    /* Fetching a request makes room for another one. */
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK(event->listen_id == id);
    struct rdma_cm_id *request = event->id;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    clients[2] = connect_to(peer, port);
    CHECK_EQ(rdma_reject(request, "no", 3), 0);
    CHECK_EQ(rdma_destroy_id(request), 0);
    CHECK_EQ(next_event(clients[0]), RPMA_CONN_REJECTED);
    CHECK_EQ(rdma_destroy_id(id), 0);
    CHECK_EQ(next_event(clients[1]), RPMA_CONN_REJECTED);
    CHECK_EQ(next_event(clients[2]), RPMA_CONN_REJECTED);
    CHECK(!readable(channel->fd, 0));
    rdma_destroy_event_channel(channel);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(rpma_conn_delete(&clients[i]), 0);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
}

/* The rdma_cm way without librpma: ids that wait in every call. */
static void *synchronous_server(void *context)
{
    struct rdma_cm_id *listener = context;
    struct rdma_cm_id *id;

    CHECK_EQ(rdma_get_request(listener, &id), 0);
    CHECK(id->qp != NULL);
    struct rdma_conn_param param = {.private_data = "welcome", .private_data_len = 8,
        .rnr_retry_count = 5};
    CHECK_EQ(rdma_accept(id, &param), 0);
    CHECK_EQ(id->event->event, RDMA_CM_EVENT_ESTABLISHED);
    struct rdma_cm_event *event;
    CHECK_EQ(rdma_get_cm_event(id->channel, &event), 0);
    CHECK_EQ(event->event, RDMA_CM_EVENT_DISCONNECTED);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    CHECK_EQ(rdma_disconnect(id), 0);
    rdma_destroy_ep(id);
    return NULL;
}

static void should_work_with_synchronous_ids(void)
{
    struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP};
    struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
        .max_recv_sge = 1}, .qp_type = IBV_QPT_RC};
    struct ibv_qp_init_attr init_attr;
    struct ibv_qp_attr qp_attr;
    struct rdma_addrinfo *address;
    struct rdma_cm_id *listener;
    struct rdma_cm_id *client;
    struct ibv_qp_init_attr server_attr = attr;
    pthread_t server;
    char port[16];

    test_next_port(port);
    CHECK_EQ(rdma_getaddrinfo(ADDRESS, port, &hints, &address), 0);
    CHECK_EQ(rdma_create_ep(&listener, address, NULL, &server_attr), 0);
    rdma_freeaddrinfo(address);
    CHECK_EQ(rdma_listen(listener, 1), 0);
    CHECK_EQ(pthread_create(&server, NULL, synchronous_server, listener), 0);
    hints.ai_flags = 0;
    CHECK_EQ(rdma_getaddrinfo(ADDRESS, port, &hints, &address), 0);
    CHECK_EQ(rdma_create_ep(&client, address, NULL, &attr), 0);
    rdma_freeaddrinfo(address);
    CHECK_EQ(rdma_get_dst_port(client), htons((uint16_t)atoi(port)));
    CHECK(rdma_get_src_port(client) != 0);
    CHECK_EQ(rdma_connect(client, NULL), 0);
    CHECK_EQ(client->event->event, RDMA_CM_EVENT_ESTABLISHED);
    CHECK(strcmp(client->event->param.conn.private_data, "welcome") == 0);
    CHECK_EQ(ibv_query_qp(client->qp, &qp_attr, IBV_QP_STATE | IBV_QP_RNR_RETRY, &init_attr), 0);
    CHECK_EQ(qp_attr.qp_state, IBV_QPS_RTS);
    CHECK_EQ(qp_attr.rnr_retry, 5); /* the peer sets our number of retries */
    CHECK_EQ(rdma_disconnect(client), 0);
    CHECK_EQ(client->event->event, RDMA_CM_EVENT_DISCONNECTED);
    CHECK_EQ(pthread_join(server, NULL), 0);
    rdma_destroy_ep(client);
    /* Without a listener the call itself fails. */
    rdma_destroy_ep(listener);
    CHECK_EQ(rdma_getaddrinfo(ADDRESS, port, &hints, &address), 0);
    attr.send_cq = NULL; /* rdma_create_ep consumed its own events */
    attr.recv_cq = NULL;
    CHECK_EQ(rdma_create_ep(&client, address, NULL, &attr), 0);
    rdma_freeaddrinfo(address);
    CHECK_EQ(rdma_connect(client, NULL), -1);
    CHECK_EQ(errno, ECONNREFUSED);
    rdma_destroy_ep(client);
}

static void should_offer_descriptors_to_wait_on(void)
{
    struct rpma_conn_req *request;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    struct listener listener;
    enum rpma_conn_event conn_event;
    int ep_fd;
    int fd;

    listen_on(&listener);
    CHECK_EQ(rpma_ep_get_fd(listener.ep, &ep_fd), 0);
    CHECK_EQ(fcntl(ep_fd, F_SETFL, fcntl(ep_fd, F_GETFL) | O_NONBLOCK), 0);
    /* librpma only treats ENODATA as "no event"; the kernel, and this device, return EAGAIN. */
    CHECK_EQ(rpma_ep_next_conn_req(listener.ep, NULL, &request), RPMA_E_PROVIDER);
    CHECK_EQ(errno, EAGAIN);
    const int epoll_fd = epoll_create1(0);
    CHECK(epoll_fd >= 0);
    CHECK_EQ(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ep_fd, &event), 0);
    CHECK_EQ(epoll_wait(epoll_fd, &event, 1, 0), 0);
    struct rpma_conn *client = connect_to(listener.peer, listener.port);
    CHECK_EQ(epoll_wait(epoll_fd, &event, 1, 1000), 1);
    /* Edge-triggered: every further event wakes again, fetched or not. */
    struct rpma_conn *second = connect_to(listener.peer, listener.port);
    CHECK_EQ(epoll_wait(epoll_fd, &event, 1, 1000), 1);
    CHECK_EQ(epoll_wait(epoll_fd, &event, 1, 0), 0);
    struct rpma_conn *server = accept_on(listener.ep);
    CHECK(readable(ep_fd, 0));
    struct rpma_conn *second_server = accept_on(listener.ep);
    CHECK(!readable(ep_fd, 0));
    CHECK_EQ(rpma_conn_get_event_fd(client, &fd), 0);
    CHECK_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
    CHECK_EQ(next_event(client), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(rpma_conn_next_event(client, &conn_event), RPMA_E_PROVIDER);
    CHECK_EQ(next_event(second), RPMA_CONN_ESTABLISHED);
    CHECK_EQ(rpma_conn_delete(&client), 0);
    CHECK_EQ(rpma_conn_delete(&second), 0);
    CHECK_EQ(rpma_conn_delete(&server), 0);
    CHECK_EQ(rpma_conn_delete(&second_server), 0);
    (void)close(epoll_fd);
    stop_listening(&listener);
}

static void should_hold_hundreds_of_connections(void)
{
    struct rpma_conn *clients[MANY];
    struct rpma_conn *servers[MANY];
    struct listener listener;

    listen_on(&listener);
    for (int i = 0; i < MANY; i++)
        clients[i] = connect_to(listener.peer, listener.port);
    for (int i = 0; i < MANY; i++)
        servers[i] = accept_on(listener.ep);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(next_event(clients[i]), RPMA_CONN_ESTABLISHED);
        CHECK_EQ(next_event(servers[i]), RPMA_CONN_ESTABLISHED);
    }
    CHECK_EQ(ringpoll_loopback_live(RINGPOLL_LOOPBACK_QP), 2 * MANY);
    for (int i = 0; i < MANY; i++)
        close_both(&clients[i], &servers[i]);
    stop_listening(&listener);
}

static void should_leave_nothing_behind_after_thousands(void)
{
    struct listener listener;
    int before;

    listen_on(&listener);
    before = count_descriptors();
    for (int i = 0; i < CYCLES; i++) {
        struct rpma_conn *client = connect_to(listener.peer, listener.port);
        struct rpma_conn *server = accept_on(listener.ep);

        CHECK_EQ(next_event(client), RPMA_CONN_ESTABLISHED);
        CHECK_EQ(next_event(server), RPMA_CONN_ESTABLISHED);
        close_both(&client, &server);
    }
    /* Between processes a connection has a socket, which is closed when the other end has heard of its end. */
    for (int tries = 0; tries < 1000 && test_between_processes() && count_descriptors() > before; tries++)
        (void)usleep(10000);
    /* Those of earlier tests may have been open still. */
    if (test_between_processes())
        CHECK(count_descriptors() <= before);
    else
        CHECK_EQ(count_descriptors(), before);
    stop_listening(&listener);
}

const struct test connection_tests[] = {
    {"private data arrives both ways, padded", should_pass_private_data_both_ways},
    {"private data that is too long is refused", should_refuse_private_data_that_is_too_long},
    {"a rejected client hears of it", should_tell_the_client_that_it_was_rejected},
    {"a connect where nobody listens is rejected", should_refuse_where_nobody_listens},
    {"closing an endpoint rejects what it never fetched",
        should_reject_what_a_closed_endpoint_never_fetched},
    {"a port is taken once for each address", should_refuse_a_port_that_is_taken},
    {"addresses of other machines are refused", should_refuse_addresses_of_other_machines},
    {"all forms of local addresses connect", should_connect_through_every_form_of_local_address},
    {"several listeners get their own clients", should_find_the_right_one_of_several_listeners},
    {"both sides hear of a disconnect", should_tell_both_sides_of_a_disconnect},
    {"a disconnect that nobody answers times out",
        should_give_up_on_a_disconnect_that_nobody_answers},
    {"a peer that vanishes is noticed", should_notice_a_peer_that_vanishes},
    {"accepting a client that has gone fails", should_fail_an_accept_whose_client_has_gone},
    {"connect and accept time out", should_time_out_a_connect_that_nobody_answers},
    {"a full backlog rejects", should_reject_what_the_backlog_cannot_hold},
    {"synchronous ids work without librpma", should_work_with_synchronous_ids},
    {"event descriptors work with O_NONBLOCK, poll and epoll",
        should_offer_descriptors_to_wait_on},
    {"200 connections stand at once", should_hold_hundreds_of_connections},
    {"2000 connections in sequence leave nothing behind",
        should_leave_nothing_behind_after_thousands},
    {NULL, NULL},
};
