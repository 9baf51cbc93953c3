/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_process.c: connections between processes: data both ways, and a peer that is killed at any moment.
 *
 * The other process is this program again, with the arguments PROCESS_PEER and a port.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "watch.h"

#define KILLS 20
#define ATTACKS 20
#define DEPTH 32
#define REGION (256u * 1024)
#define RECEIVE 4096u
#define DESCRIPTORS 1024
#define PATIENCE_S 60

/* One side: a synchronous id with a region, which the other side may write, read and change atomically. */
struct end {
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    char *bytes;
    uint64_t remote_addr;
    uint32_t rkey;
    unsigned int seed;
    uint32_t sends_posted, sends_ended, receives_posted, receives_ended, failures;
};

struct told {
    uint64_t addr;
    uint32_t rkey;
};

static double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void create_qp(struct end *end)
{
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
    };

    CHECK_EQ(rdma_create_qp(end->id, NULL, &attr), 0);
    end->bytes = aligned_alloc(4096, REGION);
    CHECK(end->bytes != NULL);
    memset(end->bytes, 0, REGION);
    end->mr = ibv_reg_mr(end->id->pd, end->bytes, REGION, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
        IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    CHECK(end->mr != NULL);
}

static void post_receive(struct end *end)
{
    struct ibv_sge sge = {.addr = (uintptr_t)end->bytes, .length = RECEIVE, .lkey = end->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;

    CHECK_EQ(ibv_post_recv(end->id->qp, &wr, &bad), 0);
    end->receives_posted++;
}

/* Posts an operation of a random kind and length; false: the queue pair has failed. */
static bool post_any(struct end *end)
{
    static const enum ibv_wr_opcode kinds[] = {
        IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_IMM,
        IBV_WR_RDMA_WRITE_WITH_IMM,
    };
    const enum ibv_wr_opcode kind = kinds[(unsigned int)rand_r(&end->seed) % 6];
    const bool is_message = kind == IBV_WR_SEND || kind == IBV_WR_SEND_WITH_IMM;
    /* The element of an atomic operation may be longer than what it takes. */
    const uint32_t least = kind == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 0;
    const uint32_t length = least + (uint32_t)rand_r(&end->seed) % ((is_message ? RECEIVE : REGION / 2) - least);
    struct ibv_sge sge = {.addr = (uintptr_t)end->bytes + REGION / 2, .length = length, .lkey = end->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = kind};
    struct ibv_send_wr *bad;

    if (kind == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = end->remote_addr;
        wr.wr.atomic.rkey = end->rkey;
        wr.wr.atomic.compare_add = 1;
    } else {
        wr.wr.rdma.remote_addr = end->remote_addr;
        wr.wr.rdma.rkey = end->rkey;
    }
    const int error = ibv_post_send(end->id->qp, &wr, &bad);
    if (error == 0)
        end->sends_posted++;
    else
        CHECK_EQ(error, ENOMEM);
    return error == 0;
}

/* Polls both queues once; receives are posted again while `again`. */
static void poll_queues(struct end *end, bool again)
{
    struct ibv_wc wc;

    if (ibv_poll_cq(end->id->send_cq, 1, &wc) == 1) {
        end->sends_ended++;
        end->failures += wc.status != IBV_WC_SUCCESS;
    }
    if (ibv_poll_cq(end->id->recv_cq, 1, &wc) == 1) {
        end->receives_ended++;
        if (wc.status == IBV_WC_SUCCESS && again)
            post_receive(end);
    }
}

static struct rdma_conn_param parameters(const struct told *told)
{
    return (struct rdma_conn_param){
        .private_data = told,
        .private_data_len = sizeof(*told),
        .responder_resources = 8,
        .initiator_depth = 8,
        .retry_count = 7,
        .rnr_retry_count = 7,
    };
}

static void adopt(struct end *end)
{
    struct told told;

    memcpy(&told, end->id->event->param.conn.private_data, sizeof(told));
    end->remote_addr = told.addr;
    end->rkey = told.rkey;
}

static struct sockaddr_in address_of(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void close_end(struct end *end)
{
    rdma_destroy_qp(end->id);
    CHECK_EQ(ibv_dereg_mr(end->mr), 0);
    CHECK_EQ(rdma_destroy_id(end->id), 0);
    free(end->bytes);
}

/* The other process: works until it is killed, or for so many operations; with an attack unless that is empty. */
int process_peer(const char *port, const char *operations, const char *attack)
{
    struct sockaddr_in address = address_of(atoi(port));
    const uint32_t wanted = (uint32_t)atoi(operations);
    struct end end = {.seed = (unsigned int)getpid()};

    alarm(PATIENCE_S);
    CHECK_EQ(rdma_create_id(NULL, &end.id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(rdma_resolve_route(end.id, 1000), 0);
    create_qp(&end);
    for (int i = 0; i < DEPTH; i++)
        post_receive(&end);
    const struct told told = {.addr = (uintptr_t)end.bytes, .rkey = end.mr->rkey};
    struct rdma_conn_param param = parameters(&told);
    CHECK_EQ(rdma_connect(end.id, &param), 0);
    adopt(&end);
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

static pid_t start_peer(int port, const char *operations, const char *attack)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", port);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_PEER, text, operations, attack, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static struct rdma_cm_id *listen_at(int *port)
{
    struct rdma_cm_id *listener;
    struct sockaddr_in address = address_of(0);

    CHECK_EQ(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *)&address), 0);
    CHECK_EQ(rdma_listen(listener, 8), 0);
    *port = ntohs(rdma_get_src_port(listener));
    return listener;
}

static void accept_peer(struct rdma_cm_id *listener, struct end *end)
{
    CHECK_EQ(rdma_get_request(listener, &end->id), 0);
    create_qp(end);
    for (int i = 0; i < DEPTH; i++)
        post_receive(end);
    adopt(end);
    const struct told told = {.addr = (uintptr_t)end->bytes, .rkey = end->mr->rkey};
    struct rdma_conn_param param = parameters(&told);
    CHECK_EQ(rdma_accept(end->id, &param), 0);
}

/* The connection has ended: every request has its completion. */
static void settle(struct end *end)
{
    const double limit = seconds() + PATIENCE_S;

    while (end->sends_ended != end->sends_posted && seconds() < limit)
        poll_queues(end, false);
    CHECK_EQ(end->sends_ended, end->sends_posted);
    (void)rdma_disconnect(end->id);
    while (end->receives_ended != end->receives_posted && seconds() < limit)
        poll_queues(end, false);
    CHECK_EQ(end->receives_ended, end->receives_posted);
}

/* Whether the id has an event that says that the connection has ended. */
static bool has_ended(const struct end *end)
{
    struct pollfd waiting = {.fd = end->id->channel->fd, .events = POLLIN};

    return poll(&waiting, 1, 0) == 1;
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

static void should_account_for_everything_when_the_peer_is_killed(void)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    const char *more = getenv("RINGPOLL_LOOPBACK_KILLS");
    const int kills = more != NULL ? atoi(more) : KILLS;
    unsigned int seed = 7;

    for (int i = 0; i < kills; i++) {
        const pid_t peer = start_peer(port, "0", "");
        struct end end = {.seed = (unsigned int)i};
        bool killed = false;

        accept_peer(listener, &end);
        const double began = seconds();
        const double kill_at = began + (rand_r(&seed) % 20000) / 1e6;
        while (!has_ended(&end) && seconds() < began + PATIENCE_S) {
            if (!killed && seconds() >= kill_at) {
                CHECK_EQ(kill(peer, SIGKILL), 0);
                killed = true;
            }
            if (end.sends_posted - end.sends_ended < DEPTH / 2 && end.failures == 0)
                (void)post_any(&end);
            poll_queues(&end, true);
        }
        CHECK(has_ended(&end));
        CHECK_EQ(waitpid(peer, NULL, 0), peer);
        settle(&end);
        close_end(&end);
    }
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* The attacker is killed in the end: the connection ends in any case, and nothing is lost. */
static void should_survive_a_peer_that_writes_anything_to_the_segment(void)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    const char *more = getenv("RINGPOLL_LOOPBACK_ATTACKS");
    const int attacks = more != NULL ? atoi(more) : ATTACKS;

    for (int i = 0; i < attacks; i++) {
        char seed[16];
        struct end end = {.seed = (unsigned int)i};
        bool killed = false;

        (void)snprintf(seed, sizeof(seed), "%d", i);
        const pid_t peer = start_peer(port, "0", seed);
        accept_peer(listener, &end);
        const double began = seconds();
        while (!has_ended(&end) && seconds() < began + PATIENCE_S) {
            if (!killed && seconds() >= began + 0.2) {
                CHECK_EQ(kill(peer, SIGKILL), 0);
                killed = true;
            }
            if (end.sends_posted - end.sends_ended < DEPTH / 2 && end.failures == 0)
                (void)post_any(&end);
            poll_queues(&end, true);
        }
        CHECK(has_ended(&end));
        if (!killed)
            CHECK_EQ(kill(peer, SIGKILL), 0);
        CHECK_EQ(waitpid(peer, NULL, 0), peer);
        settle(&end);
        close_end(&end);
    }
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static int count_descriptors(void)
{
    DIR *opened = opendir("/proc/self/fd");
    int count = 0;

    CHECK(opened != NULL);
    while (readdir(opened) != NULL)
        count++;
    (void)closedir(opened);
    return count;
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

/* This end polls its queues for a moment: its peer does not ring it before the watch thread has marked it as asleep. */
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

/* The other process of the test above: exits with the errno of its attempt. */
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
    struct sockaddr_in address = address_of(atoi(port));
    struct end end = {.seed = 1};

    CHECK_EQ(rdma_create_id(NULL, &end.id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(end.id, NULL, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(rdma_resolve_route(end.id, 1000), 0);
    create_qp(&end);
    const int error = rdma_connect(end.id, NULL) ? errno : 0;
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

const struct test process_tests[] = {
    {"two processes carry out all operations on each other", should_carry_all_operations_between_processes},
    {"everything is accounted for when the other process is killed", should_account_for_everything_when_the_peer_is_killed},
    {"a peer that writes anything to the segment ends its connection at most",
        should_survive_a_peer_that_writes_anything_to_the_segment},
    {"a descriptor that a peer sends is closed", should_keep_no_descriptor_that_a_peer_sends},
    {"an end that stops polling is served while the watch thread is busy",
        should_serve_an_end_that_stops_polling_while_the_watch_thread_is_busy},
    {"a port belongs to one process of the machine", should_refuse_a_port_of_another_process},
    {"a connection for which there is no descriptor is rejected", should_reject_a_connection_for_which_there_is_no_descriptor},
    {NULL, NULL},
};
