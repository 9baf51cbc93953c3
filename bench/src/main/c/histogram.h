/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram.h: counts of values with three significant digits, in the buckets of HdrHistogram with a lowest value of 1,
 * so that HdrHistogram can load the counts.
 */
#ifndef BASELINE_HISTOGRAM_H
#define BASELINE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_HALF_BITS 10u /* 2,048 values to a bucket, of which the upper half is its own */
#define HISTOGRAM_MAX_BITS 36u  /* the highest value: 68 s in nanoseconds */
#define HISTOGRAM_LENGTH ((HISTOGRAM_MAX_BITS - HISTOGRAM_HALF_BITS + 1u) << HISTOGRAM_HALF_BITS)

static inline void histogram_record(uint64_t *counts, uint64_t value)
{
    const uint64_t highest = (UINT64_C(1) << HISTOGRAM_MAX_BITS) - 1;

    if (__builtin_expect(value > highest, 0))
        value = highest;
    const uint32_t low_mask = (2u << HISTOGRAM_HALF_BITS) - 1;
    const uint32_t bucket = 63u - HISTOGRAM_HALF_BITS - (uint32_t)__builtin_clzll(value | low_mask);
    counts[(bucket << HISTOGRAM_HALF_BITS) + (value >> bucket)]++;
}

#endif
