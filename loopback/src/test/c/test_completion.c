/* SPDX-License-Identifier: Apache-2.0 */
/* test_completion.c: completion channels: raising events, waiting for them, acknowledging them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

static void write_signalled(struct pair *pair)
{
    CHECK_EQ(rpma_write(pair->client.conn, pair->client.remote, 0, pair->client.mr, 0, 8,
        RPMA_F_COMPLETION_ALWAYS, WR_ID(1)), 0);
}

static void should_wake_a_waiter_on_its_descriptor(void)
{
    struct pair pair;
    int fd;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_cq_get_fd(pair.client.cq, &fd), 0);
    CHECK(!readable(fd, 0));
    write_signalled(&pair);
    CHECK(readable(fd, 1000));
    CHECK_EQ(rpma_cq_wait(pair.client.cq), 0);
    CHECK(!readable(fd, 0));
    CHECK_EQ(next_wc(pair.client.cq).wr_id, 1);
    /* One event per arming, however many completions. */
    write_signalled(&pair);
    write_signalled(&pair);
    CHECK_EQ(rpma_cq_wait(pair.client.cq), 0);
    if (!test_between_processes()) /* there the second one may come after the wait, which has armed the queue again */
        CHECK(!readable(fd, 0));
    (void)next_wc(pair.client.cq);
    (void)next_wc(pair.client.cq);
    pair_close(&pair);
}

static void should_not_block_a_descriptor_that_is_non_blocking(void)
{
    struct pair pair;
    int fd;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_cq_get_fd(pair.client.cq, &fd), 0);
    CHECK_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
    CHECK_EQ(rpma_cq_wait(pair.client.cq), RPMA_E_NO_COMPLETION);
    CHECK_EQ(errno, EAGAIN);
    write_signalled(&pair);
    CHECK(readable(fd, 10000));
    CHECK_EQ(rpma_cq_wait(pair.client.cq), 0);
    CHECK_EQ(rpma_cq_wait(pair.client.cq), RPMA_E_NO_COMPLETION);
    (void)next_wc(pair.client.cq);
    pair_close(&pair);
}

static void should_share_one_channel_between_both_queues(void)
{
    struct pair_options options = {.rcq_size = 8, .shared_channel = true};
    struct pair pair;
    struct rpma_cq *which;
    bool is_rcq;
    int fd;

    pair_open(&pair, &options);
    CHECK_EQ(rpma_cq_wait(pair.client.cq), RPMA_E_SHARED_CHANNEL);
    CHECK_EQ(rpma_conn_get_compl_fd(pair.server.conn, &fd), 0);
    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 8, WR_ID(5)), 0);
    CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS,
        WR_ID(6)), 0);
    CHECK(readable(fd, 1000));
    CHECK_EQ(rpma_conn_wait(pair.server.conn, 0, &which, &is_rcq), 0);
    CHECK(is_rcq && which == pair.server.rcq);
    CHECK_EQ(rpma_conn_wait(pair.client.conn, 0, &which, &is_rcq), 0);
    CHECK(!is_rcq && which == pair.client.cq);
    (void)next_wc(pair.server.rcq);
    (void)next_wc(pair.client.cq);
    pair_close(&pair);
}

static void should_raise_an_event_for_what_comes_after_the_request(void)
{
    struct verbs_pair pair;
    struct ibv_cq *cq;
    void *context;
    struct ibv_wc wc;

    verbs_pair_open(&pair, NULL);
    verbs_send(&pair, 0, 1, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    CHECK(!readable(pair.channel->fd, 0));
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    /* Earlier completions raise no event: poll once more after arming. */
    CHECK(!readable(pair.channel->fd, 0));
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
    verbs_send(&pair, 0, 2, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    CHECK(readable(pair.channel->fd, 1000));
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
    /* An event with an empty queue is normal. */
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK(cq == pair.cq[0] && context == NULL);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    ibv_ack_cq_events(cq, 1);
    verbs_pair_close(&pair);
}

static void should_tell_solicited_events_from_others(void)
{
    struct verbs_pair pair;
    struct ibv_cq *cq;
    void *context;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1), 0);
    for (uint64_t i = 0; i < 3; i++)
        verbs_recv(&pair, 1, i, 0, 8);
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, 0);
    CHECK(!readable(pair.channel->fd, 0));
    verbs_send(&pair, 0, 2, IBV_WR_SEND, 8, IBV_SEND_SOLICITED);
    CHECK(readable(pair.channel->fd, 1000));
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK(cq == pair.cq[1]);
    ibv_ack_cq_events(cq, 1);
    /* A failed completion is always solicited. */
    CHECK_EQ(ibv_req_notify_cq(pair.cq[1], 1), 0);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    CHECK_EQ(ibv_modify_qp(pair.qp[1], &attr, IBV_QP_STATE), 0);
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
    /* A request for all is not weakened by a later one for solicited events. */
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 1), 0);
    verbs_send(&pair, 0, 3, IBV_WR_RDMA_WRITE, 0, IBV_SEND_SIGNALED);
    CHECK(readable(pair.channel->fd, 2000));
    verbs_pair_close(&pair);
}

static void should_wake_edge_triggered_epoll_for_every_event(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    struct verbs_pair pair;
    struct ibv_cq *cq;
    void *context;

    verbs_pair_open(&pair, NULL);
    const int epoll_fd = epoll_create1(0);
    CHECK(epoll_fd >= 0);
    CHECK_EQ(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pair.channel->fd, &event), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
        verbs_send(&pair, 0, 1, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
        CHECK_EQ(epoll_wait(epoll_fd, &event, 1, 1000), 1);
        CHECK_EQ(epoll_wait(epoll_fd, &event, 1, 0), 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK(!readable(pair.channel->fd, 0));
    ibv_ack_cq_events(cq, 2);
    (void)close(epoll_fd);
    verbs_pair_close(&pair);
}

struct late_ack {
    struct ibv_cq *cq;
    _Atomic bool acknowledged;
};

static void *acknowledge_late(void *context)
{
    struct late_ack *late = context;
    const struct timespec moment = {.tv_nsec = 50000000};

    (void)nanosleep(&moment, NULL);
    late->acknowledged = true;
    ibv_ack_cq_events(late->cq, 2);
    return NULL;
}

static void should_destroy_a_queue_only_when_its_events_are_acknowledged(void)
{
    struct verbs_pair pair;
    struct ibv_cq *cq;
    void *context;
    pthread_t thread;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ibv_destroy_comp_channel(pair.channel), EBUSY);
    CHECK_EQ(ibv_destroy_cq(pair.cq[0]), EBUSY);
    struct ibv_cq *extra = ibv_create_cq(pair.context, 1, &pair, pair.channel, 0);
    CHECK(extra != NULL);
    CHECK_EQ(ibv_destroy_cq(extra), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
        verbs_send(&pair, 0, 1, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    }
    /* Two of three fetched: the third goes with the queue. */
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK_EQ(ibv_get_cq_event(pair.channel, &cq, &context), 0);
    CHECK_EQ(ibv_destroy_qp(pair.qp[0]), 0);
    pair.qp[0] = NULL;
    struct late_ack late = {.cq = pair.cq[0]};
    CHECK_EQ(pthread_create(&thread, NULL, acknowledge_late, &late), 0);
    CHECK_EQ(ibv_destroy_cq(pair.cq[0]), 0);
    CHECK(late.acknowledged);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!readable(pair.channel->fd, 0));
    pair.cq[0] = ibv_create_cq(pair.context, 1, NULL, NULL, 0);
    verbs_pair_close(&pair);
}

static void should_grant_and_resize_queues(void)
{
    struct verbs_pair pair;
    struct ibv_wc wc[64];

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(pair.cq[0]->cqe, 127); /* 2^n - 1, at least the 64 that were asked for */
    for (uint64_t i = 0; i < 20; i++)
        verbs_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 5, wc), 5);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 7), EINVAL); /* fewer than are in it */
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 15), 0);
    CHECK_EQ(pair.cq[0]->cqe, 15);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 64, wc), 15);
    for (uint64_t i = 0; i < 15; i++)
        check_success(&wc[i], 5 + i, IBV_WC_RDMA_WRITE, 8, pair.qp[0]->qp_num);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 1000), 0);
    CHECK_EQ(pair.cq[0]->cqe, 1023);
    CHECK(ibv_create_cq(pair.context, 0, NULL, NULL, 0) == NULL);
    CHECK_EQ(errno, EINVAL);
    CHECK(ibv_create_cq(pair.context, 1 << 23, NULL, NULL, 0) == NULL);
    CHECK_EQ(errno, EINVAL);
    CHECK(ibv_create_cq(pair.context, 1, NULL, NULL, 1) == NULL);
    CHECK_EQ(errno, EINVAL);
    verbs_pair_close(&pair);
}

static void *complete_late(void *context)
{
    const struct timespec moment = {.tv_nsec = 50000000};

    (void)nanosleep(&moment, NULL);
    write_signalled(context);
    return NULL;
}

static void should_sleep_until_a_completion_comes(void)
{
    struct pair pair;
    pthread_t thread;

    pair_open(&pair, NULL);
    CHECK_EQ(pthread_create(&thread, NULL, complete_late, &pair), 0);
    CHECK_EQ(rpma_cq_wait(pair.client.cq), 0);
    CHECK_EQ(next_wc(pair.client.cq).wr_id, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    pair_close(&pair);
}

const struct test completion_tests[] = {
    {"an armed CQ makes its descriptor readable, once", should_wake_a_waiter_on_its_descriptor},
    {"a blocking wait sleeps until a completion comes", should_sleep_until_a_completion_comes},
    {"a non-blocking channel says that there is nothing",
        should_not_block_a_descriptor_that_is_non_blocking},
    {"a shared channel tells which queue it was", should_share_one_channel_between_both_queues},
    {"an event stands for what comes after the request",
        should_raise_an_event_for_what_comes_after_the_request},
    {"solicited events are told from others", should_tell_solicited_events_from_others},
    {"edge-triggered epoll wakes for every event",
        should_wake_edge_triggered_epoll_for_every_event},
    {"a CQ goes only when its events are acknowledged",
        should_destroy_a_queue_only_when_its_events_are_acknowledged},
    {"a CQ is granted, bounded and resized", should_grant_and_resize_queues},
    {NULL, NULL},
};
