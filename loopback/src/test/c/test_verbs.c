/* SPDX-License-Identifier: Apache-2.0 */
/* test_verbs.c: the verbs below librpma: limits, states, registration, elements, atomics, ibv_wr_*. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

static void should_say_what_it_is(void)
{
    struct ibv_device_attr_ex attr_ex;
    struct ibv_device_attr attr;
    struct verbs_pair pair;
    union ibv_gid gid;
    int odp_capable = 0;
    int devices = 0;

    verbs_pair_open(&pair, NULL);
    struct ibv_device **list = ibv_get_device_list(&devices);
    CHECK_EQ(devices, 1);
    CHECK(strcmp(ibv_get_device_name(list[0]), "loopback0") == 0);
    CHECK(pair.context->device == list[0]);
    CHECK(list[1] == NULL);
    ibv_free_device_list(list);
    CHECK_EQ(ibv_query_device(pair.context, &attr), 0);
    CHECK(strcmp(attr.fw_ver, ringpoll_loopback_version()) == 0);
    CHECK_EQ(attr.phys_port_cnt, 1);
    CHECK_EQ(ibv_query_device_ex(pair.context, NULL, &attr_ex), 0);
    CHECK(memcmp(&attr, &attr_ex.orig_attr, sizeof(attr)) == 0);
    CHECK(attr_ex.odp_caps.general_caps & IBV_ODP_SUPPORT);
    CHECK_EQ(rpma_utils_ibv_context_is_odp_capable(pair.context, &odp_capable), 0);
    CHECK_EQ(odp_capable, 1);
    CHECK_EQ(ibv_query_gid(pair.context, 1, 0, &gid), 0);
    CHECK_EQ(ibv_query_gid(pair.context, 1, 2, &gid), -1);
    CHECK(strcmp(ibv_wc_status_str(IBV_WC_WR_FLUSH_ERR), "Work Request Flushed Error") == 0);
    CHECK(strcmp(ibv_wc_status_str((enum ibv_wc_status)999), "unknown") == 0);
    /* Resources in use cannot be closed. */
    CHECK_EQ(ibv_close_device(pair.context), -1);
    CHECK_EQ(errno, EBUSY);
    CHECK_EQ(ibv_dealloc_pd(pair.pd), EBUSY);
    verbs_pair_close(&pair);
}

static void should_list_its_gids(void)
{
    static const uint8_t last_bytes[] = {127, 0, 0, 1};
    struct ibv_gid_entry entries[3];
    struct ibv_gid_entry entry;
    struct verbs_pair pair;
    union ibv_gid gid;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ibv_query_gid_table(pair.context, entries, 3, 0), 2);
    CHECK(memcmp(entries[0].gid.raw + 12, last_bytes, sizeof(last_bytes)) == 0);
    for (uint32_t index = 0; index < 2; index++) {
        CHECK_EQ(ibv_query_gid_ex(pair.context, 1, index, &entry, 0), 0);
        CHECK(memcmp(&entry, &entries[index], sizeof(entry)) == 0);
        CHECK_EQ(entry.gid_index, index);
        CHECK_EQ(entry.port_num, 1);
        CHECK_EQ(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
        CHECK_EQ(ibv_query_gid(pair.context, 1, (int)index, &gid), 0);
        CHECK(memcmp(&gid, &entry.gid, sizeof(gid)) == 0);
    }
    /* Callers of other versions have shorter or longer entries. */
    memset(&entries[0], 0xff, sizeof(entries));
    CHECK_EQ(_ibv_query_gid_ex(pair.context, 1, 1, &entries[0], 0, sizeof(gid)), 0);
    CHECK(memcmp(&entries[0].gid, &entry.gid, sizeof(gid)) == 0);
    CHECK_EQ(entries[0].gid_index, UINT32_MAX);
    CHECK_EQ(_ibv_query_gid_ex(pair.context, 1, 1, &entries[0], 0, 2 * sizeof(entry)), 0);
    CHECK(memcmp(&entries[0], &entry, sizeof(entry)) == 0);
    CHECK_EQ(entries[1].gid_type, 0);
    CHECK_EQ(ibv_query_gid_ex(pair.context, 1, 2, &entry, 0), EINVAL);
    CHECK_EQ(ibv_query_gid_ex(pair.context, 2, 0, &entry, 0), EINVAL);
    CHECK_EQ(ibv_query_gid_ex(pair.context, 1, 0, &entry, 1), EINVAL);
    CHECK_EQ(_ibv_query_gid_ex(pair.context, 1, 0, &entry, 0, 0), EINVAL);
    CHECK_EQ(ibv_query_gid_table(pair.context, entries, 1, 0), -EINVAL);
    CHECK_EQ(ibv_query_gid_table(pair.context, entries, 3, 1), -EINVAL);
    verbs_pair_close(&pair);
}

static void should_refuse_what_only_datagrams_need(void)
{
    struct ibv_ah_attr attr = {.port_num = 1};
    struct ibv_wc wc = {0};
    struct ibv_grh grh = {0};
    struct verbs_pair pair;
    union ibv_gid gid = {0};
    uint8_t mac[ETHERNET_LL_SIZE];
    uint16_t vid;

    verbs_pair_open(&pair, NULL);
    errno = 0;
    CHECK(ibv_create_ah(pair.pd, &attr) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    errno = 0;
    CHECK(ibv_create_ah_from_wc(pair.pd, &wc, &grh, 1) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    CHECK_EQ(ibv_destroy_ah(NULL), EOPNOTSUPP);
    CHECK_EQ(ibv_attach_mcast(pair.qp[0], &gid, 0), EOPNOTSUPP);
    CHECK_EQ(ibv_detach_mcast(pair.qp[0], &gid, 0), EOPNOTSUPP);
    errno = 0;
    CHECK_EQ(ibv_resolve_eth_l2_from_gid(pair.context, &attr, mac, &vid), -1);
    CHECK_EQ(errno, EOPNOTSUPP);
    verbs_pair_close(&pair);
}

/* perftest is linked with these libraries, which bind all symbols when they are loaded. */
static void should_let_libraries_of_providers_load(void)
{
    static const char *const libraries[] = {"libmlx5.so.1", "libefa.so.1"};
    int devices = 0;

    for (int i = 0; i < 2; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);

        if (library == NULL) {
            const char *reason = dlerror();

            if (strstr(reason, "cannot open shared object file") == NULL)
                fprintf(stderr, "%s\n", reason);
            CHECK(strstr(reason, "cannot open shared object file") != NULL);
        }
    }
    struct ibv_device **list = ibv_get_device_list(&devices);
    CHECK_EQ(devices, 1);
    ibv_free_device_list(list);
    CHECK(dlvsym(RTLD_DEFAULT, "verbs_register_driver_34", "IBVERBS_PRIVATE_34") != NULL);
    void *(*create)(void) = (void *(*)(void))(uintptr_t)dlvsym(RTLD_DEFAULT, "ibv_cmd_create_cq_ex", "IBVERBS_PRIVATE_34");
    CHECK(create != NULL);
    errno = 0;
    CHECK(create() == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
}

static void should_poll_descriptors_of_the_kernel(void)
{
    int ends[2];

    CHECK_EQ(pipe(ends), 0);
    struct pollfd waiting = {.fd = ends[0], .events = POLLIN};
    CHECK_EQ(rpoll(&waiting, 1, 0), 0);
    CHECK_EQ(write(ends[1], "x", 1), 1);
    CHECK_EQ(rpoll(&waiting, 1, -1), 1);
    CHECK_EQ(waiting.revents, POLLIN);
    CHECK_EQ(close(ends[0]), 0);
    CHECK_EQ(close(ends[1]), 0);
}

static void should_enforce_its_limits(void)
{
    struct ibv_device_attr attr;
    struct verbs_pair pair;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ibv_query_device(pair.context, &attr), 0);
    for (int over = 0; over < 5; over++) {
        struct ibv_qp_init_attr init = {.send_cq = pair.cq[0], .recv_cq = pair.cq[0],
            .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
            .qp_type = IBV_QPT_RC};
        int expected = EINVAL;

        if (over == 0)
            init.cap.max_send_wr = (uint32_t)attr.max_qp_wr + 1;
        else if (over == 1)
            init.cap.max_recv_wr = (uint32_t)attr.max_qp_wr + 1;
        else if (over == 2)
            init.cap.max_send_sge = (uint32_t)attr.max_sge + 1;
        else if (over == 3)
            init.cap.max_inline_data = 1 << 20;
        else {
            init.qp_type = IBV_QPT_UD;
            expected = EOPNOTSUPP;
        }
        errno = 0;
        CHECK(ibv_create_qp(pair.pd, &init) == NULL);
        CHECK_EQ(errno, expected);
    }
    struct ibv_srq_init_attr srq = {.attr = {.max_wr = (uint32_t)attr.max_srq_wr + 1,
        .max_sge = 1}};
    CHECK(ibv_create_srq(pair.pd, &srq) == NULL);
    CHECK_EQ(errno, EINVAL);
    verbs_pair_close(&pair);
}

static void should_take_no_more_than_the_send_queue_holds(void)
{
    struct verbs_options options = {.max_wr = 10, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct verbs_pair pair;

    verbs_pair_open(&pair, &options);
    /* Granted as 15; without anybody polling, the sixteenth does not fit, done or not. */
    for (uint64_t i = 0; i < 15; i++)
        verbs_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, i == 4 || i == 9 ? IBV_SEND_SIGNALED : 0);
    CHECK_EQ(verbs_try_send(&pair, 0, 15, IBV_WR_RDMA_WRITE, 8, 0), ENOMEM);
    /* A polled completion frees its own slot and those before it. */
    CHECK_EQ(verbs_wc(pair.cq[0]).wr_id, 4);
    for (uint64_t i = 0; i < 5; i++)
        verbs_send(&pair, 0, 15 + i, IBV_WR_RDMA_WRITE, 8, 0);
    CHECK_EQ(verbs_try_send(&pair, 0, 20, IBV_WR_RDMA_WRITE, 8, 0), ENOMEM);
    CHECK_EQ(verbs_wc(pair.cq[0]).wr_id, 9);
    verbs_send(&pair, 0, 20, IBV_WR_RDMA_WRITE, 8, 0);
    verbs_pair_close(&pair);
}

static void should_take_no_more_than_the_receive_queue_holds(void)
{
    struct verbs_options options = {.max_wr = 10, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct verbs_pair pair;

    for (options.srq_wr = 0; options.srq_wr <= 10; options.srq_wr += 10) {
        verbs_pair_open(&pair, &options);
        for (uint64_t i = 0; i < 15; i++)
            verbs_recv(&pair, 1, i, 0, 8);
        CHECK_EQ(verbs_try_recv(&pair, 1, 15, 0, 8), ENOMEM);
        verbs_send(&pair, 0, 1, IBV_WR_SEND, 8, 0);
        verbs_recv(&pair, 1, 15, 0, 8);
        CHECK_EQ(verbs_try_recv(&pair, 1, 16, 0, 8), ENOMEM);
        CHECK_EQ(verbs_wc(pair.cq[1]).wr_id, 0);
        verbs_pair_close(&pair);
    }
}

static void should_stop_a_list_at_the_first_bad_request(void)
{
    struct verbs_pair pair;
    struct ibv_sge sge;
    struct ibv_send_wr wr[3];
    struct ibv_send_wr *bad_wr = NULL;

    verbs_pair_open(&pair, NULL);
    sge = (struct ibv_sge){(uintptr_t)pair.buffer[0], 8, pair.mr[0]->lkey};
    memset(wr, 0, sizeof(wr));
    for (int i = 0; i < 3; i++) {
        wr[i] = (struct ibv_send_wr){.wr_id = (uint64_t)i, .sg_list = &sge, .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
            .next = i < 2 ? &wr[i + 1] : NULL};
        wr[i].wr.rdma.remote_addr = (uintptr_t)pair.buffer[1];
        wr[i].wr.rdma.rkey = pair.mr[1]->rkey;
    }
    wr[1].opcode = IBV_WR_LOCAL_INV;
    CHECK_EQ(ibv_post_send(pair.qp[0], wr, &bad_wr), EINVAL);
    CHECK(bad_wr == &wr[1]);
    struct ibv_wc wc = verbs_wc(pair.cq[0]);
    check_success(&wc, 0, IBV_WC_RDMA_WRITE, 8, pair.qp[0]->qp_num);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    wr[1].opcode = IBV_WR_RDMA_WRITE;
    wr[1].num_sge = 5; /* the queue pair takes 4 */
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr[1], &bad_wr), EINVAL);
    wr[1].num_sge = 1;
    wr[1].send_flags = IBV_SEND_INLINE; /* it takes no inline data */
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr[1], &bad_wr), EINVAL);
    verbs_pair_close(&pair);
}

static void should_accept_lists_of_nothing(void)
{
    struct verbs_pair pair;
    struct ibv_send_wr *bad_send;
    struct ibv_recv_wr *bad_receive;
    struct ibv_wc wc;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ibv_post_send(pair.qp[0], NULL, &bad_send), 0);
    CHECK_EQ(ibv_post_recv(pair.qp[0], NULL, &bad_receive), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    verbs_pair_close(&pair);
}

/* The memory of the elements belongs to the queue that was granted. */
static void should_refuse_receives_that_the_queue_pair_has_no_place_for(void)
{
    struct verbs_pair pair;
    struct ibv_recv_wr *bad = NULL;

    verbs_pair_open(&pair, &(struct verbs_options){.srq_wr = 4});
    struct ibv_sge sge = {.addr = (uintptr_t)pair.buffer[1], .length = 8, .lkey = pair.mr[1]->lkey};
    struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1};
    CHECK_EQ(ibv_post_recv(pair.qp[1], &wr, &bad), EINVAL); /* it receives from a shared queue */
    CHECK(bad == &wr);
    struct ibv_qp_init_attr attr = {.send_cq = pair.cq[0], .recv_cq = pair.cq[0], .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 4}};
    struct ibv_qp *qp = ibv_create_qp(pair.pd, &attr);
    CHECK(qp != NULL);
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    CHECK_EQ(ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
    bad = NULL;
    CHECK_EQ(ibv_post_recv(qp, &wr, &bad), EINVAL); /* it takes receives without an element */
    CHECK(bad == &wr);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    verbs_pair_close(&pair);
}

static void should_follow_the_state_machine(void)
{
    struct verbs_options options = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct verbs_pair pair;
    struct ibv_wc wc;

    verbs_pair_open(&pair, NULL);
    verbs_recv(&pair, 0, 1, 0, 8);
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE), 0);
    CHECK_EQ(pair.qp[0]->state, IBV_QPS_RESET);
    /* Reset drops the posted requests and accepts none. */
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    CHECK_EQ(verbs_try_recv(&pair, 0, 2, 0, 8), EINVAL);
    CHECK_EQ(verbs_try_send(&pair, 0, 2, IBV_WR_SEND, 8, 0), EINVAL);
    attr.qp_state = IBV_QPS_RTS;
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE), EINVAL);
    attr.qp_state = IBV_QPS_INIT; /* without the attributes that INIT requires */
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE), EINVAL);
    attr.port_num = 2; /* a port that is not there */
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
        IBV_QP_ACCESS_FLAGS), EINVAL);
    attr.port_num = 1;
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
        IBV_QP_ACCESS_FLAGS), 0);
    /* INIT takes receives, not sends. */
    verbs_recv(&pair, 0, 3, 0, 8);
    CHECK_EQ(verbs_try_send(&pair, 0, 4, IBV_WR_SEND, 8, 0), EINVAL);
    attr.qp_state = IBV_QPS_RESET;
    CHECK_EQ(ibv_modify_qp(pair.qp[0], &attr, IBV_QP_STATE), 0);
    /* And a queue pair can be connected anew. */
    verbs_connect(pair.qp[0], pair.qp[1]->qp_num, &options);
    CHECK_EQ(verbs_state(pair.qp[0]), IBV_QPS_RTS);
    verbs_send(&pair, 0, 5, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    CHECK_EQ(verbs_wc(pair.cq[0]).wr_id, 5);
    verbs_pair_close(&pair);
}

static void should_wait_for_a_peer_that_is_not_ready_yet(void)
{
    struct verbs_options options = {.rnr_retry = 7, .timeout = 20, .retry_cnt = 7};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct verbs_pair pair;
    struct ibv_wc wc;

    verbs_pair_open(&pair, &options);
    CHECK_EQ(ibv_modify_qp(pair.qp[1], &attr, IBV_QP_STATE), 0);
    strcpy(pair.buffer[0], "later");
    verbs_send(&pair, 0, 1, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 0);
    verbs_connect(pair.qp[1], pair.qp[0]->qp_num, &options);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &wc), 1);
    check_success(&wc, 1, IBV_WC_RDMA_WRITE, 8, pair.qp[0]->qp_num);
    CHECK(strcmp(pair.buffer[1], "later") == 0);
    verbs_pair_close(&pair);
}

static void should_gather_and_scatter(void)
{
    struct verbs_pair pair;
    struct ibv_send_wr *bad_send;
    struct ibv_recv_wr *bad_recv;
    struct ibv_wc wc;

    verbs_pair_open(&pair, NULL);
    for (int i = 0; i < 100; i++)
        pair.buffer[0][i] = (char)i;
    struct ibv_sge from[4] = {
        {(uintptr_t)pair.buffer[0], 10, pair.mr[0]->lkey},
        {(uintptr_t)pair.buffer[0] + 50, 0, 0 /* no key for no bytes */},
        {(uintptr_t)pair.buffer[0] + 20, 30, pair.mr[0]->lkey},
        {(uintptr_t)pair.buffer[0] + 90, 5, pair.mr[0]->lkey},
    };
    struct ibv_sge to[3] = {
        {(uintptr_t)pair.buffer[1] + 1000, 7, pair.mr[1]->lkey},
        {(uintptr_t)pair.buffer[1] + 2000, 20, pair.mr[1]->lkey},
        {(uintptr_t)pair.buffer[1] + 3000, 100, pair.mr[1]->lkey},
    };
    char expected[45];
    memcpy(expected, pair.buffer[0], 10);
    memcpy(expected + 10, pair.buffer[0] + 20, 30);
    memcpy(expected + 40, pair.buffer[0] + 90, 5);
    struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = to, .num_sge = 3};
    CHECK_EQ(ibv_post_recv(pair.qp[1], &recv, &bad_recv), 0);
    struct ibv_send_wr send = {.wr_id = 2, .sg_list = from, .num_sge = 4, .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED};
    CHECK_EQ(ibv_post_send(pair.qp[0], &send, &bad_send), 0);
    wc = verbs_wc(pair.cq[0]);
    check_success(&wc, 2, IBV_WC_SEND, 45, pair.qp[0]->qp_num);
    wc = verbs_wc(pair.cq[1]);
    check_success(&wc, 1, IBV_WC_RECV, 45, pair.qp[1]->qp_num);
    CHECK(memcmp(pair.buffer[1] + 1000, expected, 7) == 0);
    CHECK(memcmp(pair.buffer[1] + 2000, expected + 7, 20) == 0);
    CHECK(memcmp(pair.buffer[1] + 3000, expected + 27, 18) == 0);
    CHECK_EQ(pair.buffer[1][3018], 0);
    send.opcode = IBV_WR_RDMA_WRITE;
    send.wr.rdma.remote_addr = (uintptr_t)pair.buffer[1] + 4000;
    send.wr.rdma.rkey = pair.mr[1]->rkey;
    CHECK_EQ(ibv_post_send(pair.qp[0], &send, &bad_send), 0);
    CHECK_EQ(verbs_wc(pair.cq[0]).byte_len, 45);
    CHECK(memcmp(pair.buffer[1] + 4000, expected, 45) == 0);
    memset(pair.buffer[0], 0, 100);
    send.opcode = IBV_WR_RDMA_READ;
    CHECK_EQ(ibv_post_send(pair.qp[0], &send, &bad_send), 0);
    CHECK_EQ(verbs_wc(pair.cq[0]).byte_len, 45);
    CHECK(memcmp(pair.buffer[0], expected, 10) == 0);
    CHECK(memcmp(pair.buffer[0] + 20, expected + 10, 30) == 0);
    CHECK(memcmp(pair.buffer[0] + 90, expected + 40, 5) == 0);
    verbs_pair_close(&pair);
}

static void should_copy_inline_data_when_it_is_posted(void)
{
    struct verbs_options options = {.max_inline = 64, .rnr_retry = 7, .timeout = 14,
        .retry_cnt = 7};
    struct verbs_pair pair;
    struct ibv_send_wr *bad_wr;
    char data[2][32];

    verbs_pair_open(&pair, &options);
    struct ibv_sge sge[2] = {{(uintptr_t)data[0], 32, 0}, {(uintptr_t)data[1], 16, 0}};
    struct ibv_send_wr wr = {.wr_id = 1, .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE};
    memset(data[0], 'a', 32);
    memset(data[1], 'b', 32);
    /* It waits for a receive; the data is not registered and changes meanwhile. */
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad_wr), 0);
    memset(data, 'x', sizeof(data));
    verbs_recv(&pair, 1, 2, 0, 64);
    struct ibv_wc wc = verbs_wc(pair.cq[1]);
    check_success(&wc, 2, IBV_WC_RECV, 48, pair.qp[1]->qp_num);
    for (int i = 0; i < 48; i++)
        CHECK_EQ(pair.buffer[1][i], i < 32 ? 'a' : 'b');
    verbs_pair_close(&pair);
}

static void should_do_atomics(void)
{
    struct verbs_pair pair;
    uint64_t *local;
    uint64_t *remote;

    verbs_pair_open(&pair, NULL);
    local = (uint64_t *)(void *)pair.buffer[0];
    remote = (uint64_t *)(void *)pair.buffer[1];
    *remote = 41;
    verbs_send(&pair, 0, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, IBV_SEND_SIGNALED);
    struct ibv_wc wc = verbs_wc(pair.cq[0]);
    check_success(&wc, 1, IBV_WC_FETCH_ADD, 8, pair.qp[0]->qp_num);
    CHECK_EQ(*local, 41);
    CHECK_EQ(*remote, 42);
    *remote = 1;
    verbs_send(&pair, 0, 2, IBV_WR_ATOMIC_CMP_AND_SWP, 8, IBV_SEND_SIGNALED);
    wc = verbs_wc(pair.cq[0]);
    check_success(&wc, 2, IBV_WC_COMP_SWAP, 8, pair.qp[0]->qp_num);
    CHECK_EQ(*local, 1);
    CHECK_EQ(*remote, 42);
    verbs_send(&pair, 0, 3, IBV_WR_ATOMIC_CMP_AND_SWP, 8, IBV_SEND_SIGNALED);
    CHECK_EQ(verbs_wc(pair.cq[0]).status, IBV_WC_SUCCESS);
    CHECK_EQ(*local, 42); /* not equal: the old value is returned, nothing is swapped */
    CHECK_EQ(*remote, 42);
    /* An address that is not divisible by eight. */
    struct ibv_sge sge = {(uintptr_t)local, 8, pair.mr[0]->lkey};
    struct ibv_send_wr wr = {.wr_id = 4, .sg_list = &sge, .num_sge = 1,
        .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};
    struct ibv_send_wr *bad_wr;
    wr.wr.atomic.remote_addr = (uintptr_t)pair.buffer[1] + 4;
    wr.wr.atomic.rkey = pair.mr[1]->rkey;
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad_wr), 0);
    wc = verbs_wc(pair.cq[0]);
    check_failed(&wc, 4, IBV_WC_REM_INV_REQ_ERR, pair.qp[0]->qp_num);
    CHECK_EQ(wc.vendor_err, RINGPOLL_LOOPBACK_VERR_ALIGNMENT);
    verbs_pair_close(&pair);
}

static void should_build_requests_through_the_extended_interface(void)
{
    struct verbs_options options = {.max_inline = 32, .rnr_retry = 7, .timeout = 14,
        .retry_cnt = 7, .send_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND_WITH_IMM |
        IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
        IBV_QP_EX_WITH_ATOMIC_WRITE};
    struct verbs_pair pair;
    struct ibv_wc wc[8];
    uint64_t value = 0x1122334455667788;

    verbs_pair_open(&pair, &options);
    struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair.qp[0]);
    CHECK(qpx != NULL);
    CHECK(qpx->wr_send == NULL && qpx->wr_bind_mw == NULL); /* not asked for, not there */
    const uintptr_t local = (uintptr_t)pair.buffer[0];
    const uintptr_t remote = (uintptr_t)pair.buffer[1];
    const uint32_t lkey = pair.mr[0]->lkey;
    const uint32_t rkey = pair.mr[1]->rkey;
    strcpy(pair.buffer[0], "extended");
    verbs_recv(&pair, 1, 77, 512, 64);

    ibv_wr_start(qpx);
    qpx->wr_flags = IBV_SEND_SIGNALED;
    qpx->wr_id = 1;
    ibv_wr_rdma_write(qpx, rkey, remote);
    ibv_wr_set_sge(qpx, lkey, local, 16);
    qpx->wr_id = 2;
    ibv_wr_atomic_write(qpx, rkey, remote + 64, &value);
    value = 0; /* copied already */
    qpx->wr_id = 3;
    ibv_wr_send_imm(qpx, 0xabcd);
    ibv_wr_set_inline_data(qpx, "inline", 7);
    qpx->wr_id = 4;
    ibv_wr_rdma_read(qpx, rkey, remote + 64);
    ibv_wr_set_sge(qpx, lkey, local + 64, 8);
    qpx->wr_flags = 0;
    qpx->wr_id = 5;
    ibv_wr_atomic_fetch_add(qpx, rkey, remote + 64, 1);
    ibv_wr_set_sge(qpx, lkey, local + 72, 8);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 8, wc), 0); /* nothing happens before complete */
    CHECK_EQ(ibv_wr_complete(qpx), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 8, wc), 4);
    check_success(&wc[0], 1, IBV_WC_RDMA_WRITE, 16, pair.qp[0]->qp_num);
    check_success(&wc[1], 2, IBV_WC_ATOMIC_WRITE, 8, pair.qp[0]->qp_num);
    check_success(&wc[2], 3, IBV_WC_SEND, 7, pair.qp[0]->qp_num);
    check_success(&wc[3], 4, IBV_WC_RDMA_READ, 8, pair.qp[0]->qp_num);
    CHECK(strcmp(pair.buffer[1], "extended") == 0);
    CHECK(strcmp(pair.buffer[1] + 512, "inline") == 0);
    CHECK_EQ(*(uint64_t *)(void *)(pair.buffer[0] + 64), 0x1122334455667788);
    CHECK_EQ(*(uint64_t *)(void *)(pair.buffer[1] + 64), 0x1122334455667789);
    CHECK_EQ(verbs_wc(pair.cq[1]).imm_data, 0xabcd);
    /* Aborted, and failed while it was built: nothing is posted. */
    ibv_wr_start(qpx);
    ibv_wr_rdma_write(qpx, rkey, remote);
    ibv_wr_abort(qpx);
    char large[64] = {0};
    ibv_wr_start(qpx);
    ibv_wr_rdma_write(qpx, rkey, remote);
    ibv_wr_set_inline_data(qpx, large, sizeof(large));
    CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, wc), 0);
    verbs_pair_close(&pair);
    verbs_pair_open(&pair, NULL);
    CHECK(ibv_qp_to_qp_ex(pair.qp[0]) == NULL);
    verbs_pair_close(&pair);
}

static void should_refuse_memory_that_it_cannot_use(void)
{
    struct verbs_pair pair;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *two_pages;

    verbs_pair_open(&pair, NULL);
    two_pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(two_pages != MAP_FAILED);
    CHECK_EQ(munmap(two_pages + page, page), 0);
    const struct {
        void *addr;
        size_t length;
        unsigned int access;
        int expected;
    } cases[] = {
        {NULL, 4096, 0, EFAULT},
        {two_pages, 2 * page, IBV_ACCESS_LOCAL_WRITE, EFAULT},
        {two_pages, 0, IBV_ACCESS_LOCAL_WRITE, EINVAL},
        {two_pages, SIZE_MAX, 0, EINVAL},
        {two_pages, page, IBV_ACCESS_REMOTE_WRITE, EINVAL},
        {two_pages, page, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, EOPNOTSUPP},
        /* Read-only memory, to be written. */
        {(void *)(uintptr_t)"constant", 8, IBV_ACCESS_LOCAL_WRITE, EFAULT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        errno = 0;
        CHECK(ibv_reg_mr(pair.pd, cases[i].addr, cases[i].length, cases[i].access) == NULL);
        CHECK_EQ(errno, cases[i].expected);
    }
    struct ibv_mr *mr = ibv_reg_mr(pair.pd, (void *)(uintptr_t)"constant", 8,
        IBV_ACCESS_REMOTE_READ);
    CHECK(mr != NULL);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(munmap(two_pages, page), 0);
    verbs_pair_close(&pair);
}

static void should_register_under_another_address(void)
{
    struct verbs_pair pair;
    struct ibv_send_wr *bad_wr;

    verbs_pair_open(&pair, NULL);
    struct ibv_mr *mr = ibv_reg_mr_iova2(pair.pd, pair.buffer[1], 4096, 0x10000,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    CHECK(mr != NULL);
    struct ibv_sge sge = {(uintptr_t)pair.buffer[0], 8, pair.mr[0]->lkey};
    struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    strcpy(pair.buffer[0], "iova");
    wr.wr.rdma.remote_addr = 0x10000 + 100;
    wr.wr.rdma.rkey = mr->rkey;
    CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad_wr), 0);
    CHECK_EQ(verbs_wc(pair.cq[0]).status, IBV_WC_SUCCESS);
    CHECK(strcmp(pair.buffer[1] + 100, "iova") == 0);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    verbs_pair_close(&pair);
}

static void should_not_reuse_keys_soon(void)
{
    enum { ROUNDS = 20000 };
    struct verbs_pair pair;
    uint32_t *seen = malloc(ROUNDS * sizeof(*seen));

    CHECK(seen != NULL);
    verbs_pair_open(&pair, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        struct ibv_mr *mr = ibv_reg_mr(pair.pd, pair.buffer[0], 64, IBV_ACCESS_LOCAL_WRITE);

        CHECK(mr != NULL);
        CHECK(mr->lkey != mr->rkey);
        seen[i] = mr->lkey;
        for (int before = i - 1; before >= 0 && before > i - 200; before--)
            CHECK(seen[before] != seen[i]);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
    }
    verbs_pair_close(&pair);
    free(seen);
}

static void should_take_advice_on_registered_ranges_only(void)
{
    struct rpma_peer *peer = test_peer();
    struct rpma_mr_local *mr;
    char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    CHECK_EQ(rpma_mr_reg(peer, memory, 65536, ALL_USAGES, &mr), 0);
    CHECK_EQ(rpma_mr_advise(mr, 0, 65536, IBV_ADVISE_MR_ADVICE_PREFETCH, 0), 0);
    CHECK_EQ(rpma_mr_advise(mr, 4096, 4096, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
        IBV_ADVISE_MR_FLAG_FLUSH), 0);
    CHECK_EQ(rpma_mr_advise(mr, 4096, 65536, IBV_ADVISE_MR_ADVICE_PREFETCH, 0), RPMA_E_INVAL);
    CHECK_EQ(rpma_mr_advise(mr, 0, 4096, IBV_ADVISE_MR_ADVICE_PREFETCH, 0x80), RPMA_E_INVAL);
    CHECK_EQ(rpma_mr_advise(mr, 0, 4096, 99, 0), RPMA_E_NOSUPP);
    CHECK_EQ(rpma_mr_dereg(&mr), 0);
    CHECK_EQ(rpma_peer_delete(&peer), 0);
    CHECK_EQ(munmap(memory, 65536), 0);
}

static void should_report_a_low_shared_receive_queue(void)
{
    struct verbs_options options = {.srq_wr = 8, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct ibv_srq_attr attr = {.srq_limit = 2};
    struct ibv_async_event event;
    struct verbs_pair pair;

    verbs_pair_open(&pair, &options);
    CHECK_EQ(ibv_destroy_srq(pair.srq), EBUSY);
    for (uint64_t i = 0; i < 4; i++)
        verbs_recv(&pair, 1, i, 0, 8);
    CHECK_EQ(ibv_modify_srq(pair.srq, &attr, IBV_SRQ_LIMIT), 0);
    CHECK_EQ(ibv_query_srq(pair.srq, &attr), 0);
    CHECK_EQ(attr.srq_limit, 2);
    CHECK_EQ(attr.max_wr, 15);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(!readable(pair.context->async_fd, 0));
        verbs_send(&pair, 0, i, IBV_WR_SEND, 8, 0);
    }
    CHECK(readable(pair.context->async_fd, 1000));
    CHECK_EQ(ibv_get_async_event(pair.context, &event), 0);
    CHECK_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK(event.element.srq == pair.srq);
    ibv_ack_async_event(&event);
    /* Receives of a shared queue are not flushed; the last one that was taken is announced. */
    struct ibv_qp_attr qp_attr = {.qp_state = IBV_QPS_ERR};
    CHECK_EQ(ibv_modify_qp(pair.qp[1], &qp_attr, IBV_QP_STATE), 0);
    CHECK_EQ(ibv_get_async_event(pair.context, &event), 0);
    CHECK_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    CHECK(event.element.qp == pair.qp[1]);
    ibv_ack_async_event(&event);
    struct ibv_wc wc[8];
    CHECK_EQ(ibv_poll_cq(pair.cq[1], 8, wc), 3);
    verbs_pair_close(&pair);
}

const struct test verbs_tests[] = {
    {"the device says what it is", should_say_what_it_is},
    {"the device lists its GIDs", should_list_its_gids},
    {"what only datagrams need is refused", should_refuse_what_only_datagrams_need},
    {"libraries of providers can be loaded", should_let_libraries_of_providers_load},
    {"descriptors of the kernel can be polled", should_poll_descriptors_of_the_kernel},
    {"limits are enforced", should_enforce_its_limits},
    {"a send queue holds what was granted", should_take_no_more_than_the_send_queue_holds},
    {"a receive queue holds what was granted", should_take_no_more_than_the_receive_queue_holds},
    {"a list stops at the first bad request", should_stop_a_list_at_the_first_bad_request},
    {"lists of no work request are accepted", should_accept_lists_of_nothing},
    {"receives are refused that the queue pair has no place for",
        should_refuse_receives_that_the_queue_pair_has_no_place_for},
    {"queue pairs follow the state machine", should_follow_the_state_machine},
    {"a peer that is not ready is waited for", should_wait_for_a_peer_that_is_not_ready_yet},
    {"several elements are gathered and scattered", should_gather_and_scatter},
    {"inline data is copied when posted", should_copy_inline_data_when_it_is_posted},
    {"atomics work on eight aligned bytes", should_do_atomics},
    {"ibv_wr_* builds and posts", should_build_requests_through_the_extended_interface},
    {"memory that cannot be used is not registered", should_refuse_memory_that_it_cannot_use},
    {"memory can be registered under another address", should_register_under_another_address},
    {"keys are not reused soon", should_not_reuse_keys_soon},
    {"advice is taken on registered ranges only", should_take_advice_on_registered_ranges_only},
    {"a shared receive queue tells when it runs low", should_report_a_low_shared_receive_queue},
    {NULL, NULL},
};
