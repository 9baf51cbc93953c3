/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: the fault plan of the process: creation, counts, and matching of rules. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "lock.h"
#include "plan.h"

enum { MAX_RULES = 64, MAX_TIMES = 1024 };
#define MAX_DURATION_NS UINT64_C(10000000000)
#define GOLDEN_RATIO UINT64_C(0x9E3779B97F4A7C15)

static struct lb_lock present_lock;
static struct lb_plan *_Atomic present; /* changed under present_lock */

/* The finaliser of SplitMix64; io.ringpoll.device.FaultRule draws with the same. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static bool is_sound(const struct ringpoll_loopback_fault *fault)
{
    if (fault->kind >= RINGPOLL_LOOPBACK_FAULT_KINDS || fault->operation >= RINGPOLL_LOOPBACK_OPERATIONS ||
        fault->times > MAX_TIMES || fault->duration_ns > MAX_DURATION_NS)
        return false;
    if ((fault->at == 0) == (fault->one_in == 0) || (fault->every != 0 && fault->at == 0))
        return false;
    if (memchr(fault->function, 0, sizeof(fault->function)) == NULL)
        return false;
    if (fault->kind == RINGPOLL_LOOPBACK_FAULT_STATUS)
        return fault->code > IBV_WC_SUCCESS && fault->code <= IBV_WC_GENERAL_ERR;
    return fault->kind != RINGPOLL_LOOPBACK_FAULT_CALL || (fault->code > 0 && fault->code < 4096);
}

static struct lb_plan *new_plan(uint64_t seed, const struct ringpoll_loopback_fault *rules, uint32_t count)
{
    struct lb_plan *plan = calloc(1, sizeof(*plan) + count * sizeof(plan->rules[0]));

    if (plan == NULL)
        return NULL;
    plan->references = 1;
    plan->seed = seed;
    plan->count = count;
    for (uint32_t i = 0; i < count; i++)
        plan->rules[i].fault = rules[i];
    return plan;
}

LB_EXPORT int ringpoll_loopback_plan(uint64_t seed, const struct ringpoll_loopback_fault *rules, uint32_t count)
{
    struct lb_plan *plan = NULL;

    if (count > MAX_RULES)
        return EINVAL;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_sound(&rules[i]))
            return EINVAL;
    }
    if (count > 0) {
        plan = new_plan(seed, rules, count);
        if (plan == NULL)
            return ENOMEM;
    }
    lb_lock_acquire(&present_lock);
    struct lb_plan *former = atomic_exchange(&present, plan);
    lb_lock_release(&present_lock);
    if (former != NULL)
        lb_plan_put(former);
    return 0;
}

struct lb_plan *lb_plan_get(void)
{
    if (atomic_load_explicit(&present, memory_order_relaxed) == NULL)
        return NULL;
    lb_lock_acquire(&present_lock);
    struct lb_plan *plan = atomic_load(&present);
    if (plan != NULL)
        atomic_fetch_add(&plan->references, 1);
    lb_lock_release(&present_lock);
    return plan;
}

void lb_plan_put(struct lb_plan *plan)
{
    if (atomic_fetch_sub(&plan->references, 1) == 1)
        free(plan);
}

LB_EXPORT uint64_t ringpoll_loopback_injected(uint32_t rule)
{
    struct lb_plan *plan = lb_plan_get();

    if (plan == NULL)
        return 0;
    const uint64_t injected = rule < plan->count ? atomic_load(&plan->rules[rule].injected) : 0;
    lb_plan_put(plan);
    return injected;
}

static bool begins(const struct lb_plan *plan, const struct lb_rule *rule, uint32_t object, uint64_t n)
{
    const struct ringpoll_loopback_fault *fault = &rule->fault;

    if (fault->one_in != 0) {
        const uint64_t index = (uint64_t)(rule - plan->rules) + 1;

        return mix(mix(mix(plan->seed + GOLDEN_RATIO * index) ^ object) ^ n) % fault->one_in == 0;
    }
    return n == fault->at || (fault->every != 0 && n > fault->at && (n - fault->at) % fault->every == 0);
}

static bool triggers(const struct lb_plan *plan, const struct lb_rule *rule, uint32_t object, uint64_t n)
{
    const struct ringpoll_loopback_fault *fault = &rule->fault;
    const bool repeats = fault->kind == RINGPOLL_LOOPBACK_FAULT_FULL || fault->kind == RINGPOLL_LOOPBACK_FAULT_POLL;
    const uint64_t times = repeats && fault->times > 1 ? fault->times : 1;

    if (fault->object != 0 && fault->object != object)
        return false;
    for (uint64_t back = 0; back < times && back < n; back++) {
        if (begins(plan, rule, object, n - back))
            return true;
    }
    return false;
}

struct lb_rule *lb_plan_strike(struct lb_plan *plan, enum ringpoll_loopback_fault_kind kind,
    enum ringpoll_loopback_fault_operation operation, uint32_t object, uint64_t n)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        struct lb_rule *rule = &plan->rules[i];

        if (rule->fault.kind == kind && rule->fault.operation == operation && triggers(plan, rule, object, n)) {
            atomic_fetch_add_explicit(&rule->injected, 1, memory_order_relaxed);
            return rule;
        }
    }
    return NULL;
}

static void hold(void)
{
    lb_lock_acquire(&present_lock);
}

static void release(void)
{
    lb_lock_release(&present_lock);
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, release);
}

bool lb_plan_fails(const char *function)
{
    struct lb_plan *plan = lb_plan_get();
    bool fails = false;

    if (plan == NULL)
        return false;
    for (uint32_t i = 0; i < plan->count && !fails; i++) {
        struct lb_rule *rule = &plan->rules[i];

        if (rule->fault.kind != RINGPOLL_LOOPBACK_FAULT_CALL ||
            (rule->fault.function[0] != 0 && strcmp(rule->fault.function, function) != 0))
            continue;
        if (triggers(plan, rule, 0, atomic_fetch_add(&rule->calls, 1) + 1)) {
            atomic_fetch_add_explicit(&rule->injected, 1, memory_order_relaxed);
            errno = (int)rule->fault.code;
            fails = true;
        }
    }
    lb_plan_put(plan);
    return fails;
}
