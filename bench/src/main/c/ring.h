/* SPDX-License-Identifier: Apache-2.0 */
/* ring.h: the baseline's ring over queues of somebody else's, with work of somebody else's. */
#ifndef BASELINE_RING_H
#define BASELINE_RING_H

#include <infiniband/verbs.h>
#include <librpma.h>

#include "baseline.h"

#define RING_MAX_QUEUES 4u
#define RING_CUSTOM 2u /* beside enum baseline_work: the work is a ring_handler's */

/* Takes a completion on the handler's thread; the histogram is of that handler. */
typedef void ring_handler(void *context, const struct ibv_wc *wc, uint64_t *histogram);

/* As baseline_start, over given queues (which stay the caller's) if there are any. */
struct baseline *ring_start(const struct baseline_options *options, struct rpma_cq *const *cqs,
    uint32_t cq_count, ring_handler *custom, void *context);

#endif
