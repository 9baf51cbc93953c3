/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doorbell.c: waits for completion events that another process ends itself by a notification: which completions it notifies
 * of, for which it wakes the watch thread, and ends that break the rules.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "other_end.h"
#include "process_end.h"
#include "watch.h"

#define LENGTH 64u
#define NOTIFY_BOTH (LB_WIRE_NOTIFY_RECEIVES | LB_WIRE_NOTIFY_SENDS)

/* Notifies this process as the device of the other one does: the state, then the byte. */
static void set_notified(struct other *other)
{
    CHECK(atomic_load(&other->to_us->sleep_state) & LB_WIRE_NOTIFY_RECEIVES);
    atomic_store(&other->to_us->sleep_state, LB_WIRE_SUPPRESSED | LB_WIRE_NOTIFIED);
}

static void send_byte(struct other *other)
{
    CHECK_EQ(send(other->doorbell, "", 1, MSG_DONTWAIT), 1);
}

static void notify(struct other *other)
{
    set_notified(other);
    send_byte(other);
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

/* The connection of each test. */
static struct other other;

static void open_connection(void)
{
    open_other_with_doorbell(&other);
    CHECK_EQ(fcntl(other.pair.channel->fd, F_SETFL, O_NONBLOCK), 0);
}

void doorbell_set_up(void)
{
    hold_watch_thread();
    open_connection();
}

void doorbell_tear_down(void)
{
    close_other(&other);
    let_watch_thread_go();
}

void doorbell_watch_set_up(void)
{
    CHECK_EQ(lb_watch_start(), 0);
    open_connection();
}

void doorbell_watch_tear_down(void)
{
    close_other(&other);
}

/* No other thread works for the end: the watch thread does not know its socket. */
static void should_work_in_the_call_that_fetches_the_event(void)
{
    for (uint64_t i = 0; i < 100; i++) {
        verbs_recv(&other.pair, 0, i, 0, LENGTH);
        request_event(&other);
        CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP | NOTIFY_BOTH);
        CHECK(!is_readable(&other));
        CHECK(!fetch(&other));
        send_to_us(&other);
        notify(&other);
        CHECK(is_readable(&other));
        CHECK(fetch(&other));
        CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_SUPPRESSED);
        CHECK(!is_readable(&other));
        CHECK(!fetch(&other));
        CHECK(poll_one(&other, i));
    }
}

/* Its program would wait in ibv_get_cq_event after a notification without a completion. */
static void should_not_subscribe_a_channel_whose_descriptor_blocks(void)
{
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(fcntl(other.pair.channel->fd, F_SETFL, 0), 0);
        verbs_recv(&other.pair, 0, i, 0, LENGTH);
        request_event(&other);
        CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
        send_to_us(&other);
        lb_proxy_answer(other.proxy);
        CHECK(fetch(&other));
        CHECK(poll_one(&other, i));
        CHECK_EQ(fcntl(other.pair.channel->fd, F_SETFL, O_NONBLOCK), 0);
        request_event(&other);
        CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP | NOTIFY_BOTH);
    }
}

/* It would be woken a millisecond later. */
static void should_be_woken_while_an_event_without_a_notification_is_requested(void)
{
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    request_event(&other);
    send_to_us(&other);
    lb_proxy_answer(other.proxy);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 1), 0); /* of solicited ones */
    CHECK(fetch(&other)); /* the first event */
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
}

/* The other end has set the flag of its notification. A poll takes the message and the event is fetched before the byte arrives. */
static void fetch_before_the_byte(void)
{
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    request_event(&other);
    send_to_us(&other);
    set_notified(&other);
    CHECK(poll_one(&other, 1));
    CHECK(fetch(&other));
}

static void should_not_be_readable_when_the_byte_comes_after_the_event(void)
{
    fetch_before_the_byte();
    send_byte(&other);
    CHECK(!is_readable(&other));
    CHECK(!fetch(&other));
    verbs_recv(&other.pair, 0, 2, 0, LENGTH);
    request_event(&other);
    CHECK(!is_readable(&other));
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP | NOTIFY_BOTH);
    send_to_us(&other);
    notify(&other);
    CHECK(fetch(&other));
    CHECK(poll_one(&other, 2));
}

/* The watch thread serves this end meanwhile. */
static void should_not_subscribe_while_a_byte_is_on_its_way(void)
{
    fetch_before_the_byte();
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
    send_byte(&other);
    CHECK(!is_readable(&other));
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP | NOTIFY_BOTH);
    CHECK(!is_readable(&other));
}

/* For a receive that is not posted, for instance. */
static void should_go_on_waiting_after_a_notification_without_a_completion(void)
{
    request_event(&other);
    send_to_us(&other);
    notify(&other);
    CHECK(is_readable(&other));
    CHECK(!fetch(&other));
    CHECK(!is_readable(&other));
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP | NOTIFY_BOTH);
    verbs_recv(&other.pair, 0, 3, 0, LENGTH);
    CHECK(is_readable(&other));
    CHECK(fetch(&other));
    CHECK(poll_one(&other, 3));
}

/* The program does not fetch an event meanwhile. */
static void should_be_woken_for_requests_that_complete_nothing(void)
{
    request_event(&other);
    atomic_store(&other.to_us->sleep_state, LB_WIRE_WOKEN);
    put(&other.to_us->requests, &other.requests_at, &(struct lb_wire_record){
        .size = sizeof(struct lb_wire_record), .kind = LB_WIRE_REQUEST, .opcode = IBV_WR_RDMA_WRITE});
    lb_proxy_answer(other.proxy);
    CHECK_EQ(atomic_load(&other.to_it->acknowledged), 1);
    CHECK(!is_readable(&other));
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP | NOTIFY_BOTH);
}

static void write_to_it(struct other *other, uint64_t wr_id)
{
    verbs_send(&other->pair, 0, wr_id, IBV_WR_RDMA_WRITE, LENGTH, IBV_SEND_SIGNALED);
}

static void message_to_it(struct other *other, uint64_t wr_id)
{
    verbs_send(&other->pair, 0, wr_id, IBV_WR_SEND, LENGTH, IBV_SEND_SIGNALED);
}

static void should_notify_an_end_of_requested_completions_and_wake_it_for_the_rest(void)
{
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP | LB_WIRE_NOTIFY_RECEIVES);
    message_to_it(&other, 1);
    CHECK(is_notified(&other));
    CHECK(!is_woken(&other));
    CHECK_EQ(atomic_load(&other.to_it->sleep_state), LB_WIRE_SUPPRESSED | LB_WIRE_NOTIFIED);
    message_to_it(&other, 2);
    CHECK(!is_notified(&other));
    CHECK(!is_woken(&other));
    write_to_it(&other, 3); /* no thread may be waiting there */
    CHECK(!is_notified(&other));
    CHECK(is_woken(&other));
    CHECK_EQ(atomic_load(&other.to_it->sleep_state), LB_WIRE_WOKEN | LB_WIRE_NOTIFIED);
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP | LB_WIRE_NOTIFY_SENDS);
    message_to_it(&other, 4);
    CHECK(!is_notified(&other));
    CHECK(is_woken(&other));
    /* An acknowledgement completes a request there. */
    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP | LB_WIRE_NOTIFY_SENDS);
    verbs_recv(&other.pair, 0, 5, 0, LENGTH);
    send_to_us(&other);
    CHECK(poll_one(&other, 5));
    CHECK(is_notified(&other));
    CHECK(!is_woken(&other));
}

/* It has requested an event, and its threads do something else. */
static void should_wake_an_end_that_does_not_react_to_its_notification(void)
{
    bool woken = false;

    atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP | NOTIFY_BOTH);
    message_to_it(&other, 1);
    CHECK(is_notified(&other));
    for (const double limit = seconds() + 10; !woken && seconds() < limit;) {
        (void)poll(NULL, 0, 1);
        woken = is_woken(&other);
    }
    CHECK(woken);
    /* Also without a notification, after the fetch of an event. */
    atomic_store(&other.to_it->sleep_state, LB_WIRE_SUPPRESSED);
    message_to_it(&other, 2);
    CHECK(!is_notified(&other));
    woken = false;
    for (const double limit = seconds() + 10; !woken && seconds() < limit;) {
        (void)poll(NULL, 0, 1);
        woken = is_woken(&other);
    }
    CHECK(woken);
    /* Once: it is stopped, perhaps. */
    (void)poll(NULL, 0, 20);
    CHECK(!is_woken(&other));
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

/*
 * The notifications of an end that reads each message in time may be suppressed whenever the watch thread looks. It looks each
 * millisecond, and wakes an end that has done nothing between two looks.
 */
static void should_not_wake_an_end_that_was_notified_just_now(void)
{
    uint64_t position = 0;
    double last_read = seconds();
    int early = 0;

    for (uint64_t i = 0; i < 300; i++) {
        const struct timespec moment = {.tv_nsec = 300000};

        (void)is_woken(&other);
        atomic_store(&other.to_it->sleep_state, LB_WIRE_ASLEEP | NOTIFY_BOTH);
        message_to_it(&other, i);
        const bool notified = is_notified(&other);
        (void)nanosleep(&moment, NULL);
        const bool woken = is_woken(&other);
        CHECK(notified || woken);
        /* Otherwise this test was stopped for a while, before or after the notification. */
        early += woken && seconds() - last_read < 0.001;
        last_read = seconds();
        read_message(&other, &position);
        CHECK_EQ(verbs_wc(other.pair.cq[0]).wr_id, i);
    }
    /* The watch thread may be stopped between its look and the wake-up. */
    CHECK(early < 10);
}

static void should_end_the_connection_at_a_byte_without_a_notification(void)
{
    request_event(&other);
    send_byte(&other);
    CHECK(is_readable(&other));
    CHECK(!fetch(&other));
    CHECK(lb_proxy_is_broken(other.proxy));
    CHECK(!is_readable(&other));
}

/* The other process can do that to this end, too, if it has created the pair. */
static void should_not_subscribe_to_a_doorbell_that_is_shut_down(void)
{
    request_event(&other);
    CHECK_EQ(shutdown(other.our_doorbell, SHUT_RDWR), 0);
    (void)fetch(&other);
    CHECK(!is_readable(&other));
    CHECK(!fetch(&other));
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
    verbs_recv(&other.pair, 0, 1, 0, LENGTH);
    send_to_us(&other);
    lb_proxy_answer(other.proxy);
    CHECK(is_readable(&other));
    CHECK(fetch(&other));
    CHECK(poll_one(&other, 1));
}

/* The other process has closed its end, or has ended: that is seen at its socket, not at the doorbell. */
static void should_not_be_readable_for_the_end_of_the_other_process(void)
{
    request_event(&other);
    CHECK_EQ(close(other.doorbell), 0);
    other.doorbell = -1;
    CHECK(!is_readable(&other));
    CHECK(!fetch(&other));
}

static void should_not_want_notifications_while_no_event_is_requested(void)
{
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
    CHECK_EQ(ibv_req_notify_cq(other.pair.cq[0], 1), 0); /* of solicited ones, which the other end does not distinguish */
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP);
    request_event(&other);
    CHECK_EQ(atomic_load(&other.to_us->sleep_state), LB_WIRE_ASLEEP | NOTIFY_BOTH);
}

const struct test doorbell_tests[] = {
    {"the thread that fetches an event works after a notification", should_work_in_the_call_that_fetches_the_event},
    {"a channel whose descriptor blocks is not subscribed to a doorbell", should_not_subscribe_a_channel_whose_descriptor_blocks},
    {"an end is woken while an event is requested of which it is not notified",
        should_be_woken_while_an_event_without_a_notification_is_requested},
    {"a channel is not readable when a notification arrives after its event", should_not_be_readable_when_the_byte_comes_after_the_event},
    {"a channel is not subscribed to a doorbell whose byte is on its way", should_not_subscribe_while_a_byte_is_on_its_way},
    {"a wait goes on after a notification without a completion", should_go_on_waiting_after_a_notification_without_a_completion},
    {"an end that wants notifications is woken for requests that complete nothing", should_be_woken_for_requests_that_complete_nothing},
    {"an end is notified of requested completions, and woken for the rest", should_notify_an_end_of_requested_completions_and_wake_it_for_the_rest},
    {"a byte in the doorbell without a notification ends the connection", should_end_the_connection_at_a_byte_without_a_notification},
    {"a channel is not subscribed to a doorbell that is shut down", should_not_subscribe_to_a_doorbell_that_is_shut_down},
    {"a channel is not readable for the end of the other process", should_not_be_readable_for_the_end_of_the_other_process},
    {"notifications are wanted while the event of any completion is requested", should_not_want_notifications_while_no_event_is_requested},
    {NULL, NULL},
};

const struct test doorbell_watch_tests[] = {
    {"an end that does not react to its notification is woken", should_wake_an_end_that_does_not_react_to_its_notification},
    {"an end is not woken for an earlier notification than its last one", should_not_wake_an_end_that_was_notified_just_now},
    {NULL, NULL},
};
