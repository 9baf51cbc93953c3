/* SPDX-License-Identifier: Apache-2.0 */
/* test_process.c: connections between processes: data both ways, hostile peers, ports. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cq.h"
#include "process_end.h"
#include "verbs_pair.h"
#include "watch.h"

#define ATTACKS 20
#define DESCRIPTORS 1024

/* The other process: works for a number of operations, or until it is killed if that is 0; attacks unless `attack` is empty. */
int process_peer(const char *port, const char *operations, const char *attack)
{
    const uint32_t wanted = (uint32_t)atoi(operations);
    struct end end = {.seed = (unsigned int)getpid()};

    alarm(PATIENCE_S);
    CHECK(connect_to(atoi(port), &end));
    if (attack[0] != '\0')
        hostile_peer_begin(attack);
    while (wanted == 0 || end.sends_ended < wanted) {
        if ((wanted == 0 || end.sends_posted < wanted) && end.sends_posted - end.sends_ended < DEPTH / 2)
            (void)post_any(&end);
        poll_queues(&end, true);
    }
    CHECK_EQ(end.failures, 0);
    CHECK_EQ(rdma_disconnect(end.id), 0);
    close_end(&end);
    return 0;
}

static void should_carry_all_operations_between_processes(void)
{
    int port;
    int status;
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = 1};
    const pid_t peer = start_peer(port, "3000", "");
    const double limit = seconds() + PATIENCE_S;

    accept_peer(listener, &end);
    while (!has_ended(&end) && seconds() < limit) {
        if (end.sends_posted < 3000 && end.sends_posted - end.sends_ended < DEPTH / 2)
            (void)post_any(&end);
        poll_queues(&end, true);
    }
    settle(&end);
    CHECK_EQ(waitpid(peer, &status, 0), peer);
    CHECK_EQ(status, 0);
    close_end(&end);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* Waits a moment for a completion, by the channels of both queues, or for the end of the connection. */
static void wait_for_work(const struct end *end)
{
    struct ibv_cq *queues[] = {end->id->send_cq, end->id->recv_cq};
    struct pollfd waiting[3] = {{.fd = end->id->channel->fd, .events = POLLIN}};

    for (int i = 0; i < 2; i++) {
        const int descriptor = queues[i]->channel->fd;

        CHECK_EQ(fcntl(descriptor, F_SETFL, O_NONBLOCK), 0);
        CHECK_EQ(ibv_req_notify_cq(queues[i], 0), 0);
        waiting[1 + i] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    }
    (void)poll(waiting, 3, 10);
    for (int i = 0; i < 2; i++) {
        struct ibv_cq *raised;
        void *context;

        if (ibv_get_cq_event(queues[i]->channel, &raised, &context) == 0)
            ibv_ack_cq_events(raised, 1);
        else
            CHECK_EQ(errno, EAGAIN);
    }
}

/* Works until the connection ends, at the latest when the peer is killed. */
static void work_under_attack(struct end *end, pid_t peer, bool waits)
{
    const double began = seconds();
    bool killed = false;

    while (!has_ended(end) && seconds() < began + PATIENCE_S) {
        if (!killed && seconds() >= began + 0.2) {
            CHECK_EQ(kill(peer, SIGKILL), 0);
            killed = true;
        }
        if (end->sends_posted - end->sends_ended < DEPTH / 2 && end->failures == 0)
            (void)post_any(end);
        else if (waits)
            wait_for_work(end);
        poll_queues(end, true);
    }
    CHECK(has_ended(end));
    if (!killed)
        CHECK_EQ(kill(peer, SIGKILL), 0);
    CHECK_EQ(waitpid(peer, NULL, 0), peer);
}

/* The attacker is the active side. */
static void survive_a_client(unsigned int seed, bool waits)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = seed};
    char attack[16];

    (void)snprintf(attack, sizeof(attack), "%u", seed);
    const pid_t peer = start_peer(port, "0", attack);
    accept_peer(listener, &end);
    work_under_attack(&end, peer, waits);
    settle(&end);
    close_end(&end);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* The attacker is the passive side. */
static void survive_a_server(unsigned int seed, bool waits)
{
    struct end end = {.seed = seed};
    char attack[16];
    int told;
    int port;

    (void)snprintf(attack, sizeof(attack), "%u", seed);
    const pid_t peer = start_listener(attack, &told);
    CHECK_EQ(read(told, &port, sizeof(port)), sizeof(port));
    (void)close(told);
    CHECK(connect_to(port, &end));
    work_under_attack(&end, peer, waits);
    settle(&end);
    close_end(&end);
}

/*
 * The attacker is killed in the end: the connection ends in any case, and nothing is lost. The victim is either side, and polls or
 * waits for events.
 */
static void should_survive_a_peer_that_writes_anything_to_the_segment(void)
{
    const char *more = getenv("RINGPOLL_LOOPBACK_ATTACKS");
    const char *again = getenv("RINGPOLL_LOOPBACK_SEED");
    const unsigned int first = again != NULL ? (unsigned int)strtoul(again, NULL, 10) : (unsigned int)(seconds() * 1e3);
    const unsigned int attacks = more != NULL ? (unsigned int)atoi(more) : ATTACKS;

    printf("        RINGPOLL_LOOPBACK_SEED=%u\n", first);
    (void)fflush(stdout);
    for (unsigned int i = 0; i < attacks; i++)
        (i % 2 == 0 ? survive_a_client : survive_a_server)(first + i, i % 4 >= 2);
}

static void should_keep_no_descriptor_that_a_peer_sends(void)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    const int before = count_descriptors();
    const pid_t peer = start_peer(port, "0", "descriptors");
    struct end end = {.seed = 1};
    struct pollfd ended;

    accept_peer(listener, &end);
    ended = (struct pollfd){.fd = end.id->channel->fd, .events = POLLIN};
    CHECK_EQ(poll(&ended, 1, PATIENCE_S * 1000), 1);
    CHECK_EQ(waitpid(peer, NULL, 0), peer);
    settle(&end);
    close_end(&end);
    /* The watch thread closes the connection's own descriptors. */
    for (const double limit = seconds() + PATIENCE_S; count_descriptors() > before && seconds() < limit;)
        (void)poll(NULL, 0, 1);
    CHECK_EQ(count_descriptors(), before);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void ignore(uint64_t watch)
{
    (void)watch;
}

/* This end polls only for a moment: its peer sends no notification before the watch thread has marked it as asleep. */
static void should_serve_an_end_that_stops_polling_while_the_watch_thread_is_busy(void)
{
    int port;
    int status;
    uint64_t watch;
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = 1};
    const int always_ready = eventfd(1, EFD_CLOEXEC);

    CHECK_EQ(lb_watch_add(always_ready, ignore, &watch), 0);
    const pid_t peer = start_peer(port, "24", "");
    accept_peer(listener, &end);
    for (int i = 0; i < 100; i++)
        poll_queues(&end, true);
    struct pollfd ended = {.fd = end.id->channel->fd, .events = POLLIN};
    CHECK_EQ(poll(&ended, 1, PATIENCE_S * 1000), 1);
    settle(&end);
    CHECK_EQ(waitpid(peer, &status, 0), peer);
    CHECK_EQ(status, 0);
    close_end(&end);
    lb_watch_remove(always_ready);
    (void)close(always_ready);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void should_refuse_a_port_of_another_process(void)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    char text[16];
    int status;

    (void)snprintf(text, sizeof(text), "%d", port);
    const pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_BINDER, text, (char *)NULL);
        _exit(127);
    }
    CHECK_EQ(waitpid(other, &status, 0), other);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), EADDRINUSE);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* The other process of the test before: exits with the errno of its attempt. */
int process_binder(const char *port)
{
    struct sockaddr_in address = address_of(atoi(port));
    struct rdma_cm_id *id;

    CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    const int error = rdma_bind_addr(id, (struct sockaddr *)&address) ? errno : 0;
    CHECK_EQ(rdma_destroy_id(id), 0);
    return error;
}

/* The other process of the test below: exits with the errno of its attempt. */
int process_connector(const char *port)
{
    struct end end = {.seed = 1};
    const int error = connect_to(atoi(port), &end) ? 0 : ECONNREFUSED;

    close_end(&end);
    return error;
}

static void should_reject_a_connection_for_which_there_is_no_descriptor(void)
{
    int port;
    char text[16];
    int status;
    int taken[DESCRIPTORS];
    int count = 0;
    struct rlimit before;
    struct rdma_cm_id *listener = listen_at(&port);

    (void)snprintf(text, sizeof(text), "%d", port);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {.rlim_cur = DESCRIPTORS, .rlim_max = before.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    while ((taken[count] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    const pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_CONNECTOR, text, (char *)NULL);
        _exit(127);
    }
    CHECK_EQ(waitpid(other, &status, 0), other);
    while (count > 0)
        (void)close(taken[--count]);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), ECONNREFUSED);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* A segment is a file: beyond the limit, the kernel would end the process. */
static void should_reject_a_connection_whose_segment_is_over_the_limit_for_files(void)
{
    const struct rlimit limit = {.rlim_cur = 64 * 1024, .rlim_max = 64 * 1024};
    int port;
    char text[16];
    int status;
    struct rdma_cm_id *listener = listen_at(&port);

    (void)snprintf(text, sizeof(text), "%d", port);
    const pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        execl("/proc/self/exe", "loopback-tests", PROCESS_CONNECTOR, text, (char *)NULL);
        _exit(127);
    }
    CHECK_EQ(waitpid(other, &status, 0), other);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), ECONNREFUSED);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* The other process of the test below: connects, forks and is killed. Its child lives until the descriptor ends. */
int process_forker(const char *port, const char *descriptor)
{
    struct end end = {.seed = 1};
    char byte;

    CHECK(connect_to(atoi(port), &end));
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit((int)read(atoi(descriptor), &byte, 1));
    (void)kill(getpid(), SIGKILL);
    return 1;
}

static void should_see_the_end_of_a_killed_process_whose_child_lives(void)
{
    int port;
    int life[2];
    char port_text[16];
    char life_text[16];
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = 1};

    CHECK_EQ(pipe(life), 0);
    CHECK_EQ(fcntl(life[1], F_SETFD, FD_CLOEXEC), 0);
    (void)snprintf(port_text, sizeof(port_text), "%d", port);
    (void)snprintf(life_text, sizeof(life_text), "%d", life[0]);
    const pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_FORKER, port_text, life_text, (char *)NULL);
        _exit(127);
    }
    (void)close(life[0]);
    accept_peer(listener, &end);
    struct pollfd ended = {.fd = end.id->channel->fd, .events = POLLIN};
    CHECK_EQ(poll(&ended, 1, PATIENCE_S * 1000), 1);
    settle(&end);
    (void)close(life[1]);
    CHECK_EQ(waitpid(other, NULL, 0), other);
    close_end(&end);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* Without an exec, the child has a copy of the device, whose threads and connections belong to the parent. */
static void should_connect_in_the_child_of_a_fork(void)
{
    int port;
    int status;
    pid_t peer;
    struct rdma_cm_id *listener = listen_at(&port);
    struct end parents = {.seed = 1};
    struct end childs = {.seed = 2};

    const pid_t other = start_peer(port, "3000", "");
    accept_peer(listener, &parents);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct end end = {.seed = 3};

        alarm(PATIENCE_S);
        CHECK(connect_to(port, &end));
        while (end.sends_posted < 100 && post_any(&end))
            while (end.sends_ended < end.sends_posted)
                poll_queues(&end, true);
        _exit(end.sends_ended == 100 && end.failures == 0 ? 0 : 1);
    }
    CHECK(accept_any(listener, &childs, &peer));
    CHECK_EQ(peer, child);
    const double limit = seconds() + PATIENCE_S;
    for (bool settled = false; !(settled && has_ended(&childs)) && seconds() < limit;) {
        poll_queues(&childs, true);
        if (settled)
            continue;
        poll_queues(&parents, true);
        settled = has_ended(&parents);
        if (settled)
            settle(&parents);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(waitpid(other, &status, 0), other);
    CHECK_EQ(status, 0);
    settle(&childs);
    close_end(&parents);
    close_end(&childs);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* Posts to a queue pair until `ends` is set. */
struct poster {
    struct verbs_pair pair;
    _Atomic bool ends;
};

static void *post_until_the_end(void *argument)
{
    struct poster *poster = argument;

    while (!poster->ends) {
        verbs_send(&poster->pair, 0, 1, IBV_WR_RDMA_WRITE, VERBS_BUFFER_SIZE, IBV_SEND_SIGNALED);
        (void)verbs_wc(poster->pair.cq[0]);
    }
    return NULL;
}

/* The thread that holds the lock of a queue pair at the fork, or uses a region, does not exist in the child. */
static void should_deregister_in_the_child_of_a_fork_under_a_post(void)
{
    struct poster poster = {.ends = false};
    pthread_t thread;
    int status;

    verbs_pair_open(&poster.pair, &(struct verbs_options){.rnr_retry = 7});
    CHECK_EQ(pthread_create(&thread, NULL, post_until_the_end, &poster), 0);
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            alarm(10);
            struct ibv_mr *mr = ibv_reg_mr(poster.pair.pd, poster.pair.buffer[0], 64, IBV_ACCESS_LOCAL_WRITE);

            _exit(mr != NULL && ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(poster.pair.mr[0]) == 0 &&
                ibv_dereg_mr(poster.pair.mr[1]) == 0 ? 0 : 1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    poster.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    verbs_pair_close(&poster.pair);
}

/* Posts and polls until `ends` is set: the locks of its queues are biased to its thread. */
struct worker {
    struct verbs_pair pair;
    _Atomic bool ends;
    _Atomic uint32_t rounds;
};

static void post_and_poll(struct verbs_pair *pair)
{
    struct ibv_wc wc;

    (void)verbs_try_send(pair, 0, 1, IBV_WR_RDMA_WRITE, 64, IBV_SEND_SIGNALED);
    (void)verbs_try_recv(pair, 0, 2, 0, 64);
    (void)ibv_poll_cq(pair->cq[0], 1, &wc);
    (void)ibv_poll_cq(pair->cq[0], 1, &wc);
}

static void *work_until_the_end(void *argument)
{
    struct worker *worker = argument;

    while (!worker->ends) {
        post_and_poll(&worker->pair);
        worker->rounds++;
    }
    return NULL;
}

/* Its requests may stay without a completion. */
static void should_post_and_poll_in_the_child_of_a_fork(void)
{
    struct worker worker = {.ends = false};
    pthread_t thread;
    int status;

    verbs_pair_open(&worker.pair, &(struct verbs_options){.rnr_retry = 7});
    CHECK_EQ(pthread_create(&thread, NULL, work_until_the_end, &worker), 0);
    while (worker.rounds < 50000)
        (void)poll(NULL, 0, 1);
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            alarm(10);
            for (int round = 0; round < 100; round++)
                post_and_poll(&worker.pair);
            _exit(0);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    worker.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    verbs_pair_close(&worker.pair);
}

#ifndef __SANITIZE_ADDRESS__ /* before GCC 14 its allocator, which the thread's events use, may be locked in the child */
/* Sends messages to a shared receive queue and fetches the events of both: all locks of events are taken in turn. */
struct eventful {
    struct verbs_pair pair;
    _Atomic bool ends;
};

static bool fetch_event(struct verbs_pair *pair)
{
    struct ibv_cq *cq;
    void *context;

    if (ibv_get_cq_event(pair->channel, &cq, &context))
        return false;
    ibv_ack_cq_events(cq, 1);
    return true;
}

/* Returns whether the completion had its event. */
static bool send_with_events(struct verbs_pair *pair, bool waits)
{
    struct ibv_srq_attr attr = {.srq_limit = 1};
    struct ibv_async_event limit;
    struct ibv_wc wc;

    CHECK_EQ(ibv_req_notify_cq(pair->cq[1], 0), 0);
    CHECK_EQ(ibv_modify_srq(pair->srq, &attr, IBV_SRQ_LIMIT), 0);
    if (waits)
        (void)verbs_try_send(pair, 0, 1, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    (void)verbs_try_recv(pair, 1, 2, 0, 64);
    if (!waits)
        (void)verbs_try_send(pair, 0, 1, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    while (ibv_poll_cq(pair->cq[0], 1, &wc) > 0 || ibv_poll_cq(pair->cq[1], 1, &wc) > 0)
        ;
    if (ibv_get_async_event(pair->context, &limit) == 0)
        ibv_ack_async_event(&limit);
    return fetch_event(pair);
}

static void *send_with_events_until_told(void *argument)
{
    struct eventful *eventful = argument;

    for (bool waits = false; !eventful->ends; waits = !waits) {
        CHECK(send_with_events(&eventful->pair, waits));
        CHECK(!readable(eventful->pair.channel->fd, 0));
        CHECK(!readable(eventful->pair.context->async_fd, 0));
    }
    return NULL;
}

/* The parent's queues have other descriptors: the child makes none of them readable and takes none of their events. */
static void should_have_events_of_its_own_in_the_child_of_a_fork(void)
{
    struct eventful eventful = {.ends = false};
    pthread_t thread;
    int status;

    verbs_pair_open(&eventful.pair, &(struct verbs_options){.rnr_retry = 7, .srq_wr = 32});
    CHECK_EQ(fcntl(eventful.pair.channel->fd, F_SETFL, O_NONBLOCK), 0);
    CHECK_EQ(fcntl(eventful.pair.context->async_fd, F_SETFL, O_NONBLOCK), 0);
    CHECK_EQ(pthread_create(&thread, NULL, send_with_events_until_told, &eventful), 0);
    for (int i = 0; i < 100; i++) {
        const pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            int events = 0;

            alarm(10);
            for (int round = 0; round < 100; round++)
                events += send_with_events(&eventful.pair, round % 2 == 0);
            while (fetch_event(&eventful.pair)) /* one was there at the fork */
                ;
            _exit(events > 0 && !readable(eventful.pair.channel->fd, 0) ? 0 : 1);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    eventful.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    verbs_pair_close(&eventful.pair);
}
#endif

/*
 * Fetches an event of each kind, and acknowledges them when `ends` is set. Until then its thread holds the locks of a completion
 * queue, as a resize and an acknowledgement do.
 */
struct fetcher {
    struct verbs_pair pair;
    struct verbs_pair parted; /* without its queue pairs, when the events are fetched */
    struct ibv_cq *unused;    /* never had a queue pair */
    struct rdma_cm_id *id;
    _Atomic bool has_fetched;
    _Atomic bool ends;
};

/* The queue of the event has no queue pair any more. */
static struct ibv_cq *fetch_and_part(struct verbs_pair *pair)
{
    struct ibv_cq *cq;
    void *context;

    CHECK_EQ(ibv_req_notify_cq(pair->cq[1], 0), 0);
    verbs_recv(pair, 1, 2, 0, 64);
    verbs_send(pair, 0, 1, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    CHECK_EQ(ibv_get_cq_event(pair->channel, &cq, &context), 0);
    for (int side = 0; side < 2; side++) {
        CHECK_EQ(ibv_destroy_qp(pair->qp[side]), 0);
        pair->qp[side] = NULL;
    }
    return cq;
}

static void *fetch_and_acknowledge_at_the_end(void *argument)
{
    struct fetcher *fetcher = argument;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    struct ibv_srq_attr limit = {.srq_limit = 1};
    struct ibv_async_event of_srq, of_qp;
    struct rdma_cm_event *of_id;
    struct ibv_cq *cq;
    void *context;

    CHECK_EQ(ibv_req_notify_cq(fetcher->pair.cq[1], 0), 0);
    CHECK_EQ(ibv_modify_srq(fetcher->pair.srq, &limit, IBV_SRQ_LIMIT), 0);
    verbs_recv(&fetcher->pair, 1, 2, 0, 64);
    verbs_send(&fetcher->pair, 0, 1, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    CHECK_EQ(ibv_get_async_event(fetcher->pair.context, &of_srq), 0);
    CHECK_EQ(of_srq.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK_EQ(ibv_get_cq_event(fetcher->pair.channel, &cq, &context), 0);
    CHECK_EQ(ibv_modify_qp(fetcher->pair.qp[1], &attr, IBV_QP_STATE), 0);
    CHECK_EQ(ibv_get_async_event(fetcher->pair.context, &of_qp), 0);
    CHECK_EQ(of_qp.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    CHECK_EQ(rdma_get_cm_event(fetcher->id->channel, &of_id), 0);
    struct ibv_cq *parted = fetch_and_part(&fetcher->parted);
    lb_lock_acquire(&lb_cq_of(fetcher->unused)->poll_lock); /* functions that the device does not export: see test_thread.c */
    lb_lock_acquire(&lb_cq_of(fetcher->unused)->push_lock);
    pthread_mutex_lock(&fetcher->unused->mutex);
    fetcher->has_fetched = true;
    while (!fetcher->ends)
        (void)poll(NULL, 0, 1);
    pthread_mutex_unlock(&fetcher->unused->mutex);
    lb_lock_release(&lb_cq_of(fetcher->unused)->push_lock);
    lb_lock_release(&lb_cq_of(fetcher->unused)->poll_lock);
    ibv_ack_cq_events(parted, 1);
    ibv_ack_async_event(&of_srq);
    ibv_ack_async_event(&of_qp);
    ibv_ack_cq_events(cq, 1);
    CHECK_EQ(rdma_ack_cm_event(of_id), 0);
    return NULL;
}

static void close_all(struct fetcher *fetcher)
{
    CHECK_EQ(rdma_destroy_id(fetcher->id), 0);
    CHECK_EQ(ibv_req_notify_cq(fetcher->unused, 0), 0);
    CHECK_EQ(ibv_resize_cq(fetcher->unused, 128), 0);
    CHECK_EQ(ibv_destroy_cq(fetcher->unused), 0);
    verbs_pair_close(&fetcher->pair);
    verbs_pair_close(&fetcher->parted);
}

/* The thread that would acknowledge them, and release the locks, does not exist in the child. */
static void should_destroy_objects_in_the_child_of_a_fork_whose_events_its_parent_has_fetched(void)
{
    struct fetcher fetcher = {.ends = false};
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct sockaddr_in address = address_of(0);
    pthread_t thread;
    int status;

    CHECK(channel != NULL);
    CHECK_EQ(rdma_create_id(channel, &fetcher.id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(fetcher.id, NULL, (struct sockaddr *)&address, 1000), 0);
    verbs_pair_open(&fetcher.pair, &(struct verbs_options){.rnr_retry = 7, .srq_wr = 32});
    verbs_pair_open(&fetcher.parted, &(struct verbs_options){.rnr_retry = 7});
    fetcher.unused = ibv_create_cq(fetcher.pair.context, 16, NULL, fetcher.pair.channel, 0);
    CHECK(fetcher.unused != NULL);
    CHECK_EQ(pthread_create(&thread, NULL, fetch_and_acknowledge_at_the_end, &fetcher), 0);
    while (!fetcher.has_fetched)
        (void)poll(NULL, 0, 1);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(10);
        close_all(&fetcher);
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    fetcher.ends = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    close_all(&fetcher);
    rdma_destroy_event_channel(channel);
}

const struct test process_tests[] = {
    {"two processes carry out all operations on each other", should_carry_all_operations_between_processes},
    {"a peer that writes anything to the segment ends its connection at most",
        should_survive_a_peer_that_writes_anything_to_the_segment},
    {"a descriptor that a peer sends is closed", should_keep_no_descriptor_that_a_peer_sends},
    {"an end that stops polling is served while the watch thread is busy",
        should_serve_an_end_that_stops_polling_while_the_watch_thread_is_busy},
    {"a killed process whose child lives is seen to end", should_see_the_end_of_a_killed_process_whose_child_lives},
    {"the child of a fork connects, and the connections of its parent go on", should_connect_in_the_child_of_a_fork},
    {"the child of a fork deregisters memory, wherever the other threads of its parent were",
        should_deregister_in_the_child_of_a_fork_under_a_post},
    {"the child of a fork posts and polls, wherever the other threads of its parent were",
        should_post_and_poll_in_the_child_of_a_fork},
#ifndef __SANITIZE_ADDRESS__
    {"the child of a fork has events of its own, wherever the other threads of its parent were",
        should_have_events_of_its_own_in_the_child_of_a_fork},
#endif
    {"the child of a fork destroys objects whose events its parent has fetched",
        should_destroy_objects_in_the_child_of_a_fork_whose_events_its_parent_has_fetched},
    {"a port belongs to one process of the machine", should_refuse_a_port_of_another_process},
    {"a connection for which there is no descriptor is rejected", should_reject_a_connection_for_which_there_is_no_descriptor},
    {"a connection whose segment is over the limit for files is rejected",
        should_reject_a_connection_whose_segment_is_over_the_limit_for_files},
    {NULL, NULL},
};
