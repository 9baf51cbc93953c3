/* SPDX-License-Identifier: Apache-2.0 */
/* test_thread.c: the same from several threads concurrently, as verbs permit. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lock.c" /* the device does not export it */
#include "process_end.h"
#include "test.h"
#include "verbs_pair.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCALE 1
#else
#define SCALE 10
#endif

#define MESSAGES (2000 * SCALE)
#define WINDOW 16

/*
 * Whether a test has a further round of SCALE. On a busy machine a thread that yields waits for the turn of each other thread: a
 * test that lasts milliseconds on an idle machine would last minutes.
 */
static bool goes_on(int round, double began)
{
    return round == 0 || (round < SCALE && seconds() - began < 10);
}

/*
 * Sends, receives and counts on one side of a pair until all messages of a round went both ways. Message n contains n, from slot
 * n of the buffer's first half into slot n of the other's second half.
 */
#define ROUND_MESSAGES 2000

struct talker {
    struct verbs_pair *pair;
    int side;
    uint64_t sent;
    uint64_t send_completed;
    uint64_t received;
};

#define SLOT(number) ((number) % WINDOW * 64)
#define RECEIVE_HALF (VERBS_BUFFER_SIZE / 2)

static void send_number(struct verbs_pair *pair, int side, uint64_t number)
{
    char *slot = pair->buffer[side] + SLOT(number);
    struct ibv_sge sge = {(uintptr_t)slot, 64, pair->mr[side]->lkey};
    struct ibv_send_wr wr = {.wr_id = number, .sg_list = &sge, .num_sge = 1,
        .opcode = IBV_WR_SEND_WITH_IMM, .send_flags = IBV_SEND_SIGNALED,
        .imm_data = (uint32_t)number};
    struct ibv_send_wr *bad_wr;

    memcpy(slot, &number, sizeof(number));
    memcpy(slot + 56, &number, sizeof(number));
    CHECK_EQ(ibv_post_send(pair->qp[side], &wr, &bad_wr), 0);
}

static void check_number(const struct verbs_pair *pair, int side, uint64_t number)
{
    const char *slot = pair->buffer[side] + RECEIVE_HALF + SLOT(number);

    CHECK(memcmp(slot, &number, sizeof(number)) == 0);
    CHECK(memcmp(slot + 56, &number, sizeof(number)) == 0);
}

static void *talk(void *context)
{
    struct talker *talker = context;
    struct verbs_pair *pair = talker->pair;
    const int side = talker->side;
    uint64_t posted = 0;

    /* Receives trail behind: the other side's sends often have to wait for one. */
    while (talker->send_completed < ROUND_MESSAGES || talker->received < ROUND_MESSAGES) {
        struct ibv_wc wc[8];

        if (posted < ROUND_MESSAGES && posted - talker->received < WINDOW / 2) {
            verbs_recv(pair, side, posted, RECEIVE_HALF + SLOT(posted), 64);
            posted++;
        }
        if (talker->sent < ROUND_MESSAGES && talker->sent - talker->send_completed < WINDOW)
            send_number(pair, side, talker->sent++);
        const int got = ibv_poll_cq(pair->cq[side], 8, wc);
        CHECK(got >= 0);
        for (int i = 0; i < got; i++) {
            CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
            if (wc[i].opcode & IBV_WC_RECV) {
                CHECK_EQ(wc[i].wr_id, talker->received);
                CHECK_EQ(wc[i].imm_data, talker->received);
                check_number(pair, side, talker->received);
                talker->received++;
            } else {
                CHECK_EQ(wc[i].wr_id, talker->send_completed);
                talker->send_completed++;
            }
        }
        if (got == 0)
            sched_yield();
    }
    return NULL;
}

static void talk_both_ways(uint32_t srq_wr)
{
    struct verbs_options options = {.srq_wr = srq_wr, .rnr_retry = 7, .timeout = 14,
        .retry_cnt = 7};
    const double began = seconds();
    struct verbs_pair pair;
    pthread_t threads[2];

    verbs_pair_open(&pair, &options);
    for (int round = 0; goes_on(round, began); round++) {
        struct talker talkers[2] = {{.pair = &pair, .side = 0}, {.pair = &pair, .side = 1}};

        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, talk, &talkers[i]), 0);
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    verbs_pair_close(&pair);
}

static void should_talk_both_ways_at_once(void)
{
    talk_both_ways(0);
    talk_both_ways(64);
}

/* Posters on one queue pair, a poller on its queue. */
struct poster {
    struct verbs_pair *pair;
    uint64_t number;
    _Atomic uint64_t *completed;
};

#define POSTERS 3

static void *post_writes(void *context)
{
    struct poster *poster = context;

    for (uint64_t i = 0; i < MESSAGES; i++) {
        while (verbs_try_send(poster->pair, 0, poster->number << 32 | i, IBV_WR_RDMA_WRITE, 0,
                IBV_SEND_SIGNALED) != 0)
            sched_yield(); /* the send queue is full until somebody polls */
    }
    return NULL;
}

static void should_let_threads_share_a_queue_pair(void)
{
    struct verbs_options options = {.cqe = 255, .max_wr = 100, .rnr_retry = 7, .timeout = 14,
        .retry_cnt = 7};
    uint64_t next[POSTERS] = {0};
    struct poster posters[POSTERS];
    pthread_t threads[POSTERS];
    struct verbs_pair pair;
    uint64_t completed = 0;

    verbs_pair_open(&pair, &options);
    for (uint64_t i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){.pair = &pair, .number = i};
        CHECK_EQ(pthread_create(&threads[i], NULL, post_writes, &posters[i]), 0);
    }
    while (completed < (uint64_t)POSTERS * MESSAGES) {
        struct ibv_wc wc[32];
        const int got = ibv_poll_cq(pair.cq[0], 32, wc);

        CHECK(got >= 0);
        for (int i = 0; i < got; i++) {
            CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
            CHECK_EQ(wc[i].wr_id & 0xffffffff, next[wc[i].wr_id >> 32]);
            next[wc[i].wr_id >> 32]++;
        }
        completed += (uint64_t)got;
        if (got == 0)
            sched_yield();
    }
    for (int i = 0; i < POSTERS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    verbs_pair_close(&pair);
}

/* One thread writes into memory that the other registers, deregisters and unmaps. */
struct target {
    struct verbs_pair *pair;
    _Atomic uint64_t address;
    _Atomic uint32_t rkey;
    _Atomic bool met; /* the writer has found it there, and gone */
    _Atomic bool done;
};

/* Goes on, for a minute at most, until the writer has met both: where one runs is the scheduler's. */
static bool is_to_come_again(struct target *target, int times, double began)
{
    return goes_on(times / 200, began) || (!target->met && seconds() - began < 60);
}

static void *come_and_go(void *context)
{
    struct target *target = context;
    const double began = seconds();

    for (int i = 0; is_to_come_again(target, i, began); i++) {
        char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
            0);

        CHECK(memory != MAP_FAILED);
        struct ibv_mr *mr = ibv_reg_mr(target->pair->pd, memory, 65536,
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        CHECK(mr != NULL);
        target->address = (uintptr_t)memory;
        target->rkey = mr->rkey;
        sched_yield();
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        CHECK_EQ(munmap(memory, 65536), 0);
    }
    target->done = true;
    return NULL;
}

static void should_deregister_under_a_writer(void)
{
    struct verbs_options options = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct verbs_pair pair;
    struct target target = {.pair = &pair};
    struct ibv_async_event event;
    uint64_t written = 0;
    uint64_t refused = 0;
    pthread_t thread;

    verbs_pair_open(&pair, &options);
    CHECK_EQ(pthread_create(&thread, NULL, come_and_go, &target), 0);
    while (!target.done) {
        struct ibv_sge sge = {(uintptr_t)pair.buffer[0], VERBS_BUFFER_SIZE, pair.mr[0]->lkey};
        struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
        struct ibv_send_wr *bad_wr;

        wr.wr.rdma.remote_addr = target.address;
        wr.wr.rdma.rkey = target.rkey;
        CHECK_EQ(ibv_post_send(pair.qp[0], &wr, &bad_wr), 0);
        struct ibv_wc wc = verbs_wc(pair.cq[0]);
        if (wc.status == IBV_WC_SUCCESS) {
            written++;
            target.met = refused > 0;
            continue;
        }
        CHECK_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
        refused++;
        target.met = written > 0;
        CHECK_EQ(ibv_get_async_event(pair.context, &event), 0);
        ibv_ack_async_event(&event);
        for (int side = 0; side < 2; side++)
            CHECK_EQ(ibv_modify_qp(pair.qp[side], &reset, IBV_QP_STATE), 0);
        verbs_connect(pair.qp[0], pair.qp[1]->qp_num, &options);
        verbs_connect(pair.qp[1], pair.qp[0]->qp_num, &options);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(written > 0 && refused > 0);
    verbs_pair_close(&pair);
}

/* Each thread has an endpoint and connections of its own; they share the device. */
static void *connect_and_close(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10 * SCALE; i++) {
        struct pair pair;

        pair_open(&pair, NULL);
        CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, WR_ID(1)), 0);
        CHECK_EQ(rpma_send(pair.client.conn, pair.client.mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
            WR_ID(2)), 0);
        CHECK_EQ(next_wc(pair.server.cq).wr_id, 1);
        CHECK_EQ(next_wc(pair.client.cq).wr_id, 2);
        pair_close(&pair);
    }
    return NULL;
}

static void should_connect_from_several_threads(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, connect_and_close, NULL), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

/* A poster that goes on until its connection has been disconnected under it. */
struct victim {
    struct pair *pair;
    uint64_t accepted;
    _Atomic bool posting;
    _Atomic bool stop;
};

static void *post_until_stopped(void *context)
{
    struct victim *victim = context;
    struct side *client = &victim->pair->client;

    while (!victim->stop) {
        const int result = victim->accepted % 3 == 0 ?
            rpma_send(client->conn, client->mr, 0, 64, RPMA_F_COMPLETION_ALWAYS,
                WR_ID(victim->accepted)) :
            rpma_write(client->conn, client->remote, 0, client->mr, 0, 64,
                RPMA_F_COMPLETION_ALWAYS, WR_ID(victim->accepted));

        if (result == 0)
            victim->accepted++;
        else
            sched_yield(); /* the send queue is full */
        victim->posting = true;
    }
    return NULL;
}

static void should_complete_all_that_was_accepted_before_a_disconnect(void)
{
    struct pair_options options = {.cq_size = 100, .sq_size = 30, .rq_size = 30};
    const struct timespec moment = {.tv_nsec = 3000000};

    for (int round = 0; round < 20 * SCALE; round++) {
        struct pair pair;
        struct victim victim = {.pair = &pair};
        pthread_t thread;
        uint64_t completed = 0;
        bool disconnected = false;
        uint64_t received = 0;
        struct ibv_wc wc[16];
        int got;

        pair_open(&pair, &options);
        for (int i = 0; i < 20; i++)
            CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, NULL), 0);
        CHECK_EQ(pthread_create(&thread, NULL, post_until_stopped, &victim), 0);
        while (!victim.posting)
            sched_yield();
        for (int turn = 0;; turn++) {
            const int result = rpma_cq_get_wc(pair.client.cq, 16, wc, &got);

            if (result == 0) {
                for (int i = 0; i < got; i++)
                    CHECK_EQ(wc[i].wr_id, completed + (uint64_t)i);
                completed += (uint64_t)got;
            } else {
                CHECK_EQ(result, RPMA_E_NO_COMPLETION);
                if (victim.stop)
                    break;
            }
            while (rpma_cq_get_wc(pair.server.cq, 1, wc, NULL) == 0) {
                if (!disconnected && wc[0].status == IBV_WC_SUCCESS && received++ < 40)
                    CHECK_EQ(rpma_recv(pair.server.conn, pair.server.mr, 0, 64, NULL), 0);
            }
            if (turn == 20 + round % 30) {
                (void)nanosleep(&moment, NULL);
                CHECK_EQ(rpma_conn_disconnect(round % 2 ? pair.client.conn : pair.server.conn), 0);
                disconnected = true;
            }
            if (turn == 100) {
                CHECK_EQ(rpma_conn_disconnect(pair.client.conn), 0);
                victim.stop = true;
                CHECK_EQ(pthread_join(thread, NULL), 0);
            }
        }
        CHECK_EQ(completed, victim.accepted);
        pair_close(&pair);
    }
}

/* Senders that compete for the receives of one shared queue, while some of them go away. */
#define SENDERS 6

struct sender {
    struct verbs_pair *pair;   /* holds the shared queue; queue pairs of its own are not used */
    struct ibv_qp *qp;
    struct ibv_qp *peer;       /* receives from the shared queue */
    struct ibv_cq *cq;
    bool leaves;               /* goes into the error state in the middle */
    uint64_t accepted;
    uint64_t completed;
    uint64_t delivered;
};

static struct ibv_qp *create_rc(struct verbs_pair *pair, struct ibv_cq *cq, struct ibv_srq *srq)
{
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .srq = srq,
        .cap = {.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp = ibv_create_qp(pair->pd, &attr);

    CHECK(qp != NULL);
    return qp;
}

static void *compete(void *context)
{
    struct sender *sender = context;
    const uint64_t wanted = MESSAGES / 8;
    struct ibv_wc wc[4];

    while (sender->completed < sender->accepted || sender->accepted < wanted) {
        struct ibv_send_wr wr = {.wr_id = sender->accepted, .opcode = IBV_WR_SEND,
            .send_flags = IBV_SEND_SIGNALED};
        struct ibv_send_wr *bad_wr;

        if (sender->accepted < wanted && ibv_post_send(sender->qp, &wr, &bad_wr) == 0)
            sender->accepted++;
        if (sender->leaves && sender->accepted == wanted / 2) {
            struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

            CHECK_EQ(ibv_modify_qp(sender->qp, &attr, IBV_QP_STATE), 0);
        }
        const int got = ibv_poll_cq(sender->cq, 4, wc);
        CHECK(got >= 0);
        for (int i = 0; i < got; i++) {
            CHECK_EQ(wc[i].wr_id, sender->completed);
            sender->completed++;
            if (wc[i].status == IBV_WC_SUCCESS)
                sender->delivered++;
            else
                CHECK(sender->leaves);
        }
        if (got == 0)
            sched_yield();
    }
    return NULL;
}

static void should_share_a_receive_queue_among_senders(void)
{
    struct verbs_options options = {.cqe = 1000, .srq_wr = 4, .rnr_retry = 7, .timeout = 14,
        .retry_cnt = 7};
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    struct verbs_pair pair;
    uint64_t received = 0;
    uint64_t delivered = 0;
    uint64_t posted = 0;
    struct ibv_wc wc[16];
    int running = SENDERS;
    int got;

    verbs_pair_open(&pair, &options);
    for (int i = 0; i < SENDERS; i++) {
        struct ibv_cq *cq = ibv_create_cq(pair.context, 16, NULL, NULL, 0);

        CHECK(cq != NULL);
        senders[i] = (struct sender){.pair = &pair, .cq = cq, .leaves = i % 3 == 2,
            .qp = create_rc(&pair, cq, NULL), .peer = create_rc(&pair, pair.cq[1], pair.srq)};
        verbs_connect(senders[i].peer, senders[i].qp->qp_num, &options);
        verbs_connect(senders[i].qp, senders[i].peer->qp_num, &options);
    }
    for (int i = 0; i < SENDERS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, compete, &senders[i]), 0);
    while (running > 0 || (got = ibv_poll_cq(pair.cq[1], 16, wc)) > 0) {
        if (running > 0) {
            /* Fewer receives than senders: most of them wait most of the time. */
            if (posted - received < 3 && verbs_try_recv(&pair, 1, posted, 0, 0) == 0)
                posted++;
            got = ibv_poll_cq(pair.cq[1], 16, wc);
            if (pthread_tryjoin_np(threads[SENDERS - running], NULL) == 0)
                running--;
        }
        CHECK(got >= 0);
        for (int i = 0; i < got; i++)
            CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
        received += (uint64_t)got;
        if (got == 0)
            sched_yield();
    }
    for (int i = 0; i < SENDERS; i++) {
        CHECK_EQ(senders[i].completed, senders[i].accepted);
        delivered += senders[i].delivered;
        CHECK_EQ(ibv_destroy_qp(senders[i].peer), 0);
        CHECK_EQ(ibv_destroy_qp(senders[i].qp), 0);
        CHECK_EQ(ibv_destroy_cq(senders[i].cq), 0);
    }
    CHECK_EQ(received, delivered);
    verbs_pair_close(&pair);
}

enum { CLOSE_FIT = 6000 };

static void *poll_close_fit(void *argument)
{
    struct verbs_pair *pair = argument;
    uint64_t next = 0;

    while (next < CLOSE_FIT) {
        struct ibv_wc wc[16];
        const int polled = ibv_poll_cq(pair->cq[0], 16, wc);

        CHECK(polled >= 0); /* the queue has not overrun */
        for (int i = 0; i < polled; i++)
            CHECK_EQ(wc[i].wr_id, next++);
        if (polled == 0)
            (void)sched_yield();
    }
    return NULL;
}

static void should_not_overrun_a_queue_as_long_as_the_send_queue(void)
{
    const struct verbs_options options = {.cqe = 31, .max_wr = 31, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};
    const double began = seconds();
    struct verbs_pair pair;
    pthread_t poller;

    verbs_pair_open(&pair, &options);
    for (int round = 0; goes_on(round, began); round++) {
        CHECK_EQ(pthread_create(&poller, NULL, poll_close_fit, &pair), 0);
        for (uint64_t i = 0; i < CLOSE_FIT; i++) {
            while (verbs_try_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 0, IBV_SEND_SIGNALED) != 0)
                (void)sched_yield();
        }
        CHECK_EQ(pthread_join(poller, NULL), 0);
    }
    verbs_pair_close(&pair);
}

#define HOLDERS 4
#define HOLDS 20000

static struct lb_lock counted_lock;
static uint64_t counted;

/* Sometimes it gives up its processor while it holds the lock, so that others sleep. */
static void *count_under_the_lock(void *argument)
{
    for (uint32_t i = 0; i < HOLDS; i++) {
        lb_lock_acquire(&counted_lock);
        counted++;
        if (i % 64 == 0)
            (void)sched_yield();
        lb_lock_release(&counted_lock);
    }
    return argument;
}

static void should_have_one_holder_of_a_lock_at_a_time(void)
{
    const double began = seconds();
    pthread_t holders[HOLDERS];

    for (int round = 0; goes_on(round, began); round++) {
        counted = 0;
        for (int i = 0; i < HOLDERS; i++)
            CHECK_EQ(pthread_create(&holders[i], NULL, count_under_the_lock, NULL), 0);
        for (int i = 0; i < HOLDERS; i++)
            CHECK_EQ(pthread_join(holders[i], NULL), 0);
        CHECK_EQ(counted, (uint64_t)HOLDERS * HOLDS);
    }
    CHECK_EQ(atomic_load(&counted_lock.word), 0);
}

static void *acquire_and_release(void *lock)
{
    lb_lock_acquire(lock);
    lb_lock_release(lock);
    return lock;
}

static void should_look_again_at_a_lock_whose_release_has_overlooked_a_sleeper(void)
{
    struct lb_lock lock = {.word = 1};
    struct timespec limit;
    pthread_t sleeper;

    CHECK_EQ(pthread_create(&sleeper, NULL, acquire_and_release, &lock), 0);
    while (atomic_load(&lock.word) != 2)
        (void)sched_yield();
    const struct timespec until_it_sleeps = {.tv_nsec = 20000000};
    (void)nanosleep(&until_it_sleeps, NULL);
    /* What a release does that saw 1 before. */
    atomic_store_explicit(&lock.word, 0, memory_order_release);
    CHECK_EQ(clock_gettime(CLOCK_REALTIME, &limit), 0);
    limit.tv_sec += 30;
    CHECK_EQ(pthread_timedjoin_np(sleeper, NULL, &limit), 0);
    CHECK_EQ(atomic_load(&lock.word), 0);
}

/* Taken by this thread until it is biased to it, where that is possible. */
static void bias(struct lb_lock *lock)
{
    for (uint32_t i = 0; i < 2 * IN_A_ROW; i++) {
        lb_lock_acquire(lock);
        lb_lock_release(lock);
    }
    CHECK_EQ(atomic_load(&lock->word), has_barrier ? LB_LOCK_BIASED : LB_LOCK_FREE);
}

struct contest {
    struct lb_lock lock;
    _Atomic bool joined; /* the other thread has had the lock */
    uint64_t count;
};

static void *join_contest(void *argument)
{
    struct contest *contest = argument;

    for (int i = 0; i < 10; i++) {
        lb_lock_acquire(&contest->lock);
        contest->count++;
        lb_lock_release(&contest->lock);
        contest->joined = true;
    }
    return NULL;
}

static void should_share_a_lock_that_was_biased(void)
{
    const double began = seconds();

    for (int i = 0; goes_on(i / 20, began); i++) {
        struct contest contest = {0};
        pthread_t other;
        uint64_t count = 0;

        bias(&contest.lock);
        CHECK_EQ(pthread_create(&other, NULL, join_contest, &contest), 0);
        while (!contest.joined || count < 1000) {
            lb_lock_acquire(&contest.lock);
            contest.count++;
            lb_lock_release(&contest.lock);
            count++;
        }
        CHECK_EQ(pthread_join(other, NULL), 0);
        CHECK_EQ(contest.count, count + 10);
        CHECK_EQ(atomic_load(&contest.lock.word), LB_LOCK_FREE);
    }
}

static void *try_to_bias(void *argument)
{
    struct lb_lock *lock = argument;

    for (uint32_t i = 0; i < 2 * IN_A_ROW; i++) {
        lb_lock_acquire(lock);
        lb_lock_release(lock);
    }
    CHECK_EQ(atomic_load(&lock->word), LB_LOCK_FREE);
    return NULL;
}

/* A thread that was interrupted when it saw itself as the owner would enter beside another owner. */
static void should_bias_a_lock_to_its_first_owner_alone(void)
{
    struct lb_lock lock = {0};
    pthread_t other;

    for (int i = 0; i < 3; i++) {
        bias(&lock);
        CHECK_EQ(pthread_create(&other, NULL, acquire_and_release, &lock), 0);
        CHECK_EQ(pthread_join(other, NULL), 0);
        CHECK_EQ(atomic_load(&lock.word), LB_LOCK_FREE);
    }
    if (!has_barrier)
        return;
    CHECK_EQ(pthread_create(&other, NULL, try_to_bias, &lock), 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
}

/* The other thread of a lock that is biased again and again. */
struct visitor {
    struct contest contest;
    _Atomic bool stopped;
    uint64_t visits;
};

static void *visit_now_and_then(void *argument)
{
    const struct timespec moment = {.tv_nsec = 3000000};
    struct visitor *visitor = argument;

    while (!visitor->stopped) {
        lb_lock_acquire(&visitor->contest.lock);
        visitor->contest.count++;
        lb_lock_release(&visitor->contest.lock);
        visitor->visits++;
        (void)nanosleep(&moment, NULL);
    }
    return NULL;
}

static void should_share_a_lock_that_is_biased_again(void)
{
    struct visitor visitor = {0};
    struct lb_lock *lock = &visitor.contest.lock;
    pthread_t other;
    uint64_t count = 0;
    uint64_t biased = 0;
    bool was_biased = false;

    CHECK_EQ(pthread_create(&other, NULL, visit_now_and_then, &visitor), 0);
    for (; count < 100000 * SCALE || (has_barrier && biased < 3 && count < 100000000); count++) {
        const bool is_biased = atomic_load_explicit(&lock->word, memory_order_relaxed) == LB_LOCK_BIASED;

        biased += is_biased && !was_biased;
        was_biased = is_biased;
        lb_lock_acquire(lock);
        visitor.contest.count++;
        lb_lock_release(lock);
    }
    visitor.stopped = true;
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_EQ(visitor.contest.count, count + visitor.visits);
    CHECK(!has_barrier || biased >= 3);
}

/* What another thread does while this one holds the lock; and how far it is. */
struct visit {
    struct lb_lock lock;
    void (*act)(struct lb_lock *lock);
    _Atomic bool begun;
    _Atomic bool done;
};

static void *run_visit(void *argument)
{
    struct visit *visit = argument;

    visit->begun = true;
    visit->act(&visit->lock);
    visit->done = true;
    return NULL;
}

/* The act returns after this thread has released the lock, and not before. */
static void wait_for_holder(void (*act)(struct lb_lock *lock), bool is_biased)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    struct visit visit = {.act = act};
    struct timespec limit;
    pthread_t visitor;

    if (is_biased)
        bias(&visit.lock);
    lb_lock_acquire(&visit.lock);
    CHECK_EQ(pthread_create(&visitor, NULL, run_visit, &visit), 0);
    while (!visit.begun)
        (void)sched_yield();
    (void)nanosleep(&moment, NULL);
    CHECK(!visit.done);
    lb_lock_release(&visit.lock);
    CHECK_EQ(clock_gettime(CLOCK_REALTIME, &limit), 0);
    limit.tv_sec += 30;
    CHECK_EQ(pthread_timedjoin_np(visitor, NULL, &limit), 0);
    CHECK(visit.done);
}

static void take_and_give_back(struct lb_lock *lock)
{
    (void)acquire_and_release(lock);
}

static void try_once(struct lb_lock *lock)
{
    const bool taken = lb_lock_try(lock);

    CHECK(!has_barrier || taken);
    if (taken)
        lb_lock_release(lock);
}

static void pass(struct lb_lock *lock)
{
    lb_lock_fence();
    lb_lock_pass(lock);
}

static void should_wait_for_the_owner_of_a_biased_lock(void)
{
    wait_for_holder(take_and_give_back, true);
    if (has_barrier)
        wait_for_holder(try_once, true);
}

static void should_wait_for_a_section_under_a_lock(void)
{
    wait_for_holder(pass, false);
    wait_for_holder(pass, true);
}

static void take_as_often_as_biases(struct lb_lock *lock)
{
    for (uint32_t i = 0; i <= IN_A_ROW; i++) {
        lb_lock_acquire(lock);
        lb_lock_release(lock);
    }
}

/* That of a batch of an extended completion queue, which another thread may end than has begun it. */
static void should_bias_no_shared_lock_in_the_child_of_a_fork(void)
{
    struct lb_lock usual = {0};
    struct lb_lock shared = {0};

    lb_lock_share(&shared);
    lb_lock_acquire(&usual);
    lb_lock_acquire(&shared);
    lb_lock_forget(&usual);
    lb_lock_forget(&shared);
    take_as_often_as_biases(&usual);
    take_as_often_as_biases(&shared);
    CHECK_EQ(usual.owner != NULL, has_barrier);
    CHECK(shared.owner == NULL);
}

/* A request that one thread posts and another one changes, by mistake. */
struct changed_request {
    struct ibv_sge sge;
    atomic_bool ended;
};

static __attribute__((no_sanitize("thread"))) void *change_length(void *context)
{
    struct changed_request *changed = context;

    while (!atomic_load(&changed->ended)) {
        *(volatile uint32_t *)&changed->sge.length = 0;
        *(volatile uint32_t *)&changed->sge.length = 8;
    }
    return NULL;
}

/* Posts it until the device finds the change after its first check. */
static __attribute__((no_sanitize("thread"))) void post_until_found(struct verbs_pair *pair, struct changed_request *changed)
{
    const time_t deadline = time(NULL) + 20;
    struct ibv_wc wc = {.status = IBV_WC_SUCCESS};
    struct ibv_send_wr wr = {.sg_list = &changed->sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
        .send_flags = IBV_SEND_SIGNALED, .wr.atomic.remote_addr = (uintptr_t)pair->buffer[1],
        .wr.atomic.rkey = pair->mr[1]->rkey, .wr.atomic.compare_add = 1};

    while (wc.status == IBV_WC_SUCCESS && time(NULL) < deadline) {
        struct ibv_send_wr *bad_wr;

        if (ibv_post_send(pair->qp[0], &wr, &bad_wr) == 0)
            CHECK_EQ(ibv_poll_cq(pair->cq[0], 1, &wc), 1);
    }
    CHECK_EQ(wc.status, IBV_WC_LOC_LEN_ERR);
}

static void should_write_nowhere_if_the_element_has_vanished(void)
{
    struct verbs_pair pair;
    struct changed_request changed = {.sge.length = 8};
    pthread_t thread;

    verbs_pair_open(&pair, &(struct verbs_options){0});
    changed.sge.addr = (uintptr_t)pair.buffer[0];
    changed.sge.lkey = pair.mr[0]->lkey;
    CHECK_EQ(pthread_create(&thread, NULL, change_length, &changed), 0);
    post_until_found(&pair, &changed);
    atomic_store(&changed.ended, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    verbs_pair_close(&pair);
}

const struct test thread_tests[] = {
    {"a queue as long as the send queue is never overrun by it", should_not_overrun_a_queue_as_long_as_the_send_queue},
    {"two threads talk both ways over one connection", should_talk_both_ways_at_once},
    {"threads share a queue pair, each in its order", should_let_threads_share_a_queue_pair},
    {"senders compete for a shared receive queue", should_share_a_receive_queue_among_senders},
    {"a region is deregistered under a writer", should_deregister_under_a_writer},
    {"threads connect and close at the same time", should_connect_from_several_threads},
    {"what was accepted before a disconnect completes once",
        should_complete_all_that_was_accepted_before_a_disconnect},
    {"a lock has one holder at a time", should_have_one_holder_of_a_lock_at_a_time},
    {"a lock whose release overlooks a sleeping thread is taken all the same",
        should_look_again_at_a_lock_whose_release_has_overlooked_a_sleeper},
    {"a lock that was biased to a thread has one holder at a time", should_share_a_lock_that_was_biased},
    {"a lock is biased to its first owner again, and to no other thread", should_bias_a_lock_to_its_first_owner_alone},
    {"a shared lock is biased to no thread in the child of a fork", should_bias_no_shared_lock_in_the_child_of_a_fork},
    {"a lock that is biased again and again has one holder at a time", should_share_a_lock_that_is_biased_again},
    {"a thread waits for the owner of a biased lock", should_wait_for_the_owner_of_a_biased_lock},
    {"a thread waits for the section of another one under a lock", should_wait_for_a_section_under_a_lock},
    {"an atomic whose element vanishes during its post writes nowhere", should_write_nowhere_if_the_element_has_vanished},
    {NULL, NULL},
};
