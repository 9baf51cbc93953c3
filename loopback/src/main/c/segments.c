/* SPDX-License-Identifier: Apache-2.0 */
/* segments.c: the elements of a send work request as host memory, and copying from and to it. */
#include <string.h>

#include "segments.h"

void lb_segments_release(const struct lb_segments *segments)
{
    for (int i = 0; i < segments->count; i++) {
        if (segments->at[i].region != NULL)
            lb_region_release(segments->at[i].region);
    }
}

/*
 * An element of a request in a list, *kept is the region that its queue pair keeps. The first one may take that one's place: no
 * other element of this request uses it yet.
 */
static char *hold_in_list(struct lb_region **kept, const struct ibv_pd *pd, uint32_t lkey, uint64_t address, uint32_t length,
    unsigned int access, bool is_first, struct lb_region **region, uint32_t *reason)
{
    char *host = *kept == NULL ? NULL : lb_region_look(*kept, lkey, pd, address, length, access);

    *region = NULL;
    if (host != NULL)
        return host;
    host = lb_region_hold_local(lkey, pd, address, length, access, region, reason);
    if (host != NULL && is_first) {
        if (*kept != NULL)
            lb_region_release(*kept);
        *kept = *region;
        *region = NULL;
    }
    return host;
}

bool lb_segments_hold(struct lb_segments *segments, struct lb_qp *qp, const struct ibv_send_wr *wr,
    unsigned int access, struct lb_failure *failure)
{
    const bool is_inline = wr->send_flags & IBV_SEND_INLINE;

    segments->count = 0;
    segments->total = 0;
    for (int i = 0; i < wr->num_sge; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        const int at = segments->count;

        if (sge->length == 0) /* no memory is accessed, so no key is checked */
            continue;
        if (is_inline) {
            segments->at[at].host = (char *)(uintptr_t)sge->addr;
            segments->at[at].region = NULL;
        } else {
            segments->at[at].host = __builtin_expect(qp->keeps, 0) ?
                hold_in_list(&qp->kept_local, qp->base.qp_base.pd, sge->lkey, sge->addr, sge->length, access, at == 0,
                    &segments->at[at].region, &failure->vendor_err) :
                lb_region_hold_local(sge->lkey, qp->base.qp_base.pd, sge->addr, sge->length, access,
                    &segments->at[at].region, &failure->vendor_err);
            if (segments->at[at].host == NULL) {
                failure->status = IBV_WC_LOC_PROT_ERR;
                lb_segments_release(segments);
                return false;
            }
        }
        segments->at[at].length = sge->length;
        segments->total += sge->length;
        segments->count++;
    }
    if (segments->total > LB_MAX_MESSAGE) {
        failure->status = IBV_WC_LOC_LEN_ERR;
        failure->vendor_err = RINGPOLL_LOOPBACK_VERR_MESSAGE_SIZE;
        lb_segments_release(segments);
        return false;
    }
    return true;
}

/* `kept` is NULL for a message that is not in a list. */
static inline __attribute__((always_inline)) uint32_t hold_receive(struct lb_segments *segments, const struct ibv_pd *pd,
    const struct lb_recv *recv, uint64_t begin, uint64_t end, struct lb_region **kept)
{
    uint64_t skipped = begin;
    uint64_t left = end - begin;

    segments->count = 0;
    segments->total = left;
    for (uint32_t i = 0; i < recv->num_sge && left > 0; i++) {
        const struct ibv_sge *sge = &recv->sge[i];
        const int at = segments->count;
        uint32_t reason;

        if (skipped >= sge->length) {
            skipped -= sge->length;
            continue;
        }
        const uint32_t rest = sge->length - (uint32_t)skipped;
        const uint32_t room = rest < left ? rest : (uint32_t)left;
        segments->at[at].host = kept != NULL ?
            hold_in_list(kept, pd, sge->lkey, sge->addr + skipped, room, IBV_ACCESS_LOCAL_WRITE, at == 0,
                &segments->at[at].region, &reason) :
            lb_region_hold_local(sge->lkey, pd, sge->addr + skipped, room, IBV_ACCESS_LOCAL_WRITE,
                &segments->at[at].region, &reason);
        if (segments->at[at].host == NULL) {
            lb_segments_release(segments);
            return reason;
        }
        segments->at[at].length = room;
        segments->count++;
        left -= room;
        skipped = 0;
    }
    return 0;
}

uint32_t lb_segments_hold_receive(struct lb_segments *segments, const struct ibv_pd *pd, const struct lb_recv *recv,
    uint64_t begin, uint64_t end)
{
    return hold_receive(segments, pd, recv, begin, end, NULL);
}

uint32_t lb_segments_hold_receive_in_list(struct lb_segments *segments, struct lb_qp *qp, const struct ibv_pd *pd,
    const struct lb_recv *recv, uint64_t length)
{
    return hold_receive(segments, pd, recv, 0, length, &qp->kept_receive);
}

void lb_segments_copy(const struct lb_segments *to, const struct lb_segments *from)
{
    if (to->count == 1 && from->count == 1) {
        lb_copy_bytes(to->at[0].host, from->at[0].host, from->at[0].length);
        return;
    }
    uint32_t written = 0; /* of to->at[i] */
    uint32_t read = 0;    /* of from->at[j] */

    for (int i = 0, j = 0; i < to->count && j < from->count;) {
        const uint32_t room = to->at[i].length - written;
        const uint32_t rest = from->at[j].length - read;
        const uint32_t piece = room < rest ? room : rest;

        lb_copy_bytes(to->at[i].host + written, from->at[j].host + read, piece);
        written += piece;
        read += piece;
        if (piece == room) {
            i++;
            written = 0;
        }
        if (piece == rest) {
            j++;
            read = 0;
        }
    }
}
