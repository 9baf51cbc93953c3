/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h: the clock of the device, for completion timestamps: nanoseconds of CLOCK_MONOTONIC_RAW, which all processes share.
 *
 * As the clock of a NIC it is not steered: it drifts against CLOCK_REALTIME and CLOCK_MONOTONIC, which are. It is read without a
 * system call where the kernel allows that.
 */
#ifndef LOOPBACK_CLOCK_H
#define LOOPBACK_CLOCK_H

#include <stdint.h>
#include <time.h>

#define LB_CLOCK_KHZ UINT64_C(1000000)

static inline uint64_t lb_clock_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t lb_clock_ticks(void)
{
    return lb_clock_ns(CLOCK_MONOTONIC_RAW);
}

#endif
