/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp.h: reliable-connected queue pairs.
 *
 * A work request is executed by the posting thread: it is checked, applied to the peer's memory and completed before
 * ibv_post_send returns. Only a request that cannot proceed (the peer has no receive posted, or is absent) stays in the
 * send ring; it proceeds when the peer posts a receive or changes state (lb_qp_kick), or fails when its retries are
 * exhausted (the timer). A call executes waiting requests of other queue pairs up to a bounded number of bytes; the
 * device thread executes the rest and the requests behind a long one.
 *
 * A long request is copied with no lock held (LB_WAIT_COPY), so no thread waits that long for a lock. Changes of its
 * queue pairs during the copy are detected by their epochs. The memory of a flushed request, or of a destroyed queue pair, is its
 * owner's again: a flush during a copy is made at the end of the copy, and the end of a queue pair waits for its copies.
 *
 * Lifetime: the structure is reference counted. The user's reference ends with ibv_destroy_qp; a connected peer, an
 * armed timer and a place in a waiting list hold one each. The resources of the pair (queues, protection domain) are
 * only accessed under sq_lock or rq_lock and never once `gone` is set.
 */
#ifndef LOOPBACK_QP_H
#define LOOPBACK_QP_H

#include <stdalign.h>

#include "cq.h"
#include "srq.h"
#include "timer.h"

/* ABI constants that the installed headers may be too old to have. */
#define LB_WR_FLUSH 14
#define LB_WR_ATOMIC_WRITE 15
/* Between processes only: the peer refuses the request. */
#define LB_WR_REFUSED 127
#define LB_WC_FLUSH 8
#define LB_WC_ATOMIC_WRITE 9

/* Work requests that ibv_wr_* can build, and a flag of our own: the queue pair has a builder. */
#define LB_SEND_OPERATIONS ((uint64_t)(IBV_QP_EX_WITH_RDMA_WRITE | \
    IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | \
    IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | LB_QP_EX_WITH_ATOMIC_WRITE))
#define LB_QP_EX_WITH_ATOMIC_WRITE (1 << 12)
#define LB_WITH_BUILDER (UINT64_C(1) << 63)

/* Why the oldest work request of a send ring does not go on. */
enum lb_wait {
    LB_WAIT_NONE,
    LB_WAIT_RNR,  /* the peer has no receive posted */
    LB_WAIT_PEER, /* the peer is not connected to us, or not yet, or no more */
    LB_WAIT_TURN, /* the device thread carries it out, or the poster at the end of its call */
    LB_WAIT_COPY, /* it is being copied, with no lock held */
    LB_WAIT_ROOM, /* the other process takes no more, or must answer the earlier ones first */
    LB_WAIT_FORK, /* in the child of a fork: the poster of the next request or receive carries it out */
};

/* A send work request kept in the ring; sg_list points to the elements behind it. */
struct lb_send {
    struct ibv_send_wr wr;
    struct ibv_sge sge[];
};

struct lb_qp;
struct lb_aftermath;

/*
 * What a proxy does: a queue pair that stands for one of another process (proxy.c). The requests of the queue pair that is
 * connected to it are sent to that process; those of the other process are executed by the proxy as their requester.
 */
struct lb_proxy_operations {
    /*
     * qp's sq_lock held; nothing waits in its send ring, and it has no fault plan. Sends a short message at once, and keeps it in
     * the ring until it is acknowledged. false: it was not possible, and nothing has happened.
     */
    bool (*post)(struct lb_qp *proxy, struct lb_qp *qp, const struct ibv_send_wr *wr);
    /* qp's sq_lock held. Wakes the other process, if it sleeps, after one or more posts. */
    void (*wake)(struct lb_qp *proxy);
    /* qp's sq_lock held. Sends the requests from qp->sent on, as far as there is room; the responses complete them. */
    void (*send)(struct lb_qp *proxy, struct lb_qp *qp, struct lb_aftermath *aftermath);
    /* qp's sq_lock held. Completes the requests that have succeeded, before qp flushes the rest. */
    void (*settle)(struct lb_qp *proxy, struct lb_qp *qp, struct lb_aftermath *aftermath);
    /* The proxy's sq_lock held. Puts the next request of the other process into the proxy's send ring; false: there is none. */
    bool (*next)(struct lb_qp *proxy);
    /* The proxy's sq_lock held. The oldest request of its send ring has ended. */
    void (*completed)(struct lb_qp *proxy, const struct ibv_wc *wc);
    /* The proxy's sq_lock held. Copies the bytes that the request in execution reads to where its elements are. */
    void (*copy)(struct lb_qp *proxy, char *to, const char *from, size_t length);
    /* The proxy's sq_lock held. Copies bytes of the request in execution to the memory that it names. */
    void (*fetch)(struct lb_qp *proxy, char *to, const char *from, size_t length);
    /* Whether a thread polls for it: the requests that exceed the budget of a poll wait for the next one. */
    bool (*is_polled)(struct lb_qp *proxy);
    /* No lock held. A queue pair is connected to it; is no more. */
    void (*attach)(struct lb_qp *proxy, struct lb_qp *qp);
    void (*detach)(struct lb_qp *proxy, struct lb_qp *qp);
};

/* The status of a failed completion. */
struct lb_failure {
    enum ibv_wc_status status;
    uint32_t vendor_err;
};

struct lb_region;     /* memory.h */
struct lb_qp_faults;  /* qp_fault.c */
struct lb_wr_builder; /* qp_ex.c: the work requests between ibv_wr_start and ibv_wr_complete */

struct lb_qp {
    struct ibv_qp_ex base;     /* first; base.qp_base is the struct ibv_qp that users see */
    void *newer_operations[8]; /* members that a newer struct ibv_qp_ex has: NULL, not offered */
    struct lb_wr_builder *builder;
    _Atomic uint32_t references;
    _Atomic uint32_t async_events_fetched;
    struct lb_qp_faults *faults; /* NULL unless it was created under a fault plan; set once */
    void *owner;               /* the connection manager's */
    struct lb_cq *send_cq;
    struct lb_cq *recv_cq;
    struct lb_srq *srq;
    bool signal_all;
    struct ibv_qp_cap cap;

    /* Both locks to change, either to read. */
    enum ibv_qp_state state;
    struct ibv_qp_attr attr;
    struct lb_qp *peer;        /* with a reference; NULL if not connected */
    bool gone;                 /* ibv_destroy_qp has begun */
    struct lb_qp *remote;      /* the peer, if it is the proxy of a live process */
    const struct lb_proxy_operations *proxy; /* not NULL: this is a proxy; set once */

    _Atomic bool responding;   /* in RTR or RTS and not failed: the peer may send */
    _Atomic uint32_t dest_qp_num;
    _Atomic uint32_t remote_access; /* qp_access_flags */
    _Atomic uint32_t min_rnr_timer; /* how long the peer waits between tries when we have no receive */

    alignas(64) struct lb_lock sq_lock;
    bool sq_error;             /* work requests are flushed */
    struct lb_failure failure; /* that of a request, while the queue pair fails because of it; otherwise a success */
    uint32_t failed;           /* its number */
    uint32_t sq_epoch;         /* changes whenever the ring is emptied without being carried out */
    uint32_t posted;           /* work requests ever posted */
    uint32_t executed;         /* of these, done or failed: the ring holds executed..posted */
    uint32_t sent;             /* to a remote peer: executed..sent wait for a response */
    uint32_t sent_bytes;       /* of request number `sent` */
    uint32_t bytes_before;     /* of a proxy: bytes in earlier parts of its present message */
    bool is_part;              /* of a proxy: further parts follow for the same receive */
    uint32_t retired_seen;     /* `retired` as last looked up */
    uint32_t sq_capacity;
    uint32_t sq_mask;
    size_t sq_stride;
    char *sq_slots;
    bool keeps;                /* a list is posted: the regions of its requests stay held from one to the next */
    struct lb_region *kept_local;  /* held, or NULL */
    struct lb_region *kept_remote; /* held, or NULL */
    struct lb_region *sent_from;   /* the region of the last short message to another process: see lb_region_find_local */
    enum lb_wait wait;
    enum lb_wait waited_for;   /* the reason for wait_until_ns, or LB_WAIT_NONE */
    uint64_t wait_until_ns;    /* UINT64_MAX: for ever */
    bool timer_armed;          /* and holds a reference */
    struct lb_srq *waiting_srq; /* the peer's, while we are or were in its list */
    struct lb_timer timer;
    bool turn_armed;           /* and holds a reference */
    struct lb_timer turn;      /* used by the device thread to execute the ring */
    struct lb_region *kept_receive; /* as kept_local, of the peer's receives */

    alignas(64) _Atomic uint32_t retired; /* slots before this one are free; written by pollers */

    alignas(64) struct lb_lock rq_lock;
    bool rq_error;             /* receives are flushed, messages refused */
    bool sender_waits;         /* the peer found no receive: kick it when there is one */
    uint32_t rq_epoch;         /* changes whenever receives are flushed or forgotten */
    struct lb_recv_ring recv_ring;
    struct lb_region *received_in; /* the region of the last short message of another process, as `sent_from` */
    bool recv_taken;           /* `taken` is a receive that is not completed */
    struct lb_recv *taken;     /* the shared receive queue's for the present message; NULL without one */

    /* lb_srq.lock of the peer's queue. */
    struct lb_qp *next_waiter;
    bool in_waiters;

    _Atomic uint32_t failure_due; /* the event with which it is to fail when a thread has released its locks; or 0 */

    _Atomic uint32_t copies;   /* long ones under way between its memory and that of another queue pair */
    uint32_t copies_out;       /* sq_lock: of these, those of its own requests; at most one, unless it was reset */
    bool send_flush_due;       /* sq_lock: at the end of the copy */
    uint32_t copies_in;        /* rq_lock: those into its receives */
    bool recv_flush_due;       /* rq_lock */

    void (*free)(struct lb_qp *qp); /* qp.c: called with the last reference gone; set once */
};

static inline struct lb_qp *lb_qp_of(struct ibv_qp *qp)
{
    return (struct lb_qp *)(void *)qp;
}

static inline uint32_t lb_qp_num(const struct lb_qp *qp)
{
    return qp->base.qp_base.qp_num;
}

static inline void lb_qp_get(struct lb_qp *qp)
{
    atomic_fetch_add_explicit(&qp->references, 1, memory_order_relaxed);
}

/* qp_table.c. Drops a reference. */
void lb_qp_put(struct lb_qp *qp);

/* Assigns a number that was not in use for a long time. Returns false if there is none. */
bool lb_qp_assign_number(struct lb_qp *qp);
void lb_qp_release_number(struct lb_qp *qp);

/* In the child of a fork, when all locks are free: calls the first function for each queue pair but proxies, then the second. */
void lb_qp_on_fork(void (*first)(struct lb_qp *qp), void (*second)(struct lb_qp *qp));

/* The queue pair of a number, with a reference, or NULL. */
struct lb_qp *lb_qp_find(uint32_t qp_num);

/*
 * Work to do after an operation has released its locks, because it takes the locks of another queue pair. Zeroed
 * before, run once after; each queue pair in it carries a reference.
 */
struct lb_aftermath {
    struct lb_qp *fail;        /* to move to the error state */
    enum ibv_event_type event; /* asynchronous event for `fail` */
    struct lb_qp *overrun;     /* lost a completion: error state and IBV_EVENT_QP_FATAL */
    struct lb_qp *kick;        /* its waiting sender is to try again */
    struct lb_qp *disconnect;  /* its connection is gone: both sides fail and are notified */
};

/*
 * complete.c. A queue pair is to fail with this event, or because of a lost completion. The thread of the aftermath is not in the
 * child of a fork: the queue pair notes that, too, until it has failed.
 */
void lb_aftermath_fail(struct lb_aftermath *aftermath, struct lb_qp *qp, enum ibv_event_type event);
void lb_aftermath_overrun(struct lb_aftermath *aftermath, struct lb_qp *qp);

/* progress.c. Runs and clears it; no lock of this file's order may be held. */
void lb_aftermath_run(struct lb_aftermath *aftermath);

static inline bool lb_aftermath_any(const struct lb_aftermath *aftermath)
{
    return aftermath->fail != NULL || aftermath->overrun != NULL || aftermath->kick != NULL ||
        aftermath->disconnect != NULL;
}

/* qp_error.c. Brings a queue pair into the error state: all that is outstanding is flushed. */
void lb_qp_enter_error(struct lb_qp *qp, struct lb_aftermath *aftermath); /* both locks held */

/*
 * qp_state.c. For a queue pair that is being destroyed or reset, with no lock held: waits for the ends of the copies from and to
 * its memory, removes its completions from its queues, and gives the receive that it has taken from a shared queue back to it. The
 * peer is NULL if it had none.
 */
void lb_qp_clean_queues(struct lb_qp *qp, struct lb_qp *former_peer);

/* qp_error.c; both locks held. If the peer's sender waits for this queue pair, it goes to aftermath->kick. */
void lb_qp_take_waiting_sender(struct lb_qp *qp, struct lb_aftermath *aftermath);

/* progress.c. Lets a sender that waits for its peer try again, within a budget; otherwise does nothing. No lock held. */
void lb_qp_kick(struct lb_qp *qp, uint64_t *budget);

/* True if the peer takes messages from this queue pair. Exact only under the peer's rq_lock. */
static inline bool lb_qp_responds_to(const struct lb_qp *peer, const struct lb_qp *qp)
{
    return atomic_load_explicit(&peer->responding, memory_order_acquire) &&
        atomic_load_explicit(&peer->dest_qp_num, memory_order_relaxed) == lb_qp_num(qp);
}

/* peer.c. How long a sender waits before it tries again a message for which this queue pair had no receive. */
uint64_t lb_rnr_pause_ns(const struct lb_qp *receiver);

/*
 * qp_state.c and progress.c. For the connection manager, which owns the queue pairs of its ids: the owner is set and read under
 * its lock and holds a reference, since users may destroy the queue pair directly. The function is called with no lock held
 * for a queue pair whose connection is gone and for its peer, after both have failed.
 */
LB_EXPORT void lb_qp_set_owner(struct ibv_qp *qp, void *owner);
LB_EXPORT void *lb_qp_owner(struct ibv_qp *qp);
LB_EXPORT void lb_qp_on_disconnect(void (*function)(struct ibv_qp *qp));

/* qp_ex.c. Sets up the extended interface for these operations; returns 0 or ENOMEM. */
int lb_qp_ex_init(struct lb_qp *qp, uint64_t send_operations, uint32_t max_inline_data);
void lb_qp_ex_close(struct lb_qp *qp);

static inline struct lb_send *lb_send_slot(const struct lb_qp *qp, uint32_t number)
{
    return (struct lb_send *)(void *)(qp->sq_slots + (number & qp->sq_mask) * qp->sq_stride);
}

/* send.c. Posts all of a list, or nothing of it. Returns 0 or an errno value. */
int lb_post_send_all(struct lb_qp *qp, struct ibv_send_wr *first, uint32_t count);

/* qp_error.c; sq_lock held. Completes all outstanding work requests with WR_FLUSH_ERR, in order, now or at the end of a copy. */
void lb_send_flush(struct lb_qp *qp, struct lb_aftermath *aftermath);
/* qp_error.c; sq_lock held. Forgets that the oldest work request waits; leaves no timer behind. */
void lb_send_stop_waiting(struct lb_qp *qp);
/*
 * progress.c; sq_lock held, and released during a long copy: the caller holds a reference. Executes the ring until a
 * request has to wait or exceeds the remaining budget; the device thread continues in that case.
 */
void lb_send_progress(struct lb_qp *qp, uint64_t *budget, struct lb_aftermath *aftermath);
/* qp_error.c; rq_lock held. Completes all posted receives with WR_FLUSH_ERR, in order, now or at the end of a copy. */
void lb_recv_flush(struct lb_qp *qp, struct lb_aftermath *aftermath);
/* qp_error.c. No receive of this queue pair, which is in the error state, will complete any more. */
void lb_recv_end(struct lb_qp *qp);

/* The attributes of ibv_create_qp() in the extended form. */
static inline struct ibv_qp_init_attr_ex lb_extended_attr(const struct ibv_qp_init_attr *attr, struct ibv_pd *pd)
{
    return (struct ibv_qp_init_attr_ex){
        .qp_context = attr->qp_context,
        .send_cq = attr->send_cq,
        .recv_cq = attr->recv_cq,
        .srq = attr->srq,
        .cap = attr->cap,
        .qp_type = attr->qp_type,
        .sq_sig_all = attr->sq_sig_all,
        .comp_mask = IBV_QP_INIT_ATTR_PD,
        .pd = pd,
    };
}

/* Entries of the operations' table. */
struct ibv_qp *lb_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int lb_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int lb_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif
