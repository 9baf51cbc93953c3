/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fork.c: children of forks at chosen moments: what threads of the parent had begun goes on, or can be begun again.
 *
 * A thread is stopped in the middle of a request by a payload that cannot be read: the signal's handler waits. The device thread
 * has all signals blocked: it is stopped by a lock.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
    const struct ibv_wc wc = verbs_wc(cq);

    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, status);
}

/* Each message that is posted further, and all before it, in their order; each once. */
static void complete(struct stopped *stopped)
{
    struct ibv_wc wc;

    send_from_region(stopped, (uint64_t)stopped->messages);
    for (int i = 1; i <= stopped->messages; i++)
        receive_in_region(stopped, 100 + (uint64_t)i);
    for (int i = 0; i <= stopped->messages; i++) {
        expect(stopped->pair.cq[0], (uint64_t)i, IBV_WC_SUCCESS);
        expect(stopped->pair.cq[1], 100 + (uint64_t)i, IBV_WC_SUCCESS);
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
    expect(stopped->pair.cq[0], 0, IBV_WC_SUCCESS);
    expect(stopped->pair.cq[1], 100, IBV_WC_SUCCESS);
    close_stopped(stopped);
}

static void should_deliver_what_a_thread_was_delivering_at_a_fork_by_the_next_receive(void)
{
    struct stopped stopped;

    for (uint32_t length = 64; length <= 100064; length += 100000) {
        stop_in_message(&stopped, 0, length, 1);
        run_child(receive_in_child, &stopped);
        go_on(&stopped);
        expect(stopped.pair.cq[0], 0, IBV_WC_SUCCESS);
        expect(stopped.pair.cq[1], 100, IBV_WC_SUCCESS);
        close_stopped(&stopped);
    }
}

/* A message that is longer than what the poster of a receive delivers, with a lock held that it needs. */
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
        expect(stopped->pair.cq[0], (uint64_t)i, IBV_WC_WR_FLUSH_ERR);
    expect(stopped->pair.cq[1], 100, IBV_WC_WR_FLUSH_ERR);
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
    expect(pair.cq[0], 1, IBV_WC_RETRY_EXC_ERR);
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
    expect(pair.cq[0], 1, IBV_WC_RNR_RETRY_EXC_ERR);
    if (child == 0)
        expect(pair.cq[0], 2, IBV_WC_WR_FLUSH_ERR);
    verbs_pair_close(&pair);
    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

/* A thread that holds a lock: it sets `holds` when it has it, and releases it when `ends` is set. */
struct holder {
    struct verbs_pair pair;
    _Atomic bool holds;
    _Atomic bool ends;
};

static void hold(struct holder *holder)
{
    holder->holds = true;
    while (!holder->ends)
        moment();
}

static void await_held(struct holder *holder)
{
    while (!holder->holds)
        moment();
}

static int build_write(struct verbs_pair *pair)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(pair->qp[0]);

    ibv_wr_start(qp);
    qp->wr_id = 1;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qp, pair->mr[1]->rkey, (uintptr_t)pair->buffer[1]);
    ibv_wr_set_sge(qp, pair->mr[0]->lkey, (uintptr_t)pair->buffer[0], 8);
    return ibv_wr_complete(qp);
}

static void *build_for_long(void *argument)
{
    struct holder *holder = argument;
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(holder->pair.qp[0]);

    ibv_wr_start(qp);
    hold(holder);
    ibv_wr_abort(qp);
    return NULL;
}

static void should_build_a_list_in_the_child_of_a_fork_while_a_thread_builds_one(void)
{
    struct holder holder = {.holds = false};
    pthread_t thread;
    int status;

    verbs_pair_open(&holder.pair, &(struct verbs_options){.rnr_retry = 7, .send_ops = IBV_QP_EX_WITH_RDMA_WRITE});
    CHECK_EQ(pthread_create(&thread, NULL, build_for_long, &holder), 0);
    await_held(&holder);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(CHILD_S);
        CHECK_EQ(build_write(&holder.pair), 0);
        expect(holder.pair.cq[0], 1, IBV_WC_SUCCESS);
        verbs_pair_close(&holder.pair);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    holder.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(build_write(&holder.pair), 0);
    expect(holder.pair.cq[0], 1, IBV_WC_SUCCESS);
    verbs_pair_close(&holder.pair);
}

static void *count_injected(void *argument)
{
    struct holder *holder = argument;

    holder->holds = true;
    while (!holder->ends)
        (void)ringpoll_loopback_injected(0);
    return NULL;
}

/* A rule that never triggers. */
static const struct ringpoll_loopback_fault harmless = {.kind = RINGPOLL_LOOPBACK_FAULT_CALL, .at = UINT64_MAX, .code = EIO};

static void should_read_the_plan_in_the_child_of_a_fork_while_a_thread_does(void)
{
    struct holder holder = {.holds = false};
    pthread_t thread;
    int status;

    CHECK_EQ(ringpoll_loopback_plan(1, &harmless, 1), 0);
    CHECK_EQ(pthread_create(&thread, NULL, count_injected, &holder), 0);
    await_held(&holder);
    for (int i = 0; i < 200; i++) {
        const pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            alarm(CHILD_S);
            _exit(ringpoll_loopback_injected(0) == 0 ? 0 : 1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    holder.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
}

/* The lock of the pushers: the device thread, whose timer ends the delay, waits for it under a lock of the plan. */
static void *hold_push_lock(void *argument)
{
    struct holder *holder = argument;
    struct lb_cq *cq = lb_cq_of(holder->pair.cq[0]);

    lb_lock_acquire(&cq->push_lock);
    hold(holder);
    lb_lock_release(&cq->push_lock);
    return NULL;
}

static void should_see_a_delayed_completion_in_the_child_of_a_fork(void)
{
    const struct ringpoll_loopback_fault delay = {
        .kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .at = 1, .object = 1, .duration_ns = 100000000};
    struct holder holder = {.holds = false};
    pthread_t thread;
    int status;

    CHECK_EQ(ringpoll_loopback_plan(1, &delay, 1), 0);
    verbs_pair_open(&holder.pair, NULL);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
    verbs_send(&holder.pair, 0, 1, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    CHECK_EQ(pthread_create(&thread, NULL, hold_push_lock, &holder), 0);
    await_held(&holder);
    (void)poll(NULL, 0, 200);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        alarm(CHILD_S);
    holder.ends = true;
    if (child > 0)
        CHECK_EQ(pthread_join(thread, NULL), 0);
    expect(holder.pair.cq[0], 1, IBV_WC_SUCCESS);
    verbs_pair_close(&holder.pair);
    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static void take_late_event(struct verbs_pair *pair)
{
    struct ibv_cq *cq;
    void *context;

    CHECK(readable(pair->channel->fd, 10000));
    CHECK_EQ(ibv_get_cq_event(pair->channel, &cq, &context), 0);
    CHECK(cq == pair->cq[0]);
    ibv_ack_cq_events(cq, 1);
    CHECK(!readable(pair->channel->fd, 0));
}

/* The timer of the plan is the parent's. Another queue has a late event, too, and is gone. */
static void should_have_a_late_event_in_the_child_of_a_fork(void)
{
    const struct ringpoll_loopback_fault late = {
        .kind = RINGPOLL_LOOPBACK_FAULT_LATE_EVENT, .at = 1, .duration_ns = 300000000};
    struct verbs_pair pair;
    int status;

    CHECK_EQ(ringpoll_loopback_plan(1, &late, 1), 0);
    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
    for (int side = 0; side < 2; side++) {
        CHECK_EQ(ibv_req_notify_cq(pair.cq[side], 0), 0);
        verbs_send(&pair, side, 1, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    }
    CHECK_EQ(ibv_destroy_qp(pair.qp[1]), 0);
    CHECK_EQ(ibv_destroy_cq(pair.cq[1]), 0);
    pair.qp[1] = NULL;
    pair.cq[1] = ibv_create_cq(pair.context, 1, NULL, NULL, 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        alarm(CHILD_S);
    take_late_event(&pair);
    expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    verbs_pair_close(&pair);
    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static int count_sockets(void)
{
    DIR *opened = opendir("/proc/self/fd");
    int count = 0;

    CHECK(opened != NULL);
    for (struct dirent *entry; (entry = readdir(opened)) != NULL;) {
        struct stat file;

        count += fstatat(dirfd(opened), entry->d_name, &file, 0) == 0 && S_ISSOCK(file.st_mode);
    }
    CHECK_EQ(closedir(opened), 0);
    return count;
}

static int count_sockets_of_a_child(void)
{
    int status;
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0)
        _exit(count_sockets());
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Its process was killed. The watch thread waits for a lock while it removes the connection, which is in no list any more. */
static void should_close_the_socket_of_a_connection_that_is_being_removed(void)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    const int before = count_sockets_of_a_child();
    struct end end = {.seed = 1};
    const pid_t peer = start_peer(port, "1", "");

    accept_peer(listener, &end);
    lb_lock_acquire(&lb_qp_of(end.id->qp)->sq_lock);
    CHECK_EQ(kill(peer, SIGKILL), 0);
    CHECK_EQ(waitpid(peer, NULL, 0), peer);
    while (!has_ended(&end))
        moment();
    (void)poll(NULL, 0, 50);
    const int after = count_sockets_of_a_child();
    lb_lock_release(&lb_qp_of(end.id->qp)->sq_lock);
    CHECK_EQ(after, before);
    settle(&end);
    close_end(&end);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void request_event(struct verbs_pair *pair)
{
    CHECK_EQ(ibv_req_notify_cq(pair->cq[0], 0), 0);
    verbs_send(pair, 0, 1, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    CHECK_EQ(ringpoll_loopback_raise(pair->context, IBV_EVENT_PORT_ACTIVE), 0);
}

static void fetch_events(struct verbs_pair *pair)
{
    struct ibv_async_event event;
    struct ibv_cq *cq;
    void *context;

    CHECK(readable(pair->channel->fd, 0));
    CHECK(readable(pair->context->async_fd, 0));
    CHECK_EQ(ibv_get_cq_event(pair->channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
    CHECK_EQ(ibv_get_async_event(pair->context, &event), 0);
    ibv_ack_async_event(&event);
    CHECK(!readable(pair->channel->fd, 0));
    CHECK(!readable(pair->context->async_fd, 0));
}

/* Not the descriptor of its parent, and with the same flags. */
static void should_have_descriptors_of_its_own_in_a_child_whose_parent_has_no_more(void)
{
    static int taken[1024];
    struct verbs_pair pair;
    struct rlimit before;
    int count = 0;
    int status;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(fcntl(pair.channel->fd, F_SETFL, O_NONBLOCK), 0);
    request_event(&pair); /* the child has a copy */
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {.rlim_cur = 1024, .rlim_max = before.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    while ((taken[count] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    const pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_S);
        fetch_events(&pair);
        request_event(&pair);
        fetch_events(&pair);
        CHECK(fcntl(pair.channel->fd, F_GETFL) & O_NONBLOCK);
        CHECK_EQ(fcntl(pair.context->async_fd, F_GETFD), FD_CLOEXEC);
        verbs_pair_close(&pair);
        _exit(0);
    }
    const int had_taken = count;
    while (count > 0)
        (void)close(taken[--count]);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK(had_taken > 0);
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    fetch_events(&pair);
    verbs_pair_close(&pair);
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
    {"the child of a fork builds a list while a thread of its parent builds one",
        should_build_a_list_in_the_child_of_a_fork_while_a_thread_builds_one},
    {"the child of a fork reads the plan while a thread of its parent does",
        should_read_the_plan_in_the_child_of_a_fork_while_a_thread_does},
    {"the child of a fork sees a delayed completion", should_see_a_delayed_completion_in_the_child_of_a_fork},
    {"the child of a fork has a late event", should_have_a_late_event_in_the_child_of_a_fork},
    {"the child of a fork closes the socket of a connection that is being removed",
        should_close_the_socket_of_a_connection_that_is_being_removed},
    {"the child of a fork has descriptors of its own also if its parent has no more",
        should_have_descriptors_of_its_own_in_a_child_whose_parent_has_no_more},
    {NULL, NULL},
};
