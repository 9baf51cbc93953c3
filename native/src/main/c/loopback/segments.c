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

bool lb_segments_hold(struct lb_segments *segments, const struct lb_qp *qp, const struct ibv_send_wr *wr,
    unsigned int access, struct lb_failure *failure)
{
    const bool is_inline = wr->send_flags & IBV_SEND_INLINE;

    segments->count = 0;
    segments->total = 0;
    for (int i = 0; i < wr->num_sge; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        const int at = segments->count;

        if (sge->length == 0) /* nothing is touched, so no key is looked at */
            continue;
        if (is_inline) {
            segments->at[at].host = (char *)(uintptr_t)sge->addr;
            segments->at[at].region = NULL;
        } else {
            segments->at[at].host = lb_region_hold_local(sge->lkey, qp->base.qp_base.pd, sge->addr,
                sge->length, access, &segments->at[at].region, &failure->vendor_err);
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

void lb_copy(char *to, const char *from, size_t length)
{
    if (length == 8 && ((uintptr_t)to & 7) == 0) {
        uint64_t value;

        memcpy(&value, from, sizeof(value));
        atomic_store_explicit((_Atomic uint64_t *)(void *)to, value, memory_order_release);
    } else {
        memmove(to, from, length);
    }
}

void lb_segments_gather(char *to, const struct lb_segments *from)
{
    for (int i = 0; i < from->count; i++) {
        lb_copy(to, from->at[i].host, from->at[i].length);
        to += from->at[i].length;
    }
}

void lb_segments_scatter(const struct lb_segments *to, const char *from)
{
    for (int i = 0; i < to->count; i++) {
        lb_copy(to->at[i].host, from, to->at[i].length);
        from += to->at[i].length;
    }
}
