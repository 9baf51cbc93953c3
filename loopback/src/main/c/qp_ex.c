/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp_ex.c: the extended interface of a queue pair (ibv_wr_*(3)): work requests built one setter
 * at a time between ibv_wr_start and ibv_wr_complete, then posted as one list.
 *
 * librpma 1.3 posts its atomic write this way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qp.h"

/* One work request under construction, with room for its elements and its inline data. */
struct building {
    struct ibv_send_wr wr;
    struct ibv_sge sge[LB_MAX_SGE];
    char inline_data[];
};

struct lb_wr_builder {
    pthread_mutex_t lock; /* from start to complete or abort: one builder at a time */
    int error;            /* the first setter's error; complete returns it and posts nothing */
    uint32_t count;
    uint32_t capacity;
    size_t stride;
    char *requests;
    struct lb_fork_member fork;
};

static struct building *at(const struct lb_wr_builder *builder, uint32_t index)
{
    return (struct building *)(void *)(builder->requests + index * builder->stride);
}

static struct lb_qp *qp_of(struct ibv_qp_ex *ex)
{
    return (struct lb_qp *)(void *)ex;
}

static void start(struct ibv_qp_ex *ex)
{
    struct lb_wr_builder *builder = qp_of(ex)->builder;

    pthread_mutex_lock(&builder->lock);
    builder->error = 0;
    builder->count = 0;
}

static int complete(struct ibv_qp_ex *ex)
{
    struct lb_wr_builder *builder = qp_of(ex)->builder;
    int error = builder->error;

    if (!error && builder->count > 0) {
        for (uint32_t i = 0; i + 1 < builder->count; i++)
            at(builder, i)->wr.next = &at(builder, i + 1)->wr;
        error = lb_post_send_all(qp_of(ex), &at(builder, 0)->wr, builder->count);
    }
    pthread_mutex_unlock(&builder->lock);
    return error;
}

static void cancel(struct ibv_qp_ex *ex)
{
    pthread_mutex_unlock(&qp_of(ex)->builder->lock);
}

/* Begins a work request; a scratch one, never posted, if there is no more room. */
static struct ibv_send_wr *begin(struct ibv_qp_ex *ex, unsigned int opcode)
{
    struct lb_wr_builder *builder = qp_of(ex)->builder;

    if (builder->count == builder->capacity) {
        builder->error = builder->error ? builder->error : ENOMEM;
        builder->count = builder->capacity - 1;
    }
    struct building *building = at(builder, builder->count++);
    memset(&building->wr, 0, sizeof(building->wr));
    building->wr.wr_id = ex->wr_id;
    building->wr.opcode = (enum ibv_wr_opcode)opcode;
    building->wr.send_flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE; /* the setters decide which data is inline */
    building->wr.sg_list = building->sge;
    return &building->wr;
}

static struct ibv_send_wr *begin_rdma(struct ibv_qp_ex *ex, unsigned int opcode, uint32_t rkey,
    uint64_t remote_addr)
{
    struct ibv_send_wr *wr = begin(ex, opcode);

    wr->wr.rdma.rkey = rkey;
    wr->wr.rdma.remote_addr = remote_addr;
    return wr;
}

static void rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
    (void)begin_rdma(ex, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
    (void)begin_rdma(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
    begin_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr)->imm_data = imm;
}

static void send_plain(struct ibv_qp_ex *ex)
{
    (void)begin(ex, IBV_WR_SEND);
}

static void send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
    begin(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm;
}

static void atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
    uint64_t compare, uint64_t swap)
{
    struct ibv_send_wr *wr = begin(ex, IBV_WR_ATOMIC_CMP_AND_SWP);

    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.compare_add = compare;
    wr->wr.atomic.swap = swap;
}

static void atomic_fetch_add_wr(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
    uint64_t add)
{
    struct ibv_send_wr *wr = begin(ex, IBV_WR_ATOMIC_FETCH_AND_ADD);

    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.compare_add = add;
}

/* The last started work request, or NULL if a setter was called before any builder. */
static struct building *last(struct ibv_qp_ex *ex)
{
    struct lb_wr_builder *builder = qp_of(ex)->builder;

    if (builder->count == 0) {
        builder->error = builder->error ? builder->error : EINVAL;
        return NULL;
    }
    return at(builder, builder->count - 1);
}

static void set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
    const struct ibv_data_buf *buf_list)
{
    struct lb_wr_builder *builder = qp_of(ex)->builder;
    struct building *building = last(ex);
    const size_t room = builder->stride - sizeof(*building);
    size_t length = 0;

    if (building == NULL)
        return;
    for (size_t i = 0; i < num_buf; i++) {
        if (buf_list[i].length > room - length) {
            builder->error = builder->error ? builder->error : EINVAL;
            return;
        }
        memcpy(building->inline_data + length, buf_list[i].addr, buf_list[i].length);
        length += buf_list[i].length;
    }
    building->wr.send_flags |= IBV_SEND_INLINE;
    building->wr.num_sge = 1;
    building->sge[0] =
        (struct ibv_sge){.addr = (uintptr_t)building->inline_data, .length = (uint32_t)length};
}

static void set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
    const struct ibv_data_buf buffer = {.addr = addr, .length = length};

    set_inline_data_list(ex, 1, &buffer);
}

static void atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
    const void *value)
{
    const struct ibv_data_buf buffer = {.addr = (void *)(uintptr_t)value, .length = 8};

    (void)begin_rdma(ex, LB_WR_ATOMIC_WRITE, rkey, remote_addr);
    set_inline_data_list(ex, 1, &buffer);
}

static void set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *sg_list)
{
    struct lb_wr_builder *builder = qp_of(ex)->builder;
    struct building *building = last(ex);

    if (building == NULL)
        return;
    if (num_sge > LB_MAX_SGE) {
        builder->error = builder->error ? builder->error : EINVAL;
        return;
    }
    memcpy(building->sge, sg_list, num_sge * sizeof(*sg_list));
    building->wr.send_flags &= ~(unsigned int)IBV_SEND_INLINE;
    building->wr.num_sge = (int)num_sge;
}

static void set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const struct ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};

    set_sge_list(ex, 1, &sge);
}

/* The thread that has started a list may not be here. */
static void inherit(struct lb_fork_member *member)
{
    pthread_mutex_init(&LB_FORKED(struct lb_wr_builder, fork, member)->lock, NULL);
}

int lb_qp_ex_init(struct lb_qp *qp, uint64_t send_operations, uint32_t max_inline_data)
{
    struct ibv_qp_ex *ex = &qp->base;

    if (send_operations == 0)
        return 0;
    const size_t inline_room = (max_inline_data + 7u) / 8 * 8;
    struct lb_wr_builder *builder = calloc(1, sizeof(*builder));
    if (builder == NULL)
        return ENOMEM;
    builder->capacity = qp->sq_capacity;
    builder->stride = sizeof(struct building) + inline_room;
    builder->requests = calloc(builder->capacity, builder->stride);
    if (builder->requests == NULL) {
        free(builder);
        return ENOMEM;
    }
    pthread_mutex_init(&builder->lock, NULL);
    lb_fork_join(&builder->fork, inherit);
    qp->builder = builder;
    ex->wr_start = start;
    ex->wr_complete = complete;
    ex->wr_abort = cancel;
    ex->wr_set_inline_data = set_inline_data;
    ex->wr_set_inline_data_list = set_inline_data_list;
    ex->wr_set_sge = set_sge;
    ex->wr_set_sge_list = set_sge_list;
    if (send_operations & IBV_QP_EX_WITH_RDMA_WRITE)
        ex->wr_rdma_write = rdma_write;
    if (send_operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
        ex->wr_rdma_write_imm = rdma_write_imm;
    if (send_operations & IBV_QP_EX_WITH_RDMA_READ)
        ex->wr_rdma_read = rdma_read;
    if (send_operations & IBV_QP_EX_WITH_SEND)
        ex->wr_send = send_plain;
    if (send_operations & IBV_QP_EX_WITH_SEND_WITH_IMM)
        ex->wr_send_imm = send_imm;
    if (send_operations & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
        ex->wr_atomic_cmp_swp = atomic_cmp_swp;
    if (send_operations & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
        ex->wr_atomic_fetch_add = atomic_fetch_add_wr;
    if (send_operations & LB_QP_EX_WITH_ATOMIC_WRITE)
        ex->wr_atomic_write = atomic_write;
    return 0;
}

void lb_qp_ex_close(struct lb_qp *qp)
{
    if (qp->builder == NULL)
        return;
    lb_fork_leave(&qp->builder->fork);
    pthread_mutex_destroy(&qp->builder->lock);
    free(qp->builder->requests);
    free(qp->builder);
}

LB_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *ibv_qp)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);

    return qp->builder != NULL ? &qp->base : NULL;
}
