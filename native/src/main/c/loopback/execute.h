/* SPDX-License-Identifier: Apache-2.0 */
/* execute.h: carrying out one send work request. */
#ifndef LOOPBACK_EXECUTE_H
#define LOOPBACK_EXECUTE_H

#include "memory.h"
#include "qp.h"

enum lb_outcome {
    LB_DONE,       /* carried out: *length is what its completion's byte_len says */
    LB_NO_RECEIVE, /* needs a receive, none is posted; the peer will kick when one is */
    LB_NO_PEER,    /* the peer does not take messages from us, not yet or no more */
    LB_FAILED,     /* *failure is what its completion says */
};

struct lb_failure {
    enum ibv_wc_status status;
    uint32_t vendor_err;
};

/*
 * Carries out a work request that check_request has let pass; sq_lock held, the queue pair in
 * RTS. May add to the aftermath (a peer brought down by what it was asked to do).
 */
enum lb_outcome lb_execute(struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t *length,
    struct lb_failure *failure, struct lb_aftermath *aftermath);

/* message.c: the same for SEND, SEND with immediate and WRITE with immediate. */
enum lb_outcome lb_send_message(struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t *length,
    struct lb_failure *failure, struct lb_aftermath *aftermath);

/*
 * What the peer refuses brings it down as well: fills in the requester's failure, stops the peer,
 * and leaves the rest, with an event, to the aftermath. Returns LB_FAILED.
 */
enum lb_outcome lb_refuse(struct lb_qp *peer, enum ibv_event_type event,
    struct lb_failure *failure, enum ibv_wc_status status, uint32_t vendor_err,
    struct lb_aftermath *aftermath);

/* Holds the peer's memory that an operation names, with the rights that it needs, or refuses. */
char *lb_hold_remote(struct lb_qp *peer, uint32_t rkey, uint64_t address, uint64_t length,
    unsigned int access, struct lb_region **region, struct lb_failure *failure,
    struct lb_aftermath *aftermath);

#endif
