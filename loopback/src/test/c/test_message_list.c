/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_message_list.c: a list of messages has the results of the same messages posted singly: order, failures half-way, events,
 * and both directions at once.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "verbs_pair.h"

#define MOST 40 /* requests of a list: more than the device delivers at once */
#define PIECES 4
#define QUEUE 63
#define COMPLETIONS 256

static const enum ibv_wr_opcode messages[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM};

/* One of two pairs that do the same, with what else they need: a region of its own, and one of another protection domain. */
struct end {
    struct verbs_pair pair;
    char *more[2]; /* side 0's and side 1's second region */
    struct ibv_mr *more_mr[2];
    struct ibv_pd *foreign_pd;
    struct ibv_mr *foreign[2];
    struct ibv_sge sge[MOST][PIECES];
    struct ibv_send_wr wr[MOST];
};

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

static void open_end(struct end *end, const struct verbs_options *options)
{
    memset(end, 0, sizeof(*end));
    verbs_pair_open(&end->pair, options);
    end->foreign_pd = ibv_alloc_pd(end->pair.context);
    for (int side = 0; side < 2; side++) {
        struct ibv_pd *pd = side == 1 && options->srq_own_pd ? end->pair.srq_pd : end->pair.pd;

        end->more[side] = aligned_alloc(4096, VERBS_BUFFER_SIZE);
        CHECK(end->more[side] != NULL);
        memset(end->more[side], 0, VERBS_BUFFER_SIZE);
        end->more_mr[side] = ibv_reg_mr(pd, end->more[side], VERBS_BUFFER_SIZE, IBV_ACCESS_LOCAL_WRITE);
        end->foreign[side] = ibv_reg_mr(end->foreign_pd, end->pair.buffer[side], VERBS_BUFFER_SIZE, IBV_ACCESS_LOCAL_WRITE);
        CHECK(end->more_mr[side] != NULL && end->foreign[side] != NULL);
    }
    for (uint32_t i = 0; i < VERBS_BUFFER_SIZE; i++) {
        end->pair.buffer[0][i] = (char)(i * 7 + i / 256);
        end->more[0][i] = (char)(i * 5 + i / 256);
    }
}

static void close_end(struct end *end)
{
    for (int side = 0; side < 2; side++) {
        CHECK_EQ(ibv_dereg_mr(end->more_mr[side]), 0); /* waits for ever if a list has left one held */
        CHECK_EQ(ibv_dereg_mr(end->foreign[side]), 0);
        free(end->more[side]);
    }
    CHECK_EQ(ibv_dealloc_pd(end->foreign_pd), 0);
    verbs_pair_close(&end->pair);
}

/*
 * An element of one of the side's regions; `bad` has a key of another protection domain, which is that of the queue pair where
 * the receives have one of their own.
 */
static struct ibv_sge element(const struct end *end, int side, uint32_t where, uint32_t length, bool is_more, bool bad)
{
    const struct ibv_mr *other = side == 1 && end->pair.srq_pd != NULL ? end->pair.mr[1] : end->foreign[side];
    const struct ibv_mr *mr = bad ? other : is_more ? end->more_mr[side] : end->pair.mr[side];

    return (struct ibv_sge){(uintptr_t)(is_more && !bad ? end->more[side] : end->pair.buffer[side]) + where, length, mr->lkey};
}

static uint32_t size_of(uint64_t *seed)
{
    static const uint32_t sizes[] = {64, 64, 64, 64, 8, 1, 17, 256, 1000};

    return sizes[next_random(seed) % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* How likely faults are, in 1,000 requests. */
struct odds {
    uint32_t bad_key;
    uint32_t short_receive;
    uint32_t refused;
};

/* With the same seed each end gets the same receive; with a shared queue, whose domain may be another one, in its own region. */
static int post_random_receive(struct end *end, uint64_t *seed, uint64_t wr_id, const struct odds *odds)
{
    struct ibv_sge sge[PIECES];
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = sge, .num_sge = (int)(next_random(seed) % 3 + 1)};
    struct ibv_recv_wr *bad_wr;
    const bool is_short = next_random(seed) % 1000 < odds->short_receive;
    const bool bad = next_random(seed) % 1000 < odds->bad_key;
    const bool always_more = end->pair.srq_pd != NULL;

    for (int i = 0; i < wr.num_sge; i++) {
        const uint32_t length = is_short ? 3 : i + 1 < wr.num_sge ? next_random(seed) % 40 + 1 : 1000;

        sge[i] = element(end, 1, next_random(seed) % 8192, length, next_random(seed) % 4 == 0 || always_more, bad && i == 0);
    }
    return end->pair.srq != NULL ? ibv_post_srq_recv(end->pair.srq, &wr, &bad_wr) : ibv_post_recv(end->pair.qp[1], &wr, &bad_wr);
}

static uint32_t make_random_list(struct end *end, uint64_t *seed, uint64_t wr_id, const struct odds *odds)
{
    const uint32_t count = next_random(seed) % MOST + 1;
    const uint32_t kind = next_random(seed) % 3; /* one opcode, all messages, anything */
    const uint32_t one = next_random(seed) % 3;

    memset(end->wr, 0, sizeof(end->wr));
    for (uint32_t i = 0; i < count; i++) {
        struct ibv_send_wr *wr = &end->wr[i];
        const uint32_t any = next_random(seed);
        const uint32_t length = size_of(seed);

        wr->wr_id = wr_id + i;
        wr->sg_list = end->sge[i];
        wr->num_sge = any % 8 == 0 ? (int)(any / 8 % (PIECES + 1)) : 1;
        if (next_random(seed) % 1000 < odds->refused)
            wr->num_sge = PIECES + 1;
        wr->opcode = messages[kind == 0 ? one : any / 64 % 3];
        if (kind == 2 && any / 256 % 4 == 0)
            wr->opcode = IBV_WR_RDMA_WRITE;
        wr->imm_data = any;
        wr->send_flags = any / 1024 % 3 == 0 ? IBV_SEND_SIGNALED : 0;
        if (length * (uint32_t)wr->num_sge <= 64 && any / 4096 % 4 == 0)
            wr->send_flags |= IBV_SEND_INLINE;
        const bool bad = next_random(seed) % 1000 < odds->bad_key;
        for (int piece = 0; piece < wr->num_sge && piece < PIECES; piece++)
            end->sge[i][piece] = element(end, 0, next_random(seed) % 8192, length / (uint32_t)wr->num_sge,
                next_random(seed) % 4 == 0, bad && piece == 0);
        wr->wr.rdma.remote_addr = (uintptr_t)end->pair.buffer[1] + next_random(seed) % 8192;
        wr->wr.rdma.rkey = end->pair.mr[1]->rkey;
        if (next_random(seed) % 1000 < odds->bad_key) {
            wr->wr.rdma.remote_addr = (uintptr_t)end->more[1];
            wr->wr.rdma.rkey = next_random(seed) % 2 ? 1 : end->more_mr[1]->rkey; /* which is not for others */
        }
        wr->next = i + 1 < count ? &end->wr[i + 1] : NULL;
    }
    return count;
}

/* Posts from `first` on. Returns how many were posted. */
static uint32_t post(struct end *end, uint32_t first, uint32_t count, bool singly, int *error)
{
    struct ibv_send_wr *bad_wr = NULL;

    *error = 0;
    if (!singly) {
        *error = ibv_post_send(end->pair.qp[0], &end->wr[first], &bad_wr);
        return *error ? (uint32_t)(bad_wr - end->wr) - first : count - first;
    }
    for (uint32_t i = first; i < count; i++) {
        end->wr[i].next = NULL;
        *error = ibv_post_send(end->pair.qp[0], &end->wr[i], &bad_wr);
        if (*error)
            return i - first;
    }
    return count - first;
}

/* All completions of a queue. Returns their number, or -1 if it is dead. */
static int poll_all(struct ibv_cq *cq, struct ibv_wc *wc)
{
    int count = 0;
    int polled;

    memset(wc, 0, COMPLETIONS * sizeof(*wc));
    while ((polled = ibv_poll_cq(cq, COMPLETIONS - count, wc + count)) > 0)
        count += polled;
    return polled < 0 ? -1 : count;
}

static int side_of(const struct end *end, uint32_t qp_num)
{
    return qp_num == end->pair.qp[0]->qp_num ? 0 : qp_num == end->pair.qp[1]->qp_num ? 1 : -1;
}

/* Polls all, and compares. Returns the number of failed completions of either. */
static int compare_completions(struct end *ends)
{
    struct ibv_wc wc[2][COMPLETIONS];
    int failures = 0;

    for (int side = 0; side < 2; side++) {
        const int count = poll_all(ends[0].pair.cq[side], wc[0]);

        CHECK_EQ(poll_all(ends[1].pair.cq[side], wc[1]), count);
        failures += count < 0;
        for (int i = 0; i < count; i++) {
            CHECK_EQ(wc[0][i].wr_id, wc[1][i].wr_id);
            CHECK_EQ(wc[0][i].status, wc[1][i].status);
            CHECK_EQ(wc[0][i].vendor_err, wc[1][i].vendor_err);
            CHECK_EQ(side_of(&ends[0], wc[0][i].qp_num), side_of(&ends[1], wc[1][i].qp_num));
            failures += wc[0][i].status != IBV_WC_SUCCESS;
            if (wc[0][i].status != IBV_WC_SUCCESS)
                continue;
            CHECK_EQ(wc[0][i].opcode, wc[1][i].opcode);
            CHECK_EQ(wc[0][i].byte_len, wc[1][i].byte_len);
            CHECK_EQ(wc[0][i].imm_data, wc[1][i].imm_data);
            CHECK_EQ(wc[0][i].wc_flags, wc[1][i].wc_flags);
            CHECK_EQ(side_of(&ends[0], wc[0][i].src_qp), side_of(&ends[1], wc[1][i].src_qp));
        }
    }
    return failures;
}

static void compare_ends(struct end *ends)
{
    for (int side = 0; side < 2; side++) {
        CHECK_EQ(verbs_state(ends[0].pair.qp[side]), verbs_state(ends[1].pair.qp[side]));
        CHECK(memcmp(ends[0].pair.buffer[side], ends[1].pair.buffer[side], VERBS_BUFFER_SIZE) == 0);
        CHECK(memcmp(ends[0].more[side], ends[1].more[side], VERBS_BUFFER_SIZE) == 0);
    }
}

/* One pair posts lists, the other one the same singly, until a request has failed, or for some lists. */
static void compare_with_single_posts(uint64_t seed, const struct verbs_options *options, const struct odds *odds)
{
    static struct end ends[2];
    uint64_t received = 1000;
    uint64_t sent = 0;

    for (int e = 0; e < 2; e++)
        open_end(&ends[e], options);
    for (int n = 0; n < 8; n++) {
        uint32_t posted[2];
        int error[2];
        uint64_t seeds[2] = {seed + 1, seed + 1};
        const uint32_t receives = next_random(&seed) % 3 == 0 ? next_random(&seed) % MOST : MOST;

        for (uint32_t i = 0; i < receives; i++, received++) {
            const int first = post_random_receive(&ends[0], &seeds[0], received, odds);

            CHECK_EQ(post_random_receive(&ends[1], &seeds[1], received, odds), first);
        }
        uint32_t count = 0;
        for (int e = 0; e < 2; e++) {
            count = make_random_list(&ends[e], &seeds[e], sent, odds);
            posted[e] = post(&ends[e], 0, count, e == 1, &error[e]);
        }
        CHECK_EQ(posted[0], posted[1]);
        CHECK_EQ(error[0], error[1]);
        sent += posted[0];
        seed = seeds[0];
        if (compare_completions(ends) != 0)
            break;
    }
    compare_ends(ends);
    for (int e = 0; e < 2; e++)
        close_end(&ends[e]);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEEDS 60
#else
#define SEEDS 400
#endif

static const struct verbs_options usual = {.cqe = 255, .max_wr = QUEUE, .max_inline = 64, .rnr_retry = 7, .timeout = 14,
    .retry_cnt = 7};

static void should_have_the_results_of_single_posts(void)
{
    static const struct odds none = {0};
    static const struct odds some = {.bad_key = 10, .short_receive = 10, .refused = 10};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct verbs_options options = usual;

        options.srq_wr = seed % 4 == 1 ? QUEUE : 0;
        options.srq_own_pd = seed % 8 == 1;
        options.one_cq = seed % 5 == 0;
        options.receives_apart = seed % 5 == 1;
        options.signal_all = seed % 7 == 0;
        options.rnr_retry = seed % 6 == 0 ? 0 : 7;
        options.min_rnr_timer = 1;
        options.max_wr = seed % 9 == 0 ? 7 : QUEUE; /* a list that does not fit */
        options.wc_flags = seed % 10 == 3 ? IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP : 0;
        /* A failed list flushes its rest before the receiver's, which are in order only in a queue of their own. */
        const bool in_one = options.one_cq || options.receives_apart;

        options.access = seed % 13 == 1 && !in_one ? IBV_ACCESS_LOCAL_WRITE : 0; /* or all */
        compare_with_single_posts(seed * 1000003, &options, seed % 2 == 0 || in_one ? &none : &some);
    }
}

/* A list of `count` messages of 64 bytes, all signalled. */
static void make_plain_list(struct end *end, uint32_t count, unsigned int flags)
{
    memset(end->wr, 0, sizeof(end->wr));
    for (uint32_t i = 0; i < count; i++) {
        end->sge[i][0] = element(end, 0, 64 * i, 64, false, false);
        end->wr[i] = (struct ibv_send_wr){.wr_id = i, .sg_list = end->sge[i], .num_sge = 1, .opcode = IBV_WR_SEND,
            .send_flags = flags, .next = i + 1 < count ? &end->wr[i + 1] : NULL};
    }
}

static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status)
{
    const struct ibv_wc wc = verbs_wc(cq);

    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, status);
}

/* The receives end at any place of the list: what is before it arrives at once, the rest with its receives, or it fails. */
static void should_wait_in_the_middle_of_a_list(void)
{
    static struct end end;
    int error;

    for (uint32_t receives = 0; receives <= 16; receives++) {
        for (int kind = 0; kind < 4; kind++) {
            struct verbs_options options = usual;
            const bool fails = kind >= 2 && receives < 16;

            options.srq_wr = kind % 2 ? QUEUE : 0;
            options.rnr_retry = fails ? 0 : 7;
            open_end(&end, &options);
            make_plain_list(&end, 16, IBV_SEND_SIGNALED);
            for (uint32_t i = 0; i < receives; i++)
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
            CHECK_EQ(post(&end, 0, 16, false, &error), 16);
            for (uint32_t i = 0; i < receives; i++) {
                expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
                expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            }
            for (uint32_t i = receives; i < 16 && !fails; i++) {
                CHECK_EQ(ibv_poll_cq(end.pair.cq[0], 1, &(struct ibv_wc){0}), 0);
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
                expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
                expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            }
            for (uint32_t i = receives; i < 16 && fails; i++)
                expect(end.pair.cq[0], i, i == receives ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR);
            CHECK(memcmp(end.pair.buffer[0], end.pair.buffer[1], fails ? 64 * receives : 64 * 16) == 0);
            close_end(&end);
        }
    }
}

#define LONG 100000u

/* A message that is so long that it is copied without locks, by the end of the post, is not overtaken by those behind it. */
static void should_keep_the_place_of_a_long_message(void)
{
    static struct end end;
    int error;

    for (uint32_t place = 0; place < 16; place += 5) {
        char *bytes = calloc(2, LONG);
        struct ibv_recv_wr *bad_recv;

        open_end(&end, &usual);
        CHECK(bytes != NULL);
        memset(bytes, 7, LONG);
        struct ibv_mr *mr = ibv_reg_mr(end.pair.pd, bytes, 2 * LONG, IBV_ACCESS_LOCAL_WRITE);
        CHECK(mr != NULL);
        make_plain_list(&end, 16, IBV_SEND_SIGNALED);
        end.sge[place][0] = (struct ibv_sge){(uintptr_t)bytes, LONG, mr->lkey};
        for (uint32_t i = 0; i < 16; i++) {
            struct ibv_sge sge = {(uintptr_t)(bytes + LONG), LONG, mr->lkey};
            struct ibv_recv_wr recv = {.wr_id = 100 + i, .sg_list = &sge, .num_sge = 1};

            if (i == place)
                CHECK_EQ(ibv_post_recv(end.pair.qp[1], &recv, &bad_recv), 0);
            else
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
        }
        CHECK_EQ(post(&end, 0, 16, false, &error), 16);
        for (uint32_t i = 0; i < 16; i++) {
            expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
            expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            if (i != place)
                CHECK(memcmp(end.pair.buffer[0] + 64 * i, end.pair.buffer[1] + 64 * i, 64) == 0);
        }
        CHECK(memcmp(bytes, bytes + LONG, LONG) == 0);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        free(bytes);
        close_end(&end);
    }
}

/* What one receive, or the message for it, does not permit fails both sides there; what is before it is delivered. */
static void should_fail_in_the_middle_of_a_list(void)
{
    static struct end end;
    int error;

    for (uint32_t bad = 0; bad < 16; bad++) {
        for (int kind = 0; kind < 6; kind++) {
            struct verbs_options options = usual;
            const bool local = kind >= 4;

            options.srq_wr = kind % 2 ? QUEUE : 0;
            open_end(&end, &options);
            make_plain_list(&end, 16, IBV_SEND_SIGNALED);
            for (uint32_t i = 0; i < 16; i++) {
                if (i == bad && kind >= 2 && !local) {
                    struct ibv_sge sge = element(&end, 1, 64 * i, 64, false, true);
                    struct ibv_recv_wr recv = {.wr_id = 100 + i, .sg_list = &sge, .num_sge = 1};
                    struct ibv_recv_wr *bad_recv;

                    CHECK_EQ(end.pair.srq != NULL ? ibv_post_srq_recv(end.pair.srq, &recv, &bad_recv) :
                        ibv_post_recv(end.pair.qp[1], &recv, &bad_recv), 0);
                    continue;
                }
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, i == bad && !local ? 63 : 64);
            }
            if (local)
                end.sge[bad][0].lkey = end.foreign[0]->lkey;
            CHECK_EQ(post(&end, 0, 16, false, &error), 16);
            for (uint32_t i = 0; i < bad; i++) {
                expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
                expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            }
            expect(end.pair.cq[0], bad, local ? IBV_WC_LOC_PROT_ERR : kind < 2 ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR);
            if (!local)
                expect(end.pair.cq[1], 100 + bad, kind < 2 ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
            for (uint32_t i = bad + 1; i < 16; i++) {
                expect(end.pair.cq[0], i, IBV_WC_WR_FLUSH_ERR);
                if (!local && end.pair.srq == NULL)
                    expect(end.pair.cq[1], 100 + i, IBV_WC_WR_FLUSH_ERR);
            }
            CHECK_EQ(ibv_poll_cq(end.pair.cq[1], 1, &(struct ibv_wc){0}), 0);
            CHECK_EQ(verbs_state(end.pair.qp[1]), local ? IBV_QPS_RTS : IBV_QPS_ERR);
            CHECK(memcmp(end.pair.buffer[0], end.pair.buffer[1], 64 * bad) == 0);
            close_end(&end);
        }
    }
}

/* Solicited: a queue that waits for such messages alone has an event if there is one of them, wherever it is. */
static void should_raise_the_events_of_a_list(void)
{
    static struct end end;
    int error;

    for (uint32_t solicited = 0; solicited <= 16; solicited++) {
        struct ibv_cq *cq;
        void *context;

        open_end(&end, &usual);
        make_plain_list(&end, 16, IBV_SEND_SIGNALED);
        if (solicited < 16)
            end.wr[solicited].send_flags |= IBV_SEND_SOLICITED;
        for (uint32_t i = 0; i < 16; i++)
            verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
        CHECK_EQ(ibv_req_notify_cq(end.pair.cq[0], 0), 0);
        CHECK_EQ(ibv_req_notify_cq(end.pair.cq[1], 1), 0);
        CHECK_EQ(post(&end, 0, 16, false, &error), 16);
        /* The sender's first, as its completions are visible first. One for each: nobody has asked again. */
        for (int side = 0; side < (solicited < 16 ? 2 : 1); side++) {
            CHECK(readable(end.pair.channel->fd, 10000));
            CHECK_EQ(ibv_get_cq_event(end.pair.channel, &cq, &context), 0);
            CHECK(cq == end.pair.cq[side]);
            ibv_ack_cq_events(cq, 1);
        }
        CHECK(!readable(end.pair.channel->fd, 0));
        close_end(&end);
    }
    /* No completion of the sender, no event. */
    open_end(&end, &usual);
    make_plain_list(&end, 16, 0);
    for (uint32_t i = 0; i < 16; i++)
        verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
    CHECK_EQ(ibv_req_notify_cq(end.pair.cq[0], 0), 0);
    CHECK_EQ(post(&end, 0, 16, false, &error), 16);
    CHECK(!readable(end.pair.channel->fd, 0));
    close_end(&end);
}

/* A queue that overruns in the middle is dead, and so is its queue pair; each side has what came before. */
static void should_overrun_a_queue_in_the_middle_of_a_list(void)
{
    static struct end end;
    struct ibv_wc wc[COMPLETIONS];
    int error;

    for (int side = 0; side < 2; side++) {
        struct verbs_options options = usual;
        struct ibv_async_event event;

        open_end(&end, &options);
        make_plain_list(&end, 16, IBV_SEND_SIGNALED);
        CHECK_EQ(ibv_resize_cq(end.pair.cq[side], 15), 0);
        for (uint32_t i = 0; i < 32; i++)
            verbs_recv(&end.pair, 1, 100 + i, 64 * (i % 16), 64);
        /* Eight have been there, fifteen have room. */
        CHECK_EQ(post(&end, 8, 16, false, &error), 8);
        CHECK_EQ(post(&end, 0, 16, false, &error), 16);
        CHECK_EQ(poll_all(end.pair.cq[side], wc), -1);
        CHECK_EQ(verbs_state(end.pair.qp[side]), IBV_QPS_ERR);
        CHECK_EQ(ibv_get_async_event(end.pair.context, &event), 0);
        CHECK(event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == end.pair.cq[side]);
        ibv_ack_async_event(&event);
        CHECK_EQ(ibv_get_async_event(end.pair.context, &event), 0);
        CHECK(event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == end.pair.qp[side]);
        ibv_ack_async_event(&event);
        CHECK_EQ(poll_all(end.pair.cq[1 - side], wc), 24);
        close_end(&end);
    }
}

/* A queue pair that is connected to itself. */
static void should_send_a_list_to_its_own_queue_pair(void)
{
    static struct end end;
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    int error;

    open_end(&end, &usual);
    CHECK_EQ(ibv_modify_qp(end.pair.qp[0], &reset, IBV_QP_STATE), 0);
    verbs_connect(end.pair.qp[0], end.pair.qp[0]->qp_num, &usual);
    for (uint32_t receives = 10; receives <= 16; receives += 6) {
        make_plain_list(&end, 16, IBV_SEND_SIGNALED);
        for (uint32_t i = 0; i < receives; i++)
            verbs_recv(&end.pair, 0, 100 + i, 8192 + 64 * i, 64);
        CHECK_EQ(post(&end, 0, 16, false, &error), 16);
        for (uint32_t i = 0; i < 16; i++) {
            if (i >= receives)
                verbs_recv(&end.pair, 0, 100 + i, 8192 + 64 * i, 64);
            expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
            expect(end.pair.cq[0], 100 + i, IBV_WC_SUCCESS);
        }
        CHECK(memcmp(end.pair.buffer[0], end.pair.buffer[0] + 8192, 64 * 16) == 0);
        memset(end.pair.buffer[0] + 8192, 0, 64 * 16);
    }
    close_end(&end);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LISTS 300
#else
#define LISTS 6000
#endif
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
        for (uint32_t n = next_random(&talker->seed) % 8; n > 0 && posted < talker->to_send && posted - received < 24; n--) {
            verbs_recv(pair, talker->side, posted, VERBS_BUFFER_SIZE / 2 + posted % WINDOW * 64, 64);
            posted++;
        }
        const uint32_t count = next_random(&talker->seed) % 16 + 1;
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

/* Each side has the other one's receive lock while it holds its own send lock. */
static void should_send_lists_both_ways_at_once(void)
{
    for (uint32_t srq_wr = 0; srq_wr <= 63; srq_wr += 63) {
        struct verbs_options options = usual;
        struct verbs_pair pair;
        struct talker talkers[2];
        pthread_t threads[2];

        options.srq_wr = srq_wr;
        verbs_pair_open(&pair, &options);
        for (int i = 0; i < 2; i++) {
            talkers[i] = (struct talker){.pair = &pair, .cq = pair.cq[i], .side = i, .seed = (uint64_t)i, .to_send = LISTS * 8};
            CHECK_EQ(pthread_create(&threads[i], NULL, talk, &talkers[i]), 0);
        }
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_join(threads[i], NULL), 0);
        verbs_pair_close(&pair);
    }
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

/* The queue pair goes, and with it its queue, whose memory may be another one's at once. */
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

    for (int round = 0; round < LISTS / 10; round++) {
        struct verbs_options options = usual;
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
        const uint64_t moment = next_random(&seed) % 48;
        const uint32_t later = next_random(&seed) % 512;
        while (atomic_load(&poster.posted) < moment / 16 * 16)
            ;
        for (volatile uint32_t i = 0; i < later; i++)
            ;
        if (round % 2) {
            CHECK_EQ(ibv_modify_qp(pair.qp[1], &error, IBV_QP_STATE), 0);
            /* Nothing arrives from here on. Its own receives are flushed, those of a shared queue stay in it. */
            const int receives = poll_all(pair.cq[1], wc);

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
        const int sends = poll_all(pair.cq[0], wc);
        CHECK_EQ(sends, 48);
        for (int i = 0; i < sends; i++) {
            CHECK_EQ(wc[i].wr_id, i);
            CHECK(wc[i].status == IBV_WC_SUCCESS ? sent == (uint64_t)i : wc[i].status == IBV_WC_WR_FLUSH_ERR);
            sent += wc[i].status == IBV_WC_SUCCESS;
        }
        CHECK(round % 2 == 0 || arrived == sent);
        CHECK_EQ(poll_all(pair.cq[1], wc), 0);
        verbs_pair_close(&pair);
    }
}

/* Makes requests of whose completions it has polled something else, as their owner may. */
struct reuser {
    struct end end;
    _Atomic uint32_t posted; /* lists */
    _Atomic uint32_t done;
};

static void *reuse_requests(void *context)
{
    struct reuser *reuser = context;
    struct ibv_wc wc[16];

    for (uint32_t list = 0; list < LISTS / 10; list++) {
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
    open_end(&reuser.end, &usual);
    CHECK_EQ(pthread_create(&thread, NULL, reuse_requests, &reuser), 0);
    for (uint32_t list = 0; list < LISTS / 10; list++) {
        struct ibv_wc wc[COMPLETIONS];

        make_plain_list(&reuser.end, 16, IBV_SEND_SIGNALED);
        for (uint32_t i = 0; i < 16; i++) {
            reuser.end.wr[i].opcode = list % 4 == 3 ? IBV_WR_RDMA_WRITE : IBV_WR_SEND_WITH_IMM;
            reuser.end.wr[i].imm_data = i + 1;
            reuser.end.wr[i].wr.rdma.remote_addr = (uintptr_t)reuser.end.pair.buffer[1];
            reuser.end.wr[i].wr.rdma.rkey = reuser.end.pair.mr[1]->rkey;
            if (list % 4 != 3)
                verbs_recv(&reuser.end.pair, 1, i, 64 * i, 64);
        }
        atomic_store(&reuser.posted, list + 1);
        CHECK_EQ(post(&reuser.end, 0, 16, false, &error), 16);
        while (atomic_load(&reuser.done) == list)
            sched_yield();
        const int received = poll_all(reuser.end.pair.cq[1], wc);

        CHECK_EQ(received, list % 4 == 3 ? 0 : 16);
        for (int i = 0; i < received; i++)
            CHECK_EQ(wc[i].imm_data, i + 1);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    close_end(&reuser.end);
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
    static struct end end;
    struct verbs_options options = usual;

    options.max_wr = MANY;
    for (int round = 0; round < 20; round++) {
        const int side = round % 2; /* whose region it is */
        struct ibv_send_wr *bad_wr;
        pthread_t thread;

        open_end(&end, &options);
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
        expect(end.pair.cq[0], MANY - 1, side == 0 ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        close_end(&end);
    }
}

const struct test message_list_tests[] = {
    {"message list: the results are those of single posts", should_have_the_results_of_single_posts},
    {"message list: a message without a receive waits, with those behind it", should_wait_in_the_middle_of_a_list},
    {"message list: a long message is not overtaken", should_keep_the_place_of_a_long_message},
    {"message list: a message fails where it does not fit", should_fail_in_the_middle_of_a_list},
    {"message list: events, the sender's first", should_raise_the_events_of_a_list},
    {"message list: a queue overruns", should_overrun_a_queue_in_the_middle_of_a_list},
    {"message list: to its own queue pair", should_send_a_list_to_its_own_queue_pair},
    {"message list: both ways at once", should_send_lists_both_ways_at_once},
    {"message list: the receiver fails meanwhile", should_lose_nothing_when_the_receiver_fails_under_lists},
    {"message list: completed requests are their owner's", should_not_look_at_requests_that_are_completed},
    {"message list: the key 0 names no region that is being returned", should_refuse_the_key_zero_while_a_region_is_returned},
    {NULL, NULL},
};
