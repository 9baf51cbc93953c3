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

/* Makes the thread call all functions of lb_watch_on_call soon. */
LB_EXPORT void lb_watch_call(void);

/*
 * Sets a function that lb_watch_call calls, and, as long as one of these functions returns true, every millisecond.
 * Called before the thread's start, or under a lock of the caller; up to two functions.
 */
LB_EXPORT void lb_watch_on_call(bool (*function)(void));

#endif
