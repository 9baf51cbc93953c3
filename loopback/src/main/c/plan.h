/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h: the fault plan: rules and their matching.
 *
 * A plan is immutable, except for its counts. It is reference counted: the process holds a reference to the current
 * plan, and so does each queue pair and completion queue that was created under it.
 */
#ifndef LOOPBACK_PLAN_H
#define LOOPBACK_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "ringpoll_loopback.h"

struct lb_rule {
    struct ringpoll_loopback_fault fault;
    _Atomic uint64_t calls; /* of a failing call: how many have been counted */
    _Atomic uint64_t injected;
};

struct lb_plan {
    _Atomic uint32_t references;
    _Atomic uint32_t queue_pairs;       /* created under it */
    _Atomic uint32_t completion_queues;
    _Atomic uint64_t completions;       /* of all its completion queues */
    uint64_t seed;
    uint32_t count;
    struct lb_rule rules[];
};

/* The present plan with a reference, or NULL. */
struct lb_plan *lb_plan_get(void);
void lb_plan_put(struct lb_plan *plan);

/*
 * Returns the rule of a kind that triggers at the n-th operation of an object (from 1), or NULL. Rules for another
 * operation are ignored. Counts the fault as injected.
 */
struct lb_rule *lb_plan_strike(struct lb_plan *plan, enum ringpoll_loopback_fault_kind kind,
    enum ringpoll_loopback_fault_operation operation, uint32_t object, uint64_t n);

/* Whether the present plan lets this call fail; then errno is set. */
bool lb_plan_fails(const char *function);

#endif
