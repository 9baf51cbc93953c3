/* SPDX-License-Identifier: Apache-2.0 */
/* list_end.c: see list_end.h. */
#include <stdlib.h>
#include <string.h>

#include "list_end.h"

const struct verbs_options list_defaults = {.cqe = 255, .max_wr = QUEUE, .max_inline = 64, .rnr_retry = 7, .timeout = 14,
    .retry_cnt = 7};

uint32_t list_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

void list_end_open(struct list_end *end, const struct verbs_options *options)
{
    memset(end, 0, sizeof(*end));
    verbs_pair_open(&end->pair, options);
    end->foreign_pd = ibv_alloc_pd(end->pair.context);
    for (int side = 0; side < 2; side++) {
        struct ibv_pd *pd = side == 1 && options->srq_own_pd ? end->pair.srq_pd : end->pair.pd;

        end->more[side] = aligned_alloc(4096, VERBS_BUFFER_SIZE);
        CHECK(end->more[side] != NULL);
        memset(end->more[side], 0, VERBS_BUFFER_SIZE);
        end->more_mr[side] = ibv_reg_mr(pd, end->more[side], VERBS_BUFFER_SIZE, IBV_ACCESS_LOCAL_WRITE);
        end->foreign[side] = ibv_reg_mr(end->foreign_pd, end->pair.buffer[side], VERBS_BUFFER_SIZE, IBV_ACCESS_LOCAL_WRITE);
        CHECK(end->more_mr[side] != NULL && end->foreign[side] != NULL);
    }
    for (uint32_t i = 0; i < VERBS_BUFFER_SIZE; i++) {
        end->pair.buffer[0][i] = (char)(i * 7 + i / 256);
        end->more[0][i] = (char)(i * 5 + i / 256);
    }
}

void list_end_close(struct list_end *end)
{
    for (int side = 0; side < 2; side++) {
        CHECK_EQ(ibv_dereg_mr(end->more_mr[side]), 0); /* waits for ever if a list has left one held */
        CHECK_EQ(ibv_dereg_mr(end->foreign[side]), 0);
        free(end->more[side]);
    }
    CHECK_EQ(ibv_dealloc_pd(end->foreign_pd), 0);
    verbs_pair_close(&end->pair);
}

struct ibv_sge list_element(const struct list_end *end, int side, uint32_t where, uint32_t length, bool is_more, bool bad)
{
    const struct ibv_mr *other = side == 1 && end->pair.srq_pd != NULL ? end->pair.mr[1] : end->foreign[side];
    const struct ibv_mr *mr = bad ? other : is_more ? end->more_mr[side] : end->pair.mr[side];

    return (struct ibv_sge){(uintptr_t)(is_more && !bad ? end->more[side] : end->pair.buffer[side]) + where, length, mr->lkey};
}

void list_make_plain(struct list_end *end, uint32_t count, unsigned int flags)
{
    memset(end->wr, 0, sizeof(end->wr));
    for (uint32_t i = 0; i < count; i++) {
        end->sge[i][0] = list_element(end, 0, 64 * i, 64, false, false);
        end->wr[i] = (struct ibv_send_wr){.wr_id = i, .sg_list = end->sge[i], .num_sge = 1, .opcode = IBV_WR_SEND,
            .send_flags = flags, .next = i + 1 < count ? &end->wr[i + 1] : NULL};
    }
}

uint32_t list_post(struct list_end *end, uint32_t first, uint32_t count, bool singly, int *error)
{
    struct ibv_send_wr *bad_wr = NULL;

    *error = 0;
    if (!singly) {
        *error = ibv_post_send(end->pair.qp[0], &end->wr[first], &bad_wr);
        return *error ? (uint32_t)(bad_wr - end->wr) - first : count - first;
    }
    for (uint32_t i = first; i < count; i++) {
        end->wr[i].next = NULL;
        *error = ibv_post_send(end->pair.qp[0], &end->wr[i], &bad_wr);
        if (*error)
            return i - first;
    }
    return count - first;
}

int list_poll_all(struct ibv_cq *cq, struct ibv_wc *wc)
{
    int count = 0;
    int polled;

    memset(wc, 0, COMPLETIONS * sizeof(*wc));
    while ((polled = ibv_poll_cq(cq, COMPLETIONS - count, wc + count)) > 0)
        count += polled;
    return polled < 0 ? -1 : count;
}
