/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_message_list.c: a list of messages has the results of the same messages posted singly. See also test_message_failure.c and
 * test_message_thread.c.
 */
#include <stdlib.h>
#include <string.h>

#include "list_end.h"

static const enum ibv_wr_opcode messages[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM};

static uint32_t size_of(uint64_t *seed)
{
    static const uint32_t sizes[] = {64, 64, 64, 64, 8, 1, 17, 256, 1000};

    return sizes[list_random(seed) % (sizeof(sizes) / sizeof(sizes[0]))];
}

/* How likely faults are, in 1,000 requests. */
struct odds {
    uint32_t bad_key;
    uint32_t short_receive;
    uint32_t refused;
};

/* With the same seed each end gets the same receive. Those of a shared queue are in a region of its protection domain. */
static int post_random_receive(struct list_end *end, uint64_t *seed, uint64_t wr_id, const struct odds *odds)
{
    struct ibv_sge sge[PIECES];
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = sge, .num_sge = (int)(list_random(seed) % 3 + 1)};
    struct ibv_recv_wr *bad_wr;
    const bool is_short = list_random(seed) % 1000 < odds->short_receive;
    const bool bad = list_random(seed) % 1000 < odds->bad_key;
    const bool always_more = end->pair.srq_pd != NULL;

    for (int i = 0; i < wr.num_sge; i++) {
        const uint32_t length = is_short ? 3 : i + 1 < wr.num_sge ? list_random(seed) % 40 + 1 : 1000;

        sge[i] = list_element(end, 1, list_random(seed) % 8192, length, list_random(seed) % 4 == 0 || always_more, bad && i == 0);
    }
    return end->pair.srq != NULL ? ibv_post_srq_recv(end->pair.srq, &wr, &bad_wr) : ibv_post_recv(end->pair.qp[1], &wr, &bad_wr);
}

static uint32_t make_random_list(struct list_end *end, uint64_t *seed, uint64_t wr_id, const struct odds *odds)
{
    const uint32_t count = list_random(seed) % MOST + 1;
    const uint32_t kind = list_random(seed) % 3; /* one opcode, all messages, anything */
    const uint32_t one = list_random(seed) % 3;

    memset(end->wr, 0, sizeof(end->wr));
    for (uint32_t i = 0; i < count; i++) {
        struct ibv_send_wr *wr = &end->wr[i];
        const uint32_t any = list_random(seed);
        const uint32_t length = size_of(seed);

        wr->wr_id = wr_id + i;
        wr->sg_list = end->sge[i];
        wr->num_sge = any % 8 == 0 ? (int)(any / 8 % (PIECES + 1)) : 1;
        if (list_random(seed) % 1000 < odds->refused)
            wr->num_sge = PIECES + 1;
        wr->opcode = messages[kind == 0 ? one : any / 64 % 3];
        if (kind == 2 && any / 256 % 4 == 0)
            wr->opcode = IBV_WR_RDMA_WRITE;
        wr->imm_data = any;
        wr->send_flags = any / 1024 % 3 == 0 ? IBV_SEND_SIGNALED : 0;
        if (length * (uint32_t)wr->num_sge <= 64 && any / 4096 % 4 == 0)
            wr->send_flags |= IBV_SEND_INLINE;
        const bool bad = list_random(seed) % 1000 < odds->bad_key;
        for (int piece = 0; piece < wr->num_sge && piece < PIECES; piece++)
            end->sge[i][piece] = list_element(end, 0, list_random(seed) % 8192, length / (uint32_t)wr->num_sge,
                list_random(seed) % 4 == 0, bad && piece == 0);
        wr->wr.rdma.remote_addr = (uintptr_t)end->pair.buffer[1] + list_random(seed) % 8192;
        wr->wr.rdma.rkey = end->pair.mr[1]->rkey;
        if (list_random(seed) % 1000 < odds->bad_key) {
            wr->wr.rdma.remote_addr = (uintptr_t)end->more[1];
            wr->wr.rdma.rkey = list_random(seed) % 2 ? 1 : end->more_mr[1]->rkey; /* which is not for others */
        }
        wr->next = i + 1 < count ? &end->wr[i + 1] : NULL;
    }
    return count;
}

static int side_of(const struct list_end *end, uint32_t qp_num)
{
    return qp_num == end->pair.qp[0]->qp_num ? 0 : qp_num == end->pair.qp[1]->qp_num ? 1 : -1;
}

/* Polls all, and compares. Returns the number of failed completions of either. */
static int compare_completions(struct list_end *ends)
{
    struct ibv_wc wc[2][COMPLETIONS];
    int failures = 0;

    for (int side = 0; side < 2; side++) {
        const int count = list_poll_all(ends[0].pair.cq[side], wc[0]);

        CHECK_EQ(list_poll_all(ends[1].pair.cq[side], wc[1]), count);
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

static void compare_ends(struct list_end *ends)
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
    static struct list_end ends[2];
    uint64_t received = 1000;
    uint64_t sent = 0;

    for (int e = 0; e < 2; e++)
        list_end_open(&ends[e], options);
    for (int n = 0; n < 8; n++) {
        uint32_t posted[2];
        int error[2];
        uint64_t seeds[2] = {seed + 1, seed + 1};
        const uint32_t receives = list_random(&seed) % 3 == 0 ? list_random(&seed) % MOST : MOST;

        for (uint32_t i = 0; i < receives; i++, received++) {
            const int first = post_random_receive(&ends[0], &seeds[0], received, odds);

            CHECK_EQ(post_random_receive(&ends[1], &seeds[1], received, odds), first);
        }
        uint32_t count = 0;
        for (int e = 0; e < 2; e++) {
            count = make_random_list(&ends[e], &seeds[e], sent, odds);
            posted[e] = list_post(&ends[e], 0, count, e == 1, &error[e]);
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
        list_end_close(&ends[e]);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEEDS 60
#else
#define SEEDS 400
#endif

static void should_have_the_results_of_single_posts(void)
{
    static const struct odds none = {0};
    static const struct odds some = {.bad_key = 10, .short_receive = 10, .refused = 10};

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct verbs_options options = list_defaults;

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

#define LONG 100000u

/* A message that is so long that it is copied without locks, by the end of the post, is not overtaken by those behind it. */
static void should_keep_the_place_of_a_long_message(void)
{
    static struct list_end end;
    int error;

    for (uint32_t place = 0; place < 16; place += 5) {
        char *bytes = calloc(2, LONG);
        struct ibv_recv_wr *bad_recv;

        list_end_open(&end, &list_defaults);
        CHECK(bytes != NULL);
        memset(bytes, 7, LONG);
        struct ibv_mr *mr = ibv_reg_mr(end.pair.pd, bytes, 2 * LONG, IBV_ACCESS_LOCAL_WRITE);
        CHECK(mr != NULL);
        list_make_plain(&end, 16, IBV_SEND_SIGNALED);
        end.sge[place][0] = (struct ibv_sge){(uintptr_t)bytes, LONG, mr->lkey};
        for (uint32_t i = 0; i < 16; i++) {
            struct ibv_sge sge = {(uintptr_t)(bytes + LONG), LONG, mr->lkey};
            struct ibv_recv_wr recv = {.wr_id = 100 + i, .sg_list = &sge, .num_sge = 1};

            if (i == place)
                CHECK_EQ(ibv_post_recv(end.pair.qp[1], &recv, &bad_recv), 0);
            else
                verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
        }
        CHECK_EQ(list_post(&end, 0, 16, false, &error), 16);
        for (uint32_t i = 0; i < 16; i++) {
            verbs_expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
            verbs_expect(end.pair.cq[1], 100 + i, IBV_WC_SUCCESS);
            if (i != place)
                CHECK(memcmp(end.pair.buffer[0] + 64 * i, end.pair.buffer[1] + 64 * i, 64) == 0);
        }
        CHECK(memcmp(bytes, bytes + LONG, LONG) == 0);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        free(bytes);
        list_end_close(&end);
    }
}

/* Solicited: a queue that waits for such messages alone has an event if there is one of them, wherever it is. */
static void should_raise_the_events_of_a_list(void)
{
    static struct list_end end;
    int error;

    for (uint32_t solicited = 0; solicited <= 16; solicited++) {
        struct ibv_cq *cq;
        void *context;

        list_end_open(&end, &list_defaults);
        list_make_plain(&end, 16, IBV_SEND_SIGNALED);
        if (solicited < 16)
            end.wr[solicited].send_flags |= IBV_SEND_SOLICITED;
        for (uint32_t i = 0; i < 16; i++)
            verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
        CHECK_EQ(ibv_req_notify_cq(end.pair.cq[0], 0), 0);
        CHECK_EQ(ibv_req_notify_cq(end.pair.cq[1], 1), 0);
        CHECK_EQ(list_post(&end, 0, 16, false, &error), 16);
        /* The sender's first, as its completions are visible first. One for each: nobody has asked again. */
        for (int side = 0; side < (solicited < 16 ? 2 : 1); side++) {
            CHECK(readable(end.pair.channel->fd, 10000));
            CHECK_EQ(ibv_get_cq_event(end.pair.channel, &cq, &context), 0);
            CHECK(cq == end.pair.cq[side]);
            ibv_ack_cq_events(cq, 1);
        }
        CHECK(!readable(end.pair.channel->fd, 0));
        list_end_close(&end);
    }
    /* No completion of the sender, no event. */
    list_end_open(&end, &list_defaults);
    list_make_plain(&end, 16, 0);
    for (uint32_t i = 0; i < 16; i++)
        verbs_recv(&end.pair, 1, 100 + i, 64 * i, 64);
    CHECK_EQ(ibv_req_notify_cq(end.pair.cq[0], 0), 0);
    CHECK_EQ(list_post(&end, 0, 16, false, &error), 16);
    CHECK(!readable(end.pair.channel->fd, 0));
    list_end_close(&end);
}

/* A queue pair that is connected to itself. */
static void should_send_a_list_to_its_own_queue_pair(void)
{
    static struct list_end end;
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    int error;

    list_end_open(&end, &list_defaults);
    CHECK_EQ(ibv_modify_qp(end.pair.qp[0], &reset, IBV_QP_STATE), 0);
    verbs_connect(end.pair.qp[0], end.pair.qp[0]->qp_num, &list_defaults);
    for (uint32_t receives = 10; receives <= 16; receives += 6) {
        list_make_plain(&end, 16, IBV_SEND_SIGNALED);
        for (uint32_t i = 0; i < receives; i++)
            verbs_recv(&end.pair, 0, 100 + i, 8192 + 64 * i, 64);
        CHECK_EQ(list_post(&end, 0, 16, false, &error), 16);
        for (uint32_t i = 0; i < 16; i++) {
            if (i >= receives)
                verbs_recv(&end.pair, 0, 100 + i, 8192 + 64 * i, 64);
            verbs_expect(end.pair.cq[0], i, IBV_WC_SUCCESS);
            verbs_expect(end.pair.cq[0], 100 + i, IBV_WC_SUCCESS);
        }
        CHECK(memcmp(end.pair.buffer[0], end.pair.buffer[0] + 8192, 64 * 16) == 0);
        memset(end.pair.buffer[0] + 8192, 0, 64 * 16);
    }
    list_end_close(&end);
}

const struct test message_list_tests[] = {
    {"message list: the results are those of single posts", should_have_the_results_of_single_posts},
    {"message list: a long message is not overtaken", should_keep_the_place_of_a_long_message},
    {"message list: events, the sender's first", should_raise_the_events_of_a_list},
    {"message list: to its own queue pair", should_send_a_list_to_its_own_queue_pair},
    {NULL, NULL},
};
