/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cq_fault.c: completion queues under a fault plan.
 *
 * A late completion is written to its entry, but `producer` does not move past it: neither it nor later completions are
 * visible, so the order of the queue is kept. A timer, or a poll that finds the reason gone, moves `producer` on.
 */
#include <errno.h>
#include <stdlib.h>

#include "cq_fault.h"
#include "cq_ring.h"
#include "plan.h"
#include "timer.h"

/* Maximum time for which a completion waits for completions of other queues. */
#define REORDER_LIMIT_NS UINT64_C(20000000)

struct lb_cq_faults {
    struct lb_plan *plan;
    uint32_t object;
    _Atomic uint32_t references; /* the queue's, and one of each armed timer */
    struct lb_lock life;         /* before push_lock in the order; timers take it */
    struct lb_cq *cq;            /* life; NULL once the queue goes */
    _Atomic uint64_t polls;
    _Atomic bool holding;

    /* push_lock */
    uint64_t completions;
    uint64_t requests;           /* for events */
    uint64_t events;
    uint32_t held;               /* written entries that are not visible yet */
    bool held_solicited;
    bool timer_armed;
    uint64_t hold_until_ns;
    uint64_t hold_until_completions; /* of the plan, those of this queue left out; UINT64_MAX: the time alone decides */
    struct lb_timer timer;

    _Atomic uint32_t late_events; /* of each of which a timer has a reference */
    struct lb_cq_faults *next_late; /* in the child of a fork: see inherit */

    struct lb_fork_member fork;
};

struct late_event {
    struct lb_timer timer; /* first */
    struct lb_cq_faults *faults;
};

static void put(struct lb_cq_faults *faults)
{
    if (atomic_fetch_sub(&faults->references, 1) != 1)
        return;
    lb_fork_leave(&faults->fork);
    lb_plan_put(faults->plan);
    free(faults);
}

static struct lb_rule *trigger(struct lb_cq_faults *faults, enum ringpoll_loopback_fault_kind kind, uint64_t n)
{
    return lb_plan_strike(faults->plan, kind, RINGPOLL_LOOPBACK_OPERATION_ANY, faults->object, n);
}

static void event_is_due(struct lb_timer *timer)
{
    struct late_event *late = (struct late_event *)(void *)timer;
    struct lb_cq_faults *faults = late->faults;

    lb_lock_acquire(&faults->life);
    if (faults->cq != NULL)
        lb_comp_channel_raise(faults->cq);
    lb_lock_release(&faults->life);
    atomic_fetch_sub(&faults->late_events, 1); /* behind the event: a fork between them doubles it, and loses none */
    put(faults);
    free(late);
}

/* Whether the plan delivers this event later. */
static bool delay_event(struct lb_cq *cq)
{
    struct lb_cq_faults *faults = cq->faults;
    const struct lb_rule *rule = trigger(faults, RINGPOLL_LOOPBACK_FAULT_LATE_EVENT, ++faults->events);

    if (rule == NULL)
        return false;
    struct late_event *late = calloc(1, sizeof(*late));
    if (late == NULL)
        return false;
    late->faults = faults;
    atomic_fetch_add(&faults->references, 1);
    atomic_fetch_add(&faults->late_events, 1);
    if (lb_timer_arm(&late->timer, rule->fault.duration_ns, event_is_due)) {
        atomic_fetch_sub(&faults->late_events, 1);
        atomic_fetch_sub(&faults->references, 1);
        free(late);
        return false;
    }
    return true;
}

/* In the child of a fork: those with late events. */
static struct lb_cq_faults *late_in_child;

/* In the child of a fork, timers are the parent's: the next poll sees held entries, and late events are raised immediately. */
static void inherit(struct lb_fork_member *member)
{
    struct lb_cq_faults *faults = LB_FORKED(struct lb_cq_faults, fork, member);

    if (faults->late_events > 0 && faults->cq != NULL) {
        faults->next_late = late_in_child;
        late_in_child = faults;
    }
    /* As below. */
    atomic_fetch_sub(&faults->references, faults->late_events);

    lb_lock_forget(&faults->life);
    faults->hold_until_completions = 0;
    if (faults->timer_armed) {
        faults->timer_armed = false;
        atomic_fetch_sub(&faults->references, 1); /* may be that of a closed queue, the last one: not freed here */
    }
}

/* When all objects are in order. */
static void raise_late_events(void)
{
    for (; late_in_child != NULL; late_in_child = late_in_child->next_late) {
        for (uint32_t i = atomic_exchange(&late_in_child->late_events, 0); i > 0; i--)
            lb_comp_channel_raise(late_in_child->cq);
    }
}

static void do_nothing(void)
{
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(do_nothing, do_nothing, raise_late_events);
}

int lb_cq_faults_open(struct lb_cq *cq)
{
    struct lb_plan *plan = lb_plan_get();

    if (plan == NULL)
        return 0;
    struct lb_cq_faults *faults = calloc(1, sizeof(*faults));
    if (faults == NULL) {
        lb_plan_put(plan);
        return ENOMEM;
    }
    faults->plan = plan;
    faults->object = atomic_fetch_add(&plan->completion_queues, 1) + 1;
    faults->references = 1;
    faults->cq = cq;
    lb_fork_join(&faults->fork, inherit);
    cq->faults = faults;
    cq->delay_event = delay_event;
    return 0;
}

void lb_cq_faults_close(struct lb_cq *cq)
{
    struct lb_cq_faults *faults = cq->faults;
    bool cancelled;

    lb_lock_acquire(&faults->life);
    faults->cq = NULL;
    lb_lock_release(&faults->life);
    lb_lock_acquire(&cq->push_lock);
    cancelled = faults->timer_armed && lb_timer_cancel(&faults->timer);
    lb_lock_release(&cq->push_lock);
    if (cancelled)
        put(faults);
    put(faults);
}

void lb_cq_faults_release(struct lb_cq *cq)
{
    struct lb_cq_faults *faults = cq->faults;
    const uint32_t producer = atomic_load_explicit(&cq->producer, memory_order_relaxed);
    const bool solicited = faults->held_solicited;

    if (!atomic_load_explicit(&faults->holding, memory_order_relaxed))
        return;
    atomic_store_explicit(&faults->holding, false, memory_order_relaxed);
    atomic_store_explicit(&cq->producer, producer + faults->held, memory_order_release);
    faults->held = 0;
    faults->held_solicited = false;
    lb_cq_notify(cq, solicited);
}

static uint64_t completions_of_others(const struct lb_cq_faults *faults)
{
    return atomic_load_explicit(&faults->plan->completions, memory_order_relaxed) - faults->completions;
}

static void hold_expired(struct lb_timer *timer);

static bool arm(struct lb_cq_faults *faults, uint64_t delay_ns)
{
    atomic_fetch_add(&faults->references, 1);
    faults->timer_armed = lb_timer_arm(&faults->timer, delay_ns, hold_expired) == 0;
    if (!faults->timer_armed)
        atomic_fetch_sub(&faults->references, 1); /* never the last one: the caller has one */
    return faults->timer_armed;
}

/* On the device thread; the timer's reference is ours now. */
static void hold_expired(struct lb_timer *timer)
{
    struct lb_cq_faults *faults =
        (struct lb_cq_faults *)(void *)((char *)timer - offsetof(struct lb_cq_faults, timer));

    lb_lock_acquire(&faults->life);
    struct lb_cq *cq = faults->cq;
    if (cq != NULL) {
        const uint64_t now = lb_now_ns();

        lb_lock_acquire(&cq->push_lock);
        faults->timer_armed = false;
        /* It may have been armed for a hold that ended early, while the present one began later. */
        if (!faults->holding || now >= faults->hold_until_ns || !arm(faults, faults->hold_until_ns - now))
            lb_cq_faults_release(cq);
        lb_lock_release(&cq->push_lock);
    }
    lb_lock_release(&faults->life);
    put(faults);
}

/* Starts to hold back completions if the plan requires it for this one. */
static void hold(struct lb_cq_faults *faults)
{
    uint64_t duration_ns = REORDER_LIMIT_NS;

    faults->hold_until_completions = UINT64_MAX;
    struct lb_rule *rule = trigger(faults, RINGPOLL_LOOPBACK_FAULT_DELAY, faults->completions);
    if (rule != NULL) {
        duration_ns = rule->fault.duration_ns;
    } else {
        rule = trigger(faults, RINGPOLL_LOOPBACK_FAULT_REORDER, faults->completions);
        if (rule == NULL)
            return;
        faults->hold_until_completions = completions_of_others(faults) + (rule->fault.times ? rule->fault.times : 1);
    }
    faults->hold_until_ns = lb_now_ns() + duration_ns;
    /* An armed timer that is too late for this hold belongs to an earlier one. */
    if (faults->timer_armed && faults->timer.deadline_ns > faults->hold_until_ns && lb_timer_cancel(&faults->timer)) {
        faults->timer_armed = false;
        atomic_fetch_sub(&faults->references, 1);
    }
    if (faults->timer_armed || arm(faults, duration_ns))
        atomic_store_explicit(&faults->holding, true, memory_order_relaxed);
}

bool lb_cq_faults_push(struct lb_cq *cq, const struct lb_cqe *cqe, bool solicited)
{
    struct lb_cq_faults *faults = cq->faults;
    const uint32_t producer = atomic_load_explicit(&cq->producer, memory_order_relaxed);

    faults->completions++;
    atomic_fetch_add_explicit(&faults->plan->completions, 1, memory_order_relaxed);
    if (!cq->dead && trigger(faults, RINGPOLL_LOOPBACK_FAULT_OVERRUN, faults->completions) != NULL) {
        lb_cq_die(cq, producer + faults->held);
    } else if (lb_cq_write(cq, cqe, producer + faults->held)) {
        if (!faults->holding)
            hold(faults);
        if (faults->holding) {
            faults->held++;
            faults->held_solicited |= solicited;
        } else {
            atomic_store_explicit(&cq->producer, producer + 1, memory_order_release);
            lb_cq_notify(cq, solicited);
        }
        return true;
    }
    /* A dead queue has nothing left to hold back. */
    faults->holding = false;
    faults->held = 0;
    return false;
}

bool lb_cq_faults_poll(struct lb_cq *cq)
{
    struct lb_cq_faults *faults = cq->faults;
    const uint64_t n = atomic_fetch_add_explicit(&faults->polls, 1, memory_order_relaxed) + 1;

    if (trigger(faults, RINGPOLL_LOOPBACK_FAULT_POLL, n) != NULL)
        return true;
    if (atomic_load_explicit(&faults->holding, memory_order_relaxed)) {
        lb_lock_acquire(&cq->push_lock);
        if (faults->holding && completions_of_others(faults) >= faults->hold_until_completions)
            lb_cq_faults_release(cq);
        lb_lock_release(&cq->push_lock);
    }
    return false;
}

void lb_cq_faults_notify(struct lb_cq *cq)
{
    struct lb_cq_faults *faults = cq->faults;

    if (cq->base.channel != NULL && trigger(faults, RINGPOLL_LOOPBACK_FAULT_SPURIOUS_EVENT, ++faults->requests) != NULL)
        lb_comp_channel_raise(cq);
}
