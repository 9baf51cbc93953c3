/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_short.c: short messages between processes in the usual case: one element, a receive is posted, nothing waits.
 *
 * A message is copied from the work request into the segment, and from there into the receive's memory; its completion is written
 * into the caller's array. All other cases take the general path (proxy_request.c): a function here returns before any effect.
 */
#include "proxy_request.h"
#include "segments.h"

/* The segment and the memory of users do not overlap. */
static inline void copy_short(char *to, const char *from, uint32_t length)
{
    for (; length >= LB_STREAM_LINE; length -= LB_STREAM_LINE, to += LB_STREAM_LINE, from += LB_STREAM_LINE)
        lb_stream_line(to, from);
    if (length > 0)
        lb_copy_bytes(to, from, length);
}

/* The same from memory that the program may just have written, which matters for few lines. */
static inline void copy_written(char *to, const char *from, uint32_t length)
{
    if (length > 2 * LB_STREAM_LINE) {
        copy_short(to, from, length);
        return;
    }
    for (; length >= LB_STREAM_LINE; length -= LB_STREAM_LINE, to += LB_STREAM_LINE, from += LB_STREAM_LINE)
        lb_stream_line_of_words(to, from);
    if (length > 0)
        lb_copy_bytes(to, from, length);
}

/* Keeps a sent request in the send queue until its acknowledgement. */
static inline void keep_sent(struct lb_qp *qp, const struct ibv_send_wr *wr)
{
    struct lb_send *send = lb_send_slot(qp, qp->posted);

    send->wr.wr_id = wr->wr_id;
    send->wr.sg_list = send->sge;
    send->wr.num_sge = 1;
    send->wr.opcode = wr->opcode;
    send->wr.send_flags = wr->send_flags;
    send->wr.imm_data = wr->imm_data;
    send->sge[0].addr = wr->sg_list->addr;
    send->sge[0].length = wr->sg_list->length;
    send->sge[0].lkey = wr->sg_list->lkey;
    qp->posted++;
    qp->sent++;
}

static inline bool is_send(unsigned int opcode)
{
    return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

bool lb_proxy_post(struct lb_qp *proxy_qp, struct lb_qp *qp, const struct ibv_send_wr *wr)
{
    struct lb_proxy *proxy = lb_proxy_of(proxy_qp);
    const struct ibv_sge *sge = wr->sg_list;
    struct lb_wire_record *record = lb_wire_at(proxy->requests_out.ring, proxy->requests_out.produced);

    /* The other end polls both lines: they move here at the same time, while the request is checked. */
    lb_wire_prefetch_to_write(record + 1);
    lb_wire_prefetch_to_write(record);
    if (!is_send(wr->opcode) || wr->send_flags & (IBV_SEND_INLINE | IBV_SEND_FENCE) || wr->num_sge != 1 ||
            qp->cap.max_send_sge == 0 || qp->sent != qp->posted)
        return false;
    const uint32_t length = sge->length;
    if (length - 1 >= LB_PROXY_SHORT)
        return false;
    const uint32_t size = lb_wire_record_size(length);
    lb_wire_note(&proxy->requests_out, atomic_load_explicit(&proxy->taken, memory_order_acquire));
    if (!lb_wire_has_place(&proxy->requests_out, size))
        return false;
    const char *host = lb_region_find_local(&qp->sent_from, sge->lkey, qp->base.qp_base.pd, sge->addr, length, 0);
    if (host == NULL)
        return false;
    const uint64_t next = lb_wire_next(&proxy->requests_out, size);
    const uint32_t last = next != proxy->requests_out.produced + size ? LB_WIRE_LAST : 0;
    lb_wire_clear(&proxy->requests_out, next);
    copy_written((char *)(record + 1), host, length);
    const uint32_t awaited = lb_proxy_await(proxy, qp, wr);
    const uint32_t solicited = wr->send_flags & IBV_SEND_SOLICITED ? LB_WIRE_SOLICITED : 0;
    record->what = LB_WIRE_WHAT(LB_WIRE_REQUEST, wr->opcode, last | awaited | solicited);
    record->length = length;
    record->imm_data = wr->imm_data;
    record->number = (uint64_t)qp->sq_epoch << 32 | qp->sent;
    record->taken = atomic_load_explicit(&proxy->requests_in.consumed, memory_order_acquire);
    record->offset = 0;
    record->rnr_retry = qp->attr.rnr_retry;
    record->retry_count = qp->attr.retry_cnt;
    record->timeout = qp->attr.timeout;
    lb_wire_show(&proxy->requests_out, record, size, next);
    keep_sent(qp, wr);
    return true;
}

/* Whether a header is that of a request to send that is not in parts. */
static inline bool is_whole_send(uint32_t what)
{
    _Static_assert((IBV_WR_SEND & 1) == 0 && IBV_WR_SEND_WITH_IMM == (IBV_WR_SEND | 1), "they differ in the lowest bit");
    return (what & LB_WIRE_WHAT(UINT8_MAX, UINT8_MAX & ~1u, LB_WIRE_MORE)) == LB_WIRE_WHAT(LB_WIRE_REQUEST, IBV_WR_SEND, 0);
}

static inline bool has_immediate(uint32_t what)
{
    return what & LB_WIRE_WHAT(0, 1, 0);
}

/* The receiver's rq_lock held. Copies a message into the oldest receive. NULL: there is none, or it does not take the message. */
static inline __attribute__((always_inline)) const struct lb_recv *fill_receive(struct lb_qp *receiver, const char *payload,
    uint32_t length)
{
    if (lb_recv_ring_count(&receiver->recv_ring) == 0)
        return NULL;
    const struct lb_recv *recv = lb_recv_ring_first(&receiver->recv_ring);
    if (recv->num_sge != 1 || length > recv->sge[0].length)
        return NULL;
    char *host = lb_region_find_local(&receiver->received_in, recv->sge[0].lkey, receiver->base.qp_base.pd, recv->sge[0].addr,
        length, IBV_ACCESS_LOCAL_WRITE);
    if (host == NULL)
        return NULL;
    copy_short(host, payload, length);
    return recv;
}

/*
 * The proxy's sq_lock and the receiver's rq_lock held. Executes one message and completes it past the completion queue; false:
 * not this way.
 */
static inline __attribute__((always_inline)) bool take_one(
    struct lb_proxy *proxy, struct lb_qp *receiver, const struct lb_cq *cq, struct ibv_wc *wc)
{
    struct lb_wire_short request;
    const char *payload = lb_wire_peek_short(&proxy->requests_in, &request, LB_PROXY_SHORT);

    /* Responses and acknowledgements go before the request: see lb_proxy_next. */
    if (__builtin_expect(payload == NULL || !is_whole_send(request.what) || lb_proxy_is_responded(proxy), 0))
        return false;
    /* Checked last: another thread publishes the completions of responses before it marks the responses as taken. */
    if (__builtin_expect(!lb_cq_shows_none(cq), 0))
        return false;
    const struct lb_recv *recv = fill_receive(receiver, payload, request.length);
    if (__builtin_expect(recv == NULL, 0))
        return false;
    const bool immediate = has_immediate(request.what);
    wc->wr_id = recv->wr_id;
    wc->status = IBV_WC_SUCCESS;
    wc->opcode = IBV_WC_RECV;
    wc->vendor_err = 0;
    wc->byte_len = request.length;
    wc->imm_data = immediate ? request.imm_data : 0;
    wc->qp_num = lb_qp_num(receiver);
    wc->src_qp = lb_qp_num(&proxy->qp);
    wc->wc_flags = immediate ? IBV_WC_WITH_IMM : 0;
    wc->pkey_index = 0;
    wc->slid = 0;
    wc->sl = 0;
    wc->dlid_path_bits = 0;
    receiver->recv_ring.consumed++;
    atomic_store_explicit(&proxy->taken, request.taken, memory_order_release);
    atomic_store_explicit(&proxy->outbound->acknowledged, request.number + 1, memory_order_release);
    if (lb_wire_has_flags(request.what, LB_WIRE_AWAITED))
        atomic_store_explicit(&proxy->unanswered, true, memory_order_release);
    lb_wire_consume(&proxy->requests_in, request.size);
    return true;
}

/* Wakes the other end if it waits for room, or sleeps and waits for an answered request. */
static inline void wake(struct lb_proxy *proxy, bool answered)
{
    if (__builtin_expect(lb_wire_starved(&proxy->requests_in), 0))
        lb_proxy_wake_unfenced(proxy, 0);
    if (answered &&
            __builtin_expect(atomic_load_explicit(&proxy->outbound->sleep_state, memory_order_relaxed) != LB_WIRE_AWAKE, 0))
        lb_proxy_wake_unfenced(proxy, LB_WIRE_NOTIFY_SENDS);
}

void lb_proxy_announce(struct lb_proxy *proxy)
{
    if (!atomic_load_explicit(&proxy->unannounced, memory_order_relaxed) ||
            !atomic_exchange_explicit(&proxy->unannounced, false, memory_order_acq_rel))
        return;
    /* Cleared before the fence: the other end sees each answer of another thread that is seen here. */
    const bool answered = atomic_load_explicit(&proxy->unanswered, memory_order_relaxed) &&
        atomic_exchange_explicit(&proxy->unanswered, false, memory_order_acq_rel);
    lb_wire_fence();
    wake(proxy, answered);
}

/* The proxy's sq_lock held. Whether no request is in execution, in part or waiting. */
static inline bool is_idle(const struct lb_proxy *proxy)
{
    const struct lb_qp *qp = &proxy->qp;

    return qp->wait == LB_WAIT_NONE && qp->executed == qp->posted && proxy->message_length == 0 && !qp->sq_error && !qp->gone &&
        !atomic_load_explicit(&proxy->requests_in.broken, memory_order_relaxed);
}

/* The locks held, as in take_one. Returns the number of messages, at most `room`. */
static inline __attribute__((always_inline)) int take_all(struct lb_proxy *proxy, struct lb_qp *receiver, const struct lb_cq *cq,
    int room, struct ibv_wc *wc)
{
    int taken = 0;

    if (__builtin_expect(!receiver->rq_error && lb_qp_responds_to(receiver, &proxy->qp), 1)) {
        while (take_one(proxy, receiver, cq, &wc[taken]) && ++taken < room)
            ;
    }
    return taken;
}

/*
 * The proxy's sq_lock held, after messages were taken. Without a fence, which the next empty poll executes: an end that falls
 * asleep meanwhile is woken then, or by the watch thread, which checks each end that is awake.
 */
static inline void follow(struct lb_proxy *proxy)
{
    atomic_store_explicit(&proxy->unannounced, true, memory_order_release);
    wake(proxy, atomic_load_explicit(&proxy->unanswered, memory_order_relaxed));
}

/* No lock held, after messages were taken. */
static inline void follow_asleep(struct lb_proxy *proxy)
{
    if (__builtin_expect(atomic_load_explicit(&proxy->inbound->sleep_state, memory_order_relaxed) != LB_WIRE_AWAKE, 0))
        lb_proxy_announce(proxy);
}

int lb_proxy_take_short(struct lb_proxy *proxy, const struct lb_cq *cq, int room, struct ibv_wc *wc)
{
    struct lb_qp *qp = &proxy->qp;
    int taken = 0;

    lb_lock_acquire(&qp->sq_lock);
    struct lb_qp *receiver = qp->peer;
    if (receiver != NULL && is_idle(proxy)) {
        lb_lock_acquire(&receiver->rq_lock);
        taken = take_all(proxy, receiver, cq, room, wc);
        lb_lock_release(&receiver->rq_lock);
    }
    if (taken > 0)
        follow(proxy);
    lb_lock_release(&qp->sq_lock);
    if (taken > 0)
        follow_asleep(proxy);
    return taken;
}

/* The same with both locks biased to this thread, as they are for one that polls for long. */
static inline __attribute__((always_inline)) int take_biased(struct lb_proxy *proxy, const struct lb_cq *cq, int room,
    struct ibv_wc *wc)
{
    struct lb_qp *qp = &proxy->qp;

    if (__builtin_expect(!lb_lock_enter(&qp->sq_lock), 0))
        return lb_proxy_take_short(proxy, cq, room, wc);
    struct lb_qp *receiver = qp->peer;
    if (__builtin_expect(receiver == NULL || !is_idle(proxy), 0)) {
        lb_lock_leave(&qp->sq_lock);
        return 0;
    }
    if (__builtin_expect(!lb_lock_enter(&receiver->rq_lock), 0)) {
        lb_lock_leave(&qp->sq_lock);
        return lb_proxy_take_short(proxy, cq, room, wc);
    }
    const int taken = take_all(proxy, receiver, cq, room, wc);
    lb_lock_leave(&receiver->rq_lock);
    if (taken > 0)
        follow(proxy);
    lb_lock_leave(&qp->sq_lock);
    if (taken > 0)
        follow_asleep(proxy);
    return taken;
}

/* Whether the watch thread knows that the end is polled, and the end is awake: see keep_awake in proxy.c. */
static inline bool is_kept_awake(const struct lb_proxy *proxy)
{
    return atomic_load_explicit(&proxy->polled, memory_order_relaxed) &&
        atomic_load_explicit(&proxy->inbound->sleep_state, memory_order_relaxed) == LB_WIRE_AWAKE;
}

/* proxies_lock held, and released. The usual proxy has a request. */
static __attribute__((noinline)) int drive_requests(struct lb_cq *cq, int room, struct ibv_wc *wc, const struct lb_cq_proxy *usual,
    bool biased)
{
    const int taken = usual->is_short && room > 0 ? take_biased(usual->proxy, cq, room, wc) : 0;

    if (__builtin_expect(taken == 0, 0))
        return cq->drive_list(cq, room, wc);
    lb_lock_return(&cq->proxies_lock, biased);
    return taken == room || lb_cq_shows_none(cq) ? taken : lb_cq_poll_ring(cq, taken, room, wc);
}

int lb_proxy_drive(struct lb_cq *cq, int room, struct ibv_wc *wc)
{
    const bool biased = lb_lock_enter(&cq->proxies_lock);

    if (__builtin_expect(!biased, 0) && !lb_lock_try(&cq->proxies_lock))
        return 0; /* another poll drives them */
    const struct lb_cq_proxy *usual = cq->usual;
    if (usual == NULL || !is_kept_awake(usual->proxy) || atomic_load_explicit(&usual->proxy->stalled, memory_order_relaxed))
        return cq->drive_list(cq, room, wc);
    struct lb_proxy *proxy = usual->proxy;
    if (lb_wire_pending(&proxy->requests_in))
        return drive_requests(cq, room, wc, usual, biased);
    if (lb_proxy_is_responded(proxy))
        return cq->drive_list(cq, room, wc);
    if (__builtin_expect(atomic_load_explicit(&proxy->unannounced, memory_order_relaxed), 0))
        lb_proxy_announce(proxy);
    lb_lock_return(&cq->proxies_lock, biased);
    return lb_cq_shows_none(cq) ? 0 : lb_cq_poll_ring(cq, 0, room, wc);
}
