/* SPDX-License-Identifier: Apache-2.0 */
/* hot.h: helpers of hot loops: read the clock, pause. */
#ifndef BASELINE_HOT_H
#define BASELINE_HOT_H

#include <sched.h>
#include <stdint.h>
#include <time.h>

#include "baseline.h"

/* wait is an enum baseline_wait. */
static inline void relax(uint32_t wait)
{
    if (wait == BASELINE_YIELD)
        (void)sched_yield();
    else
#if defined(TRY_NO_PAUSE)
        __asm__ volatile("" ::: "memory");
#elif defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("isb" ::: "memory");
#else
        __asm__ volatile("" ::: "memory");
#endif
}

static inline uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
