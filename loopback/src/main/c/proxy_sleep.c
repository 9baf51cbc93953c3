/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_sleep.c: the state of this end of a connection while it sleeps, and a second wake-up of the other end.
 *
 * While the event of a completion queue is requested, the queue's channel is subscribed to the doorbell, provided that its
 * descriptor is non-blocking. The other end then makes this descriptor readable, and the thread that waits for it executes the
 * requests (ibv_get_cq_event). This takes one thread switch; the watch thread would add a second one.
 *
 * A notification sets a flag of the state (wire.h) and writes a byte into the doorbell. An end that no longer wants the
 * notification clears the flag and reads the byte; otherwise the descriptor would be readable without an event. Until the byte has
 * arrived, no channel is subscribed.
 */
#include <unistd.h>

#include "proxy_request.h"

#define TRIES 8

/* doorbell_lock held. Subscribes all channels that can be subscribed, or unsubscribes all. */
static void set_subscribed(struct lb_proxy *proxy, bool subscribed)
{
    for (int i = 0; i < 2; i++) {
        struct lb_cq_proxy *member = &proxy->members[i];
        struct lb_cq *cq = member->subscription.cq;

        if (cq == NULL || member->is_subscribed == (subscribed && lb_comp_channel_can_subscribe(cq->base.channel)))
            continue;
        if (member->is_subscribed)
            lb_comp_channel_unsubscribe(cq->base.channel, &member->subscription);
        else if (lb_comp_channel_subscribe(cq->base.channel, &member->subscription))
            member->subscription.cq = NULL; /* no memory, or a limit: the watch thread serves this queue */
        member->is_subscribed = !member->is_subscribed && member->subscription.cq != NULL;
    }
}

/* doorbell_lock held. Takes the byte of a notification, if it has arrived. */
static void take_due(struct lb_proxy *proxy)
{
    const enum lb_doorbell_state doorbell = lb_doorbell_take(proxy->doorbell);

    if (doorbell == LB_DOORBELL_RUNG)
        proxy->notification_due = false;
    if (doorbell == LB_DOORBELL_BROKEN)
        proxy->doorbell_broken = true;
}

/* doorbell_lock held. Withdraws a notification that the other end has sent, or is about to send. */
static void withdraw(struct lb_proxy *proxy)
{
    _Atomic uint32_t *state = &proxy->inbound->sleep_state;

    if (atomic_load_explicit(state, memory_order_relaxed) & LB_WIRE_NOTIFIED &&
            atomic_fetch_and(state, ~(uint32_t)LB_WIRE_NOTIFIED) & LB_WIRE_NOTIFIED)
        proxy->notification_due = true;
    if (proxy->notification_due && !proxy->doorbell_broken)
        take_due(proxy);
    set_subscribed(proxy, !proxy->notification_due && !proxy->doorbell_broken);
}

/* doorbell_lock held. The kinds of completions whose event is requested at a subscribed channel. */
static uint32_t notification_flags(const struct lb_proxy *proxy)
{
    uint32_t flags = 0;

    for (int i = 0; i < 2; i++) {
        const struct lb_cq_proxy *member = &proxy->members[i];

        if (member->is_subscribed && atomic_load_explicit(&member->subscription.cq->notify, memory_order_relaxed) == LB_NOTIFY_ALL)
            flags |= member->completes;
    }
    return flags;
}

/* Whether an event of either queue is requested. Its channel need not be subscribed. */
static bool awaits_event(const struct lb_proxy *proxy)
{
    bool awaits = false;

    for (int i = 0; i < 2; i++) {
        const struct lb_cq *cq = proxy->members[i].cq;

        awaits = awaits || (cq != NULL && atomic_load_explicit(&cq->notify, memory_order_relaxed) != LB_NOTIFY_NONE);
    }
    return awaits;
}

#define FROM(state) (1u << (state))

/*
 * Changes the state if it is one of `from`: to ASLEEP if an event is requested, with the flags of the notifications that this end
 * wants; otherwise to `otherwise`. Returns the flags.
 */
static uint32_t change(struct lb_proxy *proxy, unsigned int from, uint32_t otherwise)
{
    _Atomic uint32_t *state = &proxy->inbound->sleep_state;
    uint32_t flags = 0;
    int tries = 0;

    lb_lock_acquire(&proxy->doorbell_lock);
    for (; tries < TRIES; tries++) {
        withdraw(proxy);
        flags = notification_flags(proxy);
        const uint32_t to = flags ? LB_WIRE_ASLEEP | flags : awaits_event(proxy) ? LB_WIRE_ASLEEP : otherwise;
        uint32_t seen = atomic_load_explicit(state, memory_order_relaxed) & ~(uint32_t)LB_WIRE_NOTIFIED;
        if (!(from & FROM(seen & LB_WIRE_STATE)) || atomic_compare_exchange_strong(state, &seen, to))
            break;
    }
    if (tries == TRIES) { /* the other end changed the state in each try */
        proxy->notification_due = true;
        atomic_store_explicit(state, LB_WIRE_ASLEEP, memory_order_relaxed);
        set_subscribed(proxy, false);
        flags = 0;
    }
    lb_lock_release(&proxy->doorbell_lock);
    lb_wire_fence();
    return flags;
}

bool lb_proxy_fall_asleep(struct lb_proxy *proxy)
{
    return change(proxy, FROM(LB_WIRE_AWAKE) | FROM(LB_WIRE_ASLEEP) | FROM(LB_WIRE_SUPPRESSED), LB_WIRE_ASLEEP) != 0;
}

bool lb_proxy_suppress(struct lb_proxy *proxy)
{
    return change(proxy, FROM(LB_WIRE_ASLEEP) | FROM(LB_WIRE_SUPPRESSED), LB_WIRE_SUPPRESSED) != 0;
}

bool lb_proxy_rearm(struct lb_proxy *proxy)
{
    return change(proxy, FROM(LB_WIRE_ASLEEP), LB_WIRE_ASLEEP) != 0;
}

void lb_proxy_stay_awake(struct lb_proxy *proxy)
{
    lb_lock_acquire(&proxy->doorbell_lock);
    if (atomic_exchange(&proxy->inbound->sleep_state, LB_WIRE_AWAKE) & LB_WIRE_NOTIFIED)
        proxy->notification_due = true;
    if (proxy->notification_due)
        withdraw(proxy);
    lb_lock_release(&proxy->doorbell_lock);
}

void lb_proxy_end_wake_up(struct lb_proxy *proxy)
{
    uint32_t woken = LB_WIRE_WOKEN;

    lb_lock_acquire(&proxy->doorbell_lock);
    if (atomic_load_explicit(&proxy->inbound->sleep_state, memory_order_relaxed) & LB_WIRE_NOTIFIED)
        withdraw(proxy);
    (void)atomic_compare_exchange_strong(&proxy->inbound->sleep_state, &woken, LB_WIRE_ASLEEP);
    lb_lock_release(&proxy->doorbell_lock);
    lb_wire_fence();
}

bool lb_proxy_take_notification(struct lb_proxy *proxy)
{
    bool notified = false;

    lb_lock_acquire(&proxy->doorbell_lock);
    const enum lb_doorbell_state doorbell = lb_doorbell_take(proxy->doorbell);
    if (doorbell == LB_DOORBELL_BROKEN) {
        proxy->doorbell_broken = true;
        set_subscribed(proxy, false);
    } else if (doorbell == LB_DOORBELL_RUNG) {
        notified = proxy->notification_due ||
            atomic_fetch_and(&proxy->inbound->sleep_state, ~(uint32_t)LB_WIRE_NOTIFIED) & LB_WIRE_NOTIFIED;
        proxy->notification_due = false;
        if (!notified)
            lb_proxy_break_off(proxy);
    }
    lb_lock_release(&proxy->doorbell_lock);
    return notified;
}

static bool is_suppressed(const struct lb_proxy *proxy)
{
    return (atomic_load_explicit(&proxy->outbound->sleep_state, memory_order_acquire) & LB_WIRE_STATE) == LB_WIRE_SUPPRESSED;
}

/* Grows when the other end is notified or reads a record: between two looks with the same value it has done nothing. */
static uint64_t progress(const struct lb_proxy *proxy)
{
    return atomic_load_explicit(&proxy->notifications, memory_order_relaxed) +
        atomic_load_explicit(&proxy->outbound->requests.consumed, memory_order_relaxed) +
        atomic_load_explicit(&proxy->outbound->responses.consumed, memory_order_relaxed);
}

bool lb_proxy_wake_overdue(struct lb_proxy *proxy)
{
    if (!atomic_load_explicit(&proxy->unread, memory_order_relaxed))
        return false;
    if (!is_suppressed(proxy)) {
        /* A thread that notifies the end at this moment sets `unread` after the state. */
        (void)atomic_exchange_explicit(&proxy->unread, false, memory_order_acq_rel);
        proxy->was_unread = false;
        if (!is_suppressed(proxy))
            return false;
        atomic_store_explicit(&proxy->unread, true, memory_order_relaxed);
        return true;
    }
    const uint64_t seen = progress(proxy);
    if (proxy->was_unread && proxy->progress_seen == seen)
        lb_proxy_wake_unfenced(proxy, 0);
    proxy->was_unread = true;
    proxy->progress_seen = seen;
    return true;
}

static void *hold(struct lb_subscription *subscription)
{
    struct lb_cq_proxy *member = (struct lb_cq_proxy *)(void *)subscription;

    lb_qp_get(&member->proxy->qp);
    return member->proxy;
}

void lb_proxy_subscribe(struct lb_proxy *proxy, struct lb_cq_proxy *member, struct lb_cq *cq, void (*on_notification)(void *proxy))
{
    lb_lock_acquire(&proxy->doorbell_lock);
    member->cq = cq;
    if (proxy->doorbell >= 0 && cq->base.channel != NULL && cq->faults == NULL) {
        member->subscription = (struct lb_subscription){
            .cq = cq, .fd = proxy->doorbell, .hold = hold, .on_notification = on_notification};
        set_subscribed(proxy, !proxy->notification_due && !proxy->doorbell_broken);
    }
    lb_lock_release(&proxy->doorbell_lock);
}

void lb_proxy_unsubscribe(struct lb_proxy *proxy, struct lb_cq_proxy *member)
{
    lb_lock_acquire(&proxy->doorbell_lock);
    if (member->is_subscribed)
        lb_comp_channel_unsubscribe(member->subscription.cq->base.channel, &member->subscription);
    member->is_subscribed = false;
    member->subscription.cq = NULL;
    member->cq = NULL;
    (void)atomic_fetch_and(&proxy->inbound->sleep_state, ~(member->completes & (LB_WIRE_NOTIFY_RECEIVES | LB_WIRE_NOTIFY_SENDS)));
    lb_lock_release(&proxy->doorbell_lock);
}

void lb_proxy_forget_doorbell(struct lb_proxy *proxy)
{
    lb_lock_forget(&proxy->doorbell_lock);
    for (int i = 0; i < 2; i++) {
        proxy->members[i].subscription.cq = NULL;
        proxy->members[i].is_subscribed = false;
    }
    if (proxy->doorbell >= 0)
        (void)close(proxy->doorbell);
    proxy->doorbell = -1;
}
