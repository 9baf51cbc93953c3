/* SPDX-License-Identifier: Apache-2.0 */
/* test_post_list.c: chains of work requests that are posted by one call: all of them, or those before the one that is refused. */
#include <errno.h>
#include <string.h>

#include "id_pair.h"
#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

#define LIST 16
#define PIECES 4

/* Requests of 64 bytes each, chained, from the one side's buffer to the same place of the other's. */
struct list {
    struct ibv_sge sge[LIST][PIECES];
    struct ibv_send_wr wr[LIST];
    struct ibv_recv_wr recv[LIST];
};

static void make_list(struct list *list, struct verbs_pair *pair, enum ibv_wr_opcode opcode)
{
    memset(list, 0, sizeof(*list));
    for (size_t i = 0; i < LIST; i++) {
        list->sge[i][0] = (struct ibv_sge){(uintptr_t)pair->buffer[0] + 64 * i, 64, pair->mr[0]->lkey};
        list->wr[i] = (struct ibv_send_wr){.wr_id = i, .sg_list = list->sge[i], .num_sge = 1, .opcode = opcode,
            .send_flags = IBV_SEND_SIGNALED, .next = i + 1 < LIST ? &list->wr[i + 1] : NULL};
        list->wr[i].wr.rdma.remote_addr = (uintptr_t)pair->buffer[1] + 64 * i;
        list->wr[i].wr.rdma.rkey = pair->mr[1]->rkey;
        list->recv[i] = (struct ibv_recv_wr){.wr_id = i, .sg_list = list->sge[i], .num_sge = 1,
            .next = i + 1 < LIST ? &list->recv[i + 1] : NULL};
    }
}

static int post(struct verbs_pair *pair, struct list *list, struct ibv_send_wr **bad_wr)
{
    *bad_wr = NULL;
    return ibv_post_send(pair->qp[0], list->wr, bad_wr);
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
    const struct ibv_wc wc = verbs_wc(cq);

    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, status);
}

static void expect_done(struct ibv_cq *cq, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        expect(cq, i, IBV_WC_SUCCESS);
}

static void fill(struct verbs_pair *pair)
{
    for (uint32_t i = 0; i < VERBS_BUFFER_SIZE; i++)
        pair->buffer[0][i] = (char)(i * 7 + i / 256);
}

static void should_write_each_request_of_a_list(void)
{
    struct ibv_send_wr *bad_wr;
    struct verbs_pair pair;
    struct list list;
    char other[64];

    verbs_pair_open(&pair, NULL);
    fill(&pair);
    memset(other, 9, sizeof(other));
    struct ibv_mr *mr = ibv_reg_mr(pair.pd, other, sizeof(other), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    CHECK(mr != NULL);
    make_list(&list, &pair, IBV_WR_RDMA_WRITE);
    /* One of several pieces of two regions, one empty, one from and one to another region, a read, and all else as before. */
    list.wr[2].num_sge = 4;
    list.sge[2][0] = (struct ibv_sge){(uintptr_t)pair.buffer[0] + 128, 16, pair.mr[0]->lkey};
    list.sge[2][1] = (struct ibv_sge){(uintptr_t)other, 16, mr->lkey};
    list.sge[2][2] = (struct ibv_sge){(uintptr_t)pair.buffer[0] + 160, 16, pair.mr[0]->lkey};
    list.sge[2][3] = (struct ibv_sge){(uintptr_t)other, 16, mr->lkey};
    list.wr[3].num_sge = 0;
    list.sge[5][0] = (struct ibv_sge){(uintptr_t)other, 64, mr->lkey};
    list.wr[8].wr.rdma.remote_addr = (uintptr_t)other;
    list.wr[8].wr.rdma.rkey = mr->rkey;
    list.wr[9].opcode = IBV_WR_RDMA_READ;
    memset(pair.buffer[1] + 64 * 9, 5, 64);
    CHECK_EQ(post(&pair, &list, &bad_wr), 0);
    CHECK(bad_wr == NULL);
    expect_done(pair.cq[0], 0, LIST);
    for (int i = 0; i < LIST; i++) {
        const char *arrived = pair.buffer[1] + 64 * i;
        const char *sent = pair.buffer[0] + 64 * i;

        if (i == 2)
            CHECK(memcmp(arrived, sent, 16) == 0 && arrived[16] == 9 && memcmp(arrived + 32, sent + 32, 16) == 0 &&
                arrived[63] == 9);
        else if (i == 3)
            CHECK(arrived[0] == 0);
        else if (i == 5)
            CHECK(arrived[0] == 9 && arrived[63] == 9);
        else if (i == 8)
            CHECK(arrived[0] == 0 && memcmp(other, sent, 64) == 0);
        else if (i == 9)
            CHECK(sent[0] == 5 && sent[63] == 5);
        else
            CHECK(memcmp(arrived, sent, 64) == 0);
    }
    /* No region is held behind the call. */
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    verbs_pair_close(&pair);
}

static void should_name_the_refused_request(void)
{
    for (int bad = 0; bad < LIST; bad++) {
        struct ibv_send_wr *bad_wr;
        struct verbs_pair pair;
        struct list list;

        verbs_pair_open(&pair, NULL);
        make_list(&list, &pair, IBV_WR_RDMA_WRITE);
        list.wr[bad].num_sge = 1000;
        CHECK_EQ(post(&pair, &list, &bad_wr), EINVAL);
        CHECK(bad_wr == &list.wr[bad]);
        expect_done(pair.cq[0], 0, (uint64_t)bad);
        CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, &(struct ibv_wc){0}), 0);
        /* It goes on from there. */
        list.wr[bad].num_sge = 1;
        CHECK_EQ(ibv_post_send(pair.qp[0], bad_wr, &bad_wr), 0);
        expect_done(pair.cq[0], (uint64_t)bad, LIST);
        verbs_pair_close(&pair);
    }
}

static void should_name_the_request_that_found_no_room(void)
{
    struct ibv_send_wr *bad_wr;
    struct ibv_recv_wr *bad_recv;
    struct verbs_pair pair;
    struct list list;

    verbs_pair_open(&pair, NULL); /* 63 slots */
    make_list(&list, &pair, IBV_WR_RDMA_WRITE);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(post(&pair, &list, &bad_wr), 0);
    CHECK_EQ(post(&pair, &list, &bad_wr), ENOMEM);
    CHECK(bad_wr == &list.wr[15]);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(ibv_post_recv(pair.qp[1], list.recv, &bad_recv), 0);
    CHECK_EQ(ibv_post_recv(pair.qp[1], list.recv, &bad_recv), ENOMEM);
    CHECK(bad_recv == &list.recv[15]);
    verbs_pair_close(&pair);
}

static void should_name_the_refused_receive(void)
{
    for (int shared = 0; shared < 2; shared++) {
        struct verbs_options options = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7, .srq_wr = shared ? 31 : 0};
        struct ibv_recv_wr *bad_wr = NULL;
        struct verbs_pair pair;
        struct list list;

        verbs_pair_open(&pair, &options);
        make_list(&list, &pair, IBV_WR_SEND);
        list.recv[7].num_sge = 1000;
        CHECK_EQ(shared ? ibv_post_srq_recv(pair.srq, list.recv, &bad_wr) :
            ibv_post_recv(pair.qp[1], list.recv, &bad_wr), EINVAL);
        CHECK(bad_wr == &list.recv[7]);
        struct ibv_send_wr *bad_send;
        CHECK_EQ(post(&pair, &list, &bad_send), 0);
        expect_done(pair.cq[1], 0, 7);
        CHECK_EQ(ibv_poll_cq(pair.cq[1], 1, &(struct ibv_wc){0}), 0);
        verbs_pair_close(&pair);
    }
}

/* Requests behind a failed one are flushed: what the failed one lacks, a kept region does not replace. */
static void should_check_each_request_of_a_list(void)
{
    for (int kind = 0; kind < 6; kind++) {
        struct ibv_send_wr *bad_wr;
        struct verbs_pair pair;
        struct list list;

        verbs_pair_open(&pair, NULL);
        struct ibv_pd *pd = ibv_alloc_pd(pair.context);
        struct ibv_mr *foreign = ibv_reg_mr(pd, pair.buffer[0], 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        struct ibv_mr *read_only = ibv_reg_mr(pair.pd, pair.buffer[1], 4096, IBV_ACCESS_REMOTE_READ);
        CHECK(pd != NULL && foreign != NULL && read_only != NULL);
        make_list(&list, &pair, IBV_WR_RDMA_WRITE);
        if (kind == 0)
            list.sge[8][0].lkey ^= 1;
        else if (kind == 1)
            list.sge[8][0].addr = (uintptr_t)pair.buffer[0] + VERBS_BUFFER_SIZE - 32;
        else if (kind == 2)
            list.sge[8][0].lkey = foreign->lkey;
        else if (kind == 3)
            list.wr[8].wr.rdma.rkey ^= 2;
        else if (kind == 4)
            list.wr[8].wr.rdma.remote_addr = (uintptr_t)pair.buffer[1] - 8;
        else
            list.wr[8].wr.rdma.rkey = read_only->rkey;
        CHECK_EQ(post(&pair, &list, &bad_wr), 0);
        expect_done(pair.cq[0], 0, 8);
        expect(pair.cq[0], 8, kind < 3 ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR);
        for (uint64_t i = 9; i < LIST; i++)
            expect(pair.cq[0], i, IBV_WC_WR_FLUSH_ERR);
        CHECK_EQ(ibv_dereg_mr(foreign), 0);
        CHECK_EQ(ibv_dereg_mr(read_only), 0);
        CHECK_EQ(ibv_dealloc_pd(pd), 0);
        verbs_pair_close(&pair);
    }
}

/* Messages wait for their receives in the middle of a list; the receives are a list, too. Also between processes. */
static void should_deliver_lists_of_messages(void)
{
    static char buffer[2][LIST * 64];
    struct ibv_sge sge[2][LIST];
    struct ibv_send_wr wr[LIST] = {0};
    struct ibv_recv_wr recv[LIST] = {0};
    struct ibv_send_wr *bad_wr;
    struct ibv_recv_wr *bad_recv;
    struct ibv_mr *mr[2];
    struct id_pair pair;

    id_pair_open_extended(&pair, IBV_WC_STANDARD_FLAGS);
    mr[0] = ibv_reg_mr(pair.active->pd, buffer[0], sizeof(buffer[0]), IBV_ACCESS_LOCAL_WRITE);
    mr[1] = ibv_reg_mr(pair.passive->pd, buffer[1], sizeof(buffer[1]), IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr[0] != NULL && mr[1] != NULL);
    for (size_t i = 0; i < LIST; i++) {
        memset(buffer[0] + 64 * i, (int)i + 1, 64);
        for (size_t side = 0; side < 2; side++)
            sge[side][i] = (struct ibv_sge){(uintptr_t)buffer[side] + 64 * i, 64, mr[side]->lkey};
        wr[i] = (struct ibv_send_wr){.wr_id = i, .sg_list = &sge[0][i], .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM,
            .imm_data = (uint32_t)i, .send_flags = i == LIST - 1 ? IBV_SEND_SIGNALED : 0,
            .next = i + 1 < LIST ? &wr[i + 1] : NULL};
        recv[i] = (struct ibv_recv_wr){.wr_id = 100 + i, .sg_list = &sge[1][i], .num_sge = 1,
            .next = i + 1 < LIST && i != 4 ? &recv[i + 1] : NULL};
    }
    CHECK_EQ(ibv_post_recv(pair.passive->qp, recv, &bad_recv), 0); /* five of them */
    CHECK_EQ(ibv_post_send(pair.active->qp, wr, &bad_wr), 0);
    for (size_t i = 0; i < LIST; i++) {
        if (i == 5)
            CHECK_EQ(ibv_post_recv(pair.passive->qp, &recv[5], &bad_recv), 0);
        const struct ibv_wc wc = id_pair_wc(pair.cq[1]);

        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id, 100 + i);
        CHECK_EQ(wc.imm_data, i);
        CHECK(memcmp(buffer[0] + 64 * i, buffer[1] + 64 * i, 64) == 0);
    }
    CHECK_EQ(id_pair_wc(pair.cq[0]).wr_id, LIST - 1);
    for (int side = 0; side < 2; side++)
        CHECK_EQ(ibv_dereg_mr(mr[side]), 0);
    id_pair_close(&pair);
}

const struct test post_list_tests[] = {
    {"post list: each request is executed", should_write_each_request_of_a_list},
    {"post list: the refused request is named, and those before it are posted", should_name_the_refused_request},
    {"post list: the request that finds no room is named", should_name_the_request_that_found_no_room},
    {"post list: the refused receive is named", should_name_the_refused_receive},
    {"post list: each request is checked", should_check_each_request_of_a_list},
    {"post list: messages and receives", should_deliver_lists_of_messages},
    {NULL, NULL},
};
