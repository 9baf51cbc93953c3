/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_request.c: requests to and from another process, and the responses.
 *
 * A request that does not fit into one record is sent in parts, which are executed one by one. The first part of a message (SEND)
 * waits for the receive that all its parts fill; a write with immediate is writes and, last, a write with immediate.
 *
 * A request that fails has a response, and so has one that returns bytes: a read, each of its parts, and an atomic operation.
 * All others are acknowledged by their number. A response also acknowledges the requests before its own.
 */
#include <errno.h>
#include <sys/socket.h>

#include "proxy_request.h"
#include "qp_fault.h"
#include "segments.h"
#include "uncancelled.h"
#include "watch.h"

#define TRIES 8

void lb_proxy_wake(struct lb_proxy *proxy, uint32_t completes)
{
    lb_wire_fence();
    lb_proxy_wake_unfenced(proxy, completes);
}

/* Notifications of the other end are suppressed. If it reads nothing in time, lb_proxy_wake_overdue wakes its watch thread. */
static void note_unread(struct lb_proxy *proxy)
{
    atomic_store_explicit(&proxy->unread, true, memory_order_release); /* behind the state: see lb_proxy_wake_overdue */
    lb_watch_tick();
}

static void wake_watch_thread(const struct lb_proxy *proxy)
{
    static const char wake_up = LB_PROXY_WAKE_UP;

    while (lb_send(proxy->socket, &wake_up, sizeof(wake_up), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void lb_proxy_wake_unfenced(struct lb_proxy *proxy, uint32_t completes)
{
    _Atomic uint32_t *state = &proxy->outbound->sleep_state;
    uint32_t seen = atomic_load_explicit(state, memory_order_relaxed);
    bool notifies = false;

    if (proxy->doorbell < 0)
        completes = 0;
    /* Again when another thread has changed it. The watch thread works for an end that changes it all the time. */
    for (int tries = 0; tries < TRIES; tries++) {
        const uint32_t base = seen & LB_WIRE_STATE;

        if (base == LB_WIRE_AWAKE || base == LB_WIRE_WOKEN)
            return;
        if (base == LB_WIRE_SUPPRESSED && completes) {
            note_unread(proxy);
            return;
        }
        notifies = base == LB_WIRE_ASLEEP && seen & completes;
        if (atomic_compare_exchange_strong(state, &seen, notifies ? LB_WIRE_SUPPRESSED | LB_WIRE_NOTIFIED :
                LB_WIRE_WOKEN | (seen & LB_WIRE_NOTIFIED)))
            break;
        notifies = false;
    }
    if (!notifies) {
        wake_watch_thread(proxy);
        return;
    }
    atomic_fetch_add_explicit(&proxy->notifications, 1, memory_order_relaxed);
    lb_doorbell_ring(proxy->doorbell);
    note_unread(proxy);
}

void lb_proxy_break_off(struct lb_proxy *proxy)
{
    if (!atomic_exchange(&proxy->broken, true))
        lb_watch_call();
}

static bool is_fetching_atomic(unsigned int opcode)
{
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool returns_bytes(unsigned int opcode)
{
    return opcode == IBV_WR_RDMA_READ || is_fetching_atomic(opcode);
}

static bool is_send(unsigned int opcode)
{
    return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

/* Whether it completes a receive. */
static bool takes_receive(unsigned int opcode)
{
    return is_send(opcode) || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Copies payload into a ring. */
static inline void copy_to_ring(struct lb_stream *stream, char *to, const char *from, size_t length)
{
    if (length < LB_STREAM_MIN)
        lb_copy_bytes(to, from, length);
    else
        lb_stream_copy(stream, to, from, length);
}

/* Copies payload out of a ring. */
static inline void copy_from_ring(struct lb_stream *stream, char *to, const char *from, size_t length)
{
    if (length < LB_STREAM_MIN)
        lb_copy_bytes(to, from, length);
    else
        lb_stream_fetch(stream, to, from, length);
}

/* Copies between the bytes from `offset` on of the elements and one piece of memory in a ring: to it, or from it. */
static void copy_piece(const struct lb_segments *elements, uint64_t offset, char *piece, uint32_t length, struct lb_stream *stream)
{
    for (int i = 0; i < elements->count && length > 0; i++) {
        if (offset >= elements->at[i].length) {
            offset -= elements->at[i].length;
            continue;
        }
        char *host = elements->at[i].host + offset;
        const uint32_t rest = elements->at[i].length - (uint32_t)offset;
        const uint32_t count = rest < length ? rest : length;

        if (stream->reads)
            copy_from_ring(stream, host, piece, count);
        else
            copy_to_ring(stream, piece, host, count);
        piece += count;
        length -= count;
        offset = 0;
    }
}

enum step { SENT, NO_ROOM, NOT_READY, FAILED };

static void describe(struct lb_wire_record *record, const struct lb_proxy *proxy, const struct lb_qp *qp,
    const struct ibv_send_wr *wr, bool more)
{
    const unsigned int opcode = wr->opcode;

    *record = (struct lb_wire_record){
        .kind = LB_WIRE_REQUEST,
        /* A part of a write with immediate that is not the last is a write. */
        .opcode = (uint8_t)(more && opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WR_RDMA_WRITE : opcode),
        .flags = (uint8_t)((more ? LB_WIRE_MORE : 0) | (wr->send_flags & IBV_SEND_SOLICITED ? LB_WIRE_SOLICITED : 0)),
        .imm_data = wr->imm_data,
        .number = (uint64_t)qp->sq_epoch << 32 | qp->sent,
        .taken = atomic_load_explicit(&proxy->requests_in.consumed, memory_order_acquire),
        .offset = qp->sent_bytes,
        .rnr_retry = qp->attr.rnr_retry,
        .retry_count = qp->attr.retry_cnt,
        .timeout = qp->attr.timeout,
    };
    if (is_fetching_atomic(opcode)) {
        record->remote_addr = wr->wr.atomic.remote_addr;
        record->rkey = wr->wr.atomic.rkey;
        record->compare_add = wr->wr.atomic.compare_add;
        record->swap = wr->wr.atomic.swap;
    } else if (!is_send(opcode)) {
        record->remote_addr = wr->wr.rdma.remote_addr + qp->sent_bytes;
        record->rkey = wr->wr.rdma.rkey;
    }
}

/* Sends the request with the number qp->sent, or its next part. */
static enum step send_part(struct lb_proxy *proxy, struct lb_qp *qp, struct lb_failure *failure)
{
    const struct ibv_send_wr *wr = &lb_send_slot(qp, qp->sent)->wr;
    const bool takes = wr->opcode == IBV_WR_RDMA_READ || is_fetching_atomic(wr->opcode);
    struct lb_segments local;

    if (!lb_segments_hold(&local, qp, wr, takes ? IBV_ACCESS_LOCAL_WRITE : 0, failure))
        return FAILED;
    /* The element of an atomic operation may be longer than the eight bytes that it takes. */
    const uint32_t left = is_fetching_atomic(wr->opcode) ? 8 : (uint32_t)local.total - qp->sent_bytes;
    const uint32_t part = left > LB_WIRE_CHUNK ? LB_WIRE_CHUNK : left;
    char *payload = lb_wire_claim(&proxy->requests_out, takes ? 0 : part);
    if (payload != NULL) {
        struct lb_wire_record record;

        describe(&record, proxy, qp, wr, part < left);
        record.length = is_fetching_atomic(wr->opcode) ? 0 : part;
        if (!takes)
            copy_piece(&local, qp->sent_bytes, payload, part, &proxy->requests_out.stream);
        if (part == left)
            record.flags |= lb_proxy_await(proxy, qp, wr);
        lb_wire_publish(&proxy->requests_out, &record, takes ? 0 : part);
        qp->sent_bytes += part;
        if (part == left) {
            qp->sent++;
            qp->sent_bytes = 0;
        }
    }
    lb_segments_release(&local);
    return payload != NULL ? SENT : NO_ROOM;
}

/* The step of the fault plan for a request that is to be sent; SENT: it is sent as without a plan. */
static enum step plan(struct lb_qp *qp, struct lb_failure *failure, bool *completed, struct lb_aftermath *aftermath)
{
    if (qp->sent_bytes > 0)
        return SENT;
    switch (lb_qp_faults_before(qp, &lb_send_slot(qp, qp->sent)->wr, failure, aftermath)) {
    case LB_DONE:
        return SENT;
    case LB_NO_RECEIVE:
        if (lb_send_begin_waiting(qp, LB_WAIT_RNR))
            return NOT_READY;
        *failure = *lb_wait_failure(LB_WAIT_RNR);
        return FAILED;
    case LB_NO_PEER:
    case LB_AGAIN:
    case LB_DROPPED:
        return NO_ROOM;
    case LB_COMPLETED_FAILED:
        *completed = true;
        return FAILED;
    case LB_FAILED:
        return FAILED;
    }
    return SENT;
}

/* The next request has a fence: it takes its bytes when those of the reads before it are there. */
static bool is_behind_fence(const struct lb_qp *qp)
{
    if ((lb_send_slot(qp, qp->sent)->wr.send_flags & (IBV_SEND_FENCE | IBV_SEND_INLINE)) != IBV_SEND_FENCE)
        return false;
    for (uint32_t number = qp->executed; number != qp->sent; number++) {
        if (returns_bytes(lb_send_slot(qp, number)->wr.opcode))
            return true;
    }
    return false;
}

static bool is_refusal(uint32_t status)
{
    return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR || status == IBV_WC_REM_OP_ERR;
}

/* The plan lets the peer refuse the request with the number qp->sent: its process does so. A record is claimed. */
static void send_refused(struct lb_proxy *proxy, struct lb_qp *qp, const struct lb_failure *failure)
{
    struct lb_wire_record record;

    describe(&record, proxy, qp, &lb_send_slot(qp, qp->sent)->wr, false);
    record.flags |= lb_proxy_await(proxy, qp, &lb_send_slot(qp, qp->sent)->wr);
    record.opcode = LB_WR_REFUSED;
    record.taken = atomic_load_explicit(&proxy->requests_in.consumed, memory_order_acquire);
    record.imm_data = failure->status;
    lb_wire_publish(&proxy->requests_out, &record, 0);
    qp->sent++;
}

void lb_proxy_send(struct lb_qp *proxy_qp, struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    struct lb_proxy *proxy = lb_proxy_of(proxy_qp);
    bool wakes = false;
    uint32_t completes = 0;

    lb_wire_note(&proxy->requests_out, atomic_load_explicit(&proxy->taken, memory_order_acquire));
    while (qp->sent != qp->posted && !qp->sq_error) {
        struct lb_failure failure;
        bool completed = false;
        enum step step = SENT;

        /* The plan acts on the oldest request, so those before it must have their responses. */
        if (__builtin_expect(qp->faults != NULL, 0)) {
            const bool can_send = qp->executed == qp->sent && lb_wire_claim(&proxy->requests_out, 0) != NULL;

            step = can_send ? plan(qp, &failure, &completed, aftermath) : NO_ROOM;
            if (step == FAILED && !completed && is_refusal(failure.status)) {
                send_refused(proxy, qp, &failure);
                wakes = true;
                continue;
            }
        }
        const bool receives = takes_receive(lb_send_slot(qp, qp->sent)->wr.opcode);
        if (step == SENT)
            step = is_behind_fence(qp) ? NO_ROOM : send_part(proxy, qp, &failure);
        if (step == SENT) {
            wakes = true;
            if (receives && qp->sent_bytes == 0) /* its last part */
                completes |= LB_WIRE_NOTIFY_RECEIVES;
            continue;
        }
        if (step == FAILED && qp->executed != qp->sent)
            lb_proxy_settle(proxy_qp, qp, aftermath);
        if (step == FAILED && qp->executed == qp->sent) {
            if (completed)
                qp->executed++;
            if (completed)
                lb_send_fail(qp, aftermath);
            else
                lb_send_fail_oldest(qp, &failure, aftermath);
            break;
        }
        if (step == NOT_READY) /* until the plan's timer kicks it */
            break;
        /*
         * There is no room, or a failure or a fence waits for earlier requests, whose acknowledgement wakes nobody. So the loop
         * looks once more behind two marks: `starved`, for the other end if this one sleeps, and `stalled`, for the thread that
         * takes the responses and for this end when it falls asleep. Neither overlooks what arrives after that look.
         */
        (void)lb_wire_await_asleep(&proxy->requests_out);
        if (!atomic_exchange(&proxy->stalled, true))
            continue;
        qp->wait = LB_WAIT_ROOM;
        break;
    }
    if (proxy->requests_out.broken)
        lb_proxy_break_off(proxy);
    if (wakes)
        lb_proxy_wake(proxy, completes);
}

/* Puts the bytes of a response into the elements of its request, or fails the request. Returns false if it has failed. */
static bool fill(struct lb_qp *qp, const struct lb_wire_record *response, char *payload, struct lb_stream *stream,
    struct lb_aftermath *aftermath)
{
    const struct ibv_send_wr *wr = &lb_send_slot(qp, qp->executed)->wr;
    struct lb_segments local;
    struct lb_failure failure;

    if (!lb_segments_hold(&local, qp, wr, IBV_ACCESS_LOCAL_WRITE, &failure)) {
        lb_send_fail_oldest(qp, &failure, aftermath);
        return false;
    }
    copy_piece(&local, response->offset, payload, response->length, stream);
    lb_segments_release(&local);
    return true;
}

static void complete_oldest(struct lb_qp *qp, uint32_t length, struct lb_aftermath *aftermath)
{
    lb_complete_done(qp, &lb_send_slot(qp, qp->executed)->wr, length, aftermath);
    qp->executed++;
    qp->waited_for = LB_WAIT_NONE;
}

/* Whether one number of a request is behind another one; they wrap. */
static bool is_before(uint32_t number, uint32_t other)
{
    return (int32_t)(number - other) < 0;
}

/* The requests before this number have succeeded. Returns false if that cannot be. */
static bool complete_before(struct lb_qp *qp, uint32_t number, struct lb_aftermath *aftermath)
{
    if (is_before(number, qp->executed))
        return true; /* they were flushed, or a response has acknowledged them */
    if (number - qp->executed > qp->sent - qp->executed)
        return false;
    while (qp->executed != number) {
        const struct ibv_send_wr *wr = &lb_send_slot(qp, qp->executed)->wr;

        if (returns_bytes(wr->opcode))
            return false;
        complete_oldest(qp, (uint32_t)lb_length_of(wr), aftermath);
    }
    return true;
}

/* Applies one response. Returns false if it cannot be one. */
static bool respond(struct lb_qp *qp, const struct lb_wire_record *response, char *payload, uint32_t present,
    struct lb_stream *stream, struct lb_aftermath *aftermath)
{
    if (response->kind != LB_WIRE_RESPONSE || response->length > present || response->status > IBV_WC_GENERAL_ERR)
        return false;
    if ((uint32_t)(response->number >> 32) != qp->sq_epoch)
        return true; /* flushed meanwhile */
    const uint32_t number = (uint32_t)response->number;
    if (is_before(number, qp->executed) || (number == qp->sent && qp->sent_bytes == 0) ||
            !complete_before(qp, number, aftermath))
        return false;
    const struct ibv_send_wr *wr = &lb_send_slot(qp, qp->executed)->wr;
    if (response->status != IBV_WC_SUCCESS) {
        const struct lb_failure failure = {response->status, response->vendor_err};

        lb_send_fail_oldest(qp, &failure, aftermath);
        return true;
    }
    if (response->length > 0) {
        if (wr->opcode != IBV_WR_RDMA_READ && !(is_fetching_atomic(wr->opcode) && response->length == 8))
            return false;
        if (!fill(qp, response, payload, stream, aftermath))
            return true;
    }
    if (response->flags & LB_WIRE_MORE)
        return true;
    if (qp->executed == qp->sent)
        return false; /* it has not been sent completely */
    complete_oldest(qp, is_fetching_atomic(wr->opcode) ? 8 : (uint32_t)lb_length_of(wr), aftermath);
    return true;
}

void lb_proxy_take_responses(struct lb_proxy *proxy, struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    /* Read before the responses: those to the requests before this number are there. */
    const uint32_t acknowledged = atomic_load_explicit(&proxy->inbound->acknowledged, memory_order_acquire);
    const uint32_t state = atomic_load_explicit(&proxy->inbound->sleep_state, memory_order_relaxed);
    const uint32_t turn = state == LB_WIRE_AWAKE ? LB_PROXY_TURN : LB_WIRE_RING;
    struct lb_wire_record response;
    const char *payload;
    uint32_t present;
    uint32_t taken = 0;

    /* What was there when the caller looked, and no more: the other process could go on for ever. */
    while (taken < turn && (payload = lb_wire_peek(&proxy->responses_in, &response, &present)) != NULL) {
        if (qp->remote == &proxy->qp && !respond(qp, &response, (char *)(uintptr_t)payload, present,
                &proxy->responses_in.stream, aftermath)) {
            proxy->responses_in.broken = true;
            break;
        }
        lb_wire_consume(&proxy->responses_in, response.size);
        taken += lb_wire_record_size(present);
    }
    if (taken < turn) {
        if (qp->remote == &proxy->qp && qp->sq_epoch == proxy->epoch && !complete_before(qp, acknowledged, aftermath))
            proxy->responses_in.broken = true;
        /* Behind the completions: another thread may take the message that replies to these requests as soon as it sees this. */
        atomic_store_explicit(&proxy->acknowledged, acknowledged, memory_order_release);
        if (!is_before(qp->executed, proxy->awaited))
            atomic_store_explicit(&proxy->awaits, false, memory_order_release);
    }
    if (proxy->responses_in.broken)
        lb_proxy_break_off(proxy);
}

void lb_proxy_settle(struct lb_qp *proxy_qp, struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    struct lb_proxy *proxy = lb_proxy_of(proxy_qp);
    const uint32_t acknowledged = atomic_load_explicit(&proxy->inbound->acknowledged, memory_order_acquire);

    if (qp->sq_epoch != proxy->epoch || is_before(acknowledged, qp->executed) || is_before(qp->sent, acknowledged))
        return;
    while (qp->executed != acknowledged && !returns_bytes(lb_send_slot(qp, qp->executed)->wr.opcode)) {
        const struct ibv_send_wr *wr = &lb_send_slot(qp, qp->executed)->wr;

        complete_oldest(qp, (uint32_t)lb_length_of(wr), aftermath);
    }
}

/* Whether a record is a request that this device sends. */
static bool is_valid(const struct lb_wire_record *request, uint32_t present)
{
    const bool more = request->flags & LB_WIRE_MORE;

    if (request->kind != LB_WIRE_REQUEST || request->length > LB_WIRE_CHUNK)
        return false;
    if (request->offset % LB_WIRE_CHUNK != 0 || request->offset > LB_MAX_MESSAGE || (more && request->length != LB_WIRE_CHUNK))
        return false;
    switch (request->opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
        return request->length <= present;
    case IBV_WR_RDMA_READ:
        return true;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return !more && request->length == 0;
    case LB_WR_ATOMIC_WRITE:
        return !more && request->length == 8 && present >= 8;
    case LB_WR_REFUSED:
        return !more && request->length == 0 && is_refusal(request->imm_data);
    default:
        return false;
    }
}

/* Whether the request continues the one whose parts have come before, or begins after it. */
static bool is_next_part(const struct lb_proxy *proxy)
{
    return proxy->message_length == proxy->request.offset;
}

/*
 * Wakes the other end now, or at the end of take_requests: one fence for all answers. `completes` is whether the request completes
 * at its requester.
 */
static void wake_after(struct lb_proxy *proxy, bool completes)
{
    const uint32_t kind = completes ? LB_WIRE_NOTIFY_SENDS : 0;

    if (proxy->driven) {
        proxy->wakes = true;
        proxy->completes |= kind;
    } else {
        lb_proxy_wake(proxy, kind);
    }
}

/* Ends the request in execution: with a response, if one is due. */
static void end_request(struct lb_proxy *proxy, enum ibv_wc_status status, uint32_t vendor_err)
{
    const struct lb_wire_record *request = &proxy->request;
    const bool more = request->flags & LB_WIRE_MORE;
    uint32_t payload = 0;

    if (status == IBV_WC_SUCCESS && request->opcode == IBV_WR_RDMA_READ)
        payload = request->length;
    else if (status == IBV_WC_SUCCESS && is_fetching_atomic(request->opcode))
        payload = 8;
    if (status != IBV_WC_SUCCESS || returns_bytes(request->opcode)) {
        const struct lb_wire_record response = {
            .kind = LB_WIRE_RESPONSE,
            .flags = more ? LB_WIRE_MORE : 0,
            .status = (uint8_t)status,
            .length = payload,
            .number = request->number,
            .vendor_err = status == IBV_WC_SUCCESS ? 0 : vendor_err,
            .offset = request->offset,
        };
        lb_wire_publish(&proxy->responses_out, &response, payload);
        lb_wire_consume(&proxy->requests_in, request->size);
        wake_after(proxy, status != IBV_WC_SUCCESS || request->flags & LB_WIRE_AWAITED);
    } else if (more || !(request->flags & LB_WIRE_AWAITED)) {
        if (!more)
            atomic_store_explicit(&proxy->outbound->acknowledged, (uint32_t)request->number + 1, memory_order_release);
        lb_wire_consume(&proxy->requests_in, request->size);
        /* take_requests looks once, at its end: the fence waits until the producer's processor has given up the position's line. */
        if (!proxy->driven && lb_wire_fed(&proxy->requests_in))
            lb_proxy_wake_unfenced(proxy, 0);
    } else {
        atomic_store_explicit(&proxy->outbound->acknowledged, (uint32_t)request->number + 1, memory_order_release);
        lb_wire_consume(&proxy->requests_in, request->size);
        wake_after(proxy, true);
    }
}

void lb_proxy_completed(struct lb_qp *qp, const struct ibv_wc *wc)
{
    end_request(lb_proxy_of(qp), wc->status, wc->status == IBV_WC_SUCCESS ? 0 : wc->vendor_err);
}

void lb_proxy_copy(struct lb_qp *qp, char *to, const char *from, size_t length)
{
    copy_to_ring(&lb_proxy_of(qp)->responses_out.stream, to, from, length);
}

void lb_proxy_fetch(struct lb_qp *qp, char *to, const char *from, size_t length)
{
    copy_from_ring(&lb_proxy_of(qp)->requests_in.stream, to, from, length);
}

/* Puts the request into the send ring: its memory is in the segment. */
static void put(struct lb_proxy *proxy, char *payload, uint32_t length)
{
    const struct lb_wire_record *request = &proxy->request;
    struct lb_qp *qp = &proxy->qp;
    struct lb_send *send = lb_send_slot(qp, qp->posted);

    send->wr = (struct ibv_send_wr){
        .sg_list = send->sge,
        .num_sge = length > 0 ? 1 : 0,
        .opcode = (enum ibv_wr_opcode)request->opcode,
        /* Inline: no key is needed for it. */
        .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE | (request->flags & LB_WIRE_SOLICITED ? IBV_SEND_SOLICITED : 0),
        .imm_data = request->imm_data,
    };
    send->sge[0] = (struct ibv_sge){.addr = (uintptr_t)payload, .length = length};
    if (is_fetching_atomic(request->opcode)) {
        send->wr.wr.atomic.remote_addr = request->remote_addr;
        send->wr.wr.atomic.rkey = request->rkey;
        send->wr.wr.atomic.compare_add = request->compare_add;
        send->wr.wr.atomic.swap = request->swap;
    } else {
        send->wr.wr.rdma.remote_addr = request->remote_addr;
        send->wr.wr.rdma.rkey = request->rkey;
    }
    qp->attr.rnr_retry = request->rnr_retry & 7;
    qp->attr.retry_cnt = request->retry_count & 7;
    qp->attr.timeout = request->timeout & 31;
    qp->bytes_before = takes_receive(request->opcode) ? request->offset : 0;
    qp->is_part = is_send(request->opcode) && request->flags & LB_WIRE_MORE;
    proxy->message_length = request->flags & LB_WIRE_MORE ? request->offset + request->length : 0;
    qp->waited_for = LB_WAIT_NONE;
    qp->posted++;
}

bool lb_proxy_next(struct lb_qp *qp)
{
    struct lb_proxy *proxy = lb_proxy_of(qp);
    struct lb_wire_record *request = &proxy->request;
    uint32_t present;
    const char *payload = lb_wire_peek(&proxy->requests_in, request, &present);

    /*
     * What the other process responded and acknowledged before this request is to be seen before it: a reply does not overtake
     * the completion of what it replies to.
     */
    if (payload != NULL && lb_proxy_is_responded(proxy) && !proxy->responses_in.broken && qp->peer != NULL) {
        atomic_store_explicit(&proxy->stalled, true, memory_order_relaxed);
        lb_watch_tick();
        return false;
    }
    if (payload != NULL && is_valid(request, present) && is_next_part(proxy)) {
        if (!is_fetching_atomic(request->opcode))
            atomic_store_explicit(&proxy->taken, request->taken, memory_order_release);
        const uint32_t answer = request->opcode == IBV_WR_RDMA_READ ? request->length :
            is_fetching_atomic(request->opcode) ? 8 : 0;

        proxy->response = lb_wire_claim(&proxy->responses_out, answer);
        if (proxy->response != NULL) {
            put(proxy, answer > 0 ? proxy->response : (char *)(uintptr_t)payload, answer > 0 ? answer : request->length);
            return true;
        }
        if (!proxy->responses_out.broken) {
            atomic_store_explicit(&proxy->stalled, true, memory_order_relaxed);
            return false;
        }
    }
    if (payload != NULL || proxy->requests_in.broken) {
        proxy->requests_in.broken = true;
        lb_proxy_break_off(proxy);
    }
    return false;
}

void lb_proxy_discard_requests(struct lb_proxy *proxy)
{
    struct lb_wire_record request;
    uint32_t present;

    for (uint32_t taken = 0; taken < LB_PROXY_TURN && lb_wire_peek(&proxy->requests_in, &request, &present) != NULL;
            taken += lb_wire_record_size(present))
        lb_wire_consume(&proxy->requests_in, request.size);
}
