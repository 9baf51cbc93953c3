/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_list.c: a run of short messages in a list. The peer's receive queue is locked once for all of them, and the completions
 * of each side become visible together, the sender's first.
 *
 * Only messages that succeed are delivered here. The first one that does not ends the run with nothing done for it: it is
 * executed as one of its own (message.c), where it waits, fails or is refused.
 */
#include "cq_ring.h"
#include "segments.h"

/*
 * What the completion of a receive needs. The receive may be overwritten by the next one, and the request by its owner: as soon
 * as the sender's completion is visible.
 */
struct delivered {
    uint64_t recv_wr_id;
    uint32_t length;
    uint32_t imm_data;
    enum ibv_wr_opcode opcode;
    bool solicited;
};

static bool is_signaled(const struct lb_qp *qp, const struct ibv_send_wr *wr)
{
    return wr->send_flags & IBV_SEND_SIGNALED || qp->signal_all;
}

/*
 * Peer's rq_lock held. Returns the oldest receive, or NULL if there is none; does not wait. A receive of a shared queue is taken
 * from it for this queue pair. If the message cannot be delivered here, message.c delivers it into the same receive. If that
 * fails first, for instance because the sender's memory is deregistered meanwhile, the receive is flushed with the queue pair.
 */
static inline const struct lb_recv *look_for_receive(struct lb_qp *peer)
{
    if (__builtin_expect(peer->srq == NULL, 1))
        return lb_recv_ring_count(&peer->recv_ring) > 0 ? lb_recv_ring_first(&peer->recv_ring) : NULL;
    if (!peer->recv_taken && !lb_srq_take(peer->srq, peer->taken, NULL))
        return NULL;
    peer->recv_taken = true;
    return peer->taken;
}

/* The memory of a write with immediate, whose region is kept from here on. NULL for any reason. */
static char *keep_target(struct lb_qp *qp, const struct ibv_send_wr *wr, uint64_t length)
{
    struct lb_region *region;
    uint32_t reason;
    char *host = lb_look_at_kept(qp, wr, length, IBV_ACCESS_REMOTE_WRITE);

    if (host != NULL || IBV_ACCESS_REMOTE_WRITE & ~atomic_load_explicit(&qp->peer->remote_access, memory_order_relaxed))
        return host;
    host = lb_region_hold_remote(wr->wr.rdma.rkey, qp->peer->base.qp_base.pd, wr->wr.rdma.remote_addr, length,
        IBV_ACCESS_REMOTE_WRITE, &region, &reason);
    if (host != NULL) {
        if (qp->kept_remote != NULL)
            lb_region_release(qp->kept_remote);
        qp->kept_remote = region;
    }
    return host;
}

/*
 * Peer's rq_lock held. Fills any receive. Returns false with nothing done if the message does not fit, or its memory is not
 * usable.
 */
static __attribute__((noinline)) bool fill(struct lb_qp *qp, const struct lb_segments *from, const struct lb_recv *recv,
    const struct ibv_pd *pd)
{
    struct lb_segments to;
    uint64_t room = 0;

    for (uint32_t i = 0; i < recv->num_sge; i++)
        room += recv->sge[i].length;
    if (from->total > room || lb_segments_hold_receive_in_list(&to, qp, pd, recv, from->total) != 0)
        return false;
    lb_segments_copy(&to, from);
    lb_segments_release(&to);
    return true;
}

/*
 * Peer's rq_lock held. Copies any message. Returns its receive, or NULL with nothing done if it cannot. As message.c does, it
 * takes a receive only for a message that the sender's own checks and those of the target permit.
 */
static __attribute__((noinline)) const struct lb_recv *copy_any(struct lb_qp *qp, const struct ibv_send_wr *wr,
    const struct ibv_pd *pd, uint32_t *length)
{
    const struct lb_recv *recv = NULL;
    struct lb_failure failure;
    struct lb_segments from;
    struct lb_segments target = {0};

    if (!lb_segments_hold(&from, qp, wr, 0, &failure))
        return NULL;
    *length = (uint32_t)from.total;
    if (wr->opcode != IBV_WR_RDMA_WRITE_WITH_IMM) {
        recv = look_for_receive(qp->peer);
        if (recv != NULL && !fill(qp, &from, recv, pd))
            recv = NULL;
    } else {
        char *host = from.total > 0 ? keep_target(qp, wr, from.total) : NULL;

        if (host != NULL || from.total == 0)
            recv = look_for_receive(qp->peer);
        if (host != NULL && recv != NULL) {
            lb_segments_of(&target, host, from.total, NULL);
            lb_segments_copy(&target, &from);
        }
    }
    lb_segments_release(&from);
    return recv;
}

/* The same; the usual message is one element of a kept region, or inline, and goes to the first element of its receive. */
static inline const struct lb_recv *copy(struct lb_qp *qp, const struct ibv_send_wr *wr, const struct ibv_pd *pd,
    uint32_t *length)
{
    const struct ibv_sge *sge = &wr->sg_list[0];
    char *from = NULL;
    char *to = NULL;

    if (wr->num_sge != 1 || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM || sge->length == 0)
        return copy_any(qp, wr, pd, length);
    if (wr->send_flags & IBV_SEND_INLINE)
        from = (char *)(uintptr_t)sge->addr;
    else if (qp->kept_local != NULL)
        from = lb_region_look(qp->kept_local, sge->lkey, qp->base.qp_base.pd, sge->addr, sge->length, 0);
    if (from == NULL)
        return copy_any(qp, wr, pd, length);
    const struct lb_recv *recv = look_for_receive(qp->peer);
    if (recv == NULL)
        return NULL;
    *length = sge->length;
    if (qp->kept_receive != NULL && recv->num_sge > 0 && sge->length <= recv->sge[0].length)
        to = lb_region_look(qp->kept_receive, recv->sge[0].lkey, pd, recv->sge[0].addr, sge->length, IBV_ACCESS_LOCAL_WRITE);
    if (__builtin_expect(to == NULL, 0)) {
        struct lb_segments segments;

        lb_segments_of(&segments, from, sge->length, NULL);
        return fill(qp, &segments, recv, pd) ? recv : NULL;
    }
    lb_copy_bytes(to, from, sge->length);
    return recv;
}

static void complete_send(struct lb_qp *qp, struct lb_cq_run *run, const struct ibv_send_wr *wr, uint32_t number,
    uint32_t length, struct lb_aftermath *aftermath)
{
    struct lb_cqe *cqe = lb_cq_run_next(run, false);

    if (__builtin_expect(cqe == NULL, 0)) {
        lb_aftermath_overrun(aftermath, qp);
        return;
    }
    *cqe = (struct lb_cqe){
        .wc = {
            .wr_id = wr->wr_id,
            .status = IBV_WC_SUCCESS,
            .opcode = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RDMA_WRITE : IBV_WC_SEND,
            .byte_len = length,
            .qp_num = lb_qp_num(qp),
        },
        .qp = qp,
        .retired = number + 1,
    };
}

static void complete_receive(struct lb_qp *qp, struct lb_cq_run *run, const struct delivered *delivered,
    struct lb_aftermath *aftermath)
{
    const bool immediate = delivered->opcode != IBV_WR_SEND;
    struct lb_qp *peer = qp->peer;
    struct lb_cqe *cqe = lb_cq_run_next(run, delivered->solicited);

    if (__builtin_expect(cqe == NULL, 0)) {
        lb_aftermath_fail(aftermath, peer, IBV_EVENT_QP_FATAL);
        return;
    }
    *cqe = (struct lb_cqe){
        .wc = {
            .wr_id = delivered->recv_wr_id,
            .status = IBV_WC_SUCCESS,
            .opcode = delivered->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
            .byte_len = delivered->length,
            .imm_data = immediate ? delivered->imm_data : 0,
            .qp_num = lb_qp_num(peer),
            .src_qp = lb_qp_num(qp),
            .wc_flags = immediate ? IBV_WC_WITH_IMM : 0,
        },
    };
}

/* Peer's rq_lock held. Completes both sides of the delivered messages. */
static void complete(struct lb_qp *qp, const struct ibv_send_wr *first, const struct delivered *delivered, uint32_t count,
    bool any_signaled, struct lb_aftermath *aftermath)
{
    struct lb_cq *recv_cq = qp->peer->recv_cq;
    const bool in_one = qp->send_cq == recv_cq;
    const struct ibv_send_wr *wr = first;
    struct lb_cq_run run;

    if (any_signaled && !in_one) {
        lb_cq_run_begin(&run, qp->send_cq);
        for (uint32_t i = 0; i < count; i++, wr = wr->next) {
            if (is_signaled(qp, wr))
                complete_send(qp, &run, wr, qp->executed + i, delivered[i].length, aftermath);
        }
        lb_cq_run_end(&run);
    }
    lb_cq_run_begin(&run, recv_cq);
    for (uint32_t i = 0; i < count; i++) {
        if (in_one) {
            if (is_signaled(qp, wr))
                complete_send(qp, &run, wr, qp->executed + i, delivered[i].length, aftermath);
            wr = wr->next;
        }
        complete_receive(qp, &run, &delivered[i], aftermath);
    }
    lb_cq_run_end(&run);
}

/* Peer's rq_lock held. Returns how many messages were delivered; *next becomes the one behind them. */
static uint32_t deliver(struct lb_qp *qp, struct ibv_send_wr **next, uint32_t count, struct lb_aftermath *aftermath)
{
    const struct ibv_send_wr *first = *next;
    struct lb_qp *peer = qp->peer;
    /* A receive belongs to the protection domain of the queue that it was posted to. */
    const struct ibv_pd *pd = peer->srq != NULL ? peer->srq->base.pd : peer->base.qp_base.pd;
    struct ibv_send_wr *wr = *next;
    struct delivered delivered[LB_RUN];
    bool any_signaled = false;
    uint32_t done = 0;

    for (; done < count; done++, wr = wr->next) {
        const struct lb_recv *recv = copy(qp, wr, pd, &delivered[done].length);

        if (recv == NULL)
            break;
        delivered[done].recv_wr_id = recv->wr_id;
        delivered[done].imm_data = wr->imm_data;
        delivered[done].opcode = wr->opcode;
        delivered[done].solicited = wr->send_flags & IBV_SEND_SOLICITED;
        if (peer->srq == NULL)
            peer->recv_ring.consumed++;
        peer->recv_taken = false;
        any_signaled |= is_signaled(qp, wr);
    }
    *next = wr;
    if (done > 0)
        complete(qp, first, delivered, done, any_signaled, aftermath);
    return done;
}

uint32_t lb_send_run(struct lb_qp *qp, struct ibv_send_wr **next, uint32_t count, struct lb_aftermath *aftermath)
{
    struct lb_qp *peer = qp->peer;
    uint32_t done = 0;

    lb_lock_acquire(&peer->rq_lock);
    /* In this order: the queues of one that does not respond may be gone. */
    if (!peer->rq_error && lb_qp_responds_to(peer, qp) && peer->recv_cq->faults == NULL)
        done = deliver(qp, next, count, aftermath);
    lb_lock_release(&peer->rq_lock);
    return done;
}
