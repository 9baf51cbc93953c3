/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c: calls that fail because a test wants it: one by its number, or those that the fault plan names. */
#include <errno.h>

#include "device.h"
#include "plan.h"

/* Calls until the one that fails, that one included; 0 if none is to fail. */
static _Atomic uint32_t remaining;
static _Atomic int planned_error;
static const char *_Atomic failed_call;

LB_EXPORT int ringpoll_loopback_fail_call(uint32_t n, int error)
{
    if (n != 0 && error <= 0)
        return EINVAL;
    atomic_store(&remaining, 0);
    atomic_store(&failed_call, NULL);
    atomic_store(&planned_error, error);
    atomic_store(&remaining, n);
    return 0;
}

LB_EXPORT const char *ringpoll_loopback_failed_call(void)
{
    return atomic_load(&failed_call);
}

bool lb_fails(const char *function)
{
    uint32_t left = atomic_load_explicit(&remaining, memory_order_relaxed);

    if (lb_plan_fails(function))
        return true;
    do {
        if (left == 0)
            return false;
    } while (!atomic_compare_exchange_weak(&remaining, &left, left - 1));
    if (left != 1)
        return false;
    atomic_store(&failed_call, function);
    errno = atomic_load(&planned_error);
    return true;
}
