/* SPDX-License-Identifier: Apache-2.0 */
/* segments.h: the elements of a send work request as host memory, checked and held. */
#ifndef LOOPBACK_SEGMENTS_H
#define LOOPBACK_SEGMENTS_H

#include "execute.h"
#include "memory.h"

/* The memory a work request's elements stand for, held until released. */
struct lb_segments {
    int count;
    uint64_t total;
    struct {
        char *host;
        uint32_t length;
        struct lb_region *region; /* NULL for inline data */
    } at[LB_MAX_SGE];
};

/*
 * Checks and holds a work request's elements for an access (0, or IBV_ACCESS_LOCAL_WRITE).
 * Returns false with nothing held and the reason in *failure.
 */
bool lb_segments_hold(struct lb_segments *segments, const struct lb_qp *qp,
    const struct ibv_send_wr *wr, unsigned int access, struct lb_failure *failure);
void lb_segments_release(const struct lb_segments *segments);

/* Copy all of the segments to, or from, as many bytes in one piece. */
void lb_segments_gather(char *to, const struct lb_segments *from);
void lb_segments_scatter(const struct lb_segments *to, const char *from);

/* Copies; eight aligned bytes in one piece, for librpma writes them so as an atomic write. */
void lb_copy(char *to, const char *from, size_t length);

#endif
