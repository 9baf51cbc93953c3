/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bell.c: waits for completion events that another process ends itself: what it calls for, what it does not, and ends that do
 * not keep the rules.
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
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "other_end.h"
#include "process_end.h"
#include "watch.h"

#define LENGTH 64u
#define HEARS_BOTH (LB_WIRE_HEARS_RECEIVES | LB_WIRE_HEARS_SENDS)

/* Makes the calls of the other process as its device does: the state, then the byte. */
static void announce_call(struct other *other)
{
    CHECK(atomic_load(&other->to_us->asleep) & LB_WIRE_HEARS_RECEIVES);
    atomic_store(&other->to_us->asleep, LB_WIRE_QUIET | LB_WIRE_CALLED);
}

static void send_call(struct other *other)
{
    CHECK_EQ(send(other->bell, "", 1, MSG_DONTWAIT), 1);
}

static void call(struct other *other)
{
    announce_call(other);
    send_call(other);
}

static void request_event(struct other *other)
{
    CHECK_EQ(ibv_req_notify_cq(other->pair.cq[0], 0), 0);
}

/* Fetches an event without a wait; whether there was one. */
static bool fetch(struct other *other)
{
    struct ibv_cq *cq;
    void *context;

    if (ibv_get_cq_event(other->pair.channel, &cq, &context)) {
        CHECK_EQ(errno, EAGAIN);
        return false;
    }
    CHECK(cq == other->pair.cq[0]);
    ibv_ack_cq_events(cq, 1);
    return true;
}

static bool is_readable(const struct other *other)
{
    return readable(other->pair.channel->fd, 0);
}

static bool poll_one(struct other *other, uint64_t wr_id)
{
    struct ibv_wc wc;

    if (ibv_poll_cq(other->pair.cq[0], 1, &wc) == 0)
        return false;
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, wr_id);
    return true;
}

static void open_waiting(struct other *other)
{
    CHECK_EQ(lb_watch_start(), 0);
    open_other_with_bell(other);
    CHECK_EQ(fcntl(other->pair.channel->fd, F_SETFL, O_NONBLOCK), 0);
}

/* No other thread works for the end: the watch thread does not know its socket. */
static void should_work_in_the_call_that_fetches_the_event(void)
{
    struct other other;

    open_waiting(&other);
    for (uint64_t i = 0; i < 100; i++) {
        verbs_recv(&other.pair, 0, i, 0, LENGTH);
        request_event(&other);
        CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP | HEARS_BOTH);
        CHECK(!is_readable(&other));
        CHECK(!fetch(&other));
        send_to_us(&other);
        call(&other);
        CHECK(is_readable(&other));
        CHECK(fetch(&other));
        CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_QUIET);
        CHECK(!is_readable(&other));
        CHECK(!fetch(&other));
        CHECK(poll_one(&other, i));
    }
    close_other(&other);
}

/* Its program would wait in ibv_get_cq_event for a call that has no completion. */
static void should_not_hear_through_a_descriptor_that_blocks(void)
{
    struct other other;

    open_waiting(&other);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(fcntl(other.pair.channel->fd, F_SETFL, 0), 0);
        verbs_recv(&other.pair, 0, i, 0, LENGTH);
        request_event(&other);
        CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP);
        send_to_us(&other);
        lb_proxy_answer(other.proxy);
        CHECK(fetch(&other));
        CHECK(poll_one(&other, i));
        CHECK_EQ(fcntl(other.pair.channel->fd, F_SETFL, O_NONBLOCK), 0);
        request_event(&other);
        CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP | HEARS_BOTH);
    }
    close_other(&other);
}

/* It would be woken a millisecond later. */
static void should_be_rung_while_the_event_of_a_queue_that_does_not_hear_is_requested(void)
{
    struct other other;

    open_waiting(&other);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    request_event(&other);
    send_to_us(&other);
    lb_proxy_answer(other.proxy);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 1), 0); /* of solicited ones */
    CHECK(fetch(&other)); /* the first event */
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP);
    close_other(&other);
}

/* A poll has taken the message before the byte came: the program fetches the event, and must not find the descriptor readable. */
static void should_not_be_readable_when_the_byte_comes_after_the_event(void)
{
    struct other other;

    open_waiting(&other);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    request_event(&other);
    send_to_us(&other);
    announce_call(&other);
    CHECK(poll_one(&other, 1));
    CHECK(fetch(&other));
    send_call(&other);
    CHECK(!is_readable(&other));
    CHECK(!fetch(&other));
    verbs_recv(&other.pair, 0, 2, 0, LENGTH);
    request_event(&other);
    CHECK(!is_readable(&other));
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP | HEARS_BOTH);
    send_to_us(&other);
    call(&other);
    CHECK(fetch(&other));
    CHECK(poll_one(&other, 2));
    close_other(&other);
}

/* Meanwhile the end is rung. */
static void should_not_hear_while_a_byte_is_still_to_come(void)
{
    struct other other;

    open_waiting(&other);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    request_event(&other);
    send_to_us(&other);
    announce_call(&other);
    CHECK(poll_one(&other, 1));
    CHECK(fetch(&other));
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP);
    send_call(&other);
    CHECK(!is_readable(&other));
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP | HEARS_BOTH);
    CHECK(!is_readable(&other));
    close_other(&other);
}

/* For a receive that is not posted, for instance. */
static void should_go_on_waiting_after_a_call_without_a_completion(void)
{
    struct other other;

    open_waiting(&other);
    request_event(&other);
    send_to_us(&other);
    call(&other);
    CHECK(is_readable(&other));
    CHECK(!fetch(&other));
    CHECK(!is_readable(&other));
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP | HEARS_BOTH);
    verbs_recv(&other.pair, 0, 3, 0, LENGTH);
    CHECK(is_readable(&other));
    CHECK(fetch(&other));
    CHECK(poll_one(&other, 3));
    close_other(&other);
}

/* The program does not fetch its event: its watch thread works for it when it is rung. */
static void should_be_rung_besides_for_what_completes_nothing(void)
{
    struct other other;

    open_waiting(&other);
    request_event(&other);
    atomic_store(&other.to_us->asleep, LB_WIRE_RUNG);
    put(&other.to_us->requests, &other.requests_at, &(struct lb_wire_record){
        .size = sizeof(struct lb_wire_record), .kind = LB_WIRE_REQUEST, .opcode = IBV_WR_RDMA_WRITE});
    lb_proxy_answer(other.proxy);
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), 1);
    CHECK(!is_readable(&other));
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP | HEARS_BOTH);
    close_other(&other);
}

static void write_to_it(struct other *other, uint64_t wr_id)
{
    verbs_send(&other->pair, 0, wr_id, IBV_WR_RDMA_WRITE, LENGTH, IBV_SEND_SIGNALED);
}

static void message_to_it(struct other *other, uint64_t wr_id)
{
    verbs_send(&other->pair, 0, wr_id, IBV_WR_SEND, LENGTH, IBV_SEND_SIGNALED);
}

static void should_call_an_end_for_what_it_hears_and_ring_it_for_the_rest(void)
{
    struct other other;

    open_waiting(&other);
    atomic_store(&other.to_it->asleep, LB_WIRE_ASLEEP | LB_WIRE_HEARS_RECEIVES);
    message_to_it(&other, 1);
    CHECK(is_called(&other));
    CHECK(!is_rung(&other));
    CHECK_EQ(atomic_load(&other.to_it->asleep), LB_WIRE_QUIET | LB_WIRE_CALLED);
    message_to_it(&other, 2);
    CHECK(!is_called(&other));
    CHECK(!is_rung(&other));
    write_to_it(&other, 3); /* nobody may wait there until the program comes back */
    CHECK(!is_called(&other));
    CHECK(is_rung(&other));
    CHECK_EQ(atomic_load(&other.to_it->asleep), LB_WIRE_RUNG | LB_WIRE_CALLED);
    atomic_store(&other.to_it->asleep, LB_WIRE_ASLEEP | LB_WIRE_HEARS_SENDS);
    message_to_it(&other, 4);
    CHECK(!is_called(&other));
    CHECK(is_rung(&other));
    /* An acknowledgement completes a request there. */
    atomic_store(&other.to_it->asleep, LB_WIRE_ASLEEP | LB_WIRE_HEARS_SENDS);
    verbs_recv(&other.pair, 0, 5, 0, LENGTH);
    send_to_us(&other);
    CHECK(poll_one(&other, 5));
    CHECK(is_called(&other));
    CHECK(!is_rung(&other));
    close_other(&other);
}

/* It has requested an event, and its threads do something else. */
static void should_ring_an_end_that_does_not_answer_its_call(void)
{
    struct other other;
    bool rung = false;

    open_waiting(&other);
    atomic_store(&other.to_it->asleep, LB_WIRE_ASLEEP | HEARS_BOTH);
    message_to_it(&other, 1);
    CHECK(is_called(&other));
    for (const double limit = seconds() + 10; !rung && seconds() < limit;) {
        (void)poll(NULL, 0, 1);
        rung = is_rung(&other);
    }
    CHECK(rung);
    /* Also without a call: it has fetched an event, and has not come back. */
    atomic_store(&other.to_it->asleep, LB_WIRE_QUIET);
    message_to_it(&other, 2);
    CHECK(!is_called(&other));
    rung = false;
    for (const double limit = seconds() + 10; !rung && seconds() < limit;) {
        (void)poll(NULL, 0, 1);
        rung = is_rung(&other);
    }
    CHECK(rung);
    /* Once: it is stopped, perhaps. */
    (void)poll(NULL, 0, 20);
    CHECK(!is_rung(&other));
    close_other(&other);
}

/* Reads the message, and acknowledges it. */
static void read_message(struct other *other, uint64_t *position)
{
    const struct lb_wire_record *record = request_at(other, *position);

    CHECK(record != NULL);
    atomic_store(&other->to_us->acknowledged, (uint32_t)record->number + 1);
    *position = behind(record, *position);
    atomic_store(&other->to_it->requests.consumed, *position);
}

/* An end that answers each call in time is quiet whenever the watch thread looks. */
static void should_not_ring_an_end_that_was_called_just_now(void)
{
    struct other other;
    uint64_t position = 0;

    open_waiting(&other);
    for (uint64_t i = 0; i < 300; i++) {
        const struct timespec moment = {.tv_nsec = 300000};

        (void)is_rung(&other);
        atomic_store(&other.to_it->asleep, LB_WIRE_ASLEEP | HEARS_BOTH);
        const double called = seconds();
        message_to_it(&other, i);
        CHECK(is_called(&other));
        (void)nanosleep(&moment, NULL);
        if (is_rung(&other)) /* not before the second look of the watch thread: it looks each millisecond */
            CHECK(seconds() - called >= 0.001);
        read_message(&other, &position);
        CHECK(poll_one(&other, i));
    }
    close_other(&other);
}

static void should_break_off_at_a_byte_without_a_call(void)
{
    struct other other;

    open_waiting(&other);
    request_event(&other);
    send_call(&other);
    CHECK(is_readable(&other));
    CHECK(!fetch(&other));
    CHECK(lb_proxy_is_broken(other.proxy));
    CHECK(!is_readable(&other));
    close_other(&other);
}

/* The other process can do that to this end, too, if it has made the pair. */
static void should_not_hear_a_bell_that_is_shut_down(void)
{
    struct other other;

    open_waiting(&other);
    request_event(&other);
    CHECK_EQ(shutdown(other.our_bell, SHUT_RDWR), 0);
    (void)fetch(&other);
    CHECK(!is_readable(&other));
    CHECK(!fetch(&other));
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    send_to_us(&other);
    lb_proxy_answer(other.proxy);
    CHECK(is_readable(&other));
    CHECK(fetch(&other));
    CHECK(poll_one(&other, 1));
    close_other(&other);
}

/* The other process has closed its end, or has ended: its socket says so, and the bell does not. */
static void should_not_be_readable_for_the_end_of_the_other_process(void)
{
    struct other other;

    open_waiting(&other);
    request_event(&other);
    CHECK_EQ(close(other.bell), 0);
    other.bell = -1;
    CHECK(!is_readable(&other));
    CHECK(!fetch(&other));
    close_other(&other);
}

static void should_not_hear_while_no_event_is_requested(void)
{
    struct other other;

    open_waiting(&other);
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 1), 0); /* of solicited ones: the other end does not know */
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP);
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP | HEARS_BOTH);
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
    CHECK_EQ(atomic_load(&other.to_us->asleep), LB_WIRE_ASLEEP);
    close_other(&other);
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
static void exchange(struct end *end, uint32_t messages)
{
    struct ibv_sge sge = {.addr = (uintptr_t)end->bytes, .length = LENGTH, .lkey = end->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad;

    CHECK_EQ(ibv_post_send(end->id->qp, &wr, &bad), 0);
    end->sends_posted++;
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
        exchange(&end, i + 1);
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
        exchange(&end, i + 1);
    settle(&end);
    CHECK_EQ(waitpid(peer, &status, 0), peer);
    CHECK_EQ(status, 0);
    close_end(&end);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

const struct test bell_tests[] = {
    {"the thread that fetches an event works for a process that has called", should_work_in_the_call_that_fetches_the_event},
    {"a channel whose descriptor blocks does not hear a bell", should_not_hear_through_a_descriptor_that_blocks},
    {"an end is rung while an event is requested that it is not called for",
        should_be_rung_while_the_event_of_a_queue_that_does_not_hear_is_requested},
    {"a channel is not readable when a call comes after its event", should_not_be_readable_when_the_byte_comes_after_the_event},
    {"a channel does not hear a bell whose byte is still to come", should_not_hear_while_a_byte_is_still_to_come},
    {"a wait goes on after a call without a completion", should_go_on_waiting_after_a_call_without_a_completion},
    {"an end that hears its bell is rung for what completes nothing", should_be_rung_besides_for_what_completes_nothing},
    {"an end is called for what it hears, and rung for the rest", should_call_an_end_for_what_it_hears_and_ring_it_for_the_rest},
    {"an end that does not answer its call is rung", should_ring_an_end_that_does_not_answer_its_call},
    {"an end is not rung for an earlier call than its last one", should_not_ring_an_end_that_was_called_just_now},
    {"a byte in the bell without a call ends the connection", should_break_off_at_a_byte_without_a_call},
    {"a bell that is shut down is not heard any more", should_not_hear_a_bell_that_is_shut_down},
    {"a channel is not readable for the end of the other process", should_not_be_readable_for_the_end_of_the_other_process},
    {"a bell is heard while the event of any completion is requested", should_not_hear_while_no_event_is_requested},
    {"an end stays asleep while an event of its other queue is requested",
        should_stay_asleep_while_an_event_of_its_other_queue_is_requested},
    {"two processes that sleep exchange messages", should_exchange_messages_of_processes_that_sleep},
    {"a wait for messages of a killed process ends", should_end_the_wait_for_a_process_that_is_killed},
    {NULL, NULL},
};
