/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fork_state.c: children of forks while a thread of the parent holds a lock, or while the parent is to do something later:
 * the child has locks, timers, events and descriptors of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process_end.h"
#include "qp.h"
#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

/* The limit of a child, which then ends by a signal. */
#define CHILD_S 20

static void moment(void)
{
    (void)poll(NULL, 0, 1);
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
        verbs_expect(holder.pair.cq[0], 1, IBV_WC_SUCCESS);
        verbs_pair_close(&holder.pair);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    holder.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(build_write(&holder.pair), 0);
    verbs_expect(holder.pair.cq[0], 1, IBV_WC_SUCCESS);
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
    verbs_expect(holder.pair.cq[0], 1, IBV_WC_SUCCESS);
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
    verbs_expect(pair.cq[0], 1, IBV_WC_SUCCESS);
    verbs_pair_close(&pair);
    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

/* A thread that makes a queue pair fail, and is stopped by a lock while it carries that out. */
struct failing {
    struct verbs_pair pair;
    void (*fail)(struct verbs_pair *pair);
    pthread_t thread;
};

enum stop_at { COMPLETION_OF_SENDER, ERROR_OF_SENDER, ERROR_OF_RECEIVER, STOPS };

static struct lb_lock *lock_of(const struct verbs_pair *pair, enum stop_at stop)
{
    return stop == COMPLETION_OF_SENDER ? &lb_cq_of(pair->cq[0])->push_lock :
        stop == ERROR_OF_SENDER ? &lb_qp_of(pair->qp[0])->rq_lock : &lb_qp_of(pair->qp[1])->sq_lock;
}

static void *run_failing(void *argument)
{
    struct failing *failing = argument;

    failing->fail(&failing->pair);
    return NULL;
}

/* The failure, stopped there, in a child, and then in its parent. Returns whether this is the child. */
static bool fork_in_failure(struct failing *failing, enum stop_at stop)
{
    struct lb_lock *lock = lock_of(&failing->pair, stop);
    int status;

    lb_lock_acquire(lock);
    CHECK_EQ(pthread_create(&failing->thread, NULL, run_failing, failing), 0);
    while (atomic_load(&lock->word) != LB_LOCK_AWAITED)
        moment();
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(CHILD_S);
        return true;
    }
    lb_lock_release(lock);
    CHECK_EQ(pthread_join(failing->thread, NULL), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    return false;
}

/* Both sides are in the error state, side 1 with an event. */
static void check_failed_pair(struct verbs_pair *pair, enum ibv_event_type type)
{
    struct ibv_async_event event;
    struct ibv_wc wc;

    for (int side = 0; side < 2; side++) {
        CHECK_EQ(verbs_state(pair->qp[side]), IBV_QPS_ERR);
        CHECK_EQ(ibv_poll_cq(pair->cq[side], 1, &wc), 0);
        verbs_send(pair, side, 3, IBV_WR_SEND, 8, 0);
        verbs_expect(pair->cq[side], 3, IBV_WC_WR_FLUSH_ERR);
    }
    CHECK(readable(pair->context->async_fd, 0));
    CHECK_EQ(ibv_get_async_event(pair->context, &event), 0);
    CHECK(event.element.qp == pair->qp[1]);
    CHECK_EQ(event.event_type, type);
    ibv_ack_async_event(&event);
    CHECK(!readable(pair->context->async_fd, 0));
}

static void post_short_receive(struct verbs_pair *pair)
{
    struct ibv_sge sge = {(uintptr_t)pair->buffer[1], 8, pair->mr[1]->lkey};
    struct ibv_recv_wr second = {.wr_id = 101, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr first = {.wr_id = 100, .sg_list = &sge, .num_sge = 1, .next = &second};
    struct ibv_recv_wr *bad_wr;

    CHECK_EQ(ibv_post_recv(pair->qp[1], &first, &bad_wr), 0);
}

/* The thread refuses the first of three messages, which waited. */
static void should_fail_requests_in_the_child_of_a_fork_while_a_thread_does(void)
{
    for (enum stop_at stop = 0; stop < STOPS; stop++) {
        struct failing failing = {.fail = post_short_receive};

        verbs_pair_open(&failing.pair, &(struct verbs_options){.rnr_retry = 7});
        for (uint64_t i = 0; i < 3; i++)
            verbs_send(&failing.pair, 0, i, IBV_WR_SEND, 64, 0);
        const bool is_child = fork_in_failure(&failing, stop);
        verbs_expect(failing.pair.cq[0], 0, IBV_WC_REM_INV_REQ_ERR);
        verbs_expect(failing.pair.cq[0], 1, IBV_WC_WR_FLUSH_ERR);
        verbs_expect(failing.pair.cq[0], 2, IBV_WC_WR_FLUSH_ERR);
        /* The receiver's completion is behind the sender's. */
        verbs_expect(failing.pair.cq[1], 100,
            is_child && stop == COMPLETION_OF_SENDER ? IBV_WC_WR_FLUSH_ERR : IBV_WC_LOC_LEN_ERR);
        verbs_expect(failing.pair.cq[1], 101, IBV_WC_WR_FLUSH_ERR);
        check_failed_pair(&failing.pair, IBV_EVENT_QP_REQ_ERR);
        verbs_pair_close(&failing.pair);
        if (is_child)
            _exit(0);
    }
}

static void write_to_no_region(struct verbs_pair *pair)
{
    struct ibv_sge sge = {(uintptr_t)pair->buffer[0], 8, pair->mr[0]->lkey};
    struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
        .wr.rdma = {.remote_addr = (uintptr_t)pair->buffer[1], .rkey = pair->mr[1]->lkey}};
    struct ibv_send_wr *bad_wr;

    CHECK_EQ(ibv_post_send(pair->qp[0], &wr, &bad_wr), 0);
}

/* A request whose post has not returned may be missing. */
static void should_fail_a_queue_pair_in_the_child_of_a_fork_while_a_poster_does(void)
{
    for (enum stop_at stop = 0; stop < STOPS; stop++) {
        struct failing failing = {.fail = write_to_no_region};

        verbs_pair_open(&failing.pair, &(struct verbs_options){.rnr_retry = 7});
        verbs_recv(&failing.pair, 1, 100, 0, 8);
        const bool is_child = fork_in_failure(&failing, stop);
        if (!is_child || stop != COMPLETION_OF_SENDER)
            verbs_expect(failing.pair.cq[0], 1, IBV_WC_REM_ACCESS_ERR);
        verbs_expect(failing.pair.cq[1], 100, IBV_WC_WR_FLUSH_ERR);
        check_failed_pair(&failing.pair, IBV_EVENT_QP_ACCESS_ERR);
        verbs_pair_close(&failing.pair);
        if (is_child)
            _exit(0);
    }
}

static void overrun(struct verbs_pair *pair)
{
    for (uint64_t i = 0; i < 2; i++)
        verbs_send(pair, 0, i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
}

/* A completion is lost. The receives complete in the other side's queue. */
static void should_fail_a_queue_pair_in_the_child_of_a_fork_while_its_queue_overruns(void)
{
    struct failing failing = {.fail = overrun};

    verbs_pair_open(&failing.pair, &(struct verbs_options){.rnr_retry = 7, .cqe = 1, .receives_apart = true});
    verbs_recv(&failing.pair, 0, 100, 0, 8);
    const bool is_child = fork_in_failure(&failing, ERROR_OF_SENDER);
    verbs_expect(failing.pair.cq[1], 100, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(verbs_state(failing.pair.qp[0]), IBV_QPS_ERR);
    verbs_pair_close(&failing.pair);
    if (is_child)
        _exit(0);
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

/* The connection is in no list any more, but its queue pair, which has not been destroyed, still has it as its peer. */
static void should_close_the_socket_of_a_connection_that_was_removed(void)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    const int before = count_sockets_of_a_child();
    struct end end = {.seed = 1};
    const pid_t peer = start_peer(port, "1", "");

    accept_peer(listener, &end);
    const struct lb_qp *qp = lb_qp_of(end.id->qp);
    const struct lb_qp *proxy = qp->peer;
    CHECK(proxy->proxy != NULL);
    CHECK_EQ(kill(peer, SIGKILL), 0);
    CHECK_EQ(waitpid(peer, NULL, 0), peer);
    settle(&end);
    while (atomic_load(&proxy->references) != 1)
        moment();
    CHECK_EQ(count_sockets_of_a_child(), before);
    close_end(&end);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void *resolve_addresses(void *ends)
{
    struct sockaddr_in address = address_of(1);

    while (!*(_Atomic bool *)ends) {
        struct rdma_cm_id *id;

        CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
        CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000), 0);
        CHECK_EQ(rdma_destroy_id(id), 0);
    }
    return NULL;
}

/* The resolution of an address opens one for a moment. */
static void should_keep_no_socket_in_the_child_of_a_fork_while_a_thread_resolves_addresses(void)
{
    const int before = count_sockets_of_a_child();
    _Atomic bool ends = false;
    pthread_t thread;

    CHECK_EQ(pthread_create(&thread, NULL, resolve_addresses, &ends), 0);
    for (int i = 0; i < 200; i++)
        CHECK_EQ(count_sockets_of_a_child(), before);
    ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
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

const struct test fork_state_tests[] = {
    {"the child of a fork builds a list while a thread of its parent builds one",
        should_build_a_list_in_the_child_of_a_fork_while_a_thread_builds_one},
    {"the child of a fork reads the plan while a thread of its parent does",
        should_read_the_plan_in_the_child_of_a_fork_while_a_thread_does},
    {"the child of a fork sees a delayed completion", should_see_a_delayed_completion_in_the_child_of_a_fork},
    {"the child of a fork has a late event", should_have_a_late_event_in_the_child_of_a_fork},
    {"the child of a fork closes the socket of a connection that is being removed",
        should_close_the_socket_of_a_connection_that_is_being_removed},
    {"the child of a fork closes the socket of a connection that was removed",
        should_close_the_socket_of_a_connection_that_was_removed},
    {"the child of a fork fails the requests that a thread of its parent fails",
        should_fail_requests_in_the_child_of_a_fork_while_a_thread_does},
    {"the child of a fork fails the queue pair that a poster of its parent fails",
        should_fail_a_queue_pair_in_the_child_of_a_fork_while_a_poster_does},
    {"the child of a fork fails the queue pair whose completion queue overruns in its parent",
        should_fail_a_queue_pair_in_the_child_of_a_fork_while_its_queue_overruns},
    {"the child of a fork has descriptors of its own also if its parent has no more",
        should_have_descriptors_of_its_own_in_a_child_whose_parent_has_no_more},
    {"the child of a fork keeps no socket while a thread of its parent resolves addresses",
        should_keep_no_socket_in_the_child_of_a_fork_while_a_thread_resolves_addresses},
    {NULL, NULL},
};
