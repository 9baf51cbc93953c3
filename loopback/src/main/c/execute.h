/* SPDX-License-Identifier: Apache-2.0 */
/* execute.h: carrying out one send work request. */
#ifndef LOOPBACK_EXECUTE_H
#define LOOPBACK_EXECUTE_H

#include "memory.h"
#include "qp.h"

/* Longer messages are copied with no lock held: nobody waits for that. */
#define LB_SHORT_COPY 65536u
/*
 * Budget of a call for the waiting requests of other queue pairs, in copied bytes; each request also costs a fixed
 * number of bytes.
 */
#define LB_CALL_BUDGET (2u * LB_SHORT_COPY)
#define LB_REQUEST_COST 512u

enum lb_outcome {
    LB_DONE,             /* carried out, and completed */
    LB_NO_RECEIVE,       /* needs a receive, none is posted; the peer will kick when one is */
    LB_NO_PEER,          /* the peer does not take messages from us, not yet or no more */
    LB_FAILED,           /* *failure is the status of its completion */
    LB_COMPLETED_FAILED, /* the same, and it is completed */
    LB_AGAIN,            /* the peer has changed while a long message was copied */
    LB_DROPPED,          /* the send queue was emptied meanwhile: the executed request is no longer in it */
};

/*
 * Executes work request number qp->executed, which check_request has accepted; sq_lock held, the queue pair in RTS. May
 * add to the aftermath (a peer that enters the error state). A long request must be in the ring, and the caller must
 * hold a reference: the lock is released during the copy.
 */
enum lb_outcome lb_execute(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath);

/* The same for a queue pair that was created under a fault plan. */
enum lb_outcome lb_execute_under_plan(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath);

/* complete.c; sq_lock held. Completes the work request with the number qp->executed. */
void lb_complete_done(struct lb_qp *qp, const struct ibv_send_wr *wr, uint32_t length,
    struct lb_aftermath *aftermath);
void lb_complete_failed(struct lb_qp *qp, uint64_t wr_id, const struct lb_failure *failure,
    struct lb_aftermath *aftermath);

/* progress.c; sq_lock held. Returns false if the oldest request has no retry left: it fails with lb_wait_failure. */
bool lb_send_begin_waiting(struct lb_qp *qp, enum lb_wait reason);
const struct lb_failure *lb_wait_failure(enum lb_wait wait);
/* progress.c; sq_lock held. Fails the oldest request of the ring; the queue pair alone, if it is completed. */
void lb_send_fail_oldest(struct lb_qp *qp, const struct lb_failure *failure, struct lb_aftermath *aftermath);
void lb_send_fail(struct lb_qp *qp, struct lb_aftermath *aftermath);
/* complete.c; sq_lock held, before anything of a failure is visible. Notes it up to lb_send_fail, for the child of a fork. */
void lb_send_note_failure(struct lb_qp *qp, const struct lb_failure *failure);

static inline uint64_t lb_length_of(const struct ibv_send_wr *wr)
{
    uint64_t length = 0;

    for (int i = 0; i < wr->num_sge; i++)
        length += wr->sg_list[i].length;
    return length;
}

static inline uint64_t lb_cost_of(const struct ibv_send_wr *wr)
{
    return LB_REQUEST_COST + lb_length_of(wr);
}

/* message.c: the same for SEND, SEND with immediate and WRITE with immediate. */
enum lb_outcome lb_send_message(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_failure *failure,
    struct lb_aftermath *aftermath);

/*
 * execute.c; sq_lock held. A short write of one element in a list, if the queue pair keeps both regions: all checks and no more.
 * Returns false with nothing done if there is any reason to take the longer way, which reports failures, too.
 */
bool lb_write_kept(struct lb_qp *qp, const struct ibv_send_wr *wr, struct lb_aftermath *aftermath);

/* Messages that one section under the peer's rq_lock delivers, and their bytes: what others wait for it. */
#define LB_RUN 32u
#define LB_RUN_BYTES 16384u

/*
 * message_list.c; sq_lock held, nothing waits in the send ring, and the queue pair keeps regions. Delivers and completes messages
 * from *next on, at most `count` and LB_RUN, which check_request has accepted and whose completions, from qp->executed on, have
 * room. Returns their number, and sets *next to the message behind them, which the caller executes by lb_execute. The requests of
 * delivered messages must not be read any more: they may belong to the program again. Neither queue pair has a fault plan or is a
 * proxy, and the send queue's completion queue has no plan.
 */
uint32_t lb_send_run(struct lb_qp *qp, struct ibv_send_wr **next, uint32_t count, struct lb_aftermath *aftermath);

/*
 * peer.c; the requester's sq_lock held. A refusal also stops the peer: sets the requester's failure, stops the peer, and adds the
 * error transition and its event to the aftermath. Returns LB_FAILED.
 */
enum lb_outcome lb_refuse(struct lb_qp *qp, enum ibv_event_type event,
    struct lb_failure *failure, enum ibv_wc_status status, uint32_t vendor_err,
    struct lb_aftermath *aftermath);

/* peer.c. Holds the peer's memory that an operation names, with the rights that it needs, or refuses. */
char *lb_hold_remote(struct lb_qp *qp, uint32_t rkey, uint64_t address, uint64_t length,
    unsigned int access, struct lb_region **region, struct lb_failure *failure,
    struct lb_aftermath *aftermath);

#endif
