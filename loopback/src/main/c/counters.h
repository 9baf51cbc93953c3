/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h: numbers of live objects. */
#ifndef LOOPBACK_COUNTERS_H
#define LOOPBACK_COUNTERS_H

#include <stdbool.h>

#include "export.h"
#include "ringpoll_loopback.h"

/* Changes the number of live objects of a kind; relaxed, for counting only. */
LB_EXPORT void lb_count(enum ringpoll_loopback_object kind, int change);

/* Reserves one object of a kind against its limit: false if the device has no more of them. */
bool lb_reserve(enum ringpoll_loopback_object kind, int limit);

#endif
