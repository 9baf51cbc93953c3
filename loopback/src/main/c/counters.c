/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c: identity of the device and its numbers of live objects. */
#include <stdatomic.h>

#include "counters.h"

static _Atomic int64_t live[RINGPOLL_LOOPBACK_OBJECT_KINDS];

static const char *const names[RINGPOLL_LOOPBACK_OBJECT_KINDS] = {
    [RINGPOLL_LOOPBACK_CONTEXT] = "context",
    [RINGPOLL_LOOPBACK_PD] = "pd",
    [RINGPOLL_LOOPBACK_MR] = "mr",
    [RINGPOLL_LOOPBACK_COMP_CHANNEL] = "comp_channel",
    [RINGPOLL_LOOPBACK_CQ] = "cq",
    [RINGPOLL_LOOPBACK_SRQ] = "srq",
    [RINGPOLL_LOOPBACK_QP] = "qp",
    [RINGPOLL_LOOPBACK_EVENT] = "event",
    [RINGPOLL_LOOPBACK_CM_CHANNEL] = "cm_channel",
    [RINGPOLL_LOOPBACK_CM_ID] = "cm_id",
};

LB_EXPORT const char *ringpoll_loopback_version(void)
{
    return "1.0";
}

LB_EXPORT int64_t ringpoll_loopback_live(int kind)
{
    if (kind < 0 || kind >= RINGPOLL_LOOPBACK_OBJECT_KINDS)
        return -1;
    return atomic_load_explicit(&live[kind], memory_order_relaxed);
}

LB_EXPORT const char *ringpoll_loopback_live_name(int kind)
{
    if (kind < 0 || kind >= RINGPOLL_LOOPBACK_OBJECT_KINDS)
        return NULL;
    return names[kind];
}

void lb_count(enum ringpoll_loopback_object kind, int change)
{
    atomic_fetch_add_explicit(&live[kind], change, memory_order_relaxed);
}

bool lb_reserve(enum ringpoll_loopback_object kind, int limit)
{
    if (atomic_fetch_add_explicit(&live[kind], 1, memory_order_relaxed) < limit)
        return true;
    lb_count(kind, -1);
    return false;
}
