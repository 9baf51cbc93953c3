/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs_pair.h: two queue pairs connected by hand, without librpma and without a connection manager: for parameters
 * that librpma does not expose (rnr_retry, time-outs, several elements, atomics).
 */
#ifndef LOOPBACK_VERBS_PAIR_H
#define LOOPBACK_VERBS_PAIR_H

#include <infiniband/verbs.h>

/* Side 0 and side 1, in one context and one protection domain, each with a queue for both. */
struct verbs_pair {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq[2];
    struct ibv_pd *srq_pd; /* the shared receive queue's own, if asked for */
    struct ibv_srq *srq; /* side 1's, if asked for */
    struct ibv_qp *qp[2];
    char *buffer[2];     /* VERBS_BUFFER_SIZE bytes, registered for everything */
    struct ibv_mr *mr[2];
};

#define VERBS_BUFFER_SIZE 16384u

struct verbs_options {
    int cqe;               /* 0: 64 */
    uint32_t max_wr;       /* 0: 32 */
    uint32_t srq_wr;       /* not 0: side 1 receives from a shared receive queue */
    bool srq_own_pd;       /* which has a protection domain of its own */
    bool one_cq;           /* both sides complete in the same queue */
    bool receives_apart;   /* a side's receives complete in the other side's queue */
    uint32_t max_inline;
    bool signal_all;
    uint8_t rnr_retry;     /* as it is: 0 means none */
    uint8_t min_rnr_timer; /* 0 means 655 ms, 1 is 10 us */
    uint8_t timeout;       /* 0 means for ever; 4.096 us * 2^timeout */
    uint8_t retry_cnt;
    unsigned int access;   /* of the queue pairs; 0: all */
    uint64_t send_ops;     /* not 0: with the extended interface */
    uint64_t wc_flags;     /* not 0: extended completion queues with these fields */
};

void verbs_pair_open(struct verbs_pair *pair, const struct verbs_options *options);
void verbs_pair_close(struct verbs_pair *pair);

/* Takes a queue pair from RESET to RTS, towards that number. */
void verbs_connect(struct ibv_qp *qp, uint32_t dest_qp_num, const struct verbs_options *options);

/* Posts a work request of `length` bytes from the start of the side's buffer to the other's. */
void verbs_send(struct verbs_pair *pair, int side, uint64_t wr_id, enum ibv_wr_opcode opcode,
    uint32_t length, unsigned int flags);
int verbs_try_send(struct verbs_pair *pair, int side, uint64_t wr_id, enum ibv_wr_opcode opcode,
    uint32_t length, unsigned int flags);

/* Posts a receive into the side's buffer, to the shared receive queue where the side has one. */
void verbs_recv(struct verbs_pair *pair, int side, uint64_t wr_id, size_t offset, uint32_t length);
int verbs_try_recv(struct verbs_pair *pair, int side, uint64_t wr_id, size_t offset,
    uint32_t length);

/* Polls one completion, waiting for ten seconds and more. */
struct ibv_wc verbs_wc(struct ibv_cq *cq);

/* Polls one completion in the same way: it is that of `wr_id`, with that status. */
void verbs_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);

enum ibv_qp_state verbs_state(struct ibv_qp *qp);

#endif
