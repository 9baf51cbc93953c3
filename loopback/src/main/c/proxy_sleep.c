/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_sleep.c: how the end of a connection in this process sleeps, is woken, and looks after the sleep of the other end.
 *
 * While the event of a completion queue is requested, the queue's channel hears the bell, if its descriptor does not block: the
 * other end makes the descriptor readable, and the thread that waits there works (ibv_get_cq_event). One thread is woken, not first the watch thread, and
 * by it the other one. The byte in the bell and the state belong together: an end that takes back its state also takes the byte, so
 * the descriptor is not readable for nothing. If the byte is still on the way, the channels do not hear the bell until it is there.
 */
#include <unistd.h>

#include "proxy_request.h"

#define TRIES 8

/* bell_lock held. Those channels hear the bell that can, or none does. */
static void set_heard(struct lb_proxy *proxy, bool heard)
{
    for (int i = 0; i < 2; i++) {
        struct lb_cq_proxy *member = &proxy->members[i];
        struct lb_cq *cq = member->hearing.cq;

        if (cq == NULL || member->is_heard == (heard && lb_comp_channel_can_hear(cq->base.channel)))
            continue;
        if (member->is_heard)
            lb_comp_channel_unhear(cq->base.channel, &member->hearing);
        else if (lb_comp_channel_hear(cq->base.channel, &member->hearing))
            member->hearing.cq = NULL; /* no memory, or a limit: the end is rung for this queue */
        member->is_heard = !member->is_heard && member->hearing.cq != NULL;
    }
}

/* bell_lock held. */
static void take_owed(struct lb_proxy *proxy)
{
    const enum lb_bell_call call = lb_bell_take(proxy->bell);

    if (call == LB_BELL_CALLED)
        proxy->is_owed = false;
    if (call == LB_BELL_BROKEN)
        proxy->is_mute = true;
}

/* bell_lock held. Takes back the call that the other end has made, if it has. */
static void take_back(struct lb_proxy *proxy)
{
    _Atomic uint32_t *state = &proxy->inbound->asleep;

    if (atomic_load_explicit(state, memory_order_relaxed) & LB_WIRE_CALLED &&
            atomic_fetch_and(state, ~(uint32_t)LB_WIRE_CALLED) & LB_WIRE_CALLED)
        proxy->is_owed = true;
    if (proxy->is_owed && !proxy->is_mute)
        take_owed(proxy);
    set_heard(proxy, !proxy->is_owed && !proxy->is_mute);
}

/* bell_lock held. The completions for which a thread may wait at a channel that hears the bell. */
static uint32_t hears(const struct lb_proxy *proxy)
{
    uint32_t flags = 0;

    for (int i = 0; i < 2; i++) {
        const struct lb_cq_proxy *member = &proxy->members[i];

        if (member->is_heard && atomic_load_explicit(&member->hearing.cq->notify, memory_order_relaxed) == LB_NOTIFY_ALL)
            flags |= member->hears;
    }
    return flags;
}

/* Whether an event of either queue is requested, which its channel may not hear. */
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
 * Changes the state if it is one of these: to ASLEEP if an event is requested, with the flags of the queues whose channels hear
 * the bell; otherwise to `otherwise`. Returns the flags.
 */
static uint32_t change(struct lb_proxy *proxy, unsigned int from, uint32_t otherwise)
{
    _Atomic uint32_t *state = &proxy->inbound->asleep;
    uint32_t flags = 0;
    int tries = 0;

    lb_lock_acquire(&proxy->bell_lock);
    for (; tries < TRIES; tries++) {
        take_back(proxy);
        flags = hears(proxy);
        const uint32_t to = flags ? LB_WIRE_ASLEEP | flags : awaits_event(proxy) ? LB_WIRE_ASLEEP : otherwise;
        uint32_t seen = atomic_load_explicit(state, memory_order_relaxed) & ~(uint32_t)LB_WIRE_CALLED;
        if (!(from & FROM(seen & LB_WIRE_STATE)) || atomic_compare_exchange_strong(state, &seen, to))
            break;
    }
    if (tries == TRIES) { /* an end that is not honest */
        proxy->is_owed = true;
        atomic_store_explicit(state, LB_WIRE_ASLEEP, memory_order_relaxed);
        set_heard(proxy, false);
        flags = 0;
    }
    lb_lock_release(&proxy->bell_lock);
    lb_wire_fence();
    return flags;
}

bool lb_proxy_fall_asleep(struct lb_proxy *proxy)
{
    return change(proxy, FROM(LB_WIRE_AWAKE) | FROM(LB_WIRE_ASLEEP) | FROM(LB_WIRE_QUIET), LB_WIRE_ASLEEP) != 0;
}

bool lb_proxy_fall_quiet(struct lb_proxy *proxy)
{
    return change(proxy, FROM(LB_WIRE_ASLEEP) | FROM(LB_WIRE_QUIET), LB_WIRE_QUIET) != 0;
}

bool lb_proxy_listen(struct lb_proxy *proxy)
{
    return change(proxy, FROM(LB_WIRE_ASLEEP), LB_WIRE_ASLEEP) != 0;
}

void lb_proxy_stay_awake(struct lb_proxy *proxy)
{
    lb_lock_acquire(&proxy->bell_lock);
    if (atomic_exchange(&proxy->inbound->asleep, LB_WIRE_AWAKE) & LB_WIRE_CALLED)
        proxy->is_owed = true;
    if (proxy->is_owed)
        take_back(proxy);
    lb_lock_release(&proxy->bell_lock);
}

void lb_proxy_end_ring(struct lb_proxy *proxy)
{
    uint32_t rung = LB_WIRE_RUNG;

    lb_lock_acquire(&proxy->bell_lock);
    if (atomic_load_explicit(&proxy->inbound->asleep, memory_order_relaxed) & LB_WIRE_CALLED)
        take_back(proxy);
    (void)atomic_compare_exchange_strong(&proxy->inbound->asleep, &rung, LB_WIRE_ASLEEP);
    lb_lock_release(&proxy->bell_lock);
    lb_wire_fence();
}

bool lb_proxy_take_call(struct lb_proxy *proxy)
{
    bool called = false;

    lb_lock_acquire(&proxy->bell_lock);
    const enum lb_bell_call call = lb_bell_take(proxy->bell);
    if (call == LB_BELL_BROKEN) {
        proxy->is_mute = true;
        set_heard(proxy, false);
    } else if (call == LB_BELL_CALLED) {
        called = proxy->is_owed ||
            atomic_fetch_and(&proxy->inbound->asleep, ~(uint32_t)LB_WIRE_CALLED) & LB_WIRE_CALLED;
        proxy->is_owed = false;
        if (!called)
            lb_proxy_break_off(proxy);
    }
    lb_lock_release(&proxy->bell_lock);
    return called;
}

static bool is_quiet(const struct lb_proxy *proxy)
{
    return (atomic_load_explicit(&proxy->outbound->asleep, memory_order_acquire) & LB_WIRE_STATE) == LB_WIRE_QUIET;
}

/* Changes when the other end is called, or reads something: if it is quiet before and after that, it was not all the time. */
static uint64_t progress(const struct lb_proxy *proxy)
{
    return atomic_load_explicit(&proxy->calls, memory_order_relaxed) +
        atomic_load_explicit(&proxy->outbound->requests.consumed, memory_order_relaxed) +
        atomic_load_explicit(&proxy->outbound->responses.consumed, memory_order_relaxed);
}

bool lb_proxy_look_after(struct lb_proxy *proxy)
{
    if (!atomic_load_explicit(&proxy->unheard, memory_order_relaxed))
        return false;
    if (!is_quiet(proxy)) {
        /* A thread that calls the end now sets it behind the state. */
        (void)atomic_exchange_explicit(&proxy->unheard, false, memory_order_acq_rel);
        proxy->was_unheard = false;
        if (!is_quiet(proxy))
            return false;
        atomic_store_explicit(&proxy->unheard, true, memory_order_relaxed);
        return true;
    }
    const uint64_t seen = progress(proxy);
    if (proxy->was_unheard && proxy->progress_seen == seen)
        lb_proxy_wake(proxy, 0);
    proxy->was_unheard = true;
    proxy->progress_seen = seen;
    return true;
}

static void *hold(struct lb_hearing *hearing)
{
    struct lb_cq_proxy *member = (struct lb_cq_proxy *)(void *)hearing;

    lb_qp_get(&member->proxy->qp);
    return member->proxy;
}

void lb_proxy_hear(struct lb_proxy *proxy, struct lb_cq_proxy *member, struct lb_cq *cq, void (*answer)(void *proxy))
{
    lb_lock_acquire(&proxy->bell_lock);
    member->cq = cq;
    if (proxy->bell >= 0 && cq->base.channel != NULL && cq->faults == NULL) {
        member->hearing = (struct lb_hearing){.cq = cq, .fd = proxy->bell, .hold = hold, .answer = answer};
        set_heard(proxy, !proxy->is_owed && !proxy->is_mute);
    }
    lb_lock_release(&proxy->bell_lock);
}

void lb_proxy_unhear(struct lb_proxy *proxy, struct lb_cq_proxy *member)
{
    lb_lock_acquire(&proxy->bell_lock);
    if (member->is_heard)
        lb_comp_channel_unhear(member->hearing.cq->base.channel, &member->hearing);
    member->is_heard = false;
    member->hearing.cq = NULL;
    member->cq = NULL;
    (void)atomic_fetch_and(&proxy->inbound->asleep, ~(member->hears & (LB_WIRE_HEARS_RECEIVES | LB_WIRE_HEARS_SENDS)));
    lb_lock_release(&proxy->bell_lock);
}

void lb_proxy_forget_bell(struct lb_proxy *proxy)
{
    lb_lock_forget(&proxy->bell_lock);
    for (int i = 0; i < 2; i++) {
        if (proxy->members[i].hearing.cq != NULL)
            lb_comp_channel_forget(proxy->members[i].hearing.cq->base.channel);
        proxy->members[i].hearing.cq = NULL;
        proxy->members[i].is_heard = false;
    }
    if (proxy->bell >= 0)
        (void)close(proxy->bell);
    proxy->bell = -1;
}
