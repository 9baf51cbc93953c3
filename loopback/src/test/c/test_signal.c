/* SPDX-License-Identifier: Apache-2.0 */
/* test_signal.c: threads that wait for events, and are disturbed by signals or cancelled. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "id_pair.h"
#include "ringpoll_loopback.h"
#include "test.h"

/* What a thread waits for. */
enum source { CONNECTION_EVENT, COMPLETION_EVENT, ASYNC_EVENT, SOURCES };

struct waiter {
    struct id_pair *pair;
    enum source source;
    pthread_t thread;
    _Atomic int system_id; /* of the thread; 0: it has not begun */
    _Atomic bool is_over;
    int result;
    int error;
};

static _Atomic int handled;

static void count(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
}

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL), 0);
}

static int wait_for_event(struct waiter *waiter)
{
    struct id_pair *pair = waiter->pair;
    struct rdma_cm_event *connection_event;
    struct ibv_async_event async_event;
    struct ibv_cq *cq;
    void *context;
    int result;

    switch (waiter->source) {
    case CONNECTION_EVENT:
        result = rdma_get_cm_event(pair->channel, &connection_event);
        if (result == 0)
            CHECK_EQ(rdma_ack_cm_event(connection_event), 0);
        return result;
    case COMPLETION_EVENT:
        result = ibv_get_cq_event(pair->active->send_cq_channel, &cq, &context);
        if (result == 0)
            ibv_ack_cq_events(cq, 1);
        return result;
    default:
        result = ibv_get_async_event(pair->active->verbs, &async_event);
        if (result == 0)
            ibv_ack_async_event(&async_event);
        return result;
    }
}

static void *run(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->system_id, gettid());
    waiter->result = wait_for_event(waiter);
    waiter->error = errno;
    atomic_store(&waiter->is_over, true);
    return NULL;
}

/* Whether a thread of this process sleeps. */
static bool sleeps(int system_id)
{
    char path[64];
    char line[512] = "";

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", system_id);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    CHECK(fgets(line, sizeof(line), file) != NULL);
    (void)fclose(file);
    const char *state = strrchr(line, ')');
    return state != NULL && state[2] == 'S';
}

/* Starts a thread and returns when it waits. */
static void start(struct waiter *waiter, struct id_pair *pair, enum source source)
{
    int looks = 0;

    *waiter = (struct waiter){.pair = pair, .source = source};
    CHECK_EQ(pthread_create(&waiter->thread, NULL, run, waiter), 0);
    while (atomic_load(&waiter->system_id) == 0)
        pause_ms(1);
    while (looks < 20) { /* in a row, as a lock may make it sleep for a moment */
        looks = sleeps(atomic_load(&waiter->system_id)) ? looks + 1 : 0;
        pause_ms(1);
    }
}

static void provoke(struct id_pair *pair, enum source source)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad_wr;

    switch (source) {
    case CONNECTION_EVENT:
        CHECK_EQ(rdma_disconnect(pair->passive), 0);
        break;
    case COMPLETION_EVENT: /* a request that is flushed */
        CHECK_EQ(ibv_req_notify_cq(pair->active->send_cq, 0), 0);
        CHECK_EQ(ibv_modify_qp(pair->active->qp, &attr, IBV_QP_STATE), 0);
        CHECK_EQ(ibv_post_send(pair->active->qp, &wr, &bad_wr), 0);
        break;
    default:
        CHECK_EQ(ringpoll_loopback_raise(pair->active->verbs, IBV_EVENT_PORT_ACTIVE), 0);
        break;
    }
}

static void interrupt(const struct waiter *waiter, int flags)
{
    const struct sigaction action = {.sa_handler = count, .sa_flags = flags};

    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    atomic_store(&handled, 0);
    CHECK_EQ(pthread_kill(waiter->thread, SIGUSR1), 0);
    while (atomic_load(&handled) == 0)
        pause_ms(1);
}

static void join(struct waiter *waiter, int result)
{
    CHECK_EQ(pthread_join(waiter->thread, NULL), 0);
    CHECK(atomic_load(&waiter->is_over));
    CHECK_EQ(waiter->result, result);
}

/* As a read of the kernel's own: signal(3) of the C library sets SA_RESTART. */
static void should_go_on_waiting_after_a_signal_that_restarts_calls(void)
{
    for (enum source source = 0; source < SOURCES; source++) {
        struct waiter waiter;
        struct id_pair pair;

        id_pair_open(&pair, 7);
        start(&waiter, &pair, source);
        for (int i = 0; i < 3; i++) {
            interrupt(&waiter, SA_RESTART);
            pause_ms(20);
            CHECK(!atomic_load(&waiter.is_over));
        }
        provoke(&pair, source);
        join(&waiter, 0);
        id_pair_close(&pair);
    }
}

static void should_end_a_wait_after_another_signal(void)
{
    for (enum source source = 0; source < SOURCES; source++) {
        struct waiter waiter;
        struct id_pair pair;

        id_pair_open(&pair, 7);
        start(&waiter, &pair, source);
        interrupt(&waiter, 0);
        join(&waiter, -1);
        CHECK_EQ(waiter.error, EINTR);
        id_pair_close(&pair);
    }
}

#ifndef __SANITIZE_THREAD__ /* it does not follow a thread that is cancelled in sem_wait, and reports races under its locks */
/* The event goes to the other one of two threads. */
static void should_cancel_a_thread_that_waits(void)
{
    for (enum source source = 0; source < SOURCES; source++) {
        struct waiter waiters[2];
        struct id_pair pair;
        void *result;

        id_pair_open(&pair, 7);
        for (int i = 0; i < 2; i++)
            start(&waiters[i], &pair, source);
        CHECK_EQ(pthread_cancel(waiters[0].thread), 0);
        provoke(&pair, source);
        CHECK_EQ(pthread_join(waiters[0].thread, &result), 0);
        if (result == PTHREAD_CANCELED) {
            join(&waiters[1], 0);
        } else { /* it was woken first */
            CHECK_EQ(waiters[0].result, 0);
            CHECK_EQ(pthread_cancel(waiters[1].thread), 0);
            CHECK_EQ(pthread_join(waiters[1].thread, NULL), 0);
        }
        id_pair_close(&pair);
    }
}
#endif

/* Is cancelled before it raises and fetches an event. */
static void *run_cancelled(void *argument)
{
    struct waiter *waiter = argument;

    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL), 0);
    atomic_store(&waiter->system_id, gettid());
    while (!atomic_load(&waiter->is_over))
        pause_ms(1);
    CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL), 0);
    provoke(waiter->pair, waiter->source);
    (void)wait_for_event(waiter);
    pthread_testcancel();
    return NULL;
}

/* Otherwise the calls of other threads would not return. */
static void should_hold_no_lock_where_a_thread_is_cancelled(void)
{
    for (enum source source = 0; source < SOURCES; source++) {
        struct id_pair pair;
        struct waiter waiter = {.pair = &pair, .source = source};
        void *result;

        id_pair_open(&pair, 7);
        CHECK_EQ(pthread_create(&waiter.thread, NULL, run_cancelled, &waiter), 0);
        while (atomic_load(&waiter.system_id) == 0)
            pause_ms(1);
        CHECK_EQ(pthread_cancel(waiter.thread), 0);
        atomic_store(&waiter.is_over, true);
        CHECK_EQ(pthread_join(waiter.thread, &result), 0);
        CHECK(result == PTHREAD_CANCELED);
        if (source == CONNECTION_EVENT)
            CHECK_EQ(rdma_disconnect(pair.active), 0);
        else
            provoke(&pair, source);
        CHECK_EQ(wait_for_event(&waiter), 0);
        id_pair_close(&pair);
    }
}

const struct test signal_tests[] = {
    {"a wait for an event goes on after a signal that restarts calls", should_go_on_waiting_after_a_signal_that_restarts_calls},
    {"a wait for an event ends after another signal", should_end_a_wait_after_another_signal},
#ifndef __SANITIZE_THREAD__
    {"a thread that waits for an event can be cancelled", should_cancel_a_thread_that_waits},
#endif
    {"a thread that is cancelled holds no lock", should_hold_no_lock_where_a_thread_is_cancelled},
    {NULL, NULL},
};
