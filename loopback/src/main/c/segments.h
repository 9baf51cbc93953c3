/* SPDX-License-Identifier: Apache-2.0 */
/* segments.h: the elements of a send work request as host memory, checked and held. */
#ifndef LOOPBACK_SEGMENTS_H
#define LOOPBACK_SEGMENTS_H

#include <string.h>

#include "execute.h"
#include "memory.h"

/* The memory of a work request's elements, held until released. */
struct lb_segments {
    int count;
    uint64_t total;
    struct {
        char *host;
        uint32_t length;
        struct lb_region *region; /* NULL for inline data, and if the queue pair keeps it */
    } at[LB_MAX_SGE];
};

/*
 * Checks and holds a work request's elements for an access (0, or IBV_ACCESS_LOCAL_WRITE).
 * Returns false with nothing held and the reason in *failure.
 */
bool lb_segments_hold(struct lb_segments *segments, struct lb_qp *qp,
    const struct ibv_send_wr *wr, unsigned int access, struct lb_failure *failure);
void lb_segments_release(const struct lb_segments *segments);

/*
 * sq_lock held. A list of work requests, as a rule, names the same regions again and again. Between begin and end the queue pair
 * keeps the last local one, the last remote one and the last one of a receive, so that only the first request has the two locked
 * instructions of each hold. A key that is returned meanwhile is invalid for the next request, as ever; ibv_dereg_mr waits for the
 * end.
 */
static inline void lb_keep_begin(struct lb_qp *qp)
{
    qp->keeps = true;
}

static inline void lb_keep_end(struct lb_qp *qp)
{
    if (qp->kept_local != NULL)
        lb_region_release(qp->kept_local);
    if (qp->kept_remote != NULL)
        lb_region_release(qp->kept_remote);
    if (qp->kept_receive != NULL)
        lb_region_release(qp->kept_receive);
    qp->kept_local = NULL;
    qp->kept_remote = NULL;
    qp->kept_receive = NULL;
    qp->keeps = false;
}

/* The memory that a request in a list names, if the queue pair keeps its region. */
static inline char *lb_look_at_kept(const struct lb_qp *qp, const struct ibv_send_wr *wr, uint64_t length, unsigned int access)
{
    if (qp->kept_remote == NULL || access & ~atomic_load_explicit(&qp->peer->remote_access, memory_order_relaxed))
        return NULL;
    return lb_region_look(qp->kept_remote, wr->wr.rdma.rkey ^ LB_REMOTE_BIT, qp->peer->base.qp_base.pd,
        wr->wr.rdma.remote_addr, length, access);
}

/*
 * Holds the elements of a receive that a message fills from byte `begin` up to byte `end`. Returns 0, or why one is not
 * usable.
 */
uint32_t lb_segments_hold_receive(struct lb_segments *segments, const struct ibv_pd *pd, const struct lb_recv *recv,
    uint64_t begin, uint64_t end);
/* The same for a whole message of a list of `qp`, which keeps the region of the first element. */
uint32_t lb_segments_hold_receive_in_list(struct lb_segments *segments, struct lb_qp *qp, const struct ibv_pd *pd,
    const struct lb_recv *recv, uint64_t length);

/* One piece of the peer's memory. */
static inline void lb_segments_of(struct lb_segments *segments, char *host, uint64_t length, struct lb_region *region)
{
    segments->count = 1;
    segments->total = length;
    segments->at[0].host = host;
    segments->at[0].length = (uint32_t)length;
    segments->at[0].region = region;
}

/* Copies; eight aligned bytes in one piece, for librpma writes them so as an atomic write. */
static inline void lb_copy_bytes(char *to, const char *from, size_t length)
{
    if (length == 8 && ((uintptr_t)to & 7) == 0) {
        uint64_t value;

        memcpy(&value, from, sizeof(value));
        atomic_store_explicit((_Atomic uint64_t *)(void *)to, value, memory_order_release);
    } else {
        memmove(to, from, length);
    }
}

/* Copies; both have as many bytes. */
void lb_segments_copy(const struct lb_segments *to, const struct lb_segments *from);

/*
 * peer.c. The same; a long copy is made with neither sq_lock nor the receiver's rq_lock held. `receiver` is the
 * queue pair that owns the filled receive, with a reference, or NULL. Returns LB_DONE, or LB_AGAIN or LB_DROPPED if a
 * queue pair has changed meanwhile. May make a flush that has waited for the copy, and add to the aftermath.
 */
enum lb_outcome lb_copy_aside(struct lb_qp *qp, struct lb_qp *receiver, const struct lb_segments *to,
    const struct lb_segments *from, struct lb_aftermath *aftermath);
static inline enum lb_outcome lb_copy(struct lb_qp *qp, struct lb_qp *receiver, const struct lb_segments *to,
    const struct lb_segments *from, struct lb_aftermath *aftermath)
{
    if (__builtin_expect(from->total > LB_SHORT_COPY, 0))
        return lb_copy_aside(qp, receiver, to, from, aftermath);
    if (qp->proxy != NULL && to->count == 1 && from->count == 1)
        qp->proxy->fetch(qp, to->at[0].host, from->at[0].host, from->at[0].length);
    else
        lb_segments_copy(to, from);
    return LB_DONE;
}

#endif
