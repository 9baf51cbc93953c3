/* SPDX-License-Identifier: Apache-2.0 */
/* execute.h: carrying out one send work request. */
#ifndef LOOPBACK_EXECUTE_H
#define LOOPBACK_EXECUTE_H

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

#endif
