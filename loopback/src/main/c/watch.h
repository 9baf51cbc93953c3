/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h: the thread that waits for other processes: descriptors, calls of other threads, and a tick.
 *
 * It starts with the first use, sleeps while nothing happens, and stays for the life of the process. Callbacks run on it without
 * any lock held, one at a time.
 */
#ifndef LOOPBACK_WATCH_H
#define LOOPBACK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "export.h"

/*
 * Opens the two descriptors that the process keeps, if it can: with the other permanent ones of the device, so that a later
 * connection leaves none behind.
 */
LB_EXPORT void lb_watch_open(void);

/* Starts the thread unless it runs. Returns 0 or an errno value. */
LB_EXPORT int lb_watch_start(void);

/*
 * Calls ready(id) whenever the descriptor is readable or its other end is gone, until it is removed. A callback that has begun
 * may end after the removal, so `ready` looks the id up where its owner keeps it. Ids are not used again. Returns 0 or an errno
 * value. The thread must have been started.
 */
LB_EXPORT int lb_watch_add(int fd, void (*ready)(uint64_t id), uint64_t *id);
LB_EXPORT void lb_watch_remove(int fd);

/* Makes the thread call the function of lb_watch_on_call soon. */
LB_EXPORT void lb_watch_call(void);

/* Called before the thread's start, or under a lock of the caller. */
LB_EXPORT void lb_watch_on_call(void (*function)(void));

/*
 * Makes the thread call the function of lb_watch_on_tick every millisecond, at first in about one, until it has returned false for
 * LB_WATCH_LAST_TICKS times. Costs a system call only if the thread does not tick: what the caller has stored before, the next
 * tick sees.
 */
LB_EXPORT void lb_watch_tick(void);

/* Called before the thread's start, or under a lock of the caller. */
LB_EXPORT void lb_watch_on_tick(bool (*function)(void));

#define LB_WATCH_LAST_TICKS 16

#endif
