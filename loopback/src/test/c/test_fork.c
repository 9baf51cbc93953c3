/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fork.c: children of forks while a thread of the parent is in the middle of a message: it goes on, or can be begun again.
 *
 * A thread is stopped in the middle of a request by a payload that cannot be read: the signal's handler waits. The device thread
 * has all signals blocked: it is stopped by a lock.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process_end.h"
#include "qp.h"
#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

#define REGION 524288u
#define MOST_MESSAGES 3
/* The limit of a child, which then ends by a signal. */
#define CHILD_S 20

static _Atomic bool is_stopped;
static _Atomic bool goes_on;

static void stop(int signal)
{
    (void)signal;
    is_stopped = true;
    while (!goes_on)
        (void)poll(NULL, 0, 1);
}

static void moment(void)
{
    (void)poll(NULL, 0, 1);
}

/* The messages of side 0 of a pair, each in a place of its own, from a region that stops its reader. */
struct stopped {
    struct verbs_pair pair;
    char *from;
    char *to;
    struct ibv_mr *from_mr;
    struct ibv_mr *to_mr;
    uint32_t length;
    int messages;
    pthread_t thread;
    struct sigaction before;
};

static char *map_region(void)
{
    char *region = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(region != MAP_FAILED);
    return region;
}

static void let_read(struct stopped *stopped, bool readable)
{
    CHECK_EQ(mprotect(stopped->from, REGION, readable ? PROT_READ | PROT_WRITE : PROT_NONE), 0);
}

static void send_from_region(struct stopped *stopped, uint64_t wr_id)
{
    struct ibv_sge sge = {(uintptr_t)stopped->from + wr_id * stopped->length, stopped->length, stopped->from_mr->lkey};
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad_wr;

    CHECK_EQ(ibv_post_send(stopped->pair.qp[0], &wr, &bad_wr), 0);
}

static void receive_in_region(struct stopped *stopped, uint64_t wr_id)
{
    struct ibv_sge sge = {(uintptr_t)stopped->to + (wr_id - 100) * stopped->length, stopped->length, stopped->to_mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad_wr;

    if (stopped->pair.srq != NULL)
        CHECK_EQ(ibv_post_srq_recv(stopped->pair.srq, &wr, &bad_wr), 0);
    else
        CHECK_EQ(ibv_post_recv(stopped->pair.qp[1], &wr, &bad_wr), 0);
}

static void *receive_first(void *argument)
{
    receive_in_region(argument, 100);
    return NULL;
}

/* Sends messages that find no receive. */
static void open_stopped(struct stopped *stopped, uint32_t srq_wr, uint32_t length, int messages)
{
    verbs_pair_open(&stopped->pair, &(struct verbs_options){.rnr_retry = 7, .srq_wr = srq_wr});
    stopped->from = map_region();
    stopped->to = map_region();
    for (int i = 0; i <= messages; i++)
        memset(stopped->from + (size_t)i * length, 'a' + i, length);
    stopped->from_mr = ibv_reg_mr(stopped->pair.pd, stopped->from, REGION, IBV_ACCESS_LOCAL_WRITE);
    stopped->to_mr = ibv_reg_mr(stopped->pair.pd, stopped->to, REGION, IBV_ACCESS_LOCAL_WRITE);
    CHECK(stopped->from_mr != NULL && stopped->to_mr != NULL);
    stopped->length = length;
    stopped->messages = messages;
    for (int i = 0; i < messages; i++)
        send_from_region(stopped, (uint64_t)i);
}

/* A thread posts a receive, and is stopped while it delivers the first message. */
static void stop_in_message(struct stopped *stopped, uint32_t srq_wr, uint32_t length, int messages)
{
    struct sigaction action = {.sa_handler = stop};

    open_stopped(stopped, srq_wr, length, messages);
    is_stopped = false;
    goes_on = false;
    CHECK_EQ(sigaction(SIGSEGV, &action, &stopped->before), 0);
    let_read(stopped, false);
    CHECK_EQ(pthread_create(&stopped->thread, NULL, receive_first, stopped), 0);
    while (!is_stopped)
        moment();
    let_read(stopped, true); /* the stopped thread still waits; threads of the child do not */
}

/* Each message that is posted further, and all before it, in their order; each once. */
static void complete(struct stopped *stopped)
{
    struct ibv_wc wc;

    send_from_region(stopped, (uint64_t)stopped->messages);
    for (int i = 1; i <= stopped->messages; i++)
        receive_in_region(stopped, 100 + (uint64_t)i);
    for (int i = 0; i <= stopped->messages; i++) {
        verbs_expect(stopped->pair.cq[0], (uint64_t)i, IBV_WC_SUCCESS);
        verbs_expect(stopped->pair.cq[1], 100 + (uint64_t)i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(ibv_poll_cq(stopped->pair.cq[0], 1, &wc), 0);
    CHECK_EQ(ibv_poll_cq(stopped->pair.cq[1], 1, &wc), 0);
    CHECK_EQ(memcmp(stopped->from, stopped->to, ((size_t)stopped->messages + 1) * stopped->length), 0);
}

static void close_stopped(struct stopped *stopped)
{
    CHECK_EQ(ibv_dereg_mr(stopped->from_mr), 0);
    CHECK_EQ(ibv_dereg_mr(stopped->to_mr), 0);
    CHECK_EQ(munmap(stopped->from, REGION), 0);
    CHECK_EQ(munmap(stopped->to, REGION), 0);
    verbs_pair_close(&stopped->pair);
}

/* Its output, and all that it has inherited, belong to the parent. */
static void run_child(void (*run)(struct stopped *), struct stopped *stopped)
{
    int status;
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        alarm(CHILD_S);
        run(stopped);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static void go_on_in_child(struct stopped *stopped)
{
    complete(stopped);
    close_stopped(stopped);
}

static void go_on(struct stopped *stopped)
{
    goes_on = true;
    CHECK_EQ(pthread_join(stopped->thread, NULL), 0);
    CHECK_EQ(sigaction(SIGSEGV, &stopped->before, NULL), 0);
}

/* A short message is delivered under the locks, a longer one without. */
static void should_deliver_in_order_what_a_thread_was_delivering_at_a_fork(void)
{
    static const uint32_t lengths[] = {64, 100000};
    struct stopped stopped;

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (uint32_t srq_wr = 0; srq_wr <= 32; srq_wr += 32) {
            for (int messages = 1; messages <= MOST_MESSAGES; messages++) {
                stop_in_message(&stopped, srq_wr, lengths[i], messages);
                run_child(go_on_in_child, &stopped);
                go_on(&stopped);
                complete(&stopped);
                close_stopped(&stopped);
            }
        }
    }
}

static void receive_in_child(struct stopped *stopped)
{
    receive_in_region(stopped, 101);
    verbs_expect(stopped->pair.cq[0], 0, IBV_WC_SUCCESS);
    verbs_expect(stopped->pair.cq[1], 100, IBV_WC_SUCCESS);
    close_stopped(stopped);
}

static void should_deliver_what_a_thread_was_delivering_at_a_fork_by_the_next_receive(void)
{
    struct stopped stopped;

    for (uint32_t length = 64; length <= 100064; length += 100000) {
        stop_in_message(&stopped, 0, length, 1);
        run_child(receive_in_child, &stopped);
        go_on(&stopped);
        verbs_expect(stopped.pair.cq[0], 0, IBV_WC_SUCCESS);
        verbs_expect(stopped.pair.cq[1], 100, IBV_WC_SUCCESS);
        close_stopped(&stopped);
    }
}

/* A message longer than the part that the poster of a receive executes; another thread holds a lock that it needs. */
static void should_deliver_what_the_device_thread_was_delivering_at_a_fork(void)
{
    struct stopped stopped;

    open_stopped(&stopped, 32, 200000, 1);
    lb_lock_acquire(&lb_qp_of(stopped.pair.qp[1])->rq_lock);
    receive_in_region(&stopped, 100);
    (void)poll(NULL, 0, 50);
    run_child(go_on_in_child, &stopped);
    lb_lock_release(&lb_qp_of(stopped.pair.qp[1])->rq_lock);
    complete(&stopped);
    close_stopped(&stopped);
}

static void flush(struct stopped *stopped)
{
    for (int i = 0; i < stopped->messages; i++)
        verbs_expect(stopped->pair.cq[0], (uint64_t)i, IBV_WC_WR_FLUSH_ERR);
    verbs_expect(stopped->pair.cq[1], 100, IBV_WC_WR_FLUSH_ERR);
}

static void flush_in_child(struct stopped *stopped)
{
    flush(stopped);
    close_stopped(stopped);
}

/* Both queue pairs fail during a copy, at whose end the rest is flushed. */
static void should_flush_what_was_to_be_flushed_after_a_copy(void)
{
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    struct stopped stopped;

    stop_in_message(&stopped, 0, 100000, MOST_MESSAGES);
    for (int side = 0; side < 2; side++)
        CHECK_EQ(ibv_modify_qp(stopped.pair.qp[side], &error, IBV_QP_STATE), 0);
    run_child(flush_in_child, &stopped);
    go_on(&stopped);
    flush(&stopped);
    close_stopped(&stopped);
}

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    CHECK(tasks != NULL);
    for (struct dirent *task; (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    CHECK_EQ(closedir(tasks), 0);
    return count;
}

static void check_untouched(const struct stopped *stopped)
{
    for (size_t i = 0; i < REGION; i++)
        CHECK_EQ(stopped->to[i], 'u');
}

/* A sanitizer may start a thread of its own: the number is compared with that of a child that never had a queue pair. */
static void do_nothing_in_child(struct stopped *stopped)
{
    const int before = count_threads();
    struct ibv_wc wc;

    CHECK(before <= 2);
    for (int i = 0; i < 20; i++) {
        (void)poll(NULL, 0, 5);
        CHECK_EQ(ibv_poll_cq(stopped->pair.cq[0], 1, &wc), 0);
        CHECK_EQ(ibv_poll_cq(stopped->pair.cq[1], 1, &wc), 0);
    }
    CHECK_EQ(count_threads(), before);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    CHECK_EQ(before, 1);
#endif
    check_untouched(stopped);
}

/* The target is memory that both processes share: what the child writes there, its parent has. */
static void should_carry_out_nothing_in_a_child_that_does_not_use_the_queue_pairs(void)
{
    struct stopped stopped;

    for (uint32_t length = 64; length <= 100064; length += 100000) {
        for (uint32_t srq_wr = 0; srq_wr <= 32; srq_wr += 32) {
            stop_in_message(&stopped, srq_wr, length, MOST_MESSAGES);
            CHECK(mmap(stopped.to, REGION, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == stopped.to);
            memset(stopped.to, 'u', REGION);
            run_child(do_nothing_in_child, &stopped);
            check_untouched(&stopped);
            go_on(&stopped);
            complete(&stopped);
            close_stopped(&stopped);
        }
    }
}

/* It is in no table any more, but the other end still has it as its peer. */
static void should_send_to_a_destroyed_queue_pair_whose_lock_was_held_at_a_fork(void)
{
    struct verbs_pair pair;
    int status;

    verbs_pair_open(&pair, &(struct verbs_options){.rnr_retry = 7, .timeout = 1});
    struct lb_qp *destroyed = lb_qp_of(pair.qp[1]);
    CHECK_EQ(ibv_destroy_qp(pair.qp[1]), 0);
    pair.qp[1] = NULL;
    lb_lock_acquire(&destroyed->rq_lock);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        alarm(CHILD_S);
    else
        lb_lock_release(&destroyed->rq_lock);
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    verbs_expect(pair.cq[0], 1, IBV_WC_RETRY_EXC_ERR);
    verbs_pair_close(&pair);
    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

/* The timers are the parent's: the next post begins one. */
static void should_give_up_a_wait_for_a_receive_in_the_child_of_a_fork(void)
{
    struct verbs_pair pair;
    int status;

    verbs_pair_open(&pair, &(struct verbs_options){.rnr_retry = 1, .min_rnr_timer = 28}); /* 164 ms */
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(CHILD_S);
        verbs_send(&pair, 0, 2, IBV_WR_SEND, 8, IBV_SEND_SIGNALED);
    }
    verbs_expect(pair.cq[0], 1, IBV_WC_RNR_RETRY_EXC_ERR);
    if (child == 0)
        verbs_expect(pair.cq[0], 2, IBV_WC_WR_FLUSH_ERR);
    verbs_pair_close(&pair);
    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

const struct test fork_tests[] = {
    {"the child of a fork delivers in order what a thread was delivering",
        should_deliver_in_order_what_a_thread_was_delivering_at_a_fork},
    {"the child of a fork delivers what the device thread was delivering",
        should_deliver_what_the_device_thread_was_delivering_at_a_fork},
    {"the child of a fork delivers what a thread was delivering by the next receive",
        should_deliver_what_a_thread_was_delivering_at_a_fork_by_the_next_receive},
    {"the child of a fork that does not use its parent's queue pairs carries out nothing",
        should_carry_out_nothing_in_a_child_that_does_not_use_the_queue_pairs},
    {"the child of a fork sends to a destroyed queue pair whose lock a thread of its parent holds",
        should_send_to_a_destroyed_queue_pair_whose_lock_was_held_at_a_fork},
    {"the child of a fork flushes what was to be flushed after a copy", should_flush_what_was_to_be_flushed_after_a_copy},
    {"the child of a fork gives up a wait for a receive", should_give_up_a_wait_for_a_receive_in_the_child_of_a_fork},
    {NULL, NULL},
};
