/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_request.h: a proxy queue pair, with its requests and responses; see proxy.h. */
#ifndef LOOPBACK_PROXY_REQUEST_H
#define LOOPBACK_PROXY_REQUEST_H

#include "doorbell.h"
#include "execute.h"
#include "proxy.h"

struct lb_proxy;

/* Its place in the list of a completion queue. */
struct lb_cq_proxy {
    struct lb_subscription subscription; /* doorbell_lock: its cq is NULL if the queue has no channel that can be subscribed */
    struct lb_cq *cq;          /* doorbell_lock: the queue, or NULL */
    uint32_t completes;        /* doorbell_lock: the kinds of completions of this queue: LB_WIRE_NOTIFY_... */
    bool is_subscribed;        /* doorbell_lock: its channel is subscribed to the doorbell */
    struct lb_cq_proxy *next;
    struct lb_proxy *proxy;
    bool is_short;             /* short messages can complete in this queue, as far as it never changes: see lb_proxy_take_short */
};

struct lb_proxy {
    struct lb_qp qp;                       /* first; its peer is the connected queue pair of this process, with a reference */
    struct lb_proxy *next;                 /* proxies_lock */
    struct lb_fork_member fork;
    struct lb_lock members_lock;
    struct lb_cq_proxy members[2];         /* of the send and the receive queue of the connected queue pair */
    struct lb_qp *joined;                  /* members_lock: the queue pair whose queues they are; without a reference */
    struct lb_wire_segment *segment;
    struct lb_wire_half *inbound;
    struct lb_wire_half *outbound;
    uint32_t epoch;                        /* of the connected queue pair when it was connected; set once, under its sq_lock */
    int socket;                            /* to wake the watch thread of the other end */
    int doorbell;                          /* to notify the other end, and to be notified; or -1 */
    struct lb_lock doorbell_lock;          /* for changes of the state of this end, except to AWAKE while nothing else happens */
    bool notification_due;                 /* doorbell_lock: this end was notified, and the byte has not arrived yet */
    bool doorbell_broken;                  /* doorbell_lock */
    _Atomic bool unread;                   /* something was published for the other end while its notifications were suppressed */
    _Atomic uint32_t notifications;        /* of the other end by this one */
    bool was_unread;                       /* watch thread, as the next: at its last check */
    uint64_t progress_seen;                /* see lb_proxy_wake_overdue */
    _Atomic bool attached;
    _Atomic bool broken;
    _Atomic bool polled;                   /* since the last check of the watch thread */
    _Atomic bool unannounced;              /* messages were taken, and lb_proxy_announce is due */
    _Atomic bool unanswered;               /* ... and the other end is to be woken for one of them */
    _Atomic uint64_t taken;                /* position in our requests, from the last request of the other end */
    _Atomic bool stalled;                  /* something waits for room in an outbound ring, or for its turn */

    /* The connected queue pair's sq_lock. */
    struct lb_wire_producer requests_out;
    struct lb_wire_consumer responses_in;
    _Atomic uint32_t acknowledged;         /* by the other end, as last seen; read without the lock, too */
    uint32_t awaited;                      /* number behind the last request that was sent and has a completion */
    _Atomic bool awaits;                   /* it is not acknowledged yet; read without the lock, too */

    /* qp.sq_lock. */
    struct lb_wire_consumer requests_in;
    struct lb_wire_producer responses_out;
    struct lb_wire_record request;         /* in execution */
    char *response;                        /* room for the payload of its response */
    bool driven;                           /* by take_requests, which wakes the other end at last ... */
    bool wakes;                            /* ... if something was answered ... */
    uint32_t completes;                    /* ... that completes this: see lb_proxy_wake_unfenced */
    uint32_t message_length;               /* of the present request, in the parts that have been put into the send ring */
};

static inline struct lb_proxy *lb_proxy_of(struct lb_qp *qp)
{
    return (struct lb_proxy *)(void *)qp;
}

/* Maximum number of bytes of records that a thread takes in a turn, unless another limit is given. */
#define LB_PROXY_TURN (256u * 1024)

/* Messages up to this length take the short path (proxy_short.c). */
#define LB_PROXY_SHORT 1024u

/*
 * The connected queue pair's sq_lock held, before its next request is published. This end reads the acknowledgements only while a
 * request with a completion waits for one: otherwise the other end writes them into a line that it owns, and wakes no thread.
 * Returns the flag of the record.
 */
static inline uint8_t lb_proxy_await(struct lb_proxy *proxy, const struct lb_qp *connected, const struct ibv_send_wr *wr)
{
    if (!(wr->send_flags & IBV_SEND_SIGNALED) && !connected->signal_all && connected->faults == NULL)
        return 0;
    proxy->awaited = connected->sent + 1;
    atomic_store_explicit(&proxy->awaits, true, memory_order_relaxed);
    return LB_WIRE_AWAITED;
}

/*
 * Wakes the other end if it sleeps, after a record was published: by a notification if it has requested one for this kind of
 * completions (LB_WIRE_NOTIFY_...; 0: there is no completion), otherwise by its watch thread. The second has no fence: it follows
 * a fence of the caller.
 */
void lb_proxy_wake(struct lb_proxy *proxy, uint32_t completes);
void lb_proxy_wake_unfenced(struct lb_proxy *proxy, uint32_t completes);

/* The other process has violated the protocol: the connection manager ends the connection. */
void lb_proxy_break_off(struct lb_proxy *proxy);

/*
 * proxy_sleep.c. From now on the other end wakes this one when it has published something; the caller then looks once more. It
 * notifies this end of completions whose event is requested. Returns whether some are.
 */
bool lb_proxy_fall_asleep(struct lb_proxy *proxy);

/* An event of a queue was fetched: notifications are suppressed until the next request. Returns whether others are wanted. */
bool lb_proxy_suppress(struct lb_proxy *proxy);

/* From now on it is polled. */
void lb_proxy_stay_awake(struct lb_proxy *proxy);

/*
 * On the watch thread, which was woken: this end is asleep, and can be woken again. The second, when nothing is left to do: the
 * other end notifies this one of completions whose event is requested. Returns whether some are.
 */
void lb_proxy_end_wake_up(struct lb_proxy *proxy);
bool lb_proxy_rearm(struct lb_proxy *proxy);

/* Takes the byte of a notification. Returns false if there is none. */
bool lb_proxy_take_notification(struct lb_proxy *proxy);

/*
 * On the watch thread, in each tick: wakes the other end's watch thread if that end has left a record unread for long while its
 * notifications were suppressed. Returns whether there may be one at the next tick.
 */
bool lb_proxy_wake_overdue(struct lb_proxy *proxy);

/*
 * Subscribes the channel of the member's queue, and ends that. `on_notification` is called for each notification with a
 * reference: see struct lb_subscription.
 */
void lb_proxy_subscribe(struct lb_proxy *proxy, struct lb_cq_proxy *member, struct lb_cq *cq, void (*on_notification)(void *proxy));
void lb_proxy_unsubscribe(struct lb_proxy *proxy, struct lb_cq_proxy *member);

/* In the child of a fork: the doorbell is the parent's. */
void lb_proxy_forget_doorbell(struct lb_proxy *proxy);

/* The operations of a proxy: see struct lb_proxy_operations. */
void lb_proxy_send(struct lb_qp *qp, struct lb_qp *connected, struct lb_aftermath *aftermath);
bool lb_proxy_post(struct lb_qp *qp, struct lb_qp *connected, const struct ibv_send_wr *wr); /* proxy_short.c */
bool lb_proxy_next(struct lb_qp *qp);
void lb_proxy_completed(struct lb_qp *qp, const struct ibv_wc *wc);
void lb_proxy_copy(struct lb_qp *qp, char *to, const char *from, size_t length);
void lb_proxy_fetch(struct lb_qp *qp, char *to, const char *from, size_t length);

/*
 * proxy_short.c, as the next. What a poll does that finds its queue empty: see lb_cq.drive. In the usual case, the queue has one
 * proxy, which has nothing, or short messages; otherwise it leaves the poll to lb_cq.drive_list.
 */
int lb_proxy_drive(struct lb_cq *cq, int room, struct ibv_wc *wc);

/*
 * A poll of the completion queue of the connected queue pair's receives, which is found empty: executes the short messages that
 * have arrived, in their order, and completes them in wc. Returns their number, at most `room`, which is at least 1; it ends
 * before the first one that needs more than that. What keeps the proxy and its queue pair is held, and no other lock. There is no
 * shared receive queue, and no fault plan.
 */
int lb_proxy_take_short(struct lb_proxy *proxy, const struct lb_cq *cq, int room, struct ibv_wc *wc);

/* What lb_proxy_take_short has consumed becomes visible to an end that falls asleep at this moment. */
void lb_proxy_announce(struct lb_proxy *proxy);

/* Whether the connected queue pair's requests seem to have been responded to, or acknowledged; for a look without a lock. */
static inline bool lb_proxy_is_responded(const struct lb_proxy *proxy)
{
    return lb_wire_has_record(&proxy->responses_in) || (atomic_load_explicit(&proxy->awaits, memory_order_acquire) &&
        atomic_load_explicit(&proxy->inbound->acknowledged, memory_order_acquire) !=
            atomic_load_explicit(&proxy->acknowledged, memory_order_acquire));
}

/* The connected queue pair's sq_lock held. Completes the requests that were responded to, or acknowledged. */
void lb_proxy_take_responses(struct lb_proxy *proxy, struct lb_qp *connected, struct lb_aftermath *aftermath);

/*
 * The connected queue pair's sq_lock held. Completes the acknowledged requests, before others fail: while none has a completion,
 * nobody looks at acknowledgements.
 */
void lb_proxy_settle(struct lb_qp *qp, struct lb_qp *connected, struct lb_aftermath *aftermath);

/* The proxy's sq_lock held, in the error state: requests that still come are from before the other end knew. */
void lb_proxy_discard_requests(struct lb_proxy *proxy);

#endif
