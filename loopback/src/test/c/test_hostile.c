/* SPDX-License-Identifier: Apache-2.0 */
/* test_hostile.c: requests at and beyond the limits of a queue pair, and exhausted descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

static const struct verbs_options defaults = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7};

static void should_have_room_for_an_atomic_write_that_waits(void)
{
    struct verbs_options options = defaults;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct ibv_qp_init_attr granted;
    struct verbs_pair pair;

    options.send_ops = IBV_QP_EX_WITH_ATOMIC_WRITE;
    options.max_wr = 1; /* two slots: the second one ends where the ring does */
    verbs_pair_open(&pair, &options);
    CHECK_EQ(ibv_query_qp(pair.qp[0], &attr, IBV_QP_CAP, &granted), 0);
    CHECK_EQ(granted.cap.max_inline_data, 8);
    struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair.qp[0]);
    attr.qp_state = IBV_QPS_RESET;
    CHECK_EQ(ibv_modify_qp(pair.qp[1], &attr, IBV_QP_STATE), 0);
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t value = 0x1111111111111111u * (i + 1);

        ibv_wr_start(qpx);
        qpx->wr_id = i;
        qpx->wr_flags = IBV_SEND_SIGNALED;
        ibv_wr_atomic_write(qpx, pair.mr[1]->rkey, (uintptr_t)pair.buffer[1], &value);
        CHECK_EQ(ibv_wr_complete(qpx), 0);
        verbs_connect(pair.qp[1], pair.qp[0]->qp_num, &options);
        CHECK_EQ(verbs_wc(pair.cq[0]).wr_id, i);
        CHECK_EQ(*(uint64_t *)(void *)pair.buffer[1], value);
        CHECK_EQ(ibv_modify_qp(pair.qp[1], &attr, IBV_QP_STATE), 0);
    }
    verbs_pair_close(&pair);
}

static int post_inline(struct verbs_pair *pair, unsigned int opcode, uint32_t length)
{
    static char data[4096];
    struct ibv_sge sge = {(uintptr_t)data, length, 0};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = (enum ibv_wr_opcode)opcode,
        .send_flags = IBV_SEND_INLINE};
    struct ibv_send_wr *bad_wr;

    wr.wr.rdma.remote_addr = (uintptr_t)pair->buffer[1];
    wr.wr.rdma.rkey = pair->mr[1]->rkey;
    return ibv_post_send(pair->qp[0], &wr, &bad_wr);
}

static void should_refuse_inline_data_beyond_what_was_granted(void)
{
    enum { ATOMIC_WRITE = 15 };
    static const unsigned int opcodes[] =
        {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, ATOMIC_WRITE};
    struct verbs_options options = defaults;
    struct verbs_pair pair;

    for (options.max_inline = 0; options.max_inline <= 16; options.max_inline += 4) {
        verbs_pair_open(&pair, &options);
        for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
            const bool atomic = opcodes[i] == ATOMIC_WRITE;

            CHECK_EQ(post_inline(&pair, opcodes[i], atomic ? 8 : options.max_inline + 1),
                atomic && options.max_inline >= 8 ? 0 : EINVAL);
            if (!atomic)
                CHECK_EQ(post_inline(&pair, opcodes[i], options.max_inline), 0);
        }
        CHECK_EQ(post_inline(&pair, IBV_WR_RDMA_READ, 0), EINVAL);
        CHECK_EQ(post_inline(&pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 8), EINVAL);
        verbs_pair_close(&pair);
    }
}

static void should_check_receives_against_the_shared_queues_own_domain(void)
{
    struct verbs_options options = defaults;
    struct verbs_pair pair;

    options.srq_wr = 4;
    options.srq_own_pd = true;
    verbs_pair_open(&pair, &options);
    struct ibv_mr *mr = ibv_reg_mr(pair.srq_pd, pair.buffer[1], VERBS_BUFFER_SIZE, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr != NULL);
    struct ibv_sge sge = {(uintptr_t)pair.buffer[1], 64, mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad_wr;
    CHECK_EQ(ibv_post_srq_recv(pair.srq, &wr, &bad_wr), 0);
    strcpy(pair.buffer[0], "domain");
    verbs_send(&pair, 0, 2, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    CHECK_EQ(verbs_wc(pair.cq[0]).status, IBV_WC_SUCCESS);
    CHECK_EQ(verbs_wc(pair.cq[1]).status, IBV_WC_SUCCESS);
    CHECK(strcmp(pair.buffer[1], "domain") == 0);
    /* The protection domain of the queue pair is not used. */
    verbs_recv(&pair, 1, 3, 0, 64);
    verbs_send(&pair, 0, 4, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    CHECK_EQ(verbs_wc(pair.cq[0]).status, IBV_WC_REM_OP_ERR);
    const struct ibv_wc wc = verbs_wc(pair.cq[1]);
    check_failed(&wc, 3, IBV_WC_LOC_PROT_ERR, pair.qp[1]->qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_LOCAL_PD);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    verbs_pair_close(&pair);
}

/* Connects the second queue pair to the number of the next one, and makes the first one that next one. */
static void connect_to_the_next_number(struct verbs_pair *pair, const struct verbs_options *options)
{
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct ibv_qp_init_attr init = {.send_cq = pair->cq[0], .recv_cq = pair->cq[0], .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    const uint32_t next = pair->qp[1]->qp_num + 1;

    CHECK_EQ(ibv_destroy_qp(pair->qp[0]), 0);
    CHECK_EQ(ibv_modify_qp(pair->qp[1], &reset, IBV_QP_STATE), 0);
    verbs_connect(pair->qp[1], next, options);
    pair->qp[0] = ibv_create_qp(pair->pd, &init);
    CHECK(pair->qp[0] != NULL);
    CHECK_EQ(pair->qp[0]->qp_num, next);
    verbs_connect(pair->qp[0], pair->qp[1]->qp_num, options);
}

static void should_connect_to_a_number_before_a_queue_pair_has_it(void)
{
    struct verbs_options options = defaults;
    struct verbs_pair pair;

    verbs_pair_open(&pair, &options);
    connect_to_the_next_number(&pair, &options);
    /* The sender waits, and the receive wakes it. */
    verbs_send(&pair, 0, 1, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    verbs_recv(&pair, 1, 2, 0, 64);
    CHECK_EQ(verbs_wc(pair.cq[0]).status, IBV_WC_SUCCESS);
    CHECK_EQ(verbs_wc(pair.cq[1]).status, IBV_WC_SUCCESS);
    verbs_send(&pair, 1, 3, IBV_WR_RDMA_WRITE, 64, IBV_SEND_SIGNALED);
    CHECK_EQ(verbs_wc(pair.cq[1]).status, IBV_WC_SUCCESS);
    verbs_pair_close(&pair);

    /* With its receiver the sender leaves the list of the shared queue, which may go before it. */
    options.srq_wr = 4;
    options.timeout = 1;
    verbs_pair_open(&pair, &options);
    connect_to_the_next_number(&pair, &options);
    verbs_send(&pair, 0, 4, IBV_WR_SEND, 64, IBV_SEND_SIGNALED);
    CHECK_EQ(ibv_destroy_qp(pair.qp[1]), 0);
    pair.qp[1] = NULL;
    CHECK_EQ(ibv_destroy_srq(pair.srq), 0);
    pair.srq = NULL;
    CHECK_EQ(verbs_wc(pair.cq[0]).status, IBV_WC_RETRY_EXC_ERR);
    verbs_pair_close(&pair);
}

static int translate(const char *node, const char *service)
{
    struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP};
    struct rdma_addrinfo *found = NULL;

    errno = 0;
    const int result = rdma_getaddrinfo(node, service, &hints, &found);
    if (result == 0) {
        rdma_freeaddrinfo(found);
        return 0;
    }
    return errno;
}

static void should_say_why_an_address_is_none(void)
{
    CHECK_EQ(translate(ADDRESS, "0"), 0);
    CHECK_EQ(translate(ADDRESS, "65535"), 0);
    CHECK_EQ(translate(ADDRESS, "65536"), ERANGE);
    CHECK_EQ(translate(ADDRESS, "-1"), ERANGE);
    CHECK_EQ(translate(ADDRESS, "4294967297"), ERANGE);
    CHECK_EQ(translate(ADDRESS, "99999999999999999999999999"), ERANGE);
    CHECK_EQ(translate(ADDRESS, "no-such-service"), EINVAL);
    CHECK_EQ(translate("no such name.invalid", "1"), ENXIO);
    CHECK_EQ(translate("", "1"), ENXIO);
}

static void should_name_the_limit_when_descriptors_are_exhausted(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_port = htons(1)};
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id;
    struct rlimit files;
    struct verbs_pair pair;

    CHECK(channel != NULL);
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    verbs_pair_open(&pair, NULL);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    const struct rlimit none = {.rlim_cur = 3, .rlim_max = files.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);

    CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&address), -1);
    CHECK_EQ(errno, EMFILE);
    CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000), -1);
    CHECK_EQ(errno, EMFILE);
    CHECK_EQ(rdma_resolve_addr(id, (struct sockaddr *)&address, (struct sockaddr *)&address, 1000), -1);
    CHECK_EQ(errno, EMFILE);
    CHECK(rdma_create_event_channel() == NULL);
    CHECK_EQ(errno, EMFILE);
    CHECK(ibv_create_comp_channel(pair.context) == NULL);
    CHECK_EQ(errno, EMFILE);
    CHECK(ibv_open_device(pair.context->device) == NULL);
    CHECK_EQ(errno, EMFILE);
    CHECK_EQ(translate("no-such-host.invalid", "1"), EMFILE);

    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    verbs_pair_close(&pair);
    /* The id has not changed by it. */
    CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

/* Eight bytes that are aligned for the peer are so in memory. */
static void should_register_under_an_address_with_the_same_offset_alone(void)
{
    struct verbs_pair pair;

    verbs_pair_open(&pair, NULL);
    errno = 0;
    CHECK(ibv_reg_mr_iova2(pair.pd, pair.buffer[1] + 4, 4096, 0x10000, IBV_ACCESS_LOCAL_WRITE) == NULL);
    CHECK_EQ(errno, EINVAL);
    struct ibv_mr *mr = ibv_reg_mr_iova2(pair.pd, pair.buffer[1] + 4, 4096, 0x10004, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr != NULL);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    verbs_pair_close(&pair);
}

static struct rdma_cm_id *resolved_id(struct rdma_event_channel *channel, struct sockaddr_in *address)
{
    struct rdma_cm_event *event;
    struct rdma_cm_id *id;

    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)address, 1000), 0);
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return id;
}

/* A user may call ibv_destroy_qp instead of rdma_destroy_qp; the id then must not look at the queue pair again. */
static void should_destroy_an_id_after_its_queue_pair(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_port = htons(2)};
    struct rdma_event_channel *channel = rdma_create_event_channel();
    const struct ibv_qp_init_attr wanted = {.qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp_init_attr init = wanted;

    CHECK(channel != NULL);
    struct rdma_cm_id *id = resolved_id(channel, &address);
    CHECK_EQ(rdma_create_qp(id, NULL, &init), 0);
    CHECK_EQ(ibv_destroy_qp(id->qp), 0);
    id->qp = NULL;
    rdma_destroy_qp(id); /* the queues that were made with it */
    CHECK_EQ(rdma_destroy_id(id), 0);
    id = resolved_id(channel, &address);
    init = wanted;
    CHECK_EQ(rdma_create_qp(id, NULL, &init), 0);
    struct ibv_qp *qp = id->qp;
    id->qp = NULL;
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    CHECK_EQ(ibv_destroy_cq(id->send_cq), 0);
    CHECK_EQ(ibv_destroy_cq(id->recv_cq), 0);
    CHECK_EQ(ibv_destroy_comp_channel(id->send_cq_channel), 0);
    CHECK_EQ(ibv_destroy_comp_channel(id->recv_cq_channel), 0);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

enum { FEW = 200 };

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < FEW; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* Connects with so many free descriptors. */
static int connect_with(struct rdma_cm_id *id, struct rdma_conn_param *parameters, int free_ones)
{
    const int before = count_descriptors();
    int taken[FEW];
    int count = 0;

    while ((taken[count] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
        count++;
    for (int i = 0; i < free_ones; i++)
        CHECK_EQ(close(taken[--count]), 0);
    const int error = rdma_connect(id, parameters) ? errno : 0;
    while (count > 0)
        CHECK_EQ(close(taken[--count]), 0);
    for (int waited_ms = 0; error && count_descriptors() != before && waited_ms < 10000; waited_ms++)
        (void)poll(NULL, 0, 1); /* the device closes the socket */
    if (error)
        CHECK_EQ(count_descriptors(), before);
    return error;
}

/* To another process: it looks as if there were no listener otherwise. The id has not changed by it. */
static void should_name_the_limit_when_descriptors_are_exhausted_in_a_connect(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_conn_param parameters = {.qp_num = 1};
    const bool is_set = test_between_processes();
    struct rdma_cm_event *event;
    struct rdma_cm_id *listener;
    struct rlimit files;

    CHECK(channel != NULL);
    CHECK_EQ(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *)&address), 0);
    CHECK_EQ(rdma_listen(listener, 1), 0);
    address.sin_port = rdma_get_src_port(listener);
    struct rdma_cm_id *id = resolved_id(channel, &address);
    CHECK_EQ(rdma_resolve_route(id, 1000), 0);
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    const struct rlimit few = {.rlim_cur = FEW, .rlim_max = files.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_EQ(setenv("RINGPOLL_LOOPBACK_ALWAYS_REMOTE", "1", 1), 0);

    for (int free_ones = 0; free_ones < 3; free_ones++)
        CHECK_EQ(connect_with(id, &parameters, free_ones), EMFILE);
    CHECK(!readable(channel->fd, 0));
    CHECK_EQ(connect_with(id, &parameters, FEW / 2), 0);

    if (!is_set)
        CHECK_EQ(unsetenv("RINGPOLL_LOOPBACK_ALWAYS_REMOTE"), 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    CHECK_EQ(rdma_destroy_id(passive), 0);
    CHECK_EQ(rdma_destroy_id(id), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(channel);
}

/* An id with a failed resolution has no port; the next attempt assigns one, once. */
static void should_resolve_again_after_a_failure(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_port = htons(3)};
    struct sockaddr_in source = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_port = htons(4711)};
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_event *event;
    struct rdma_cm_id *id[2];

    CHECK(channel != NULL);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(rdma_create_id(channel, &id[i], NULL, RDMA_PS_TCP), 0);
    /* The second call is ibv_alloc_pd, behind the port. */
    CHECK_EQ(ringpoll_loopback_fail_call(2, ENOMEM), 0);
    CHECK_EQ(rdma_resolve_addr(id[0], (struct sockaddr *)&source, (struct sockaddr *)&address, 1000), -1);
    CHECK(strcmp(ringpoll_loopback_failed_call(), "ibv_alloc_pd") == 0);
    CHECK_EQ(ringpoll_loopback_fail_call(0, 0), 0);
    /* The port is free for another id, and then taken. */
    CHECK_EQ(rdma_resolve_addr(id[1], (struct sockaddr *)&source, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(rdma_resolve_addr(id[0], (struct sockaddr *)&source, (struct sockaddr *)&address, 1000), -1);
    CHECK_EQ(errno, EADDRINUSE);
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    CHECK_EQ(rdma_destroy_id(id[1]), 0);
    CHECK_EQ(rdma_resolve_addr(id[0], (struct sockaddr *)&source, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(rdma_destroy_id(id[0]), 0);
    rdma_destroy_event_channel(channel);
}

/* Polls for nothing, and requests of lengths at the edges of 32 bits. */
static void should_bear_absurd_numbers(void)
{
    static const uint32_t lengths[] = {INT32_MAX, (uint32_t)INT32_MAX + 1, UINT32_MAX};
    struct ibv_wc wc = {.wr_id = 99};
    struct verbs_pair pair;

    verbs_pair_open(&pair, NULL);
    verbs_send(&pair, 0, 1, IBV_WR_RDMA_WRITE, 0, IBV_SEND_SIGNALED);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 0, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], -1, &wc), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], INT32_MIN, &wc), 0);
    CHECK_EQ(wc.wr_id, 99);
    CHECK_EQ(verbs_wc(pair.cq[0]).wr_id, 1);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 0), EINVAL);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], -1), EINVAL);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], INT32_MAX), EINVAL);
    verbs_pair_close(&pair);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (int opcode = IBV_WR_RDMA_WRITE; opcode <= IBV_WR_RDMA_READ; opcode++) {
            verbs_pair_open(&pair, NULL);
            verbs_recv(&pair, 1, 2, 0, UINT32_MAX); /* longer than its region, which is found out by a message alone */
            verbs_send(&pair, 0, 1, (enum ibv_wr_opcode)opcode, lengths[i], IBV_SEND_SIGNALED);
            CHECK_EQ(verbs_wc(pair.cq[0]).status, IBV_WC_LOC_PROT_ERR);
            CHECK_EQ(verbs_try_recv(&pair, 1, 3, 0, lengths[i]), 0);
            verbs_pair_close(&pair);
        }
    }
}

const struct test hostile_tests[] = {
    {"another address has the same offset in its page", should_register_under_an_address_with_the_same_offset_alone},
    {"an id may go after its queue pair", should_destroy_an_id_after_its_queue_pair},
    {"an id can be resolved again after a failure", should_resolve_again_after_a_failure},
    {"absurd numbers are borne", should_bear_absurd_numbers},
    {"an atomic write that waits has room for its value", should_have_room_for_an_atomic_write_that_waits},
    {"inline data beyond what was granted is refused", should_refuse_inline_data_beyond_what_was_granted},
    {"a queue pair may be connected to a number that another one gets later",
        should_connect_to_a_number_before_a_queue_pair_has_it},
    {"a shared queue's receives belong to its own protection domain",
        should_check_receives_against_the_shared_queues_own_domain},
    {"an address that cannot be translated has a reason", should_say_why_an_address_is_none},
    {"exhausted descriptors are named", should_name_the_limit_when_descriptors_are_exhausted},
    {"exhausted descriptors are named by a connect", should_name_the_limit_when_descriptors_are_exhausted_in_a_connect},
    {NULL, NULL},
};
