/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h: timers of the device thread: retry and connection time-outs, and send rings handed over to it.
 *
 * The thread starts with the first timer, sleeps between deadlines and stays for the life of the
 * process. Callbacks run on it without any lock held.
 */
#ifndef LOOPBACK_TIMER_H
#define LOOPBACK_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "export.h"

struct lb_timer {
    struct lb_timer *next;
    struct lb_timer *previous;
    uint64_t deadline_ns;              /* CLOCK_MONOTONIC */
    void (*expired)(struct lb_timer *timer);
    bool armed;                        /* in the list; cleared before the callback runs */
};

/*
 * Arms a timer that is not armed. The memory that the callback accesses must stay valid until it has run or
 * lb_timer_cancel has returned true: the owner takes a reference for it before. Returns 0, or an errno value if the
 * thread could not be started (the timer is then not armed).
 */
LB_EXPORT int lb_timer_arm(struct lb_timer *timer, uint64_t delay_ns, void (*expired)(struct lb_timer *));

/* Returns true if the timer was armed and will not run; false if it was not, or is about to run. */
LB_EXPORT bool lb_timer_cancel(struct lb_timer *timer);

/* CLOCK_MONOTONIC in nanoseconds. */
LB_EXPORT uint64_t lb_now_ns(void);

#endif
