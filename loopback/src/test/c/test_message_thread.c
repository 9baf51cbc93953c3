/* SPDX-License-Identifier: Apache-2.0 */
/* test_message_thread.c: lists of messages while other threads send, receive, end a side, reuse requests or return regions. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "list_end.h"
#include "process_end.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROUNDS 1
#else
#define ROUNDS 20
#endif
#define LISTS 300
#define WINDOW 32

/* Sends lists of 1 to 16 numbered messages, and receives the other side's. */
struct talker {
    struct verbs_pair *pair;
    struct ibv_cq *cq;
    int side;
    uint64_t seed;
    uint64_t to_send;
};

static void post_numbers(struct talker *talker, uint64_t first, uint32_t count)
{
    struct verbs_pair *pair = talker->pair;
    struct ibv_sge sge[16];
    struct ibv_send_wr wr[16] = {0};
    struct ibv_send_wr *bad_wr;

    for (uint32_t i = 0; i < count; i++) {
        char *slot = pair->buffer[talker->side] + (first + i) % WINDOW * 64;
        const uint64_t number = first + i;

        memcpy(slot, &number, sizeof(number));
        memcpy(slot + 56, &number, sizeof(number));
        sge[i] = (struct ibv_sge){(uintptr_t)slot, 64, pair->mr[talker->side]->lkey};
        wr[i] = (struct ibv_send_wr){.wr_id = number, .sg_list = &sge[i], .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM,
            .imm_data = (uint32_t)number, .send_flags = IBV_SEND_SIGNALED, .next = i + 1 < count ? &wr[i + 1] : NULL};
    }
    CHECK_EQ(ibv_post_send(pair->qp[talker->side], wr, &bad_wr), 0);
}

static void *talk(void *context)
{
    struct talker *talker = context;
    struct verbs_pair *pair = talker->pair;
    const char *received_at = pair->buffer[talker->side] + VERBS_BUFFER_SIZE / 2;
    uint64_t sent = 0;
    uint64_t completed = 0;
    uint64_t posted = 0;
    uint64_t received = 0;

    while (completed < talker->to_send || received < talker->to_send) {
        struct ibv_wc wc[16];

        /* The receives are fewer than a list at times. */
        for (uint32_t n = list_random(&talker->seed) % 8; n > 0 && posted < talker->to_send && posted - received < 24; n--) {
            verbs_recv(pair, talker->side, posted, VERBS_BUFFER_SIZE / 2 + posted % WINDOW * 64, 64);
            posted++;
        }
        const uint32_t count = list_random(&talker->seed) % 16 + 1;
        if (sent + count <= talker->to_send && sent + count - completed <= WINDOW) {
            post_numbers(talker, sent, count);
            sent += count;
        } else if (sent < talker->to_send && talker->to_send - sent < 16 && sent == completed) {
            post_numbers(talker, sent, (uint32_t)(talker->to_send - sent));
            sent = talker->to_send;
        }
        const int got = ibv_poll_cq(talker->cq, 16, wc);
        CHECK(got >= 0);
        for (int i = 0; i < got; i++) {
            CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
            if (wc[i].opcode & IBV_WC_RECV) {
                const char *slot = received_at + received % WINDOW * 64;

                CHECK_EQ(wc[i].wr_id, received);
                CHECK_EQ(wc[i].imm_data, received);
                CHECK(memcmp(slot, &received, sizeof(received)) == 0 && memcmp(slot + 56, &received, sizeof(received)) == 0);
                received++;
            } else {
                CHECK_EQ(wc[i].wr_id, completed);
                completed++;
            }
        }
        if (got == 0)
            sched_yield();
    }
    return NULL;
}

static void send_lists_both_ways(uint32_t srq_wr)
{
    struct verbs_options options = list_defaults;
    const double began = seconds();
    struct verbs_pair pair;
    struct talker talkers[2];
    pthread_t threads[2];

    options.srq_wr = srq_wr;
    verbs_pair_open(&pair, &options);
    /* On a busy machine each yield takes the turns of all other threads. */
    for (int round = 0; round == 0 || (round < ROUNDS && seconds() - began < 10); round++) {
        for (int i = 0; i < 2; i++) {
            talkers[i] = (struct talker){.pair = &pair, .cq = pair.cq[i], .side = i, .seed = (uint64_t)(2 * round + i),
                .to_send = LISTS * 8};
            CHECK_EQ(pthread_create(&threads[i], NULL, talk, &talkers[i]), 0);
        }
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    verbs_pair_close(&pair);
}

/* Each side has the other one's receive lock while it holds its own send lock. */
static void should_send_lists_both_ways_at_once(void)
{
    send_lists_both_ways(0);
    send_lists_both_ways(63);
}

/* Sends lists until one is refused, or enough. */
struct poster {
    struct verbs_pair *pair;
    _Atomic uint64_t posted;
};

static void *post_lists(void *context)
{
    struct poster *poster = context;
    struct talker talker = {.pair = poster->pair, .side = 0};

    for (uint64_t n = 0; n < 3; n++) {
        post_numbers(&talker, n * 16, 16);
        atomic_store(&poster->posted, (n + 1) * 16);
    }
    return NULL;
}

/* Destroys the queue pair and its queue. The next queue may have the same memory. */
static void end_receiver(struct verbs_pair *pair)
{
    CHECK_EQ(ibv_destroy_qp(pair->qp[1]), 0);
    CHECK_EQ(ibv_destroy_cq(pair->cq[1]), 0);
    pair->qp[1] = NULL;
    pair->cq[1] = ibv_create_cq(pair->context, 1, NULL, pair->channel, 0);
    CHECK(pair->cq[1] != NULL);
}

/* The receiver fails while lists arrive: each request completes once, in order, and as many arrive as were sent. */
static void should_lose_nothing_when_the_receiver_fails_under_lists(void)
{
    uint64_t seed = 1;

    for (int round = 0; round < ROUNDS * 30; round++) {
        struct verbs_options options = list_defaults;
        struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
        struct ibv_wc wc[COMPLETIONS];
        struct verbs_pair pair;
        struct poster poster = {.pair = &pair};
        pthread_t thread;
        uint64_t arrived = 0;
        uint64_t sent = 0;

        options.timeout = 0;
        options.srq_wr = round % 4 < 2 ? 0 : QUEUE;
        verbs_pair_open(&pair, &options);
        for (uint64_t i = 0; i < 48; i++)
            verbs_recv(&pair, 1, i, 64 * i, 64);
        CHECK_EQ(pthread_create(&thread, NULL, post_lists, &poster), 0);
        const uint64_t moment = list_random(&seed) % 48;
        const uint32_t later = list_random(&seed) % 512;
        while (atomic_load(&poster.posted) < moment / 16 * 16)
            ;
        for (volatile uint32_t i = 0; i < later; i++)
            ;
        if (round % 2) {
            CHECK_EQ(ibv_modify_qp(pair.qp[1], &error, IBV_QP_STATE), 0);
            /* Nothing arrives from here on. Its own receives are flushed, those of a shared queue stay in it. */
            const int receives = list_poll_all(pair.cq[1], wc);

            CHECK(pair.srq != NULL || receives == 48);
            for (int i = 0; i < receives; i++) {
                CHECK_EQ(wc[i].wr_id, i);
                CHECK(wc[i].status == IBV_WC_SUCCESS ? arrived == (uint64_t)i : wc[i].status == IBV_WC_WR_FLUSH_ERR);
                arrived += wc[i].status == IBV_WC_SUCCESS;
            }
        } else {
            end_receiver(&pair);
        }
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(ibv_modify_qp(pair.qp[0], &error, IBV_QP_STATE), 0);
        const int sends = list_poll_all(pair.cq[0], wc);
        CHECK_EQ(sends, 48);
        for (int i = 0; i < sends; i++) {
            CHECK_EQ(wc[i].wr_id, i);
            CHECK(wc[i].status == IBV_WC_SUCCESS ? sent == (uint64_t)i : wc[i].status == IBV_WC_WR_FLUSH_ERR);
            sent += wc[i].status == IBV_WC_SUCCESS;
        }
        CHECK(round % 2 == 0 || arrived == sent);
        CHECK_EQ(list_poll_all(pair.cq[1], wc), 0);
        verbs_pair_close(&pair);
    }
}

/* Overwrites requests after it has polled their completions, as their owner may. */
struct reuser {
    struct list_end end;
    _Atomic uint32_t posted; /* lists */
    _Atomic uint32_t done;
};

static void *reuse_requests(void *context)
{
    struct reuser *reuser = context;
    struct ibv_wc wc[16];

    for (uint32_t list = 0; list < ROUNDS * 30; list++) {
        while (atomic_load(&reuser->posted) == list)
            sched_yield();
        for (int completed = 0; completed < 16;) {
            const int got = ibv_poll_cq(reuser->end.pair.cq[0], 16, wc);

            CHECK(got >= 0);
            for (int i = 0; i < got; i++)
                memset(&reuser->end.wr[wc[i].wr_id], 0, sizeof(reuser->end.wr[0]));
            completed += got;
        }
        atomic_store(&reuser->done, list + 1);
    }
    return NULL;
}

/* A device has read a request before it completes it: another thread may have it again as soon as it has polled that. */
static void should_not_look_at_requests_that_are_completed(void)
{
    static struct reuser reuser;
    pthread_t thread;
    int error;

    reuser.posted = 0;
    reuser.done = 0;
    list_end_open(&reuser.end, &list_defaults);
    CHECK_EQ(pthread_create(&thread, NULL, reuse_requests, &reuser), 0);
    for (uint32_t list = 0; list < ROUNDS * 30; list++) {
        struct ibv_wc wc[COMPLETIONS];

        list_make_plain(&reuser.end, 16, IBV_SEND_SIGNALED);
        for (uint32_t i = 0; i < 16; i++) {
            reuser.end.wr[i].opcode = list % 4 == 3 ? IBV_WR_RDMA_WRITE : IBV_WR_SEND_WITH_IMM;
            reuser.end.wr[i].imm_data = i + 1;
            reuser.end.wr[i].wr.rdma.remote_addr = (uintptr_t)reuser.end.pair.buffer[1];
            reuser.end.wr[i].wr.rdma.rkey = reuser.end.pair.mr[1]->rkey;
            if (list % 4 != 3)
                verbs_recv(&reuser.end.pair, 1, i, 64 * i, 64);
        }
        atomic_store(&reuser.posted, list + 1);
        CHECK_EQ(list_post(&reuser.end, 0, 16, false, &error), 16);
        while (atomic_load(&reuser.done) == list)
            sched_yield();
        const int received = list_poll_all(reuser.end.pair.cq[1], wc);

        CHECK_EQ(received, list % 4 == 3 ? 0 : 16);
        for (int i = 0; i < received; i++)
            CHECK_EQ(wc[i].imm_data, i + 1);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    list_end_close(&reuser.end);
}

#define MANY 16000

/* Returns a region in the middle of a list: when the first message has arrived. */
struct returner {
    struct ibv_mr *mr;
    const volatile char *arrived;
};

/* The device writes there meanwhile, as it may: ThreadSanitizer is not to look. */
__attribute__((no_sanitize("thread"))) static void await_arrival(const struct returner *returner)
{
    while (*returner->arrived == 0)
        ;
}

static void *return_region(void *context)
{
    struct returner *returner = context;

    await_arrival(returner);
    CHECK_EQ(ibv_dereg_mr(returner->mr), 0);
    return NULL;
}

/* A region that is being returned has the key 0 in the device's table, and a list still holds it. No request may use it so. */
static void should_refuse_the_key_zero_while_a_region_is_returned(void)
{
    static struct ibv_send_wr wr[MANY];
    static struct list_end end;
    struct verbs_options options = list_defaults;

    options.max_wr = MANY;
    for (int round = 0; round < 20; round++) {
        const int side = round % 2; /* the owner of the region */
        struct ibv_send_wr *bad_wr;
        pthread_t thread;

        list_end_open(&end, &options);
        char *target = side == 1 ? end.more[1] : end.pair.buffer[1];
        struct ibv_mr *mr = ibv_reg_mr(end.pair.pd, end.more[side], VERBS_BUFFER_SIZE,
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        CHECK(mr != NULL);
        struct ibv_sge first = {(uintptr_t)end.more[0], 64, side == 0 ? mr->lkey : end.more_mr[0]->lkey};
        struct ibv_sge last = {(uintptr_t)end.more[0], 64, side == 0 ? 0 : end.more_mr[0]->lkey};
        struct returner returner = {mr, target};

        memset(end.more[0], 1, 64);
        memset(target, 0, 64);
        memset(wr, 0, sizeof(wr));
        for (uint32_t i = 0; i < MANY; i++) { /* those between have no bytes, and name no region */
            wr[i].wr_id = i;
            wr[i].opcode = IBV_WR_RDMA_WRITE;
            wr[i].next = i + 1 < MANY ? &wr[i + 1] : NULL;
            wr[i].wr.rdma.remote_addr = (uintptr_t)target;
            wr[i].wr.rdma.rkey = side == 1 ? mr->rkey : end.pair.mr[1]->rkey;
        }
        wr[0].sg_list = &first;
        wr[0].num_sge = 1;
        wr[MANY - 1].sg_list = &last;
        wr[MANY - 1].num_sge = 1;
        if (side == 1)
            wr[MANY - 1].wr.rdma.rkey = 1; /* the remote key that belongs to the local key 0 */
        CHECK_EQ(pthread_create(&thread, NULL, return_region, &returner), 0);
        CHECK_EQ(ibv_post_send(end.pair.qp[0], wr, &bad_wr), 0);
        verbs_expect(end.pair.cq[0], MANY - 1, side == 0 ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        list_end_close(&end);
    }
}

const struct test message_thread_tests[] = {
    {"message list: both ways at once", should_send_lists_both_ways_at_once},
    {"message list: the receiver fails meanwhile", should_lose_nothing_when_the_receiver_fails_under_lists},
    {"message list: completed requests are their owner's", should_not_look_at_requests_that_are_completed},
    {"message list: the key 0 names no region that is being returned", should_refuse_the_key_zero_while_a_region_is_returned},
    {NULL, NULL},
};
