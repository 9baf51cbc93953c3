/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_proxy.c: the records between two processes. The other process is played by the test itself: it reads and writes the shared
 * segment, and so also breaks its rules.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "other_end.h"
#include "process_end.h"
#include "ringpoll_loopback.h"
#include "watch.h"

#define LENGTH 64u

static void respond(struct other *other, uint32_t number, enum ibv_wc_status status)
{
    const struct lb_wire_record *first = request_at(other, 0);

    put(&other->to_us->responses, &other->responses_at, &(struct lb_wire_record){
        .size = sizeof(*first),
        .kind = LB_WIRE_RESPONSE,
        .status = (uint8_t)status,
        .number = (first->number & ~(uint64_t)UINT32_MAX) | number,
    });
}

static void write_to_it(struct other *other, uint64_t wr_id)
{
    verbs_send(&other->pair, 0, wr_id, IBV_WR_RDMA_WRITE, LENGTH, IBV_SEND_SIGNALED);
}

static void check_next(struct other *other, uint64_t wr_id, enum ibv_wc_status status)
{
    const struct ibv_wc wc = verbs_wc(other->pair.cq[0]);

    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, status);
}

static void check_none(struct other *other)
{
    struct ibv_wc wc;

    for (int i = 0; i < 1000; i++)
        CHECK_EQ(ibv_poll_cq(other->pair.cq[0], 1, &wc), 0);
}

static void should_complete_requests_up_to_the_acknowledged_one(void)
{
    struct other other;

    open_other(&other);
    for (uint64_t i = 0; i < 3; i++)
        write_to_it(&other, i);
    check_none(&other);
    atomic_store(&other.to_us->acknowledged, 2);
    check_next(&other, 0, IBV_WC_SUCCESS);
    check_next(&other, 1, IBV_WC_SUCCESS);
    check_none(&other);
    CHECK(!lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

static void should_break_off_at_an_acknowledgement_of_what_was_not_sent(void)
{
    struct other other;

    open_other(&other);
    write_to_it(&other, 1);
    atomic_store(&other.to_us->acknowledged, 2);
    check_none(&other);
    CHECK(lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

static void should_break_off_at_an_acknowledgement_of_a_read_without_its_bytes(void)
{
    struct other other;

    open_other(&other);
    verbs_send(&other.pair, 0, 1, IBV_WR_RDMA_READ, LENGTH, IBV_SEND_SIGNALED);
    atomic_store(&other.to_us->acknowledged, 1);
    check_none(&other);
    CHECK(lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

static void should_ignore_an_acknowledgement_that_goes_back(void)
{
    struct other other;

    open_other(&other);
    write_to_it(&other, 1);
    atomic_store(&other.to_us->acknowledged, 1);
    check_next(&other, 1, IBV_WC_SUCCESS);
    write_to_it(&other, 2);
    atomic_store(&other.to_us->acknowledged, 0);
    check_none(&other);
    CHECK(!lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

static void should_complete_the_requests_before_one_that_fails(void)
{
    struct other other;

    open_other(&other);
    for (uint64_t i = 0; i < 4; i++)
        write_to_it(&other, i);
    respond(&other, 2, IBV_WC_REM_ACCESS_ERR);
    check_next(&other, 0, IBV_WC_SUCCESS);
    check_next(&other, 1, IBV_WC_SUCCESS);
    check_next(&other, 2, IBV_WC_REM_ACCESS_ERR);
    check_next(&other, 3, IBV_WC_WR_FLUSH_ERR);
    /* Known too late: it was executed, but is flushed. */
    atomic_store(&other.to_us->acknowledged, 4);
    check_none(&other);
    CHECK(!lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

/* Requests without a completion, of which the first has been acknowledged. */
static void write_unsignalled(struct other *other)
{
    for (uint64_t i = 0; i < 2; i++)
        verbs_send(&other->pair, 0, i, IBV_WR_RDMA_WRITE, LENGTH, 0);
    atomic_store(&other->to_us->acknowledged, 1);
    check_none(other);
}

static void should_not_flush_acknowledged_requests_without_a_completion(void)
{
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    struct other other;

    open_other(&other);
    write_unsignalled(&other);
    CHECK_EQ(ibv_modify_qp(other.pair.qp[0], &error, IBV_QP_STATE), 0);
    check_next(&other, 1, IBV_WC_WR_FLUSH_ERR);
    check_none(&other);
    close_other(&other);
}

static void should_not_fail_acknowledged_requests_of_a_process_that_ends(void)
{
    struct other other;

    open_other(&other);
    write_unsignalled(&other);
    lb_proxy_destroy(other.proxy);
    check_next(&other, 1, IBV_WC_RETRY_EXC_ERR);
    check_none(&other);
    verbs_pair_close(&other.pair);
    (void)close(other.socket);
}

/* The next completion is pushed without a poll: only the other end wakes. */
static void check_pushed(struct other *other)
{
    struct pollfd event = {.fd = other->pair.channel->fd, .events = POLLIN};
    struct ibv_cq *cq;
    void *context;

    lb_proxy_answer(other->proxy);
    CHECK_EQ(poll(&event, 1, 30000), 1);
    CHECK_EQ(ibv_get_cq_event(other->pair.channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
}

static void should_fail_a_request_behind_acknowledged_ones_without_a_poll(void)
{
    struct ibv_sge unknown = {.addr = 64, .length = 8, .lkey = 1};
    struct ibv_send_wr failing = {.wr_id = 1, .sg_list = &unknown, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
    struct ibv_send_wr *bad;
    struct other other;

    open_other(&other);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 0), 0);
    verbs_send(&other.pair, 0, 0, IBV_WR_RDMA_WRITE, LENGTH, 0);
    CHECK_EQ(ibv_post_send(other.pair.qp[0], &failing, &bad), 0);
    CHECK_EQ(request_at(&other, 0)->flags & LB_WIRE_AWAITED, 0);
    CHECK_EQ(atomic_load(&other.to_it->requests.starved), 1); /* it wakes all the same */
    atomic_store(&other.to_us->acknowledged, 1);
    check_pushed(&other);
    check_next(&other, 1, IBV_WC_LOC_PROT_ERR);
    check_none(&other);
    close_other(&other);
}

/* All requests but the last have no completion, and the last finds no room in the ring. */
static void should_send_the_requests_behind_a_full_ring_without_a_poll(void)
{
    const uint32_t fill = LB_WIRE_RING / (VERBS_BUFFER_SIZE + (uint32_t)sizeof(struct lb_wire_record));
    struct other other;

    open_other_with(&other, &(struct verbs_options){.max_wr = fill + 1, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7});
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 0), 0);
    for (uint64_t i = 0; i < fill; i++)
        verbs_send(&other.pair, 0, i, IBV_WR_RDMA_WRITE, VERBS_BUFFER_SIZE, 0);
    const uint64_t end = (uint64_t)fill * (VERBS_BUFFER_SIZE + sizeof(struct lb_wire_record));
    verbs_send(&other.pair, 0, fill, IBV_WR_RDMA_WRITE, VERBS_BUFFER_SIZE, IBV_SEND_SIGNALED);
    CHECK_EQ(atomic_load(&other.to_it->requests.starved), 1);
    atomic_store(&other.to_us->acknowledged, fill);
    atomic_store(&other.to_it->requests.consumed, end);
    lb_proxy_answer(other.proxy);
    /* Sent now, and answered like the others. */
    atomic_store(&other.to_us->acknowledged, fill + 1);
    check_pushed(&other);
    check_next(&other, fill, IBV_WC_SUCCESS);
    close_other(&other);
}

/* An end that polls checks for room itself: the other end reads no further shared line. */
static void should_ask_to_be_woken_for_room_when_it_falls_asleep(void)
{
    const uint32_t fill = LB_WIRE_RING / (VERBS_BUFFER_SIZE + (uint32_t)sizeof(struct lb_wire_record));
    struct other other;

    open_other_with(&other, &(struct verbs_options){.max_wr = fill + 1, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7});
    for (uint64_t i = 0; i < fill; i++)
        verbs_send(&other.pair, 0, i, IBV_WR_RDMA_WRITE, VERBS_BUFFER_SIZE, 0);
    atomic_store(&other.to_us->sleep_state, LB_WIRE_AWAKE);
    verbs_send(&other.pair, 0, fill, IBV_WR_RDMA_WRITE, VERBS_BUFFER_SIZE, IBV_SEND_SIGNALED);
    CHECK_EQ(atomic_load(&other.to_it->requests.starved), 0);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 0), 0);
    CHECK_EQ(atomic_load(&other.to_it->requests.starved), 1);
    close_other(&other);
}

static void should_break_off_at_a_response_to_what_was_not_sent(void)
{
    struct other other;

    open_other(&other);
    write_to_it(&other, 1);
    respond(&other, 1, IBV_WC_SUCCESS);
    check_none(&other);
    CHECK(lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

static void should_complete_acknowledged_requests_before_a_message(void)
{
    struct other other;

    open_other(&other);
    for (uint64_t i = 0; i < 3; i++) {
        verbs_recv(&other.pair, 0, 10 + i, 0, LENGTH);
        write_to_it(&other, i);
    }
    for (uint32_t i = 0; i < 3; i++) {
        atomic_store(&other.to_us->acknowledged, i + 1);
        send_to_us(&other);
        check_next(&other, i, IBV_WC_SUCCESS);
        check_next(&other, 10 + i, IBV_WC_SUCCESS);
        CHECK_EQ(atomic_load(&other.to_it->acknowledged), i + 1);
    }
    CHECK(!lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

#define ROUNDS 50
#define WRITES 4000u

struct worker {
    struct ibv_cq *cq;
    _Atomic bool ended;
};

/* Works for the connections of a queue, and takes no completion. */
static void *work(void *argument)
{
    struct worker *worker = argument;

    while (!atomic_load(&worker->ended))
        CHECK_EQ(ibv_poll_cq(worker->cq, 0, NULL), 0);
    return NULL;
}

/* Sends and receives complete in queues of their own, which two threads poll. */
static void should_complete_acknowledged_requests_before_a_message_that_another_thread_takes(void)
{
    const struct verbs_options options = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7, .cqe = WRITES, .max_wr = WRITES,
        .receives_apart = true};
    struct worker worker = {0};
    struct other other;
    pthread_t thread;
    uint64_t sent_at = 0;

    open_other_with(&other, &options);
    worker.cq = other.pair.cq[0];
    CHECK_EQ(pthread_create(&thread, NULL, work, &worker), 0);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct ibv_wc wc;
        struct ibv_cq *cq;
        void *context;
        uint32_t completed = 0;

        verbs_recv(&other.pair, 0, round, 0, LENGTH);
        for (uint32_t i = 0; i < WRITES; i++) {
            verbs_send(&other.pair, 0, i, IBV_WR_RDMA_WRITE, 0, IBV_SEND_SIGNALED);
            sent_at += sizeof(struct lb_wire_record);
            atomic_store(&other.to_it->requests.consumed, sent_at);
        }
        CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 0), 0);
        atomic_store(&other.to_us->acknowledged, round * WRITES);
        /* The worker has begun to complete them. */
        CHECK(readable(other.pair.channel->fd, 30000));
        CHECK_EQ(ibv_get_cq_event(other.pair.channel, &cq, &context), 0);
        ibv_ack_cq_events(cq, 1);
        send_to_us(&other);
        while (ibv_poll_cq(other.pair.cq[1], 1, &wc) == 0)
            ;
        CHECK_EQ(wc.wr_id, round);
        while (completed < WRITES && ibv_poll_cq(other.pair.cq[0], 1, &wc) == 1)
            CHECK_EQ(wc.wr_id, completed++);
        CHECK_EQ(completed, WRITES);
    }
    atomic_store(&worker.ended, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

/* Nobody polls: the end of the pause itself lets the message go. */
static void should_send_to_a_receiver_that_was_not_ready_without_a_poll(void)
{
    const struct ringpoll_loopback_fault rule = {.kind = RINGPOLL_LOOPBACK_FAULT_RNR, .times = 1, .at = 1, .object = 1};
    const struct timespec moment = {.tv_nsec = 1000000};
    struct other other;

    CHECK_EQ(ringpoll_loopback_plan(1, &rule, 1), 0);
    open_other(&other);
    verbs_send(&other.pair, 0, 1, IBV_WR_SEND, LENGTH, IBV_SEND_SIGNALED);
    CHECK(request_at(&other, 0) == NULL);
    for (int tries = 0; request_at(&other, 0) == NULL && tries < 30000; tries++)
        (void)nanosleep(&moment, NULL);
    CHECK(request_at(&other, 0) != NULL);
    atomic_store(&other.to_us->acknowledged, 1);
    check_next(&other, 1, IBV_WC_SUCCESS);
    close_other(&other);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
}

static void should_give_up_on_a_receiver_that_is_not_ready_for_too_long(void)
{
    const struct ringpoll_loopback_fault rule = {.kind = RINGPOLL_LOOPBACK_FAULT_RNR, .times = 6, .at = 1, .object = 1};
    struct other other;

    CHECK_EQ(ringpoll_loopback_plan(1, &rule, 1), 0);
    open_other_with(&other, &(struct verbs_options){.rnr_retry = 1, .timeout = 14, .retry_cnt = 7});
    verbs_send(&other.pair, 0, 1, IBV_WR_SEND, LENGTH, IBV_SEND_SIGNALED);
    check_next(&other, 1, IBV_WC_RNR_RETRY_EXC_ERR);
    CHECK(request_at(&other, 0) == NULL);
    close_other(&other);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
}

static void should_be_the_peer_of_one_queue_pair(void)
{
    const struct verbs_options options = {.rnr_retry = 7, .timeout = 1};
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct other other;

    open_other(&other);
    CHECK_EQ(ibv_modify_qp(other.pair.qp[1], &reset, IBV_QP_STATE), 0);
    verbs_connect(other.pair.qp[1], other.proxy->qp_num, &options);
    verbs_send(&other.pair, 1, 1, IBV_WR_RDMA_WRITE, LENGTH, IBV_SEND_SIGNALED);
    CHECK(request_at(&other, 0) == NULL);
    const struct ibv_wc wc = verbs_wc(other.pair.cq[1]);
    check_failed(&wc, 1, IBV_WC_RETRY_EXC_ERR, other.pair.qp[1]->qp_num);
    CHECK_EQ(ibv_destroy_qp(other.pair.qp[1]), 0);
    other.pair.qp[1] = NULL;
    write_to_it(&other, 2);
    atomic_store(&other.to_us->acknowledged, 1);
    check_next(&other, 2, IBV_WC_SUCCESS);
    close_other(&other);
}

#define CONNECTIONS 40

/* A further connection that completes in the queue of the first one. */
static void open_beside(struct other *other, const struct other *first)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = first->pair.cq[0],
        .recv_cq = first->pair.cq[0],
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };

    open_segment(other, false);
    other->pair.qp[0] = ibv_create_qp(first->pair.pd, &attr);
    CHECK(other->pair.qp[0] != NULL);
    verbs_connect(other->pair.qp[0], other->proxy->qp_num, &(struct verbs_options){.rnr_retry = 7});
}

/* A write of no bytes, which completes nothing here, unless the one before it still waits. */
static void write_to_us(struct other *other)
{
    const uint64_t number = other->requests_at / sizeof(struct lb_wire_record);

    if (atomic_load(&other->to_it->acknowledged) != number)
        return;
    put(&other->to_us->requests, &other->requests_at, &(struct lb_wire_record){
        .size = sizeof(struct lb_wire_record),
        .kind = LB_WIRE_REQUEST,
        .opcode = IBV_WR_RDMA_WRITE,
        .number = number,
    });
}

/* Also if those before it always have something to do. */
static void should_work_for_each_connection_of_a_queue_in_its_turn(void)
{
    static struct other others[CONNECTIONS];

    open_other(&others[0]);
    for (int i = 1; i < CONNECTIONS; i++)
        open_beside(&others[i], &others[0]);
    for (int polls = 0; polls < CONNECTIONS / 8; polls++) {
        struct ibv_wc wc;

        for (int i = 0; i < CONNECTIONS; i++)
            write_to_us(&others[i]);
        CHECK_EQ(ibv_poll_cq(others[0].pair.cq[0], 1, &wc), 0);
    }
    for (int i = 0; i < CONNECTIONS; i++)
        CHECK(atomic_load(&others[i].to_it->acknowledged) > 0);
    for (int i = CONNECTIONS - 1; i > 0; i--) {
        CHECK_EQ(ibv_destroy_qp(others[i].pair.qp[0]), 0);
        lb_proxy_destroy(others[i].proxy);
        (void)close(others[i].socket);
    }
    close_other(&others[0]);
}

/* The receive would have the length of a message that was never sent. */
static void should_break_off_at_a_part_whose_others_were_not_sent(void)
{
    struct other other;

    open_other(&other);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    put(&other.to_us->requests, &other.requests_at, &(struct lb_wire_record){
        .size = sizeof(struct lb_wire_record),
        .kind = LB_WIRE_REQUEST,
        .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
        .offset = LB_WIRE_CHUNK,
        .rnr_retry = 7,
    });
    check_none(&other);
    CHECK(lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

static void should_break_off_at_a_record_of_an_impossible_size(void)
{
    const uint32_t sizes[] = {1, sizeof(struct lb_wire_record) + 1, LB_WIRE_RING + sizeof(struct lb_wire_record), UINT32_MAX};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct other other;

        open_other(&other);
        verbs_recv(&other.pair, 0, 1, 0, LENGTH);
        send_to_us(&other);
        check_next(&other, 1, IBV_WC_SUCCESS);
        put(&other.to_us->requests, &other.requests_at, &(struct lb_wire_record){.size = sizes[i], .kind = LB_WIRE_REQUEST});
        check_none(&other);
        CHECK(lb_proxy_is_broken(other.proxy));
        close_other(&other);
    }
}

/* Fills several laps with records of changing sizes: the consumer sees each, and no record of the lap before. */
static void should_show_a_record_and_nothing_behind_it(void)
{
    struct other other;
    uint64_t at = 0;

    open_other(&other);
    for (uint32_t i = 0; i < 2000 || at < 2 * LB_WIRE_RING; i++) {
        const uint32_t length = i * 37 % 1000;

        CHECK(request_at(&other, at) == NULL);
        memset(other.pair.buffer[0], 0xff, length);
        verbs_send(&other.pair, 0, i, IBV_WR_RDMA_WRITE, length, IBV_SEND_SIGNALED);
        if (request_at(&other, at)->kind == LB_WIRE_PADDING)
            at += request_at(&other, at)->size;
        const struct lb_wire_record *request = request_at(&other, at);
        CHECK(request != NULL);
        CHECK_EQ(request->length, length);
        CHECK_EQ((uint32_t)request->number, i);
        at = behind(request, at);
        atomic_store(&other.to_it->requests.consumed, at);
        atomic_store(&other.to_us->acknowledged, i + 1);
        check_next(&other, i, IBV_WC_SUCCESS);
    }
    close_other(&other);
}

/* Of both: requests, and acknowledgements. */
static void should_wake_an_end_that_sleeps_once_until_it_answers(void)
{
    struct other other;

    open_other(&other);
    write_to_it(&other, 1);
    CHECK(is_woken(&other));
    CHECK(request_at(&other, 0)->flags & LB_WIRE_AWAITED);
    CHECK_EQ(atomic_load(&other.to_it->sleep_state), LB_WIRE_WOKEN);
    write_to_it(&other, 2);
    CHECK(!is_woken(&other));
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP);
    verbs_recv(&other.pair, 0, 3, 0, LENGTH);
    send_to_us(&other);
    check_next(&other, 3, IBV_WC_SUCCESS);
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), 1);
    CHECK(is_woken(&other));
    close_other(&other);
}

/* Polls the queue of a connection; whether its end sleeps although it was polled within half a millisecond. */
static bool sleeps_while_polled(struct other *other, double *polled)
{
    struct ibv_wc wc;
    const double now = seconds();
    const bool sleeps = atomic_load(&other->to_us->sleep_state) != LB_WIRE_AWAKE && now - *polled < 0.0005;

    CHECK_EQ(ibv_poll_cq(other->pair.cq[0], 1, &wc), 0);
    *polled = now;
    return sleeps;
}

/* Each end that is marked as asleep is woken by its peer, at the cost of the watch thread, and is marked as awake by the next poll. */
static void should_stay_awake_while_several_connections_are_polled(void)
{
    struct other others[2];
    double polled[2] = {0};
    int sleeps = 0;

    CHECK_EQ(lb_watch_start(), 0);
    for (int i = 0; i < 2; i++)
        open_other(&others[i]);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 2; k++)
            (void)sleeps_while_polled(&others[k], &polled[k]);
    }
    for (const double end = seconds() + 0.2; seconds() < end;) {
        for (int i = 0; i < 2; i++)
            sleeps += sleeps_while_polled(&others[i], &polled[i]);
    }
    /* Each time that the thread loses its processor, for some milliseconds, it may be late; it was thousands. */
    CHECK(sleeps < 100);
    for (int i = 0; i < 2; i++)
        close_other(&others[i]);
}

/* Also when the watch thread has stopped to tick, and while it still does. */
static void should_fall_asleep_after_the_last_poll(void)
{
    struct other other;
    double polled = 0;

    CHECK_EQ(lb_watch_start(), 0);
    open_other(&other);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            (void)sleeps_while_polled(&other, &polled);
        for (const double limit = seconds() + 10; atomic_load(&other.to_us->sleep_state) == LB_WIRE_AWAKE && seconds() < limit;)
            (void)poll(NULL, 0, 1);
        CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
        (void)poll(NULL, 0, round * 2 * LB_WATCH_LAST_TICKS); /* while the thread ticks, and when it has stopped */
    }
    close_other(&other);
}

/* A poller that sleeps on several queues polls all of them after an event of one, and does not request those again that it has. */
static void should_stay_asleep_while_an_event_is_requested(void)
{
    struct other other;
    struct ibv_cq *cq;
    void *context;

    open_other(&other);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 0), 0);
    check_none(&other);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    send_to_us(&other);
    check_next(&other, 1, IBV_WC_SUCCESS);
    check_none(&other);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_AWAKE);
    CHECK_EQ(ibv_get_cq_event(other.pair.channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
    close_other(&other);
}

/* A message of the other process with a line of payload, which has consumed our requests up to this position. */
static void answer_us(struct other *other, uint32_t number, enum ibv_wr_opcode opcode, uint8_t flags, uint64_t taken)
{
    const uint64_t at = other->requests_at;

    memset(lb_wire_at(&other->to_us->requests, at) + 1, (int)number + 1, LENGTH);
    put(&other->to_us->requests, &other->requests_at, &(struct lb_wire_record){
        .size = lb_wire_record_size(LENGTH),
        .kind = LB_WIRE_REQUEST,
        .opcode = (uint8_t)opcode,
        .flags = flags,
        .length = LENGTH,
        .imm_data = number + 100,
        .number = number,
        .taken = taken,
        .rnr_retry = 7,
    });
}

static void send_line_to_us(struct other *other, uint32_t number, enum ibv_wr_opcode opcode)
{
    answer_us(other, number, opcode, 0, 0);
}

/* A lock that the watch thread takes costs the polls a locked instruction each from then on. */
static void should_leave_the_messages_of_an_end_that_is_polled_to_its_polls(void)
{
    struct other other;
    struct ibv_wc wc;
    double polled = 0;
    int rounds = 0;
    int taken = 0;

    CHECK_EQ(lb_watch_start(), 0);
    open_other(&other);
    for (int i = 0; i < 100; i++)
        (void)sleeps_while_polled(&other, &polled);
    for (const double end = seconds() + 0.4; seconds() < end;) {
        verbs_recv(&other.pair, 0, 1, 0, LENGTH);
        (void)sleeps_while_polled(&other, &polled);
        const uint64_t consumed = atomic_load(&other.to_us->requests.consumed);
        send_line_to_us(&other, (uint32_t)rounds, IBV_WR_SEND);
        while (seconds() < polled + 0.0007)
            ;
        const bool is_taken = atomic_load(&other.to_us->requests.consumed) != consumed;
        /* The thread marks an end as asleep in the second tick behind a poll, a millisecond after the first one at least. */
        taken += is_taken && seconds() < polled + 0.001;
        rounds++;
        while (ibv_poll_cq(other.pair.cq[0], 1, &wc) == 0)
            ;
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    }
    /* A tick may have begun before the poll, while the end was asleep. */
    CHECK(4 * taken < rounds + 8);
    close_other(&other);
}

static void should_complete_as_many_short_messages_as_a_poll_asks_for(void)
{
    enum { COUNT = 5 };
    struct other other;
    struct ibv_wc wc[COUNT + 1];
    int polled = 1;

    open_other(&other);
    for (uint64_t i = 0; i < COUNT; i++)
        verbs_recv(&other.pair, 0, 10 + i, i * LENGTH, LENGTH);
    check_none(&other);
    for (uint32_t i = 0; i < COUNT; i++)
        send_line_to_us(&other, i, i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND);
    CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 1, wc), 1);
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), 1);
    while (polled < COUNT) {
        const int more = ibv_poll_cq(other.pair.cq[0], COUNT + 1 - polled, wc + polled);

        CHECK(more > 0);
        polled += more;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_EQ(wc[i].wr_id, 10 + i);
        CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
        CHECK_EQ(wc[i].opcode, IBV_WC_RECV);
        CHECK_EQ(wc[i].byte_len, LENGTH);
        CHECK_EQ(wc[i].qp_num, other.pair.qp[0]->qp_num);
        CHECK_EQ(wc[i].src_qp, other.proxy->qp_num);
        CHECK_EQ(wc[i].wc_flags, i % 2 ? IBV_WC_WITH_IMM : 0);
        CHECK_EQ(wc[i].imm_data, i % 2 ? i + 100 : 0);
        for (uint32_t byte = 0; byte < LENGTH; byte++)
            CHECK_EQ(other.pair.buffer[0][i * LENGTH + byte], (char)(i + 1));
    }
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), COUNT);
    check_none(&other);
    close_other(&other);
}

/* One poll completes a send and the message behind it, or first the send: a message needs a place in the array. */
static void should_complete_acknowledged_requests_before_a_short_message(void)
{
    for (int room = 1; room <= 3; room++) {
        struct other other;
        struct ibv_wc wc[4];

        open_other(&other);
        verbs_recv(&other.pair, 0, 10, 0, LENGTH);
        write_to_it(&other, 1);
        check_none(&other);
        atomic_store(&other.to_us->acknowledged, 1);
        send_line_to_us(&other, 0, IBV_WR_SEND);
        CHECK_EQ(ibv_poll_cq(other.pair.cq[0], room, wc), room == 1 ? 1 : 2);
        CHECK_EQ(atomic_load(&other.to_it->acknowledged), room == 1 ? 0 : 1);
        if (room == 1)
            CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 1, wc + 1), 1);
        CHECK_EQ(wc[0].wr_id, 1);
        CHECK_EQ(wc[0].opcode, IBV_WC_RDMA_WRITE);
        CHECK_EQ(wc[1].wr_id, 10);
        CHECK_EQ(wc[1].opcode, IBV_WC_RECV);
        CHECK_EQ(atomic_load(&other.to_it->acknowledged), 1);
        check_none(&other);
        close_other(&other);
    }
}

/* The queue pair fails: a message that arrives with the failure is not executed. */
static void should_execute_no_message_behind_a_failure(void)
{
    struct other other;
    struct ibv_wc wc[4];

    open_other(&other);
    verbs_recv(&other.pair, 0, 10, 0, LENGTH);
    write_to_it(&other, 1);
    write_to_it(&other, 2);
    check_none(&other);
    respond(&other, 0, IBV_WC_REM_ACCESS_ERR);
    send_line_to_us(&other, 0, IBV_WR_SEND);
    CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 4, wc), 3);
    CHECK_EQ(wc[0].wr_id, 1);
    CHECK_EQ(wc[0].status, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(wc[1].wr_id, 2);
    CHECK_EQ(wc[1].status, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(wc[2].wr_id, 10);
    CHECK_EQ(wc[2].status, IBV_WC_WR_FLUSH_ERR);
    check_none(&other);
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), 0);
    close_other(&other);
}

/* The other end waits for room for a further response. */
static void should_wake_for_a_consumed_response_before_a_short_message(void)
{
    struct other other;
    struct ibv_wc wc[4];

    open_other(&other);
    verbs_recv(&other.pair, 0, 10, 0, LENGTH);
    write_to_it(&other, 1);
    check_none(&other);
    respond(&other, 0, IBV_WC_SUCCESS);
    send_line_to_us(&other, 0, IBV_WR_SEND);
    (void)is_woken(&other);
    atomic_store(&other.to_us->responses.starved, 1);
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP);
    CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 4, wc), 2);
    CHECK_EQ(wc[0].wr_id, 1);
    CHECK_EQ(wc[1].wr_id, 10);
    CHECK(is_woken(&other));
    close_other(&other);
}

/* The poll that has taken the message has found the other end awake: the next one wakes it for the read position. */
static void should_wake_an_end_that_fell_asleep_while_its_message_was_taken(void)
{
    struct other other;
    struct ibv_wc wc;

    open_other(&other);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    check_none(&other);
    CHECK(!is_woken(&other));
    atomic_store(&other.to_it->sleep_state, LB_WIRE_AWAKE);
    answer_us(&other, 0, IBV_WR_SEND, LB_WIRE_AWAITED, 0);
    check_next(&other, 1, IBV_WC_SUCCESS);
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP);
    CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 1, &wc), 0);
    CHECK(is_woken(&other));
    close_other(&other);
}

/* Short messages, which a poll takes, and one without bytes, which takes the general way. */
static void should_not_wake_for_an_acknowledgement_that_nobody_awaits(void)
{
    struct other other;
    struct ibv_wc wc;

    open_other(&other);
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP);
    for (uint32_t i = 0; i < 100; i++) {
        verbs_recv(&other.pair, 0, i, 0, LENGTH);
        CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 1, &wc), 0);
        send_line_to_us(&other, i, IBV_WR_SEND);
        check_next(&other, i, IBV_WC_SUCCESS);
        CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 1, &wc), 0);
        CHECK_EQ(atomic_load(&other.to_it->acknowledged), i + 1);
    }
    lb_proxy_answer(other.proxy);
    verbs_recv(&other.pair, 0, 100, 0, LENGTH);
    put(&other.to_us->requests, &other.requests_at, &(struct lb_wire_record){
        .size = sizeof(struct lb_wire_record),
        .kind = LB_WIRE_REQUEST,
        .opcode = IBV_WR_SEND,
        .number = 100,
        .rnr_retry = 7,
    });
    lb_proxy_answer(other.proxy);
    check_next(&other, 100, IBV_WC_SUCCESS);
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), 101);
    CHECK(!is_woken(&other));
    close_other(&other);
}

/* It waits for room. */
static void should_wake_for_consumption_that_is_awaited(void)
{
    struct other other;

    open_other(&other);
    verbs_recv(&other.pair, 0, 0, 0, LENGTH);
    check_none(&other);
    send_line_to_us(&other, 0, IBV_WR_SEND);
    atomic_store(&other.to_us->requests.starved, 1);
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP);
    lb_proxy_answer(other.proxy);
    check_next(&other, 0, IBV_WC_SUCCESS);
    CHECK(is_woken(&other));
    close_other(&other);
}

/* The message is taken by a poll of a queue that is polled all the time. */
static void should_wake_for_consumption_that_a_busy_poll_makes(void)
{
    enum { EMPTY_POLLS = 200 };
    struct other other;

    open_other(&other);
    verbs_recv(&other.pair, 0, 0, 0, LENGTH);
    for (int i = 0; i < EMPTY_POLLS; i++)
        check_none(&other);
    send_line_to_us(&other, 0, IBV_WR_SEND);
    atomic_store(&other.to_us->requests.starved, 1);
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP);
    check_next(&other, 0, IBV_WC_SUCCESS);
    check_none(&other);
    CHECK(is_woken(&other));
    close_other(&other);
}

/* A poll that finds messages also sends requests that wait for room: the messages may never end. */
static void should_send_the_requests_behind_a_full_ring_while_messages_arrive(void)
{
    enum { SIZE = 1024, FILL = LB_WIRE_RING / (SIZE + sizeof(struct lb_wire_record)) };
    const uint64_t end = (uint64_t)FILL * (SIZE + sizeof(struct lb_wire_record));
    struct other other;

    open_other_with(&other, &(struct verbs_options){.max_wr = FILL + 1, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7});
    for (uint64_t i = 0; i < 2; i++)
        verbs_recv(&other.pair, 0, i, 0, LENGTH);
    check_none(&other);
    for (uint64_t i = 0; i <= FILL; i++)
        verbs_send(&other.pair, 0, i, IBV_WR_SEND, SIZE, 0);
    CHECK(request_at(&other, end) == NULL);
    for (uint32_t i = 0; i < 2; i++)
        send_line_to_us(&other, i, IBV_WR_SEND);
    atomic_store(&other.to_us->acknowledged, FILL);
    atomic_store(&other.to_it->requests.consumed, end);
    check_next(&other, 0, IBV_WC_SUCCESS);
    CHECK(request_at(&other, end) != NULL);
    check_next(&other, 1, IBV_WC_SUCCESS);
    close_other(&other);
}

/* Reads what was sent, up to this request, from `*at` on. Returns the number of requests that it has read. */
static uint32_t read_requests(struct other *other, uint64_t *at, uint32_t first)
{
    const struct lb_wire_record *request;
    uint32_t count = 0;

    while ((request = request_at(other, *at)) != NULL) {
        if (request->kind == LB_WIRE_REQUEST)
            CHECK_EQ((uint32_t)request->number, first + count++);
        *at = behind(request, *at);
    }
    atomic_store(&other->to_it->requests.consumed, *at);
    atomic_store(&other->to_us->acknowledged, first + count);
    return count;
}

/* So they stay in the caches of both. */
static void should_use_the_same_lines_for_messages_that_answer_each_other(void)
{
    struct other other;
    uint64_t at = 0;

    open_other(&other);
    for (uint32_t i = 0; i < 1000; i++) {
        verbs_recv(&other.pair, 0, 1000 + i, 0, LENGTH);
        CHECK(at % LB_WIRE_RING <= LB_WIRE_MIN_LAP);
        verbs_send(&other.pair, 0, i, IBV_WR_SEND, LENGTH, IBV_SEND_SIGNALED);
        CHECK_EQ(read_requests(&other, &at, i), 1);
        answer_us(&other, i, IBV_WR_SEND, 0, at);
        check_next(&other, i, IBV_WC_SUCCESS);
        check_next(&other, 1000 + i, IBV_WC_SUCCESS);
    }
    CHECK(at > 300 * (uint64_t)LB_WIRE_RING);
    close_other(&other);
}

/* The same where no completion is awaited: then a poll takes the answers by the short way. */
static void should_use_the_same_lines_for_answers_that_are_taken_the_short_way(void)
{
    enum { SENDS_PER_SIGNAL = 16 };
    struct other other;
    uint64_t at = 0;

    open_other(&other);
    for (uint32_t i = 0; i < 1000; i++) {
        const bool signalled = i % SENDS_PER_SIGNAL == SENDS_PER_SIGNAL - 1;

        verbs_recv(&other.pair, 0, 1000 + i, 0, LENGTH);
        CHECK(at % LB_WIRE_RING <= LB_WIRE_MIN_LAP);
        verbs_send(&other.pair, 0, i, IBV_WR_SEND, LENGTH, signalled ? IBV_SEND_SIGNALED : 0);
        CHECK_EQ(read_requests(&other, &at, i), 1);
        answer_us(&other, i, IBV_WR_SEND, 0, at);
        if (signalled)
            check_next(&other, i, IBV_WC_SUCCESS);
        check_next(&other, 1000 + i, IBV_WC_SUCCESS);
    }
    close_other(&other);
}

/* A limit of the child's memory does not let it send in its parent's name. */
static void should_not_share_a_segment_with_a_child_that_may_have_no_more_memory(void)
{
    struct other other;
    struct rlimit limit;
    int status;

    open_other(&other);
    CHECK_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
    const struct rlimit none = {.rlim_cur = 4096, .rlim_max = limit.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_DATA, &none), 0);
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        write_to_it(&other, 1);
        _exit(request_at(&other, 0) != NULL ? 0 : 1);
    }
    CHECK_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK(request_at(&other, 0) == NULL);
    close_other(&other);
}

#ifndef __SANITIZE_THREAD__ /* no lock is biased under it */
/* Polls the queue of a connection until its end flag is set: the locks of both are biased to this thread. */
struct poller {
    struct other other;
    _Atomic bool ends;
    _Atomic uint32_t polls;
};

static void *poll_until_told(void *argument)
{
    struct poller *poller = argument;
    struct ibv_wc wc;

    while (!poller->ends) {
        CHECK_EQ(ibv_poll_cq(poller->other.pair.cq[0], 1, &wc), 0);
        poller->polls++;
    }
    return NULL;
}

/* The thread that the locks are biased to is not there in the child. */
static void should_poll_in_a_child_wherever_its_parents_poll_was(void)
{
    struct poller poller = {.ends = false};
    pthread_t thread;
    int status;

    open_other(&poller.other);
    CHECK_EQ(pthread_create(&thread, NULL, poll_until_told, &poller), 0);
    while (poller.polls < 50000)
        (void)poll(NULL, 0, 1);
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            alarm(10);
            check_none(&poller.other);
            _exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    poller.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    close_other(&poller.other);
}
#endif

/* Starts a child of this process at a moment at which nothing can be mapped. The child can map again. */
static pid_t fork_without_memory(void)
{
    struct rlimit limit;

    CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
    const pid_t child = fork();
    (void)setrlimit(RLIMIT_AS, &limit);
    CHECK(child >= 0);
    return child;
}

/* A child that uses a connection of its parent gets a signal; another child does not. */
static void should_let_a_child_that_can_map_nothing_start_a_program(void)
{
    const struct rlimit no_core = {0};
    struct other other;
    int status;

    open_other(&other);
    pid_t child = fork_without_memory();
    if (child == 0) {
        (void)execlp("true", "true", (char *)NULL);
        _exit(127);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    child = fork_without_memory();
    if (child == 0) {
        alarm(10);
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)close(STDERR_FILENO); /* of a sanitizer */
        write_to_it(&other, 1);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(status != 0);
    CHECK(request_at(&other, 0) == NULL);
    close_other(&other);
}

/* Laps become longer when a message finds no room in a short one. */
static void should_let_few_messages_of_bursts_wait_for_room(void)
{
    enum { BURST = 30, BURSTS = 300, MANY = 20 };
    struct other other;
    uint64_t at = 0;
    uint32_t number = 0;
    uint32_t waits = 0;

    open_other(&other);
    for (uint32_t i = 0; i < BURSTS; i++) {
        const uint32_t end = number + BURST;

        verbs_recv(&other.pair, 0, 1, 0, LENGTH);
        for (uint32_t k = 0; k < BURST; k++)
            verbs_send(&other.pair, 0, 2, IBV_WR_SEND, LENGTH, k == BURST - 1 ? IBV_SEND_SIGNALED : 0);
        number += read_requests(&other, &at, number);
        while (number != end) {
            waits++;
            CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 0, NULL), 0);
            number += read_requests(&other, &at, number);
        }
        answer_us(&other, i, IBV_WR_SEND, 0, at);
        check_next(&other, 2, IBV_WC_SUCCESS);
        check_next(&other, 1, IBV_WC_SUCCESS);
    }
    CHECK(waits < MANY);
    close_other(&other);
}

/* A false position that is possible by now is accepted: the end that has sent it loses the overwritten requests. */
static void should_ignore_what_the_other_end_cannot_have_consumed(void)
{
    static const uint64_t wrong[] = {UINT64_MAX, UINT64_MAX / 2, 7, LB_WIRE_RING, 1u << 20};
    struct other other;

    open_other(&other);
    for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        verbs_recv(&other.pair, 0, i, 0, LENGTH);
        verbs_send(&other.pair, 0, 100, IBV_WR_SEND, LENGTH, 0);
        answer_us(&other, i, IBV_WR_SEND, 0, wrong[i]);
        check_next(&other, i, IBV_WC_SUCCESS);
    }
    for (uint32_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK_EQ((uint32_t)request_at(&other, i * (uint64_t)lb_wire_record_size(LENGTH))->number, i);
    CHECK(!lb_proxy_is_broken(other.proxy));
    close_other(&other);
}

/* Messages that take the short path, and those that do not: their receive is posted later. */
static void should_find_the_next_message_at_the_start_of_the_ring(void)
{
    struct other other;

    open_other(&other);
    for (uint32_t i = 0; i < 100; i++) {
        const bool late = i % 4 >= 2;

        if (!late)
            verbs_recv(&other.pair, 0, i, 0, LENGTH);
        answer_us(&other, i, IBV_WR_SEND, i % 3 == 2 ? LB_WIRE_LAST : 0, 0);
        if (late) {
            check_none(&other);
            verbs_recv(&other.pair, 0, i, 0, LENGTH);
        }
        check_next(&other, i, IBV_WC_SUCCESS);
        CHECK_EQ(other.pair.buffer[0][0], (char)(i + 1));
        CHECK_EQ(atomic_load(&other.to_us->requests.consumed), other.requests_at);
    }
    CHECK(other.requests_at > 30 * (uint64_t)LB_WIRE_RING);
    close_other(&other);
}

/* Its bytes are those that the read brings. */
static void should_send_a_fenced_request_behind_the_bytes_of_a_read(void)
{
    struct other other;

    open_other(&other);
    memset(other.pair.buffer[0], 1, LENGTH);
    verbs_send(&other.pair, 0, 1, IBV_WR_RDMA_READ, LENGTH, IBV_SEND_SIGNALED);
    verbs_send(&other.pair, 0, 2, IBV_WR_SEND, LENGTH, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
    check_none(&other);
    CHECK(request_at(&other, sizeof(struct lb_wire_record)) == NULL);
    memset(lb_wire_at(&other.to_us->responses, other.responses_at) + 1, 2, LENGTH);
    put(&other.to_us->responses, &other.responses_at, &(struct lb_wire_record){
        .size = lb_wire_record_size(LENGTH),
        .kind = LB_WIRE_RESPONSE,
        .status = IBV_WC_SUCCESS,
        .length = LENGTH,
        .number = request_at(&other, 0)->number,
    });
    check_next(&other, 1, IBV_WC_SUCCESS);
    const struct lb_wire_record *sent = request_at(&other, sizeof(struct lb_wire_record));
    CHECK(sent != NULL);
    CHECK_EQ(*(const char *)(sent + 1), 2);
    atomic_store(&other.to_us->acknowledged, 2);
    check_next(&other, 2, IBV_WC_SUCCESS);
    close_other(&other);
}

static char long_memory[1024 * 1024];

/* More bytes than a polling thread takes in a turn, and no further poll. */
static void should_take_all_of_a_long_response_while_it_sleeps(void)
{
    enum { PARTS = 16 };
    struct other other;
    struct ibv_send_wr *bad;

    open_other(&other);
    struct ibv_mr *mr = ibv_reg_mr(other.pair.pd, long_memory, sizeof(long_memory), IBV_ACCESS_LOCAL_WRITE);
    struct ibv_sge sge = {.addr = (uintptr_t)long_memory, .length = PARTS * LB_WIRE_CHUNK, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ,
        .send_flags = IBV_SEND_SIGNALED};
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 0), 0);
    CHECK_EQ(ibv_post_send(other.pair.qp[0], &wr, &bad), 0);
    const struct lb_wire_record *first = request_at(&other, 0);
    atomic_store(&other.to_us->sleep_state, LB_WIRE_WOKEN); /* for the first part */
    for (uint32_t i = 0; i < PARTS; i++)
        put(&other.to_us->responses, &other.responses_at, &(struct lb_wire_record){
            .size = lb_wire_record_size(LB_WIRE_CHUNK), .kind = LB_WIRE_RESPONSE, .flags = i < PARTS - 1 ? LB_WIRE_MORE : 0,
            .length = LB_WIRE_CHUNK, .number = first->number, .offset = i * LB_WIRE_CHUNK});
    lb_proxy_answer(other.proxy);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
    CHECK_EQ(atomic_load(&other.to_us->responses.consumed), PARTS * lb_wire_record_size(LB_WIRE_CHUNK));
    CHECK(readable(other.pair.channel->fd, 3000));
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    close_other(&other);
}

/* The region of the last message is tried first, and has the key 0 when it is no more. */
static void should_refuse_the_key_0_of_memory_that_was_deregistered(void)
{
    struct other other;
    struct ibv_send_wr *bad;

    open_other(&other);
    struct ibv_mr *mr = ibv_reg_mr(other.pair.pd, long_memory, sizeof(long_memory), IBV_ACCESS_LOCAL_WRITE);
    struct ibv_sge sge = {.addr = (uintptr_t)long_memory, .length = LENGTH, .lkey = mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED};
    CHECK_EQ(ibv_post_send(other.pair.qp[0], &wr, &bad), 0);
    atomic_store(&other.to_us->acknowledged, 1);
    check_next(&other, 7, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    sge.lkey = 0;
    CHECK_EQ(ibv_post_send(other.pair.qp[0], &wr, &bad), 0);
    atomic_store(&other.to_us->acknowledged, 2);
    check_next(&other, 7, IBV_WC_LOC_PROT_ERR);
    close_other(&other);
}

/* Its execution waits for the completion of an earlier request, for which the other end sends no notification. */
static void should_execute_a_request_behind_an_acknowledgement_that_wakes_nobody(void)
{
    enum { MANY = 4000 };
    struct other other;

    CHECK_EQ(lb_watch_start(), 0);
    open_other(&other);
    verbs_recv(&other.pair, 0, 5, 0, LENGTH);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 0), 0);
    verbs_send(&other.pair, 0, 0, IBV_WR_RDMA_WRITE, LENGTH, 0);
    verbs_send(&other.pair, 0, 1, IBV_WR_SEND, LENGTH, IBV_SEND_SIGNALED); /* waits for a receive there */
    CHECK_EQ(request_at(&other, 0)->flags & LB_WIRE_AWAITED, 0);
    for (uint64_t i = 0; i <= MANY; i++)
        put(&other.to_us->requests, &other.requests_at, &(struct lb_wire_record){
            .size = sizeof(struct lb_wire_record), .kind = LB_WIRE_REQUEST,
            .opcode = i < MANY ? IBV_WR_RDMA_WRITE : IBV_WR_SEND, .number = i, .rnr_retry = 7});
    atomic_store(&other.to_us->sleep_state, LB_WIRE_WOKEN);
    lb_proxy_answer(other.proxy);
    atomic_store(&other.to_us->acknowledged, 1); /* of the write, while our requests are executed: no thread is woken */
    CHECK(readable(other.pair.channel->fd, 10000));
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), MANY + 1);
    atomic_store(&other.to_us->acknowledged, 2);
    close_other(&other);
}

/* The place of the position is that of an atomic's operand. */
static void should_say_how_far_it_has_read_with_a_refused_atomic(void)
{
    const struct ringpoll_loopback_fault rule = {.kind = RINGPOLL_LOOPBACK_FAULT_STATUS, .code = IBV_WC_REM_ACCESS_ERR,
        .at = 1, .object = 1};
    struct other other;
    struct ibv_send_wr *bad;

    CHECK_EQ(ringpoll_loopback_plan(1, &rule, 1), 0);
    open_other(&other);
    struct ibv_sge sge = {.addr = (uintptr_t)other.pair.buffer[0], .length = 8, .lkey = other.pair.mr[0]->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
        .send_flags = IBV_SEND_SIGNALED, .wr.atomic.swap = 128};
    CHECK_EQ(ibv_post_send(other.pair.qp[0], &wr, &bad), 0);
    CHECK(request_at(&other, 0) != NULL);
    CHECK_EQ(request_at(&other, 0)->opcode, 127); /* LB_WR_REFUSED */
    CHECK_EQ(request_at(&other, 0)->taken, 0);
    close_other(&other);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
}

static void should_complete_long_reads_by_events(void)
{
    enum { READS = 200 };
    static char to[sizeof(long_memory)];
    struct pair pair;
    struct rpma_mr_local *source, *target;
    struct rpma_mr_remote *remote;
    char descriptor[64];
    size_t size;
    int fd;

    pair_open(&pair, NULL);
    CHECK_EQ(rpma_mr_reg(pair.server.peer, long_memory, sizeof(long_memory), RPMA_MR_USAGE_READ_SRC, &source), 0);
    CHECK_EQ(rpma_mr_reg(pair.client.peer, to, sizeof(to), RPMA_MR_USAGE_READ_DST, &target), 0);
    CHECK_EQ(rpma_mr_get_descriptor_size(source, &size), 0);
    CHECK_EQ(rpma_mr_get_descriptor(source, descriptor), 0);
    CHECK_EQ(rpma_mr_remote_from_descriptor(descriptor, size, &remote), 0);
    CHECK_EQ(rpma_cq_get_fd(pair.client.cq, &fd), 0);
    for (int i = 0; i < READS; i++) {
        struct ibv_wc wc;

        CHECK_EQ(rpma_read(pair.client.conn, target, 0, remote, 0, sizeof(to), RPMA_F_COMPLETION_ALWAYS, WR_ID(i)), 0);
        CHECK(readable(fd, 10000));
        CHECK_EQ(rpma_cq_wait(pair.client.cq), 0);
        CHECK_EQ(rpma_cq_get_wc(pair.client.cq, 1, &wc, NULL), 0);
        CHECK_EQ(wc.wr_id, i);
    }
    CHECK_EQ(rpma_mr_remote_delete(&remote), 0);
    CHECK_EQ(rpma_mr_dereg(&source), 0);
    CHECK_EQ(rpma_mr_dereg(&target), 0);
    pair_close(&pair);
}

/* The second run of copies is a trial, where processors have such stores. */
static void should_mark_bytes_that_have_gone_around_the_cache(void)
{
    enum { RUN = 256 };
    struct other other;

    open_other_with(&other, &(struct verbs_options){.cqe = 2 * RUN, .max_wr = 2 * RUN, .timeout = 14, .retry_cnt = 7});
    for (uint64_t i = 0; i <= RUN; i++)
        verbs_send(&other.pair, 0, i, IBV_WR_RDMA_WRITE, LB_STREAM_MIN, 0);
    CHECK_EQ(request_at(&other, 0)->flags & LB_WIRE_AROUND, 0);
#if defined(__x86_64__)
    CHECK(request_at(&other, RUN * lb_wire_record_size(LB_STREAM_MIN))->flags & LB_WIRE_AROUND);
#endif
    close_other(&other);
}

static void should_show_what_bytes_cost_by_the_way_that_they_have_come(void)
{
    const struct lb_stream_costs *costs;
    struct other other;

    open_other(&other);
    costs = &other.to_us->requests.costs;
    put(&other.to_us->requests, &other.requests_at, &(struct lb_wire_record){
        .size = lb_wire_record_size(LB_STREAM_MIN),
        .kind = LB_WIRE_REQUEST,
        .opcode = IBV_WR_RDMA_WRITE,
        .flags = LB_WIRE_AROUND,
        .length = LB_STREAM_MIN,
        .remote_addr = (uintptr_t)other.pair.buffer[0],
        .rkey = other.pair.mr[0]->rkey,
    });
    for (const double limit = seconds() + 10; atomic_load(&other.to_it->acknowledged) == 0 && seconds() < limit;)
        check_none(&other);
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), 1);
    CHECK_EQ(atomic_load(&costs->of[LB_STREAM_CACHED]), 0);
    CHECK(atomic_load(&costs->of[LB_STREAM_AROUND]) > 0);
    close_other(&other);
}

/* It would not be woken until the watch thread has seen, milliseconds later, that it does not poll any more. */
static void should_stay_asleep_while_an_event_of_its_other_queue_is_requested(void)
{
    struct other other;
    struct ibv_wc wc;

    open_other_with(&other, &(struct verbs_options){.receives_apart = true, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7});
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[1], 0), 0);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(ibv_poll_cq(other.pair.cq[0], 1, &wc), 0);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
    close_other(&other);
}

const struct test proxy_tests[] = {
    {"messages of two ends that answer each other use the same lines",
        should_use_the_same_lines_for_messages_that_answer_each_other},
    {"answers that are taken the short way keep messages in the same lines",
        should_use_the_same_lines_for_answers_that_are_taken_the_short_way},
    {"a child that may have no more memory does not share a segment with its parent",
        should_not_share_a_segment_with_a_child_that_may_have_no_more_memory},
#ifndef __SANITIZE_THREAD__
    {"a child of a fork polls, wherever a poll of its parent was", should_poll_in_a_child_wherever_its_parents_poll_was},
#endif
    {"a child of a fork that can map nothing starts a program, and does not use its parent's connections",
        should_let_a_child_that_can_map_nothing_start_a_program},
    {"few messages of bursts wait for room", should_let_few_messages_of_bursts_wait_for_room},
    {"what another process cannot have consumed is ignored", should_ignore_what_the_other_end_cannot_have_consumed},
    {"an end that sleeps takes all of a long response", should_take_all_of_a_long_response_while_it_sleeps},
    {"the key 0 of memory that was deregistered is refused", should_refuse_the_key_0_of_memory_that_was_deregistered},
    {"a refused atomic says how far its sender has read", should_say_how_far_it_has_read_with_a_refused_atomic},
    {"a message of another process is found at the start of the ring", should_find_the_next_message_at_the_start_of_the_ring},
    {"a request with a fence takes its bytes when those of a read are there",
        should_send_a_fenced_request_behind_the_bytes_of_a_read},
    {"requests to another process complete up to the acknowledged one", should_complete_requests_up_to_the_acknowledged_one},
    {"an acknowledgement of what was not sent ends the connection",
        should_break_off_at_an_acknowledgement_of_what_was_not_sent},
    {"an acknowledgement of a read without its bytes ends the connection",
        should_break_off_at_an_acknowledgement_of_a_read_without_its_bytes},
    {"an acknowledgement that goes back is ignored", should_ignore_an_acknowledgement_that_goes_back},
    {"the requests before one that fails in another process complete", should_complete_the_requests_before_one_that_fails},
    {"an acknowledged request without a completion is not flushed", should_not_flush_acknowledged_requests_without_a_completion},
    {"an acknowledged request without a completion does not fail when its peer's process ends",
        should_not_fail_acknowledged_requests_of_a_process_that_ends},
    {"a request that fails behind acknowledged ones completes without a poll",
        should_fail_a_request_behind_acknowledged_ones_without_a_poll},
    {"requests behind a full ring are sent without a poll", should_send_the_requests_behind_a_full_ring_without_a_poll},
    {"an end asks to be woken for room when it falls asleep", should_ask_to_be_woken_for_room_when_it_falls_asleep},
    {"requests behind a full ring are sent by a poll that finds messages",
        should_send_the_requests_behind_a_full_ring_while_messages_arrive},
    {"a response to what was not sent ends the connection", should_break_off_at_a_response_to_what_was_not_sent},
    {"acknowledged requests to another process complete before a message of it",
        should_complete_acknowledged_requests_before_a_message},
    {"acknowledged requests to another process complete before a message that another thread takes",
        should_complete_acknowledged_requests_before_a_message_that_another_thread_takes},
    {"fault plan: a receiver in another process that was not ready gets the message without a poll",
        should_send_to_a_receiver_that_was_not_ready_without_a_poll},
    {"fault plan: RNR_RETRY_EXC_ERR when a receiver in another process is not ready for too long",
        should_give_up_on_a_receiver_that_is_not_ready_for_too_long},
    {"a queue pair of another process is the peer of one queue pair", should_be_the_peer_of_one_queue_pair},
    {"each connection of a completion queue has its turn", should_work_for_each_connection_of_a_queue_in_its_turn},
    {"a write with immediate whose other parts were not sent ends the connection",
        should_break_off_at_a_part_whose_others_were_not_sent},
    {"a record of an impossible size ends the connection", should_break_off_at_a_record_of_an_impossible_size},
    {"a record between processes is seen, and nothing behind it", should_show_a_record_and_nothing_behind_it},
    {"a poll completes as many short messages of another process as it asks for",
        should_complete_as_many_short_messages_as_a_poll_asks_for},
    {"acknowledged requests to another process complete before a short message",
        should_complete_acknowledged_requests_before_a_short_message},
    {"a message of another process behind a failure is not executed", should_execute_no_message_behind_a_failure},
    {"an end is woken for a consumed response before a short message",
        should_wake_for_a_consumed_response_before_a_short_message},
    {"an end that falls asleep while its message is taken is woken",
        should_wake_an_end_that_fell_asleep_while_its_message_was_taken},
    {"an end is not woken for an acknowledgement that it does not await",
        should_not_wake_for_an_acknowledgement_that_nobody_awaits},
    {"an end is woken for the room that it waits for", should_wake_for_consumption_that_is_awaited},
    {"an end is woken for the room that a busy poll makes", should_wake_for_consumption_that_a_busy_poll_makes},
    {"an end that sleeps is woken once until it answers", should_wake_an_end_that_sleeps_once_until_it_answers},
    {"an end stays asleep while an event is requested", should_stay_asleep_while_an_event_is_requested},
    {"bytes that have gone around the cache are marked", should_mark_bytes_that_have_gone_around_the_cache},
    {"a consumer shows what bytes cost by the way that they have come",
        should_show_what_bytes_cost_by_the_way_that_they_have_come},
    {"an end stays asleep while an event of its other queue is requested",
        should_stay_asleep_while_an_event_of_its_other_queue_is_requested},
    {NULL, NULL},
};

const struct test proxy_watch_tests[] = {
    {"ends of several connections stay awake while they are polled", should_stay_awake_while_several_connections_are_polled},
    {"an end falls asleep after its last poll", should_fall_asleep_after_the_last_poll},
    {"the messages of an end that is polled are left to its polls",
        should_leave_the_messages_of_an_end_that_is_polled_to_its_polls},
    {"a request behind an acknowledgement that does not ring is executed",
        should_execute_a_request_behind_an_acknowledgement_that_wakes_nobody},
    {"long reads complete by events", should_complete_long_reads_by_events},
    {NULL, NULL},
};
