/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ringpoll_loopback.h: functions that only the loopback device has, in addition to the verbs and rdma_cm interfaces.
 *
 * All functions may be called from any thread at any time. They live in libibverbs.so.1 of the loopback device; no
 * other libibverbs has them, so their presence identifies the device.
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

/* Kinds of objects that are counted while they live. The values are part of the ABI: append only. */
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

/*
 * The fault plan: the faults to inject and their times. A process has one current plan. Each queue pair and completion
 * queue keeps the plan that was current at its creation and has its own count from then on.
 */
enum ringpoll_loopback_fault_kind {
    RINGPOLL_LOOPBACK_FAULT_STATUS = 0,         /* an operation of a queue pair ends with `code`, an enum ibv_wc_status */
    RINGPOLL_LOOPBACK_FAULT_FULL = 1,           /* `times` posts to a send queue in a row are refused with ENOMEM */
    RINGPOLL_LOOPBACK_FAULT_RNR = 2,            /* `times` tries of a message in a row meet a receiver that is not ready */
    RINGPOLL_LOOPBACK_FAULT_DISCONNECT = 3,     /* after a post the connection is gone: both sides fail and are notified */
    RINGPOLL_LOOPBACK_FAULT_POLL = 4,           /* `times` polls of a completion queue in a row return -1 and take nothing */
    RINGPOLL_LOOPBACK_FAULT_OVERRUN = 5,        /* a completion finds its queue full, which is then dead */
    RINGPOLL_LOOPBACK_FAULT_DELAY = 6,          /* a completion, and those behind it, become visible `duration_ns` later */
    RINGPOLL_LOOPBACK_FAULT_REORDER = 7,        /* the same until `times` completions of other queues are polled, or that long */
    RINGPOLL_LOOPBACK_FAULT_SPURIOUS_EVENT = 8, /* a request for an event raises one immediately, without a completion */
    RINGPOLL_LOOPBACK_FAULT_LATE_EVENT = 9,     /* an event of a completion queue is delayed by `duration_ns` */
    RINGPOLL_LOOPBACK_FAULT_CALL = 10,          /* a call of `function`, or of any if it is empty, fails with errno `code` */
    RINGPOLL_LOOPBACK_FAULT_KINDS = 11
};

/* Which operations of a queue pair a status is for, and are counted for it. */
enum ringpoll_loopback_fault_operation {
    RINGPOLL_LOOPBACK_OPERATION_ANY = 0,       /* all of the send queue */
    RINGPOLL_LOOPBACK_OPERATION_SEND = 1,      /* with immediate data, too */
    RINGPOLL_LOOPBACK_OPERATION_WRITE = 2,
    RINGPOLL_LOOPBACK_OPERATION_WRITE_IMM = 3,
    RINGPOLL_LOOPBACK_OPERATION_READ = 4,
    RINGPOLL_LOOPBACK_OPERATION_ATOMIC = 5,    /* atomic writes, too */
    RINGPOLL_LOOPBACK_OPERATION_RECEIVE = 6,   /* an incoming message; its sender completes with IBV_WC_REM_OP_ERR */
    RINGPOLL_LOOPBACK_OPERATIONS = 7
};

#define RINGPOLL_LOOPBACK_FUNCTION_LENGTH 40

/*
 * One rule of a plan. It triggers at count `at` and, if `every` is not 0, each time that `every` more have been
 * counted; if `one_in` is not 0, it triggers at one in so many instead, drawn from the plan's seed, the rule's index,
 * the object's number and the count.
 */
struct ringpoll_loopback_fault {
    uint32_t kind;
    uint32_t operation;   /* of a status */
    uint32_t code;
    uint32_t times;       /* 0 counts as 1 */
    uint32_t object;      /* 0: each; else the n-th queue pair, or completion queue, since the plan was made */
    uint32_t reserved;
    uint64_t at;          /* from 1 */
    uint64_t every;
    uint64_t one_in;
    uint64_t duration_ns; /* up to 10 s */
    char function[RINGPOLL_LOOPBACK_FUNCTION_LENGTH]; /* of a failing call; ends with 0 */
};

/*
 * Sets a plan of 1 to 64 rules, or removes the current one if there are no rules; objects that were created under a
 * plan keep it. Returns 0, EINVAL if a rule is invalid, or ENOMEM.
 */
int ringpoll_loopback_plan(uint64_t seed, const struct ringpoll_loopback_fault *rules, uint32_t count);

/* How often a rule of the current plan has triggered; 0 if there is no such rule. */
uint64_t ringpoll_loopback_injected(uint32_t rule);

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
    RINGPOLL_LOOPBACK_VERR_INJECTED = 0x601,      /* the fault plan has it so */
};

/* Byte that fills all fields of a failed completion except wr_id, status, qp_num and vendor_err. */
#define RINGPOLL_LOOPBACK_POISON 0xEE

#ifdef __cplusplus
}
#endif

#endif
