/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h: the ring of the baseline over queues of the caller, with work of the caller. */
#ifndef BASELINE_RING_H
#define BASELINE_RING_H

#include <infiniband/verbs.h>
#include <librpma.h>

#include "baseline.h"

#define RING_CUSTOM 2u /* extends enum baseline_work: the work is a ring_handler */

/* Handles a completion on the handler thread; the histogram belongs to that handler. */
typedef void ring_handler(void *context, const struct ibv_wc *wc, uint64_t *histogram);

/* As baseline_start; uses the given queues, which the caller keeps, if there are any. */
struct baseline *ring_start(const struct baseline_options *options, struct rpma_cq *const *cqs,
    uint32_t cq_count, ring_handler *custom, void *context);

#endif
