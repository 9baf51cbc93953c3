/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_pair.c: two queue pairs connected by hand. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"
#include "verbs_pair.h"

static const struct verbs_options defaults = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7};

#define ALL_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
    IBV_ACCESS_REMOTE_ATOMIC)

void verbs_connect(struct ibv_qp *qp, uint32_t dest_qp_num, const struct verbs_options *options)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

    attr.qp_access_flags = options->access ? options->access : ALL_ACCESS;
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
        IBV_QP_ACCESS_FLAGS), 0);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096,
        .dest_qp_num = dest_qp_num, .max_dest_rd_atomic = 16,
        .min_rnr_timer = options->min_rnr_timer, .ah_attr = {.is_global = 1, .port_num = 1}};
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
        IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), 0);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = options->timeout,
        .retry_cnt = options->retry_cnt, .rnr_retry = options->rnr_retry, .max_rd_atomic = 16};
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
        IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC), 0);
}

static struct ibv_qp *create(struct verbs_pair *pair, int side, const struct verbs_options *options)
{
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = pair->cq[side],
        .recv_cq = pair->cq[options->receives_apart ? 1 - side : side],
        .srq = side == 1 ? pair->srq : NULL,
        .cap = {
            .max_send_wr = options->max_wr ? options->max_wr : 32,
            .max_recv_wr = options->max_wr ? options->max_wr : 32,
            .max_send_sge = 4,
            .max_recv_sge = 4,
            .max_inline_data = options->max_inline,
        },
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = options->signal_all,
        .comp_mask = IBV_QP_INIT_ATTR_PD,
        .pd = pair->pd,
    };

    if (options->send_ops) {
        attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        attr.send_ops_flags = options->send_ops;
    }
    struct ibv_qp *qp = ibv_create_qp_ex(pair->context, &attr);
    CHECK(qp != NULL);
    return qp;
}

static struct ibv_cq *create_cq(struct verbs_pair *pair, const struct verbs_options *options)
{
    const int cqe = options->cqe ? options->cqe : 64;

    if (!options->wc_flags)
        return ibv_create_cq(pair->context, cqe, NULL, pair->channel, 0);
    struct ibv_cq_init_attr_ex attr = {.cqe = (uint32_t)cqe, .channel = pair->channel, .wc_flags = options->wc_flags};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(pair->context, &attr);
    CHECK(cq != NULL);
    return ibv_cq_ex_to_cq(cq);
}

void verbs_pair_open(struct verbs_pair *pair, const struct verbs_options *options)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);

    if (options == NULL)
        options = &defaults;
    memset(pair, 0, sizeof(*pair));
    CHECK(devices != NULL && devices[0] != NULL);
    pair->context = ibv_open_device(devices[0]);
    CHECK(pair->context != NULL);
    ibv_free_device_list(devices);
    pair->pd = ibv_alloc_pd(pair->context);
    CHECK(pair->pd != NULL);
    pair->channel = ibv_create_comp_channel(pair->context);
    CHECK(pair->channel != NULL);
    if (options->srq_wr) {
        struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = options->srq_wr, .max_sge = 4}};

        if (options->srq_own_pd) {
            pair->srq_pd = ibv_alloc_pd(pair->context);
            CHECK(pair->srq_pd != NULL);
        }
        pair->srq = ibv_create_srq(options->srq_own_pd ? pair->srq_pd : pair->pd, &srq_attr);
        CHECK(pair->srq != NULL);
    }
    for (int side = 0; side < 2; side++) {
        pair->buffer[side] = aligned_alloc(4096, VERBS_BUFFER_SIZE);
        CHECK(pair->buffer[side] != NULL);
        memset(pair->buffer[side], 0, VERBS_BUFFER_SIZE);
        pair->mr[side] = ibv_reg_mr(pair->pd, pair->buffer[side], VERBS_BUFFER_SIZE, ALL_ACCESS);
        CHECK(pair->mr[side] != NULL);
        pair->cq[side] = side == 1 && options->one_cq ? pair->cq[0] :
            create_cq(pair, options);
        CHECK(pair->cq[side] != NULL);
    }
    for (int side = 0; side < 2; side++)
        pair->qp[side] = create(pair, side, options);
    verbs_connect(pair->qp[0], pair->qp[1]->qp_num, options);
    verbs_connect(pair->qp[1], pair->qp[0]->qp_num, options);
}

void verbs_pair_close(struct verbs_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        if (pair->qp[side] != NULL)
            CHECK_EQ(ibv_destroy_qp(pair->qp[side]), 0);
    }
    for (int side = 0; side < 2; side++) {
        if (side == 1 || pair->cq[0] != pair->cq[1])
            CHECK_EQ(ibv_destroy_cq(pair->cq[side]), 0);
        CHECK_EQ(ibv_dereg_mr(pair->mr[side]), 0);
        free(pair->buffer[side]);
    }
    if (pair->srq != NULL)
        CHECK_EQ(ibv_destroy_srq(pair->srq), 0);
    if (pair->srq_pd != NULL)
        CHECK_EQ(ibv_dealloc_pd(pair->srq_pd), 0);
    CHECK_EQ(ibv_destroy_comp_channel(pair->channel), 0);
    CHECK_EQ(ibv_dealloc_pd(pair->pd), 0);
    CHECK_EQ(ibv_close_device(pair->context), 0);
}

int verbs_try_send(struct verbs_pair *pair, int side, uint64_t wr_id, enum ibv_wr_opcode opcode,
    uint32_t length, unsigned int flags)
{
    struct ibv_sge sge = {(uintptr_t)pair->buffer[side], length, pair->mr[side]->lkey};
    struct ibv_send_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
        .send_flags = flags, .imm_data = (uint32_t)wr_id};
    struct ibv_send_wr *bad_wr = NULL;

    if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = (uintptr_t)pair->buffer[1 - side];
        wr.wr.atomic.rkey = pair->mr[1 - side]->rkey;
        wr.wr.atomic.compare_add = 1;
        wr.wr.atomic.swap = 42;
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t)pair->buffer[1 - side];
        wr.wr.rdma.rkey = pair->mr[1 - side]->rkey;
    }
    const int error = ibv_post_send(pair->qp[side], &wr, &bad_wr);
    CHECK((error != 0) == (bad_wr == &wr));
    return error;
}

void verbs_send(struct verbs_pair *pair, int side, uint64_t wr_id, enum ibv_wr_opcode opcode,
    uint32_t length, unsigned int flags)
{
    CHECK_EQ(verbs_try_send(pair, side, wr_id, opcode, length, flags), 0);
}

int verbs_try_recv(struct verbs_pair *pair, int side, uint64_t wr_id, size_t offset,
    uint32_t length)
{
    struct ibv_sge sge = {(uintptr_t)pair->buffer[side] + offset, length, pair->mr[side]->lkey};
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad_wr = NULL;

    if (side == 1 && pair->srq != NULL)
        return ibv_post_srq_recv(pair->srq, &wr, &bad_wr);
    return ibv_post_recv(pair->qp[side], &wr, &bad_wr);
}

void verbs_recv(struct verbs_pair *pair, int side, uint64_t wr_id, size_t offset, uint32_t length)
{
    CHECK_EQ(verbs_try_recv(pair, side, wr_id, offset, length), 0);
}

struct ibv_wc verbs_wc(struct ibv_cq *cq)
{
    const struct timespec moment = {.tv_nsec = 100000};
    struct ibv_wc wc;

    for (int tries = 0; tries < 100000; tries++) {
        const int got = ibv_poll_cq(cq, 1, &wc);

        CHECK(got >= 0);
        if (got == 1)
            return wc;
        (void)nanosleep(&moment, NULL);
    }
    CHECK(!"a completion came in time");
    return wc;
}

void verbs_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
    const struct ibv_wc wc = verbs_wc(cq);

    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, status);
}

enum ibv_qp_state verbs_state(struct ibv_qp *qp)
{
    struct ibv_qp_init_attr init_attr;
    struct ibv_qp_attr attr;

    CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init_attr), 0);
    return attr.qp_state;
}
