/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wait.c: two processes whose programs wait for completions at channels. First at two with blocking descriptors, as they do
 * over a NIC: messages in both directions, at first with a posted receive, later without one when they arrive.
 *
 * A descriptor that is readable has an event: a program that has found it readable does not wait in ibv_get_cq_event. Here it would
 * wait for ever, because the same thread posts the receive, or reads the event of the other channel.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process_end.h"

#define LENGTH 64u
/* The place of a message in the region, behind the memory of the receives. */
#define MESSAGE (128u * 1024)
/* The first DEPTH messages find a receive. */
#define MESSAGES (DEPTH + 200u)
/* Sends that are under way at a time where a thread of its own waits for their completions. */
#define WINDOW 3u
#define LIMIT_S 60
/* So long after the send of a round its receive is posted. */
#define LATE_S 0.0003

static void post_message(struct end *end)
{
    struct ibv_sge sge = {.addr = (uintptr_t)end->bytes + MESSAGE, .length = LENGTH, .lkey = end->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad;

    CHECK_EQ(ibv_post_send(end->id->qp, &wr, &bad), 0);
    end->sends_posted++;
}

/* Polls until the queue is empty; returns the number of completions. */
static uint32_t drain(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    uint32_t count = 0;

    while (ibv_poll_cq(cq, 1, &wc) == 1) {
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        count++;
    }
    return count;
}

static void request_event(struct ibv_cq *cq)
{
    CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
}

/* Takes an event of this queue, waiting for it, and requests the next one. */
static void take_event(struct ibv_cq *expected)
{
    struct ibv_cq *cq;
    void *context;

    CHECK_EQ(ibv_get_cq_event(expected->channel, &cq, &context), 0);
    CHECK(cq == expected);
    ibv_ack_cq_events(cq, 1);
    request_event(cq);
}

/* Before the first send; messages may have arrived. */
static void begin(struct end *end)
{
    request_event(end->id->recv_cq);
    request_event(end->id->send_cq);
    end->receives_ended += drain(end->id->recv_cq);
}

/* One of two threads: completions of receives, each of which is posted again some time after it was used. */
static void *take_messages(void *argument)
{
    struct end *end = argument;

    while (end->receives_ended < MESSAGES) {
        /* At first, too: the messages for all receives may have arrived before an event was requested. */
        if (end->receives_ended >= DEPTH && end->receives_posted < MESSAGES) {
            (void)poll(NULL, 0, 1);
            post_receive(end);
        }
        take_event(end->id->recv_cq);
        end->receives_ended += drain(end->id->recv_cq);
    }
    return NULL;
}

/* The other one: posts messages, and takes their completions. */
static void *send_messages(void *argument)
{
    struct end *end = argument;

    while (end->sends_ended < MESSAGES) {
        while (end->sends_posted < MESSAGES && end->sends_posted - end->sends_ended < WINDOW)
            post_message(end);
        take_event(end->id->send_cq);
        end->sends_ended += drain(end->id->send_cq);
    }
    return NULL;
}

static void exchange_in_two_threads(struct end *end)
{
    pthread_t thread;

    begin(end);
    CHECK_EQ(pthread_create(&thread, NULL, take_messages, end), 0);
    (void)send_messages(end);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* A message in each direction, in one thread: `wait` takes completions, and waits if it may. */
static void exchange_alone(struct end *end, void (*wait)(struct end *end, bool has_receive))
{
    begin(end);
    for (uint32_t round = 1; round <= MESSAGES; round++) {
        const double late = seconds() + LATE_S;

        post_message(end);
        while (end->receives_ended < round || end->sends_ended < round) {
            if (end->receives_posted < round && seconds() >= late)
                post_receive(end);
            wait(end, end->receives_posted >= round);
        }
    }
}

/* Polls one queue, and waits at the channel of the other one when it is readable, or nothing else is left to do. */
static void poll_sends(struct end *end, bool has_receive)
{
    const bool waits = has_receive && end->sends_ended == end->sends_posted;

    end->sends_ended += drain(end->id->send_cq);
    if (waits || readable(end->id->recv_cq_channel->fd, 0)) {
        if (end->receives_ended < end->sends_posted)
            take_event(end->id->recv_cq);
        end->receives_ended += drain(end->id->recv_cq);
    }
}

/* Waits at both descriptors, and fetches the events of those that are readable. */
static void wait_at_both(struct end *end, bool has_receive)
{
    struct ibv_cq *const queues[] = {end->id->send_cq, end->id->recv_cq};
    uint32_t *const ended[] = {&end->sends_ended, &end->receives_ended};
    struct pollfd waiting[] = {
        {.fd = end->id->send_cq_channel->fd, .events = POLLIN},
        {.fd = end->id->recv_cq_channel->fd, .events = POLLIN},
    };

    CHECK(poll(waiting, 2, has_receive ? LIMIT_S * 1000 : 1) >= 0);
    for (int i = 0; i < 2; i++) {
        if (waiting[i].revents == 0)
            continue;
        take_event(queues[i]);
        *ended[i] += drain(queues[i]);
    }
}

enum shape { TWO_THREADS, ONE_POLLS, ONE_WAITS };

static void exchange(struct end *end, enum shape shape)
{
    switch (shape) {
    case TWO_THREADS:
        exchange_in_two_threads(end);
        break;
    case ONE_POLLS:
        exchange_alone(end, poll_sends);
        break;
    case ONE_WAITS:
        exchange_alone(end, wait_at_both);
        break;
    }
    settle(end);
    close_end(end);
}

/* The other process. */
int process_waiter(const char *port, const char *shape)
{
    struct end end = {.seed = 1};

    alarm(LIMIT_S);
    CHECK(connect_to(atoi(port), &end));
    exchange(&end, (enum shape)atoi(shape));
    return 0;
}

static void exchange_with_a_process(enum shape shape)
{
    int port;
    int status;
    char number[16];
    char role[16];
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = 1};

    (void)snprintf(number, sizeof(number), "%d", port);
    (void)snprintf(role, sizeof(role), "%d", (int)shape);
    const pid_t peer = fork();
    CHECK(peer >= 0);
    if (peer == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_WAITER, number, role, (char *)NULL);
        _exit(127);
    }
    alarm(LIMIT_S);
    accept_peer(listener, &end);
    exchange(&end, shape);
    CHECK_EQ(waitpid(peer, &status, 0), peer);
    CHECK_EQ(status, 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void should_wake_two_threads_that_wait_at_a_channel_each(void)
{
    exchange_with_a_process(TWO_THREADS);
}

static void should_not_stop_a_thread_that_polls_a_queue_and_waits_for_the_other_one(void)
{
    exchange_with_a_process(ONE_POLLS);
}

static void should_not_stop_a_thread_that_waits_for_two_descriptors(void)
{
    exchange_with_a_process(ONE_WAITS);
}

static _Atomic bool is_over;

static void poll_all(struct end *end)
{
    uint32_t before;

    do {
        before = end->receives_ended + end->sends_ended;
        poll_queues(end, true);
    } while (end->receives_ended + end->sends_ended != before);
}

static void begin_to_wait(struct end *end)
{
    CHECK_EQ(fcntl(end->id->recv_cq_channel->fd, F_SETFL, O_NONBLOCK), 0);
    CHECK_EQ(ibv_req_notify_cq(end->id->recv_cq, 0), 0);
}

/* Waits for an event, and requests the next one. */
static void await_event(struct end *end)
{
    struct pollfd readable = {.fd = end->id->recv_cq_channel->fd, .events = POLLIN};
    struct ibv_cq *cq;
    void *context;

    while (ibv_get_cq_event(end->id->recv_cq_channel, &cq, &context)) {
        CHECK_EQ(errno, EAGAIN);
        CHECK_EQ(poll(&readable, 1, PATIENCE_S * 1000), 1);
    }
    ibv_ack_cq_events(cq, 1);
    CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
}

/* Takes messages, and waits for the next one, until the queue pair is flushed. */
static void *wait_for_messages(void *argument)
{
    struct end *end = argument;

    begin_to_wait(end);
    while (!atomic_load(&is_over)) {
        poll_all(end);
        await_event(end);
    }
    return NULL;
}

/* The peer is killed while a thread waits for events of its messages. */
static void should_end_the_wait_for_a_process_that_is_killed(void)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);

    for (int i = 0; i < 5; i++) {
        const pid_t peer = start_peer(port, "0", "");
        struct end end = {.seed = 1};
        pthread_t thread;

        accept_peer(listener, &end);
        atomic_store(&is_over, false);
        CHECK_EQ(pthread_create(&thread, NULL, wait_for_messages, &end), 0);
        (void)poll(NULL, 0, 20 + i * 7);
        CHECK_EQ(kill(peer, SIGKILL), 0);
        CHECK_EQ(waitpid(peer, NULL, 0), peer);
        for (const double limit = seconds() + PATIENCE_S; !has_ended(&end) && seconds() < limit;)
            (void)poll(NULL, 0, 1);
        CHECK(has_ended(&end));
        atomic_store(&is_over, true);
        (void)rdma_disconnect(end.id); /* flushes the receives: an event */
        CHECK_EQ(pthread_join(thread, NULL), 0);
        settle(&end);
        close_end(&end);
    }
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* Posts a message, and takes messages until there have been so many, asleep between two of them. */
static void exchange_asleep(struct end *end, uint32_t messages)
{
    post_message(end);
    for (poll_all(end); end->receives_ended < messages; poll_all(end))
        await_event(end);
}

/* The other process. */
int process_sleeper(const char *port, const char *rounds)
{
    struct end end = {.seed = 1};

    alarm(PATIENCE_S);
    CHECK(connect_to(atoi(port), &end));
    begin_to_wait(&end);
    for (uint32_t i = 0; i < (uint32_t)atoi(rounds); i++)
        exchange_asleep(&end, i + 1);
    settle(&end);
    close_end(&end);
    return 0;
}

static void should_exchange_messages_of_processes_that_sleep(void)
{
    enum { ROUNDS = 3000 };
    int port;
    int status;
    char number[16];
    char rounds[16];
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = 1};

    (void)snprintf(number, sizeof(number), "%d", port);
    (void)snprintf(rounds, sizeof(rounds), "%d", ROUNDS);
    const pid_t peer = fork();
    CHECK(peer >= 0);
    if (peer == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_SLEEPER, number, rounds, (char *)NULL);
        _exit(127);
    }
    accept_peer(listener, &end);
    begin_to_wait(&end);
    for (uint32_t i = 0; i < ROUNDS; i++)
        exchange_asleep(&end, i + 1);
    settle(&end);
    CHECK_EQ(waitpid(peer, &status, 0), peer);
    CHECK_EQ(status, 0);
    close_end(&end);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

const struct test wait_tests[] = {
    {"two threads that wait at a channel each, whose descriptors block, exchange messages with another process",
        should_wake_two_threads_that_wait_at_a_channel_each},
    {"a thread that polls a queue, and waits at the channel of the other one, exchanges messages with another process",
        should_not_stop_a_thread_that_polls_a_queue_and_waits_for_the_other_one},
    {"a thread that waits for two descriptors, which block, exchanges messages with another process",
        should_not_stop_a_thread_that_waits_for_two_descriptors},
    {"two processes that sleep exchange messages", should_exchange_messages_of_processes_that_sleep},
    {"a wait for messages of a killed process ends", should_end_the_wait_for_a_process_that_is_killed},
    {NULL, NULL},
};
