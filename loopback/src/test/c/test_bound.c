/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound.c: a call does bounded work for other queue pairs, and no thread waits for a lock during a long copy. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "test.h"
#include "verbs_pair.h"

#define MIB (UINT64_C(1) << 20)
#define PAGE 4096
#define ALL_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static const struct verbs_options defaults = {.max_wr = 32, .rnr_retry = 7, .timeout = 14, .retry_cnt = 7};

/* A pair with long registered memory on both sides. */
struct long_pair {
    struct verbs_pair base;
    uint64_t length;
    char *memory[2];
    struct ibv_mr *mr[2];
};

static void map_memory(struct long_pair *pair, int side)
{
    pair->memory[side] = mmap(NULL, pair->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pair->memory[side] != MAP_FAILED);
    pair->mr[side] = ibv_reg_mr(pair->base.pd, pair->memory[side], pair->length, ALL_ACCESS);
    CHECK(pair->mr[side] != NULL);
}

static void unmap_memory(struct long_pair *pair, int side)
{
    CHECK_EQ(ibv_dereg_mr(pair->mr[side]), 0);
    CHECK_EQ(munmap(pair->memory[side], pair->length), 0);
}

static void long_pair_open(struct long_pair *pair, const struct verbs_options *options, uint64_t length)
{
    pair->length = length;
    verbs_pair_open(&pair->base, options);
    for (int side = 0; side < 2; side++)
        map_memory(pair, side);
}

static void long_pair_close(struct long_pair *pair)
{
    for (int side = 0; side < 2; side++)
        unmap_memory(pair, side);
    verbs_pair_close(&pair->base);
}

/* Side 0 posts a request of so many bytes from the start of its memory to that of side 1. */
static int post(struct long_pair *pair, uint64_t wr_id, enum ibv_wr_opcode opcode, uint64_t length)
{
    struct ibv_sge sge = {(uintptr_t)pair->memory[0], (uint32_t)length, pair->mr[0]->lkey};
    struct ibv_send_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad_wr;

    wr.wr.rdma.remote_addr = (uintptr_t)pair->memory[1];
    wr.wr.rdma.rkey = pair->mr[1]->rkey;
    return ibv_post_send(pair->base.qp[0], &wr, &bad_wr);
}

static int receive(struct long_pair *pair, uint64_t wr_id, uint64_t length)
{
    struct ibv_sge sge = {(uintptr_t)pair->memory[1], (uint32_t)length, pair->mr[1]->lkey};
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad_wr;

    return pair->base.srq != NULL ? ibv_post_srq_recv(pair->base.srq, &wr, &bad_wr) :
        ibv_post_recv(pair->base.qp[1], &wr, &bad_wr);
}

static uint64_t cpu_ns(void)
{
    struct timespec now;

    CHECK_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Processor time that this thread needs to copy the data of the requests. */
static uint64_t copying_ns(struct long_pair *pair, uint64_t length, int times)
{
    const uint64_t start = cpu_ns();

    for (int i = 0; i < times; i++)
        memcpy(pair->memory[1], pair->memory[0], length);
    return cpu_ns() - start;
}

/*
 * Whether one of a few tries is short: one whose processor is taken from a virtual machine has that time in its own, which only a
 * copy has in each try.
 */
static bool is_short_once(bool (*is_short)(const struct verbs_options *options), const struct verbs_options *options)
{
    enum { TRIES = 5 };
    bool was_short = false;

    for (int i = 0; i < TRIES && !was_short; i++)
        was_short = is_short(options);
    return was_short;
}

/* A receive releases a message and the eight long writes behind it, on another thread. */
static bool is_receive_before_long_requests_short(const struct verbs_options *options)
{
    enum { WRITES = 8 };
    struct long_pair pair;

    long_pair_open(&pair, options, 32 * MIB);
    const uint64_t copying = copying_ns(&pair, pair.length, WRITES);
    CHECK_EQ(post(&pair, 0, IBV_WR_SEND, 64), 0);
    for (uint64_t i = 1; i <= WRITES; i++)
        CHECK_EQ(post(&pair, i, IBV_WR_RDMA_WRITE, pair.length), 0);
    const uint64_t start = cpu_ns();
    CHECK_EQ(receive(&pair, 100, 64), 0);
    const uint64_t first = cpu_ns() - start;
    /* And a receive for a long message copies none of it. */
    CHECK_EQ(post(&pair, WRITES + 1, IBV_WR_SEND, pair.length), 0);
    const uint64_t again = cpu_ns();
    CHECK_EQ(receive(&pair, 101, pair.length), 0);
    const uint64_t second = cpu_ns() - again;
    for (uint64_t i = 0; i <= WRITES + 1; i++)
        CHECK_EQ(verbs_wc(pair.base.cq[0]).wr_id, i);
    CHECK_EQ(verbs_wc(pair.base.cq[1]).wr_id, 100);
    CHECK_EQ(verbs_wc(pair.base.cq[1]).wr_id, 101);
    long_pair_close(&pair);
    return first < copying / 10 && second < copying / 10;
}

static void should_not_carry_out_long_requests_in_the_call_of_a_receive(void)
{
    struct verbs_options options = defaults;

    for (options.srq_wr = 0; options.srq_wr <= 8; options.srq_wr += 8)
        CHECK(is_short_once(is_receive_before_long_requests_short, &options));
}

/* Many short requests are no different from a few long ones. */
static bool is_receive_before_many_requests_short(const struct verbs_options *options)
{
    enum { WRITES = 8000 };
    struct verbs_options many = *options;
    struct long_pair pair;
    struct ibv_wc wc;

    many.max_wr = WRITES + 1;
    many.cqe = 2 * WRITES;
    long_pair_open(&pair, &many, 4 * MIB);
    const uint64_t copying = copying_ns(&pair, 32768, WRITES);
    CHECK_EQ(post(&pair, 0, IBV_WR_SEND, 64), 0);
    for (uint64_t i = 1; i <= WRITES; i++)
        CHECK_EQ(post(&pair, i, IBV_WR_RDMA_WRITE, 32768), 0);
    CHECK_EQ(ibv_poll_cq(pair.base.cq[0], 1, &wc), 0);
    const uint64_t start = cpu_ns();
    CHECK_EQ(receive(&pair, 100, 64), 0);
    const uint64_t taken = cpu_ns() - start;
    for (uint64_t i = 0; i <= WRITES; i++)
        CHECK_EQ(verbs_wc(pair.base.cq[0]).wr_id, i);
    long_pair_close(&pair);
    return taken < copying / 10;
}

static void should_not_carry_out_many_requests_in_the_call_of_a_receive(void)
{
    CHECK(is_short_once(is_receive_before_many_requests_short, &defaults));
}

/* While a long message is copied, posts to both its queue pairs return: at least now and then its completion is still out. */
static void should_not_make_posts_wait_for_a_copy(void)
{
    enum { ROUNDS = 50 };
    struct long_pair pair;
    int before_the_end = 0;

    long_pair_open(&pair, &defaults, 64 * MIB);
    for (uint64_t round = 0; round < ROUNDS && before_the_end == 0; round++) {
        struct ibv_wc wc;

        CHECK_EQ(post(&pair, 1, IBV_WR_SEND, pair.length), 0);
        CHECK_EQ(receive(&pair, 100, pair.length), 0); /* it begins, on the device thread */
        const struct timespec moment = {.tv_nsec = 2000000};
        (void)nanosleep(&moment, NULL);
        CHECK_EQ(post(&pair, 2, IBV_WR_RDMA_WRITE, 8), 0);
        CHECK_EQ(receive(&pair, 101, 64), 0);
        CHECK_EQ(post(&pair, 3, IBV_WR_SEND, 64), 0);
        const bool done = ibv_poll_cq(pair.base.cq[0], 1, &wc) == 1;
        if (done)
            CHECK_EQ(wc.wr_id, 1);
        else
            before_the_end++;
        for (uint64_t i = done ? 2 : 1; i <= 3; i++)
            CHECK_EQ(verbs_wc(pair.base.cq[0]).wr_id, i);
        CHECK_EQ(verbs_wc(pair.base.cq[1]).wr_id, 100);
        CHECK_EQ(verbs_wc(pair.base.cq[1]).wr_id, 101);
    }
    CHECK(before_the_end > 0);
    long_pair_close(&pair);
}

struct poster {
    struct long_pair *pair;
    uint64_t first;
    uint64_t posts;
};

static void *post_some(void *argument)
{
    struct poster *poster = argument;

    for (uint64_t i = 0; i < poster->posts; i++) {
        const uint64_t wr_id = poster->first + i;

        while (post(poster->pair, wr_id, IBV_WR_RDMA_WRITE, i % 3 == 0 ? MIB : 64) != 0)
            (void)sched_yield();
    }
    return NULL;
}

/* Long and short requests of two threads: the requests of each thread complete in order. */
static void should_keep_the_order_of_long_and_short_requests(void)
{
    enum { POSTS = 300 };
    struct long_pair pair;
    pthread_t threads[2];
    struct poster posters[2];
    uint64_t next[2] = {0, 0};

    long_pair_open(&pair, &defaults, MIB);
    for (int i = 0; i < 2; i++) {
        posters[i] = (struct poster){&pair, (uint64_t)i * POSTS, POSTS};
        CHECK_EQ(pthread_create(&threads[i], NULL, post_some, &posters[i]), 0);
    }
    for (int i = 0; i < 2 * POSTS; i++) {
        const struct ibv_wc wc = verbs_wc(pair.base.cq[0]);
        const uint64_t poster = wc.wr_id / POSTS;

        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id % POSTS, next[poster]++);
    }
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    long_pair_close(&pair);
}

enum ending { ENDS_BY_ERROR, ENDS_BY_RESET, ENDS_BY_DESTRUCTION, ENDS_BY_DEREGISTRATION, ENDINGS };

/* Completions of one side until there are none: counts them, and each has a wr_id of its own from `first` on. */
static int count_completions(struct ibv_cq *cq, uint64_t first)
{
    struct ibv_wc wc;
    int count = 0;

    while (ibv_poll_cq(cq, 1, &wc) == 1)
        CHECK_EQ(wc.wr_id, first + (uint64_t)count++);
    return count;
}

static void end(struct long_pair *pair, int side, enum ending ending)
{
    struct ibv_qp_attr attr = {.qp_state = ending == ENDS_BY_ERROR ? IBV_QPS_ERR : IBV_QPS_RESET};

    switch (ending) {
    case ENDS_BY_ERROR:
    case ENDS_BY_RESET:
        CHECK_EQ(ibv_modify_qp(pair->base.qp[side], &attr, IBV_QP_STATE), 0);
        break;
    case ENDS_BY_DESTRUCTION:
        CHECK_EQ(ibv_destroy_qp(pair->base.qp[side]), 0);
        pair->base.qp[side] = NULL;
        break;
    default:
        unmap_memory(pair, side);
        map_memory(pair, side);
        break;
    }
}

/* Long messages are under way when one side ends: nothing is touched any more, and nothing is completed twice. */
static void should_survive_the_end_of_a_side_during_a_copy(void)
{
    enum { LONG = 3 };
    struct verbs_options options = defaults;

    options.timeout = 1;
    options.retry_cnt = 0;
    for (int round = 0; round < 16 * ENDINGS; round++) {
        const enum ending ending = (enum ending)(round % ENDINGS);
        const int side = round / ENDINGS % 2;
        const struct timespec moment = {.tv_nsec = rand() % 3000000};
        struct long_pair pair;

        options.srq_wr = round / (2 * ENDINGS) % 2 ? 8 : 0;
        long_pair_open(&pair, &options, 4 * MIB);
        for (uint64_t i = 0; i < LONG; i++)
            CHECK_EQ(post(&pair, i, IBV_WR_SEND, pair.length), 0);
        for (uint64_t i = 0; i < LONG; i++)
            CHECK_EQ(receive(&pair, 100 + i, pair.length), 0);
        (void)nanosleep(&moment, NULL);
        end(&pair, side, ending);
        const struct timespec rest = {.tv_nsec = 10000000};
        (void)nanosleep(&rest, NULL);
        int sent = count_completions(pair.base.cq[0], 0);
        /* Flushes wait for the copy. */
        for (int waited_ms = 0; side == 0 && ending == ENDS_BY_ERROR && sent < LONG && waited_ms < 10000; waited_ms++) {
            (void)poll(NULL, 0, 1);
            sent += count_completions(pair.base.cq[0], (uint64_t)sent);
        }
        const int received = count_completions(pair.base.cq[1], 100);
        CHECK(sent <= LONG && received <= LONG);
        if (side == 0 && (ending == ENDS_BY_RESET || ending == ENDS_BY_DESTRUCTION))
            CHECK_EQ(sent, 0);
        if (side == 0 && ending == ENDS_BY_ERROR)
            CHECK_EQ(sent, LONG);
        /* Each receive that was taken from a shared queue is completed, if only when its queue pair fails. */
        if (pair.base.qp[1] != NULL && ending != ENDS_BY_RESET) {
            struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

            CHECK_EQ(ibv_modify_qp(pair.base.qp[1], &attr, IBV_QP_STATE), 0);
            int flushed = count_completions(pair.base.cq[1], 100 + (uint64_t)received);
            for (int waited_ms = 0; pair.base.srq == NULL && received + flushed < LONG && waited_ms < 10000; waited_ms++) {
                (void)poll(NULL, 0, 1);
                flushed += count_completions(pair.base.cq[1], 100 + (uint64_t)(received + flushed));
            }
            if (pair.base.srq == NULL)
                CHECK_EQ(received + flushed, LONG);
            else
                CHECK(flushed <= 1);
        }
        for (int other = 0; other < 2; other++) {
            if (pair.base.qp[other] != NULL)
                CHECK_EQ(ibv_destroy_qp(pair.base.qp[other]), 0);
            pair.base.qp[other] = NULL;
        }
        long_pair_close(&pair);
    }
}

/* The completion with this number, after successful ones. */
static void await_completion(struct ibv_cq *cq, uint64_t wr_id)
{
    while (verbs_wc(cq).wr_id != wr_id)
        ;
}

/* Begins a request from one memory to the other on the device thread, behind a message that has waited for its receive. */
static void begin_copy(struct long_pair *pair, enum ibv_wr_opcode opcode)
{
    const bool is_message = opcode == IBV_WR_SEND;

    if (!is_message)
        CHECK_EQ(post(pair, 0, IBV_WR_SEND, 0), 0);
    CHECK_EQ(post(pair, 1, opcode, pair->length), 0);
    CHECK_EQ(receive(pair, 100, is_message ? pair->length : 0), 0);
}

/*
 * The memory of a request is its owner's again when its queue pair is destroyed or reset, or its completion is there: also if it
 * is not deregistered, but used for something else.
 */
static void should_not_write_to_the_memory_of_an_ended_request(void)
{
    static const enum ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
    enum { END = 4096 };
    struct verbs_options options = defaults;

    options.timeout = 1;
    options.retry_cnt = 0;
    for (int round = 0; round < 3 * 6; round++) {
        const enum ibv_wr_opcode opcode = opcodes[round % 3];
        const int side = round / 3 % 2;
        const enum ending ending = (enum ending)(round / 6); /* by an error, reset or destruction */
        const int target = opcode == IBV_WR_RDMA_READ ? 0 : 1;
        const struct timespec moment = {.tv_nsec = 1000000};
        const struct timespec rest = {.tv_nsec = 100000000};
        struct long_pair pair;

        /* A target of one-sided operations has no completion. */
        if (ending == ENDS_BY_ERROR && side == 1 && opcode != IBV_WR_SEND)
            continue;
        long_pair_open(&pair, &options, 64 * MIB);
        memset(pair.memory[1 - target], 1, pair.length);
        char *last = pair.memory[target] + pair.length - END;

        begin_copy(&pair, opcode);
        (void)nanosleep(&moment, NULL);
        end(&pair, side, ending);
        if (ending == ENDS_BY_ERROR)
            await_completion(pair.base.cq[side], side == 0 ? 1 : 100);
        memset(last, 2, END);
        (void)nanosleep(&rest, NULL);
        for (int i = 0; i < END; i++)
            CHECK_EQ(last[i], 2);
        for (int other = 0; other < 2; other++) {
            if (pair.base.qp[other] != NULL)
                CHECK_EQ(ibv_destroy_qp(pair.base.qp[other]), 0);
            pair.base.qp[other] = NULL;
        }
        long_pair_close(&pair);
    }
}

/* The device writes there meanwhile: ThreadSanitizer is not to look. */
__attribute__((no_sanitize("thread"))) static void await_arrival(const volatile char *arrived)
{
    while (*arrived == 0)
        (void)sched_yield();
}

/* A page of a message: threads that read it wait until the receivers are about to end, and a moment longer. */
static char *barred;
static _Atomic int waiting;
static _Atomic bool ending_begun;

static void wait_for_ends(int signal, siginfo_t *info, void *context)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    const struct timespec rest = {.tv_nsec = 30000000};
    const char *address = info->si_addr;

    (void)signal, (void)context;
    if (address < barred || address >= barred + PAGE)
        abort();
    atomic_fetch_add(&waiting, 1);
    while (!atomic_load(&ending_begun))
        (void)nanosleep(&moment, NULL);
    (void)nanosleep(&rest, NULL);
    (void)mprotect(barred, PAGE, PROT_READ | PROT_WRITE);
}

/* A message to a receive of a shared queue. */
struct interrupted {
    struct long_pair *pair;
    struct ibv_qp *sender;
    struct ibv_qp *receiver;
    enum ending ending;
    pthread_t thread;
};

static int send_from(struct long_pair *pair, struct ibv_qp *qp, uint64_t length)
{
    struct ibv_sge sge = {(uintptr_t)pair->memory[0], (uint32_t)length, pair->mr[0]->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
    struct ibv_send_wr *bad_wr;

    return ibv_post_send(qp, &wr, &bad_wr);
}

static void *send_interrupted(void *argument)
{
    const struct interrupted *message = argument;

    CHECK_EQ(send_from(message->pair, message->sender, message->pair->length), 0);
    return NULL;
}

static void *end_receiver(void *argument)
{
    struct interrupted *message = argument;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

    if (message->ending == ENDS_BY_RESET) {
        CHECK_EQ(ibv_modify_qp(message->receiver, &attr, IBV_QP_STATE), 0);
    } else {
        CHECK_EQ(ibv_destroy_qp(message->receiver), 0);
        message->receiver = NULL;
    }
    return NULL;
}

static struct ibv_qp *create_end(struct verbs_pair *pair, int side)
{
    struct ibv_qp_init_attr attr = {.send_cq = pair->cq[side], .recv_cq = pair->cq[side], .srq = side == 1 ? pair->srq : NULL,
        .cap = {.max_send_wr = 8, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}, .qp_type = IBV_QPT_RC};
    struct ibv_qp *qp = ibv_create_qp(pair->pd, &attr);

    CHECK(qp != NULL);
    return qp;
}

static void connect_ends(struct ibv_qp *sender, struct ibv_qp *receiver)
{
    verbs_connect(sender, receiver->qp_num, &defaults);
    verbs_connect(receiver, sender->qp_num, &defaults);
}

/* Receives 100, 101 and 102 take a message of another queue pair, in any order. */
static void check_three_receives(struct long_pair *pair)
{
    struct ibv_qp *sender = create_end(&pair->base, 0);
    struct ibv_qp *receiver = create_end(&pair->base, 1);
    uint64_t sum = 0;

    connect_ends(sender, receiver);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(send_from(pair, sender, 64), 0);
    for (int i = 0; i < 3; i++) {
        const struct ibv_wc wc = verbs_wc(pair->base.cq[1]);

        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        sum += UINT64_C(1) << (8 * (wc.wr_id - 100));
    }
    CHECK_EQ(sum, 0x10101);
    CHECK_EQ(ibv_destroy_qp(sender), 0);
    CHECK_EQ(ibv_destroy_qp(receiver), 0);
}

/*
 * Ends the receivers of two messages half-way, while their queue, which has room for one receive, has a third one. Returns false
 * if a message was faster.
 */
static bool end_receivers_during_messages(enum ending ending)
{
    struct verbs_options options = defaults;
    struct interrupted messages[2];
    struct long_pair pair;
    pthread_t enders[2];
    struct ibv_wc wc;

    options.srq_wr = 1;
    long_pair_open(&pair, &options, MIB);
    barred = pair.memory[0] + pair.length / 2;
    CHECK_EQ(mprotect(barred, PAGE, PROT_NONE), 0);
    atomic_store(&waiting, 0);
    atomic_store(&ending_begun, false);
    for (int i = 0; i < 2; i++) {
        messages[i] = (struct interrupted){&pair, create_end(&pair.base, 0), create_end(&pair.base, 1), ending, 0};
        connect_ends(messages[i].sender, messages[i].receiver);
        CHECK_EQ(receive(&pair, 100 + (uint64_t)i, pair.length), 0);
        CHECK_EQ(pthread_create(&messages[i].thread, NULL, send_interrupted, &messages[i]), 0);
        while (atomic_load(&waiting) <= i)
            (void)sched_yield();
    }
    CHECK_EQ(receive(&pair, 102, pair.length), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&enders[i], NULL, end_receiver, &messages[i]), 0);
    atomic_store(&ending_begun, true);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_join(enders[i], NULL), 0);
        CHECK_EQ(pthread_join(messages[i].thread, NULL), 0);
    }
    const bool interrupted = ibv_poll_cq(pair.base.cq[0], 1, &wc) == 0;
    for (int i = 0; i < 2; i++)
        CHECK_EQ(ibv_destroy_qp(messages[i].sender), 0);
    if (interrupted)
        check_three_receives(&pair);
    for (int i = 0; i < 2; i++) {
        if (messages[i].receiver != NULL)
            CHECK_EQ(ibv_destroy_qp(messages[i].receiver), 0);
    }
    long_pair_close(&pair);
    return interrupted;
}

/* Of a message that never completes: other queue pairs need its receive, and its owner the memory. */
static void should_return_the_receive_of_an_interrupted_message_to_its_shared_queue(void)
{
    enum { TRIES = 20 };
    struct sigaction waits = {.sa_sigaction = wait_for_ends, .sa_flags = SA_SIGINFO};
    struct sigaction former;

    CHECK_EQ(sigaction(SIGSEGV, &waits, &former), 0);
    for (enum ending ending = ENDS_BY_RESET; ending <= ENDS_BY_DESTRUCTION; ending++) {
        int tries = 1;

        while (!end_receivers_during_messages(ending))
            CHECK(++tries <= TRIES);
    }
    CHECK_EQ(sigaction(SIGSEGV, &former, NULL), 0);
}

static void *write_until_it_fails(void *argument)
{
    struct long_pair *pair = argument;
    struct ibv_wc wc = {.status = IBV_WC_SUCCESS};

    while (wc.status == IBV_WC_SUCCESS) {
        CHECK_EQ(post(pair, 1, IBV_WR_RDMA_WRITE, pair->length), 0);
        wc = verbs_wc(pair->base.cq[0]);
    }
    return NULL;
}

/* The same of requests that are executed by their post, at the moment of the end. */
static void should_not_be_written_to_after_the_end_of_a_queue_pair(void)
{
    enum { ROUNDS = 400, END = 64 };
    struct verbs_options options = defaults;

    options.timeout = 1;
    options.retry_cnt = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct long_pair pair;
        pthread_t writer;

        long_pair_open(&pair, &options, 65536); /* the longest of them */
        memset(pair.memory[0], 1, pair.length);
        volatile char *last = pair.memory[1] + pair.length - END;
        CHECK_EQ(pthread_create(&writer, NULL, write_until_it_fails, &pair), 0);
        await_arrival(last);
        end(&pair, 1, round % 2 ? ENDS_BY_DESTRUCTION : ENDS_BY_RESET);
        for (int i = 0; i < END; i++)
            last[i] = 2;
        CHECK_EQ(pthread_join(writer, NULL), 0);
        for (int i = 0; i < END; i++)
            CHECK_EQ(last[i], 2);
        long_pair_close(&pair);
    }
}

static void build(struct verbs_pair *pair, struct ibv_qp_ex *qpx, uint64_t wr_id, uint32_t length)
{
    qpx->wr_id = wr_id;
    qpx->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qpx, pair->mr[1]->rkey, (uintptr_t)pair->buffer[1]);
    ibv_wr_set_sge(qpx, pair->mr[0]->lkey, (uintptr_t)pair->buffer[0], length);
}

static void should_post_all_that_was_built_or_nothing(void)
{
    struct verbs_options options = defaults;
    struct verbs_pair pair;
    struct ibv_wc wc[32];

    options.max_wr = 7;
    options.send_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;
    verbs_pair_open(&pair, &options);
    struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair.qp[0]);
    for (uint64_t i = 0; i < 4; i++)
        verbs_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    /* The fourth has no room. */
    ibv_wr_start(qpx);
    for (uint64_t i = 0; i < 4; i++)
        build(&pair, qpx, 10 + i, 8);
    CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 32, wc), 4);
    /* The second is not sound: an atomic without an element. */
    ibv_wr_start(qpx);
    build(&pair, qpx, 20, 8);
    ibv_wr_atomic_cmp_swp(qpx, pair.mr[1]->rkey, (uintptr_t)pair.buffer[1], 0, 1);
    CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 32, wc), 0);
    ibv_wr_start(qpx);
    for (uint64_t i = 0; i < 7; i++)
        build(&pair, qpx, 30 + i, 8);
    CHECK_EQ(ibv_wr_complete(qpx), 0);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 32, wc), 7);
    for (uint64_t i = 0; i < 7; i++)
        CHECK_EQ(wc[i].wr_id, 30 + i);
    verbs_pair_close(&pair);
}

const struct test bound_tests[] = {
    {"a receive does not copy the long requests of others", should_not_carry_out_long_requests_in_the_call_of_a_receive},
    {"a receive does not copy the many requests of others", should_not_carry_out_many_requests_in_the_call_of_a_receive},
    {"no post waits for a copy", should_not_make_posts_wait_for_a_copy},
    {"long and short requests keep their order", should_keep_the_order_of_long_and_short_requests},
    {"a side may end during a copy", should_survive_the_end_of_a_side_during_a_copy},
    {"an interrupted message returns its receive to the shared queue",
        should_return_the_receive_of_an_interrupted_message_to_its_shared_queue},
    {"a copy does not write to memory whose request has ended", should_not_write_to_the_memory_of_an_ended_request},
    {"no request writes to memory whose queue pair has ended", should_not_be_written_to_after_the_end_of_a_queue_pair},
    {"what was built is posted as a whole", should_post_all_that_was_built_or_nothing},
    {NULL, NULL},
};
