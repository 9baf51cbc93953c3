/* SPDX-License-Identifier: Apache-2.0 */
/* device.h: the one device, its contexts, and limits. */
#ifndef LOOPBACK_DEVICE_H
#define LOOPBACK_DEVICE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "counters.h"
#include "eventq.h"

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

/* An ABI constant that the installed headers may be too old to have (rdma-core 45, kernel 6.2). */
#define LB_DEVICE_ATOMIC_WRITE (UINT64_C(1) << 40)

struct lb_synthetic;

/* One opened device: the result of ibv_open_device, the connection manager's own, or a synthetic one. */
struct lb_context {
    struct lb_eventq async;     /* its descriptor is context.async_fd */
    struct lb_synthetic *synthetic; /* not NULL: the context is a synthetic device */
    void (*delete_synthetic)(struct lb_synthetic *synthetic); /* frees it with all its programs: nothing polls any more */
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

/*
 * Whether this call is the one that ringpoll_loopback_fail_call() has chosen; then errno is set. Each function that can fail
 * calls this once: first, or, if it destroys an object, last, so that nothing is left.
 */
LB_EXPORT bool lb_fails(const char *function);

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

/* Entries of the operations' table; those of other objects are in the headers of their files. */
int lb_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *attr, size_t attr_size);
int lb_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);

#endif
