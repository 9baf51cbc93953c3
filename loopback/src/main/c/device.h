/* SPDX-License-Identifier: Apache-2.0 */
/* device.h: the one device, its contexts, limits and counters of live objects. */
#ifndef LOOPBACK_DEVICE_H
#define LOOPBACK_DEVICE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "eventq.h"
#include "export.h"
#include "ringpoll_loopback.h"

/* Limits that ibv_query_device returns and the device enforces. */
enum {
    LB_MAX_QP = 65000,
    LB_MAX_QP_WR = 16383,
    LB_MAX_SGE = 16,
    LB_MAX_CQ = 65535,
    LB_MAX_CQE = (1 << 22) - 1,
    LB_MAX_MR = (1 << 20) - 1,
    LB_MAX_PD = 65535,
    LB_MAX_SRQ = 16383,
    LB_MAX_SRQ_WR = 65535,
    LB_MAX_RD_ATOMIC = 128,
    LB_MAX_INLINE = 1024,
    LB_MAX_MESSAGE = 1 << 30,
    LB_PORTS = 1,
    LB_GIDS = 2,
    LB_COMP_VECTORS = 1,
};

/* ABI constants that the installed headers may be too old to have (rdma-core 45, kernel 6.2). */
#define LB_DEVICE_FLUSH_GLOBAL (UINT64_C(1) << 38)
#define LB_DEVICE_FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define LB_DEVICE_ATOMIC_WRITE (UINT64_C(1) << 40)

struct lb_synthetic;

/* One opened device: the result of ibv_open_device, the connection manager's own, or a synthetic one. */
struct lb_context {
    struct lb_eventq async;     /* its descriptor is context.async_fd */
    struct lb_synthetic *synthetic; /* not NULL: the context is a synthetic device */
    void (*delete_synthetic)(struct lb_synthetic *synthetic); /* frees it with all its programs: nothing polls any more */
    struct lb_lock lock;        /* completion channels' reference counts */
    _Atomic int children;       /* objects made from this context */
    bool internal;              /* the connection manager's: not counted, never closed */
    struct verbs_context verbs; /* ends with the struct ibv_context that users see */
};

static inline struct lb_context *lb_context_of(struct ibv_context *context)
{
    return (struct lb_context *)(void *)((char *)context - offsetof(struct lb_context, verbs.context));
}

/* A protection domain; its children are memory regions, queue pairs and shared receive queues. */
struct lb_pd {
    struct ibv_pd base;
    _Atomic int children;
};

static inline struct lb_pd *lb_pd_of(struct ibv_pd *pd)
{
    return (struct lb_pd *)pd;
}

/* Changes the number of live objects of a kind; relaxed, for counting only. */
LB_EXPORT void lb_count(enum ringpoll_loopback_object kind, int change);

/*
 * Whether this call is the one that ringpoll_loopback_fail_call() has chosen; then errno is set. To be asked once by each function
 * that can fail: before it has done anything, or, if it takes something down, after it has done all, so that nothing is left.
 */
LB_EXPORT bool lb_fails(const char *function);

/* Reserves one object of a kind against its limit: false if the device has no more of them. */
bool lb_reserve(enum ringpoll_loopback_object kind, int limit);

/* Opens a context of a device; one that is internal is not counted. NULL with errno on failure. */
struct ibv_context *lb_open_context(struct ibv_device *device, bool internal);

/* The context that the connection manager hands out; opened once. NULL with errno on failure. */
LB_EXPORT struct ibv_context *lb_cm_context(void);

/* Time-out of unanswered connects, in nanoseconds. */
LB_EXPORT uint64_t lb_connect_timeout_ns(void);

/* Smallest 2^n - 1 that is at least `wanted`: the ring size that is granted, as in rxe. */
static inline uint32_t lb_ring_capacity(uint32_t wanted)
{
    uint32_t capacity = 1;

    while (capacity < wanted)
        capacity = capacity * 2 + 1;
    return capacity;
}

/* async.c: asynchronous events of the context's objects. */
void lb_async_raise(struct ibv_context *context, enum ibv_event_type type, void *object,
    _Atomic uint32_t *fetched);
void lb_async_forget(struct ibv_context *context, const void *object);

/* The operations' table entries, each in the file of its object. */
int lb_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *attr, size_t attr_size);
int lb_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);
int lb_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int lb_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int lb_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int lb_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int lb_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int lb_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
    struct ibv_sge *sg_list, uint32_t num_sge);
struct ibv_qp *lb_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *lb_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);

#endif
