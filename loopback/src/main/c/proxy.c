/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.c: queue pairs that represent a queue pair of another process: creation, the threads that drive them, their end.
 *
 * proxy_request.c processes their requests and responses.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy_request.h"
#include "segments.h"
#include "uncancelled.h"
#include "watch.h"

/* A completion queue that is found empty this often since an event was requested is polled, and not waited for. */
#define POLLING 64u
/* Proxies of one completion queue that work in one poll; the next poll continues behind them. */
#define DRIVEN 16
/* The budget of a thread that was notified: the cost of two full rings. */
#define NOTIFIED_BUDGET (16u * LB_WIRE_RING)

/* All proxies of the process, for the watch thread. */
static struct lb_lock proxies_lock;
static struct lb_proxy *proxies;

/*
 * In the child of a fork. The connections are the parent's. Its sockets must not stay open here: its peers see its end when they
 * are closed. Instead of its segments there is empty memory: nothing arrives, and nothing is sent.
 */
static void part(struct lb_fork_member *member)
{
    struct lb_proxy *proxy = LB_FORKED(struct lb_proxy, fork, member);

    if (proxy->socket >= 0) { /* not by the parent, as the child of a fork itself */
        (void)close(proxy->socket);
        proxy->socket = -1;
        lb_wire_part(proxy->segment);
    }
    /* Its owner may be a thread of the parent: the end of such a bias would wait for it. */
    lb_lock_forget(&proxy->members_lock);
    lb_proxy_forget_doorbell(proxy);
}

static void close_connection(struct lb_fork_member *member)
{
    const struct lb_proxy *proxy = LB_FORKED(struct lb_proxy, fork, member);

    lb_wire_unmap(proxy->segment);
    if (proxy->socket >= 0)
        lb_close(proxy->socket);
    if (proxy->doorbell >= 0)
        lb_close(proxy->doorbell);
}

static void free_proxy(struct lb_qp *qp)
{
    struct lb_proxy *proxy = lb_proxy_of(qp);

    lb_fork_leave_and(&proxy->fork, close_connection);
    free(qp->sq_slots);
    free(proxy);
}

/* Responses and acknowledgements of our queue pair's requests, and its requests that waited for room. */
static void take_responses(struct lb_proxy *proxy, struct lb_qp *qp, struct lb_aftermath *aftermath)
{
    lb_lock_acquire(&qp->sq_lock);
    lb_proxy_take_responses(proxy, qp, aftermath);
    if (qp->remote == &proxy->qp && qp->wait == LB_WAIT_ROOM) {
        uint64_t unlimited = UINT64_MAX;

        lb_send_progress(qp, &unlimited, aftermath);
    }
    lb_lock_release(&qp->sq_lock);
}

/* The watch thread marks an end as asleep before it works for it. */
static bool is_polled(struct lb_qp *qp)
{
    return atomic_load_explicit(&lb_proxy_of(qp)->inbound->sleep_state, memory_order_relaxed) == LB_WIRE_AWAKE;
}

/*
 * Requests of the other end. A poll leaves the requests beyond its budget to the next poll. The watch thread leaves them to the
 * device thread, which costs a change of threads: so its budget is larger. A thread that was notified takes all that is there: it
 * waits for the completion of the last one. The parts of a long request, as a rule, name the same region: a locked instruction for
 * each would wait until the producer's processor has given up the line of the position.
 */
static void take_requests(struct lb_proxy *proxy, bool notified, struct lb_aftermath *aftermath)
{
    const bool itself = notified || is_polled(&proxy->qp);
    uint64_t budget = notified ? NOTIFIED_BUDGET : itself ? LB_CALL_BUDGET : LB_PROXY_TURN;

    lb_lock_acquire(&proxy->qp.sq_lock);
    proxy->driven = true;
    lb_keep_begin(&proxy->qp);
    const bool is_free = proxy->qp.wait == LB_WAIT_NONE || (proxy->qp.wait == LB_WAIT_TURN && itself);
    if (is_free && !proxy->qp.gone)
        lb_send_progress(&proxy->qp, &budget, aftermath);
    if (proxy->qp.sq_error)
        lb_proxy_discard_requests(proxy);
    lb_keep_end(&proxy->qp);
    const bool wakes = proxy->wakes;
    const uint32_t completes = proxy->completes;
    proxy->wakes = false;
    proxy->completes = 0;
    proxy->driven = false;
    lb_lock_release(&proxy->qp.sq_lock);
    lb_wire_fence();
    if (lb_wire_starved(&proxy->requests_in) || lb_wire_starved(&proxy->responses_in))
        lb_proxy_wake_unfenced(proxy, 0);
    else if (wakes)
        lb_proxy_wake_unfenced(proxy, completes);
}

/* Whether something has arrived. */
static bool has_work(const struct lb_proxy *proxy)
{
    return lb_wire_pending(&proxy->requests_in) || lb_proxy_is_responded(proxy) ||
        atomic_load_explicit(&proxy->stalled, memory_order_relaxed);
}

/* Of the two locks that a proxy works under, one after the other. */
struct work {
    struct lb_aftermath responses;
    struct lb_aftermath requests;
};

static bool has_aftermath(const struct work *work)
{
    return lb_aftermath_any(&work->responses) || lb_aftermath_any(&work->requests);
}

/* No lock held. */
static void run_aftermath(struct work *work)
{
    if (lb_aftermath_any(&work->responses))
        lb_aftermath_run(&work->responses);
    if (lb_aftermath_any(&work->requests))
        lb_aftermath_run(&work->requests);
}

/* Takes the records for the proxy, and for its queue pair if it has one. The caller makes sure that both exist. */
static void take(struct lb_proxy *proxy, struct lb_qp *qp, bool notified, struct work *work)
{
    const bool stalled = atomic_load_explicit(&proxy->stalled, memory_order_relaxed);

    if (stalled)
        atomic_store_explicit(&proxy->stalled, false, memory_order_relaxed);
    if (qp != NULL && (lb_proxy_is_responded(proxy) || stalled))
        take_responses(proxy, qp, &work->responses);
    take_requests(proxy, notified, &work->requests);
}

/* Takes the records that have arrived; the caller holds a reference, and no lock. */
static void drive(struct lb_proxy *proxy, bool notified)
{
    struct work work = {0};

    lb_proxy_announce(proxy);
    if (!has_work(proxy))
        return;
    lb_lock_acquire(&proxy->qp.rq_lock);
    struct lb_qp *qp = proxy->qp.peer;
    if (qp != NULL)
        lb_qp_get(qp);
    lb_lock_release(&proxy->qp.rq_lock);
    take(proxy, qp, notified, &work);
    run_aftermath(&work);
    if (qp != NULL)
        lb_qp_put(qp);
}

static void wake_up(struct lb_proxy *proxy)
{
    lb_proxy_stay_awake(proxy);
    lb_watch_tick(); /* the watch thread looks after this end again if nobody polls any more */
}

void lb_proxy_answer(struct ibv_qp *qp)
{
    struct lb_proxy *proxy = lb_proxy_of(lb_qp_of(qp));

    lb_proxy_end_wake_up(proxy);
    drive(proxy, false);
    if (lb_proxy_rearm(proxy))
        drive(proxy, false);
}

/* On a thread that fetches an event of a queue: works if the other end has notified this one. Puts the reference. */
static void on_notification(void *held)
{
    struct lb_proxy *proxy = held;

    if (lb_proxy_take_notification(proxy)) {
        drive(proxy, true);
        if (lb_proxy_suppress(proxy)) /* there is no event yet, or one of its queues waits further */
            drive(proxy, true);
    }
    lb_qp_put(&proxy->qp);
}

/* Completes the requests that were responded to, or acknowledged, in wc, as far as there is room. Returns their number. */
static int complete_responded(struct lb_proxy *proxy, struct lb_cq *cq, int room, struct ibv_wc *wc, struct work *work)
{
    struct lb_qp *qp = proxy->qp.peer;
    const uint64_t consumed = atomic_load_explicit(&proxy->responses_in.consumed, memory_order_relaxed);

    if (qp == NULL) /* it goes, or has not got this proxy as its remote end yet */
        return 0;
    take_responses(proxy, qp, &work->responses);
    if (consumed != atomic_load_explicit(&proxy->responses_in.consumed, memory_order_relaxed) &&
            lb_wire_fed(&proxy->responses_in))
        lb_proxy_wake_unfenced(proxy, 0);
    return lb_cq_shows_none(cq) ? 0 : lb_cq_try_poll_ring(cq, room, wc);
}

/*
 * The caller's lock of a queue keeps the proxy and its queue pair. Takes short messages that have arrived, if nothing is in the
 * queue, and before them what completes before them. Returns how many completions are in wc; -1: something else has arrived.
 */
static inline int drive_short(const struct lb_cq_proxy *member, struct lb_cq *cq, int room, struct ibv_wc *wc, struct work *work)
{
    struct lb_proxy *proxy = member->proxy;

    if (lb_wire_pending(&proxy->requests_in)) {
        /* Stalled work has its turn also while messages go on arriving. */
        const bool is_short = member->is_short && room > 0 &&
            atomic_load_explicit(&cq->notify, memory_order_relaxed) == LB_NOTIFY_NONE &&
            !atomic_load_explicit(&proxy->stalled, memory_order_relaxed);
        if (!is_short)
            return -1;
        const int responded = lb_proxy_is_responded(proxy) ? complete_responded(proxy, cq, room, wc, work) : 0;
        const int taken = responded < room ? lb_proxy_take_short(proxy, cq, room - responded, wc + responded) : 0;

        return responded + taken > 0 ? responded + taken : -1;
    }
    if (lb_proxy_is_responded(proxy) || atomic_load_explicit(&proxy->stalled, memory_order_relaxed))
        return -1;
    lb_proxy_announce(proxy);
    return 0;
}

/* Whether a thread may wait for an event of either queue, while the other one is polled. */
static bool awaits_event(const struct lb_qp *qp)
{
    return qp != NULL && (atomic_load_explicit(&qp->send_cq->notify, memory_order_relaxed) != LB_NOTIFY_NONE ||
        atomic_load_explicit(&qp->recv_cq->notify, memory_order_relaxed) != LB_NOTIFY_NONE);
}

static inline void keep_awake(struct lb_proxy *proxy)
{
    if (!atomic_load_explicit(&proxy->polled, memory_order_relaxed))
        atomic_store_explicit(&proxy->polled, true, memory_order_relaxed);
    if (atomic_load_explicit(&proxy->inbound->sleep_state, memory_order_relaxed) != LB_WIRE_AWAKE &&
            !awaits_event(proxy->qp.peer))
        wake_up(proxy);
}

/*
 * proxies_lock held, which keeps the proxies and their queue pairs: they leave the queue before they go. What a proxy leaves to
 * do needs other locks: the next poll continues with the rest of the proxies.
 */
static int drive_all_polled(struct lb_cq *cq, bool polling, int room, struct ibv_wc *wc,
    struct work *work)
{
    struct lb_cq_proxy *const all = atomic_load_explicit(&cq->proxies, memory_order_relaxed);
    struct lb_cq_proxy *const first = cq->turn != NULL ? cq->turn : all;
    struct lb_cq_proxy *at = first;
    int worked = 0;
    int completed = 0;

    while (at != NULL) {
        struct lb_cq_proxy *member = at;

        at = at->next != NULL ? at->next : all;
        if (polling)
            keep_awake(member->proxy);
        const int taken = drive_short(member, cq, room - completed, wc + completed, work);
        if (taken < 0)
            take(member->proxy, member->proxy->qp.peer, false, work);
        else
            completed += taken;
        if (taken != 0)
            worked++;
        if (at == first || worked == DRIVEN || has_aftermath(work))
            break;
    }
    cq->turn = at;
    return completed;
}

/* The hook of completion queues, for a poll that has more to do than the usual one (proxy_short.c). */
static int drive_list(struct lb_cq *cq, int room, struct ibv_wc *wc)
{
    const uint32_t polls = atomic_load_explicit(&cq->empty_polls, memory_order_relaxed);
    /*
     * Whoever has requested an event may wait for it at any moment, without a further request: an event of another queue has ended
     * the last wait, and this one was polled since.
     */
    const bool polling = polls >= POLLING && atomic_load_explicit(&cq->notify, memory_order_relaxed) == LB_NOTIFY_NONE;
    struct lb_cq_proxy *const first = atomic_load_explicit(&cq->proxies, memory_order_relaxed);
    struct work work = {0};

    if (polls < POLLING)
        atomic_store_explicit(&cq->empty_polls, polls + 1, memory_order_relaxed);
    cq->usual = polling && first != NULL && first->next == NULL ? first : NULL;
    const int completed = drive_all_polled(cq, polling, room, wc, &work);
    lb_lock_release(&cq->proxies_lock);
    run_aftermath(&work);
    return completed == room || lb_cq_shows_none(cq) ? completed : lb_cq_poll_ring(cq, completed, room, wc);
}

/* Changes how all proxies sleep, and takes the records that have arrived before for those for which that returns true. */
static void drive_asleep(struct lb_cq *cq, bool (*change)(struct lb_proxy *proxy))
{
    bool unfinished;

    do {
        struct work work = {0};

        lb_lock_acquire(&cq->proxies_lock);
        cq->usual = NULL;
        for (struct lb_cq_proxy *at = atomic_load_explicit(&cq->proxies, memory_order_relaxed);
                at != NULL && !has_aftermath(&work); at = at->next) {
            if (!change(at->proxy))
                continue;
            lb_proxy_announce(at->proxy);
            if (has_work(at->proxy))
                take(at->proxy, at->proxy->qp.peer, false, &work);
        }
        lb_lock_release(&cq->proxies_lock);
        unfinished = has_aftermath(&work);
        run_aftermath(&work);
    } while (unfinished);
}

static bool fall_asleep(struct lb_proxy *proxy)
{
    (void)lb_proxy_fall_asleep(proxy);
    return true;
}

/* The other hooks. */
static void on_requested(struct lb_cq *cq)
{
    atomic_store_explicit(&cq->empty_polls, 0, memory_order_relaxed);
    drive_asleep(cq, fall_asleep);
}

static void on_fetched(struct lb_cq *cq)
{
    drive_asleep(cq, lb_proxy_suppress);
}

/* All proxies, each with a reference, in memory that the watch thread keeps; *count of them. */
static struct lb_proxy **all_proxies(size_t *count)
{
    static struct lb_proxy **all;
    static size_t capacity;

    *count = 0;
    lb_lock_acquire(&proxies_lock);
    for (struct lb_proxy *proxy = proxies; proxy != NULL; proxy = proxy->next) {
        if (*count == capacity) {
            struct lb_proxy **larger = realloc(all, (capacity * 2 + 16) * sizeof(*all));

            if (larger == NULL) /* the rest has its turn later */
                break;
            all = larger;
            capacity = capacity * 2 + 16;
        }
        lb_qp_get(&proxy->qp);
        all[(*count)++] = proxy;
    }
    lb_lock_release(&proxies_lock);
    return all;
}

/*
 * On the watch thread, every millisecond: works for all ends, and marks those as asleep that were not polled since the last time.
 * An end that was polled does its work itself: a lock that this thread takes would cost its polls a locked instruction each from
 * then on. Returns whether some of them are polled and have to be watched.
 */
static bool drive_all(void)
{
    size_t count;
    struct lb_proxy **all = all_proxies(&count);
    bool watched = false;

    for (size_t i = 0; i < count; i++) {
        struct lb_proxy *proxy = all[i];
        const bool awake = atomic_load_explicit(&proxy->inbound->sleep_state, memory_order_relaxed) == LB_WIRE_AWAKE;

        if (awake && atomic_exchange_explicit(&proxy->polled, false, memory_order_relaxed)) {
            watched = true;
            lb_proxy_announce(proxy);
        } else {
            if (awake)
                (void)lb_proxy_fall_asleep(proxy);
            drive(proxy, false);
        }
        watched |= lb_proxy_wake_overdue(proxy);
        lb_qp_put(&proxy->qp);
    }
    return watched;
}

static void join_queue(struct lb_cq *cq, struct lb_cq_proxy *member, struct lb_proxy *proxy, const struct lb_qp *connected)
{
    lb_qp_get(&proxy->qp);
    lb_lock_acquire(&cq->proxies_lock);
    if (cq->drive == NULL) {
        cq->drive = lb_proxy_drive;
        cq->drive_list = drive_list;
        cq->sleep = on_requested;
        cq->fetched = on_fetched;
    }
    member->proxy = proxy;
    member->completes = (connected->send_cq == cq ? LB_WIRE_NOTIFY_SENDS : 0) |
        (connected->recv_cq == cq ? LB_WIRE_NOTIFY_RECEIVES : 0);
    lb_proxy_subscribe(proxy, member, cq, on_notification);
    member->is_short = connected->recv_cq == cq && connected->srq == NULL && connected->faults == NULL && cq->faults == NULL;
    cq->usual = NULL;
    member->next = atomic_load_explicit(&cq->proxies, memory_order_relaxed);
    atomic_store_explicit(&cq->proxies, member, memory_order_release);
    lb_lock_release(&cq->proxies_lock);
}

static void leave_queue(struct lb_cq *cq, struct lb_cq_proxy *member)
{
    lb_lock_acquire(&cq->proxies_lock);
    cq->usual = NULL;
    if (cq->turn == member)
        cq->turn = member->next;
    struct lb_cq_proxy *first = atomic_load_explicit(&cq->proxies, memory_order_relaxed);
    if (first == member) {
        atomic_store_explicit(&cq->proxies, member->next, memory_order_release);
    } else {
        while (first->next != member)
            first = first->next;
        first->next = member->next;
    }
    lb_proxy_unsubscribe(member->proxy, member);
    lb_lock_release(&cq->proxies_lock);
    lb_qp_put(&member->proxy->qp);
}

/* When this returns, the completion queues of the connected queue pair may go. */
static void leave_queues(struct lb_proxy *proxy, struct lb_qp *connected)
{
    lb_lock_acquire(&proxy->members_lock);
    if (proxy->joined == connected && atomic_exchange(&proxy->attached, false)) {
        leave_queue(connected->send_cq, &proxy->members[0]);
        if (connected->recv_cq != connected->send_cq)
            leave_queue(connected->recv_cq, &proxy->members[1]);
    }
    lb_lock_release(&proxy->members_lock);
}

/* Our queue pair's requests without a response wait for a peer from now on, and their retries run out. */
static void lose(struct lb_proxy *proxy, struct lb_qp *qp)
{
    struct lb_aftermath aftermath = {0};
    uint64_t budget = LB_CALL_BUDGET;

    lb_lock_acquire(&qp->sq_lock);
    if (qp->remote == &proxy->qp) {
        lb_proxy_settle(&proxy->qp, qp, &aftermath);
        qp->remote = NULL;
        qp->sent = qp->executed;
        qp->sent_bytes = 0;
        qp->sq_epoch++;
        if (!qp->gone && (qp->wait == LB_WAIT_NONE || qp->wait == LB_WAIT_ROOM))
            lb_send_progress(qp, &budget, &aftermath);
    }
    lb_lock_release(&qp->sq_lock);
    if (lb_aftermath_any(&aftermath))
        lb_aftermath_run(&aftermath);
}

/* The queue pair has become the proxy's: a proxy has one in its life, and a further one has no peer. */
static void attach(struct lb_qp *qp, struct lb_qp *connected)
{
    struct lb_proxy *proxy = lb_proxy_of(qp);
    bool first;

    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    first = qp->peer == NULL && !qp->gone;
    if (first) {
        proxy->epoch = connected->sq_epoch;
        lb_qp_get(connected);
        qp->peer = connected;
    }
    lb_lock_release(&qp->rq_lock);
    lb_lock_release(&qp->sq_lock);
    if (!first) {
        lose(proxy, connected);
        return;
    }
    lb_lock_acquire(&proxy->members_lock);
    join_queue(connected->send_cq, &proxy->members[0], proxy, connected);
    if (connected->recv_cq != connected->send_cq)
        join_queue(connected->recv_cq, &proxy->members[1], proxy, connected);
    proxy->joined = connected;
    atomic_store(&proxy->attached, true);
    lb_lock_release(&proxy->members_lock);
}

/* The queue pair is being destroyed, or reset: its completion queues may go. */
static void detach(struct lb_qp *qp, struct lb_qp *connected)
{
    struct lb_proxy *proxy = lb_proxy_of(qp);

    leave_queues(proxy, connected);
    lb_watch_call(); /* the connection manager may end the proxy now */
}

/* After short messages. */
static void wake(struct lb_qp *qp)
{
    lb_proxy_wake(lb_proxy_of(qp), LB_WIRE_NOTIFY_RECEIVES);
}

static const struct lb_proxy_operations operations = {
    .post = lb_proxy_post,
    .wake = wake,
    .send = lb_proxy_send,
    .settle = lb_proxy_settle,
    .next = lb_proxy_next,
    .completed = lb_proxy_completed,
    .copy = lb_proxy_copy,
    .fetch = lb_proxy_fetch,
    .is_polled = is_polled,
    .attach = attach,
    .detach = detach,
};

struct ibv_qp *lb_proxy_create(struct lb_wire_segment *segment, bool active, int socket, int doorbell)
{
    struct lb_proxy *proxy = aligned_alloc(alignof(struct lb_proxy), sizeof(*proxy));

    if (proxy == NULL)
        goto fail;
    memset(proxy, 0, sizeof(*proxy));
    struct lb_qp *qp = &proxy->qp;
    qp->sq_capacity = 1;
    qp->sq_mask = 1;
    qp->sq_stride = sizeof(struct lb_send) + sizeof(struct ibv_sge);
    qp->sq_slots = calloc(2, qp->sq_stride);
    if (qp->sq_slots == NULL)
        goto free_proxy;
    qp->cap.max_send_wr = 1;
    qp->cap.max_send_sge = 1;
    qp->references = 1;
    qp->free = free_proxy;
    qp->proxy = &operations;
    qp->signal_all = true;
    qp->state = IBV_QPS_RTS;
    qp->base.qp_base.state = IBV_QPS_RTS;
    qp->base.qp_base.qp_type = IBV_QPT_RC;
    proxy->segment = segment;
    proxy->inbound = &segment->to[active ? 0 : 1];
    proxy->outbound = &segment->to[active ? 1 : 0];
    lb_wire_begin(&proxy->requests_in, &proxy->inbound->requests);
    lb_wire_begin(&proxy->responses_in, &proxy->inbound->responses);
    lb_wire_start(&proxy->requests_out, &proxy->outbound->requests, &proxy->inbound->sleep_state);
    lb_wire_start(&proxy->responses_out, &proxy->outbound->responses, NULL);
    proxy->socket = socket;
    proxy->doorbell = doorbell;
    if (!lb_qp_assign_number(qp))
        goto free_slots;
    lb_fork_join(&proxy->fork, part);
    lb_watch_on_tick(drive_all);
    lb_lock_acquire(&proxies_lock);
    proxy->next = proxies;
    proxies = proxy;
    lb_lock_release(&proxies_lock);
    return &qp->base.qp_base;

free_slots:
    free(qp->sq_slots);
free_proxy:
    free(proxy);
fail:
    errno = ENOMEM;
    return NULL;
}

bool lb_proxy_is_attached(struct ibv_qp *qp)
{
    return atomic_load(&lb_proxy_of(lb_qp_of(qp))->attached);
}

bool lb_proxy_is_broken(struct ibv_qp *qp)
{
    return atomic_load(&lb_proxy_of(lb_qp_of(qp))->broken);
}

static uint64_t consumed_by(const struct lb_proxy *proxy)
{
    return atomic_load(&proxy->requests_in.consumed) + atomic_load(&proxy->responses_in.consumed);
}

/* Takes the records from before the end, as far as they can be executed now: at most two rings, also if more arrive. */
static void drain(struct lb_proxy *proxy)
{
    const uint64_t first = consumed_by(proxy);
    uint64_t consumed = first;
    uint64_t before;

    /* As a poll does: so nothing is left to the device thread. */
    lb_proxy_stay_awake(proxy);
    do {
        before = consumed;
        drive(proxy, false);
        consumed = consumed_by(proxy);
    } while (consumed != before && consumed - first < 2 * LB_WIRE_RING && !atomic_load(&proxy->broken));
}

static void forget_proxy(struct lb_proxy *proxy)
{
    lb_lock_acquire(&proxies_lock);
    for (struct lb_proxy **link = &proxies; *link != NULL; link = &(*link)->next) {
        if (*link == proxy) {
            *link = proxy->next;
            break;
        }
    }
    lb_lock_release(&proxies_lock);
}

void lb_proxy_destroy(struct ibv_qp *ibv_qp)
{
    struct lb_qp *qp = lb_qp_of(ibv_qp);
    struct lb_proxy *proxy = lb_proxy_of(qp);

    drain(proxy);

    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    struct lb_qp *peer = qp->peer;
    if (peer != NULL)
        lb_qp_get(peer);
    qp->gone = true; /* no queue pair becomes its peer any more */
    lb_lock_release(&qp->rq_lock);
    lb_lock_release(&qp->sq_lock);
    if (peer != NULL) {
        leave_queues(proxy, peer);
        lose(proxy, peer);
    }
    lb_lock_acquire(&qp->sq_lock);
    lb_lock_acquire(&qp->rq_lock);
    qp->sq_error = true;
    qp->rq_error = true;
    qp->sq_epoch++;
    qp->peer = NULL;
    lb_send_stop_waiting(qp);
    lb_lock_release(&qp->rq_lock);
    lb_lock_release(&qp->sq_lock);
    forget_proxy(proxy);
    lb_qp_release_number(qp);
    if (peer != NULL) {
        lb_qp_put(peer); /* attach's */
        lb_qp_put(peer);
    }
    lb_qp_put(qp);
}

int lb_proxy_segment_create(struct lb_wire_segment **segment)
{
    return lb_wire_create(segment);
}

int lb_proxy_segment_map(int fd, struct lb_wire_segment **segment)
{
    return lb_wire_map(fd, segment);
}

void lb_proxy_segment_unmap(struct lb_wire_segment *segment)
{
    lb_wire_unmap(segment);
}

int lb_proxy_doorbell_open(int ends[2])
{
    return lb_doorbell_open(ends);
}

bool lb_proxy_doorbell_is_end(int fd)
{
    return lb_doorbell_is_end(fd);
}

static void hold(void)
{
    lb_lock_acquire(&proxies_lock);
}

static void release(void)
{
    lb_lock_release(&proxies_lock);
}

/* The watch thread of the child has connections of its own only. */
static void forget(void)
{
    proxies = NULL;
    release();
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, forget);
}
