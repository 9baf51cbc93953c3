/* SPDX-License-Identifier: Apache-2.0 */
/* list_end.h: a connected pair with regions and requests for lists of messages. */
#ifndef LOOPBACK_LIST_END_H
#define LOOPBACK_LIST_END_H

#include "test.h"
#include "verbs_pair.h"

#define MOST 40 /* requests of a list: more than the device delivers together */
#define PIECES 4
#define QUEUE 63
#define COMPLETIONS 256

/* A pair. Each side has a second region, and one of another protection domain. */
struct list_end {
    struct verbs_pair pair;
    char *more[2]; /* side 0's and side 1's second region */
    struct ibv_mr *more_mr[2];
    struct ibv_pd *foreign_pd;
    struct ibv_mr *foreign[2];
    struct ibv_sge sge[MOST][PIECES];
    struct ibv_send_wr wr[MOST];
};

extern const struct verbs_options list_defaults;

/* The next number of a seed. */
uint32_t list_random(uint64_t *seed);

/* Opens a pair. Side 0's regions have contents. Taken down by list_end_close. */
void list_end_open(struct list_end *end, const struct verbs_options *options);
void list_end_close(struct list_end *end);

/*
 * An element of one of the side's regions; `bad` has a key of another protection domain, which is that of the queue pair where
 * the receives have one of their own.
 */
struct ibv_sge list_element(const struct list_end *end, int side, uint32_t where, uint32_t length, bool is_more, bool bad);

/* Makes a list of `count` sends of 64 bytes. */
void list_make_plain(struct list_end *end, uint32_t count, unsigned int flags);

/* Posts the requests of side 0 from `first` on, as a list or singly. Returns how many were posted. */
uint32_t list_post(struct list_end *end, uint32_t first, uint32_t count, bool singly, int *error);

/* Polls all completions of a queue. Returns their number, or -1 if it is dead. */
int list_poll_all(struct ibv_cq *cq, struct ibv_wc *wc);

#endif
