/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ringpoll_loopback.h: what only the loopback device has, beside the verbs and rdma_cm interfaces.
 *
 * All functions may be called from any thread at any time. They live in libibverbs.so.1 of the
 * loopback device; no other libibverbs has them, so their presence tells which device is loaded.
 */
#ifndef RINGPOLL_LOOPBACK_H
#define RINGPOLL_LOOPBACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the loopback device as "major.minor"; a string with static lifetime. */
const char *ringpoll_loopback_version(void);

/* Kinds of objects whose live number is counted. The values are part of the ABI: append only. */
enum ringpoll_loopback_object {
    RINGPOLL_LOOPBACK_CONTEXT = 0,      /* contexts opened by ibv_open_device */
    RINGPOLL_LOOPBACK_PD = 1,           /* protection domains, the CM's own default one included */
    RINGPOLL_LOOPBACK_MR = 2,           /* memory regions */
    RINGPOLL_LOOPBACK_COMP_CHANNEL = 3, /* completion channels */
    RINGPOLL_LOOPBACK_CQ = 4,           /* completion queues */
    RINGPOLL_LOOPBACK_SRQ = 5,          /* shared receive queues */
    RINGPOLL_LOOPBACK_QP = 6,           /* queue pairs */
    RINGPOLL_LOOPBACK_EVENT = 7,        /* completion, asynchronous and CM events not yet fetched,
                                           and CM events fetched but not yet acknowledged */
    RINGPOLL_LOOPBACK_CM_CHANNEL = 8,   /* rdma_cm event channels, those of synchronous ids included */
    RINGPOLL_LOOPBACK_CM_ID = 9,        /* rdma_cm ids */
    RINGPOLL_LOOPBACK_OBJECT_KINDS = 10
};

/* Number of live objects of one kind, or -1 if the kind is unknown. */
int64_t ringpoll_loopback_live(int kind);

/* Name of a kind ("qp", "cq", ...) or NULL if the kind is unknown; static lifetime. */
const char *ringpoll_loopback_live_name(int kind);

/*
 * Time in milliseconds after which an unanswered rdma_connect or rdma_accept ends with
 * RDMA_CM_EVENT_UNREACHABLE; 1 to 3,600,000. Applies to connects and accepts that start later.
 * Returns 0, or EINVAL if out of range.
 */
int ringpoll_loopback_set_connect_timeout(uint32_t milliseconds);

/*
 * Raises an asynchronous event that belongs to no object: IBV_EVENT_DEVICE_FATAL, IBV_EVENT_PORT_ACTIVE or
 * IBV_EVENT_PORT_ERR, the latter two for port 1. The event alone: nothing of the device fails by it.
 * Returns 0, or EINVAL for another event.
 */
struct ibv_context;
int ringpoll_loopback_raise(struct ibv_context *context, int event_type);

/*
 * Lets the n-th call from now fail with an errno value, counted over all functions that set up, connect and take down, in all
 * threads; 0 takes the plan back. A function that sets up fails before it has done anything, one that takes down after it has
 * done all. Returns 0, or EINVAL if the error is none.
 */
int ringpoll_loopback_fail_call(uint32_t n, int error);

/* Name of the function that the latest plan has made fail, static lifetime; NULL while it has not. */
const char *ringpoll_loopback_failed_call(void);

/* The vendor_err of a failed work completion: which check failed. 0 for plain flush errors. */
enum ringpoll_loopback_vendor_err {
    RINGPOLL_LOOPBACK_VERR_NONE = 0,
    RINGPOLL_LOOPBACK_VERR_LKEY = 0x101,          /* no such lkey, or its region was deregistered */
    RINGPOLL_LOOPBACK_VERR_LOCAL_BOUNDS = 0x102,  /* local address range not inside its region */
    RINGPOLL_LOOPBACK_VERR_LOCAL_PD = 0x103,      /* local region and queue pair have different PDs */
    RINGPOLL_LOOPBACK_VERR_LOCAL_ACCESS = 0x104,  /* local region lacks IBV_ACCESS_LOCAL_WRITE */
    RINGPOLL_LOOPBACK_VERR_MESSAGE_SIZE = 0x105,  /* longer than the port's max_msg_sz */
    RINGPOLL_LOOPBACK_VERR_RKEY = 0x201,          /* no such rkey, or its region was deregistered */
    RINGPOLL_LOOPBACK_VERR_REMOTE_BOUNDS = 0x202, /* remote address range not inside its region */
    RINGPOLL_LOOPBACK_VERR_REMOTE_PD = 0x203,     /* remote region and queue pair have different PDs */
    RINGPOLL_LOOPBACK_VERR_REMOTE_ACCESS = 0x204, /* remote region lacks the right */
    RINGPOLL_LOOPBACK_VERR_QP_ACCESS = 0x205,     /* remote queue pair's qp_access_flags forbid it */
    RINGPOLL_LOOPBACK_VERR_ALIGNMENT = 0x206,     /* atomic on an address not divisible by 8 */
    RINGPOLL_LOOPBACK_VERR_RECV_TOO_SHORT = 0x301, /* message longer than the posted receive */
    RINGPOLL_LOOPBACK_VERR_RECV_BUFFER = 0x302,   /* the posted receive's own region is not usable */
    RINGPOLL_LOOPBACK_VERR_RNR = 0x401,           /* no receive posted within rnr_retry tries */
    RINGPOLL_LOOPBACK_VERR_NO_PEER = 0x402,       /* the peer queue pair is gone or not answering */
    RINGPOLL_LOOPBACK_VERR_CQ_OVERRUN = 0x501,    /* a completion queue of this queue pair overran */
};

/* Byte that fills all fields of a failed completion except wr_id, status, qp_num and vendor_err. */
#define RINGPOLL_LOOPBACK_POISON 0xEE

#ifdef __cplusplus
}
#endif

#endif
