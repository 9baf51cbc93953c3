/* SPDX-License-Identifier: Apache-2.0 */
/* process_end.c: see process_end.h. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process_end.h"

#define REGION (256u * 1024)
/* Longer than the parts in which a message is sent. */
#define RECEIVE (96u * 1024)
#define ELEMENT 5000u

struct told {
    uint64_t addr;
    uint32_t rkey;
    pid_t pid;
};

double seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void create_qp(struct end *end)
{
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 2},
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

void post_receive(struct end *end)
{
    struct ibv_sge elements[] = {
        {.addr = (uintptr_t)end->bytes, .length = ELEMENT, .lkey = end->mr->lkey},
        {.addr = (uintptr_t)end->bytes + ELEMENT, .length = RECEIVE - ELEMENT, .lkey = end->mr->lkey},
    };
    struct ibv_recv_wr wr = {.sg_list = elements, .num_sge = 2};
    struct ibv_recv_wr *bad;

    CHECK_EQ(ibv_post_recv(end->id->qp, &wr, &bad), 0);
    end->receives_posted++;
}

bool post_any(struct end *end)
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

void poll_queues(struct end *end, bool again)
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
        .retry_count = 0, /* for a peer that is gone, not for one that is slow */
        .rnr_retry_count = 7,
    };
}

static struct told describe(const struct end *end)
{
    return (struct told){.addr = (uintptr_t)end->bytes, .rkey = end->mr->rkey, .pid = getpid()};
}

/* Keeps what the other side has told; returns its process. */
static pid_t adopt(struct end *end)
{
    struct told told;

    memcpy(&told, end->id->event->param.conn.private_data, sizeof(told));
    end->remote_addr = told.addr;
    end->rkey = told.rkey;
    return told.pid;
}

struct sockaddr_in address_of(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void close_end(struct end *end)
{
    rdma_destroy_qp(end->id);
    CHECK_EQ(ibv_dereg_mr(end->mr), 0);
    CHECK_EQ(rdma_destroy_id(end->id), 0);
    free(end->bytes);
}

bool connect_to(int port, struct end *end)
{
    struct sockaddr_in address = address_of(port);

    CHECK_EQ(rdma_create_id(NULL, &end->id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(end->id, NULL, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(rdma_resolve_route(end->id, 1000), 0);
    create_qp(end);
    for (int i = 0; i < DEPTH; i++)
        post_receive(end);
    const struct told told = describe(end);
    struct rdma_conn_param param = parameters(&told);
    if (rdma_connect(end->id, &param)) {
        CHECK(errno == ECONNREFUSED || errno == ECONNRESET); /* before or after it has accepted */
        return false;
    }
    (void)adopt(end);
    return true;
}

pid_t start_peer(int port, const char *operations, const char *attack)
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

pid_t start_listener(const char *attack, int *told)
{
    int ends[2];
    char text[16];

    CHECK_EQ(pipe(ends), 0);
    (void)snprintf(text, sizeof(text), "%d", ends[1]);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_LISTENER, text, attack, (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    *told = ends[0];
    return pid;
}

struct rdma_cm_id *listen_at(int *port)
{
    struct rdma_cm_id *listener;
    struct sockaddr_in address = address_of(0);

    CHECK_EQ(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *)&address), 0);
    CHECK_EQ(rdma_listen(listener, 8), 0);
    *port = ntohs(rdma_get_src_port(listener));
    return listener;
}

bool accept_any(struct rdma_cm_id *listener, struct end *end, pid_t *peer)
{
    CHECK_EQ(rdma_get_request(listener, &end->id), 0);
    create_qp(end);
    for (int i = 0; i < DEPTH; i++)
        post_receive(end);
    *peer = adopt(end);
    const struct told told = describe(end);
    struct rdma_conn_param param = parameters(&told);
    return rdma_accept(end->id, &param) == 0;
}

void accept_peer(struct rdma_cm_id *listener, struct end *end)
{
    pid_t peer;

    CHECK(accept_any(listener, end, &peer));
}

void settle(struct end *end)
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

bool has_ended(const struct end *end)
{
    struct pollfd waiting = {.fd = end->id->channel->fd, .events = POLLIN};

    return poll(&waiting, 1, 0) == 1;
}

int count_descriptors(void)
{
    DIR *opened = opendir("/proc/self/fd");
    int count = 0;

    CHECK(opened != NULL);
    while (readdir(opened) != NULL)
        count++;
    (void)closedir(opened);
    return count;
}
