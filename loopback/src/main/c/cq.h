/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq.h: completion queues and completion channels.
 *
 * A completion queue is a power-of-two ring with two ends that do not disturb each other: posters
 * serialise on push_lock and publish `producer`, pollers serialise on poll_lock and publish
 * `consumer`. An empty poll takes no lock: it compares the two.
 */
#ifndef LOOPBACK_CQ_H
#define LOOPBACK_CQ_H

#include <stdalign.h>

#include "device.h"

struct lb_qp;
struct lb_cq_faults;
struct lb_cq_proxy;

/* One entry: the work completion, and the send queue slots that polling it retires. */
struct lb_cqe {
    struct ibv_wc wc;
    struct lb_qp *qp;  /* the queue pair of the send queue that retires, or NULL */
    uint32_t retired;  /* its work requests before this number are done with */
    uint32_t reserved;
};

_Static_assert(sizeof(struct lb_cqe) == 64, "one cache line an entry");

/* The polled completions of a batch that have not been given back yet. */
struct lb_cq_batch {
    uint32_t next;    /* the completion behind the last polled one */
    uint32_t end;     /* those before this one are known to be there */
    struct lb_qp *qp; /* the queue pair whose send queue the last polled one retires, or NULL */
    uint32_t retired;
};

enum lb_notify { LB_NOTIFY_NONE, LB_NOTIFY_SOLICITED, LB_NOTIFY_ALL };

struct lb_cq {
    union {
        struct ibv_cq base;
        struct ibv_cq_ex ex; /* of an extended queue; begins as base does */
    };
    _Atomic uint32_t comp_events_fetched;
    _Atomic uint32_t async_events_fetched;
    _Atomic int users; /* queue pairs; a pair that uses it twice counts twice */

    /* Changed by resize only, under both locks. */
    alignas(64) struct lb_cqe *ring;
    uint32_t mask;
    uint32_t capacity; /* capacity in completions, equal to base.cqe */
    uint64_t *ticks;   /* for each entry the time of its completion; NULL: the queue has no timestamps */

    alignas(64) _Atomic uint32_t producer; /* entries ever pushed; published with release */

    alignas(64) struct lb_lock push_lock;
    _Atomic enum lb_notify notify; /* written with push_lock held; read by polls without it */
    _Atomic bool dead;         /* overrun; set once, under push_lock */
    bool (*delay_event)(struct lb_cq *cq); /* cq_fault.c: whether the plan delivers this event later; or NULL */

    alignas(64) _Atomic uint32_t consumer; /* entries ever polled; published with release */
    struct lb_lock poll_lock;
    /*
     * Proxies of other processes whose connections complete here; proxies_lock to change. They work when the queue is found
     * empty, and when an event is requested. `drive` is the rest of such a poll, and returns what the poll returns.
     */
    struct lb_cq_proxy *_Atomic proxies;
    struct lb_cq_proxy *turn;  /* proxies_lock: the first one to work in the next poll; NULL: that of the list */
    struct lb_cq_proxy *usual; /* proxies_lock: the only one, if the queue is polled and no event was requested; or NULL */
    int (*drive)(struct lb_cq *cq, int room, struct ibv_wc *wc); /* proxy_short.c; set once, as the next, before the first proxy */
    int (*drive_list)(struct lb_cq *cq, int room, struct ibv_wc *wc); /* proxy.c; proxies_lock held, and released */
    void (*sleep)(struct lb_cq *cq);   /* an event was requested */
    void (*fetched)(struct lb_cq *cq); /* an event was fetched */
    struct lb_lock proxies_lock;
    _Atomic uint32_t empty_polls; /* since an event was requested, roughly */
    struct lb_cq_faults *faults; /* cq_fault.c; NULL unless it was created under a fault plan; here, where every poll looks */

    /* cq_ex.c; poll_lock. */
    const struct lb_cqe *current; /* the completion that is read */
    struct lb_cq_batch batch;
    uint64_t wall_ticks;          /* the device's time when wall_offset_ns was found */
    uint64_t wall_offset_ns;      /* CLOCK_REALTIME less the device's time */

    struct lb_fork_member fork;
};

static inline struct lb_cq *lb_cq_of(struct ibv_cq *cq)
{
    return (struct lb_cq *)(void *)cq;
}

/* cq.c. Creates a queue, with timestamps or without. Returns NULL with errno on failure. */
struct lb_cq *lb_cq_create(struct ibv_context *context, uint32_t cqe, void *cq_context, struct ibv_comp_channel *channel,
    uint32_t comp_vector, bool timestamps);

/*
 * Adds a completion and raises the event that was asked for. Returns false if the queue is dead
 * or overran just now (the completion is lost; the caller takes its queue pair out of service).
 */
bool lb_cq_push(struct lb_cq *cq, const struct lb_cqe *cqe, bool solicited);

/*
 * The end of a poll. Copies completions from the ring, `polled` of the wanted ones are in wc already. Returns the number of all,
 * or -1.
 */
int lb_cq_poll_ring(struct lb_cq *cq, int polled, int wanted, struct ibv_wc *wc);

/*
 * In the middle of a poll: copies completions from the ring unless another thread holds the pollers' lock, as a batch does for long.
 * Returns their number.
 */
int lb_cq_try_poll_ring(struct lb_cq *cq, int wanted, struct ibv_wc *wc);

/* Whether the ring has no completion. */
static inline bool lb_cq_shows_none(const struct lb_cq *cq)
{
    return atomic_load_explicit(&cq->producer, memory_order_acquire) ==
        atomic_load_explicit(&cq->consumer, memory_order_relaxed);
}

/* Makes a failed work completion: four valid fields, all others poisoned. */
void lb_cqe_fail(struct lb_cqe *cqe, uint64_t wr_id, uint32_t qp_num, enum ibv_wc_status status,
    uint32_t vendor_err);

/* Removes the completions of a queue pair that is destroyed or reset, and pushes none any more. */
void lb_cq_clean(struct lb_cq *cq, uint32_t qp_num);

/*
 * The doorbell of a connection, in a completion channel: another process makes it readable when it has a completion for a queue of
 * the channel. See proxy_sleep.c.
 */
struct lb_subscription {
    struct lb_subscription *next; /* the channel's subscriptions_lock */
    struct lb_cq *cq;
    int fd;                       /* queues of one connection have the same */
    void *(*hold)(struct lb_subscription *subscription); /* subscriptions_lock held: returns a reference to the connection */
    void (*on_notification)(void *held); /* no lock held: works if there is a notification; puts the reference */
};

/*
 * The program's descriptor is an epoll instance that contains the descriptor of the events and doorbells. So it may become readable
 * before there is an event: ibv_get_cq_event does the work that raises one, or fails with EAGAIN. A program whose descriptor blocks
 * would wait there, so its channel is not subscribed.
 */
struct lb_comp_channel {
    struct ibv_comp_channel base; /* base.refcnt, the queues that use it, atomic; base.fd */
    struct lb_eventq events;
    struct lb_lock subscriptions_lock;
    struct lb_subscription *_Atomic subscriptions; /* subscriptions_lock to change */
    struct lb_fork_member fork;
};

static inline struct lb_comp_channel *lb_comp_channel_of(struct ibv_comp_channel *channel)
{
    return (struct lb_comp_channel *)(void *)channel;
}

/* Queues a completion event of a queue on its channel. */
void lb_comp_channel_raise(struct lb_cq *cq);

/*
 * Adds a doorbell to the channel, and removes it. A removed subscription is not used any more. The first returns 0 or an errno
 * value.
 */
int lb_comp_channel_subscribe(struct ibv_comp_channel *channel, struct lb_subscription *subscription);
void lb_comp_channel_unsubscribe(struct ibv_comp_channel *channel, struct lb_subscription *subscription);

/* Whether the program has made the descriptor non-blocking; it may do so at any time. */
bool lb_comp_channel_can_subscribe(const struct ibv_comp_channel *channel);

/* Entries of the operations' table. */
int lb_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int lb_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *lb_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
int lb_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);

#endif
