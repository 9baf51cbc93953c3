/* SPDX-License-Identifier: Apache-2.0 */
/* test_synthetic.c: completions of the synthetic device, polled by the real rpma_cq_get_wc. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ringpoll_loopback.h"
#include "ringpoll_synthetic.h"
#include "test.h"

#define KINDS 4u

static const struct ringpoll_synthetic_kind mix[KINDS] = {
    {IBV_WC_SUCCESS, IBV_WC_SEND, 7, 0},
    {IBV_WC_SUCCESS, IBV_WC_RECV, 8, 64},
    {IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, 9, 0},
    {IBV_WC_SUCCESS, IBV_WC_RDMA_READ, 7, 4096},
};

static const uint64_t at_once[KINDS] = {0, 0, 0, 0};

/* A device and librpma's way to a queue of it: the receive queue of a shared receive queue. */
struct source {
    struct ibv_context *context;
    struct rpma_peer *peer;
    struct rpma_srq *srq;
    struct rpma_cq *cq;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void source_open(struct source *source)
{
    struct rpma_srq_cfg *config;

    source->context = ringpoll_synthetic_open();
    CHECK(source->context != NULL);
    CHECK_EQ(rpma_peer_new(source->context, &source->peer), 0);
    CHECK_EQ(rpma_srq_cfg_new(&config), 0);
    CHECK_EQ(rpma_srq_cfg_set_rcq_size(config, 16), 0);
    CHECK_EQ(rpma_srq_new(source->peer, config, &source->srq), 0);
    CHECK_EQ(rpma_srq_get_rcq(source->srq, &source->cq), 0);
    CHECK_EQ(rpma_srq_cfg_delete(&config), 0);
}

static void source_close(struct source *source)
{
    CHECK_EQ(rpma_srq_delete(&source->srq), 0);
    CHECK_EQ(rpma_peer_delete(&source->peer), 0);
    CHECK_EQ(ibv_close_device(source->context), 0);
}

static struct ringpoll_synthetic_program saturated(uint64_t count)
{
    return (struct ringpoll_synthetic_program){
        .count = count, .pattern = mix, .pattern_length = KINDS};
}

static struct ringpoll_synthetic_program paced(uint64_t start_ns, uint64_t period_ns)
{
    struct ringpoll_synthetic_program program = saturated(RINGPOLL_SYNTHETIC_ENDLESS);

    program.start_ns = start_ns;
    program.period_ns = period_ns;
    program.schedule_ns = at_once;
    program.schedule_length = 1;
    return program;
}

/* Number of completions of one poll; 0 for an empty queue. */
static int poll(struct source *source, int wanted, struct ibv_wc *wc)
{
    int got = 0;
    const int result = rpma_cq_get_wc(source->cq, wanted, wc, &got);

    CHECK(result == 0 || result == RPMA_E_NO_COMPLETION);
    return result == 0 ? got : 0;
}

static void gives_nothing_without_a_program(void)
{
    struct source source;
    struct ibv_wc wc[4];

    source_open(&source);
    CHECK_EQ(poll(&source, 4, wc), 0);
    source_close(&source);
}

static void gives_the_mix_in_order_and_then_nothing(void)
{
    struct source source;
    struct ibv_wc wc[8];
    const struct ringpoll_synthetic_program program = saturated(13);
    uint64_t given;
    uint64_t k = 0;
    int got;

    source_open(&source);
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), 0);
    while ((got = poll(&source, 5, wc)) > 0) {
        for (int i = 0; i < got; i++, k++) {
            const struct ringpoll_synthetic_kind *kind = &mix[k % KINDS];

            if (kind->status == IBV_WC_SUCCESS)
                check_success(&wc[i], k, (enum ibv_wc_opcode)kind->opcode, kind->byte_len,
                    kind->qp_num);
            else
                check_failed(&wc[i], k, (enum ibv_wc_status)kind->status, kind->qp_num);
        }
    }
    CHECK_EQ(k, 13);
    CHECK_EQ(poll(&source, 5, wc), 0);
    CHECK_EQ(ringpoll_synthetic_given(source.context, &given), 0);
    CHECK_EQ(given, 13);
    source_close(&source);
}

static void keeps_to_its_batch_and_its_empty_polls(void)
{
    struct source source;
    struct ibv_wc wc[8];
    struct ringpoll_synthetic_program program = saturated(RINGPOLL_SYNTHETIC_ENDLESS);

    program.max_batch = 3;
    program.empty_polls = 2;
    source_open(&source);
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), 0);
    for (int round = 0; round < 5; round++) {
        CHECK_EQ(poll(&source, 8, wc), 3);
        CHECK_EQ(wc[0].wr_id, 3 * round);
        CHECK_EQ(poll(&source, 8, wc), 0);
        CHECK_EQ(poll(&source, 8, wc), 0);
    }
    source_close(&source);
}

static void gives_nothing_before_it_is_due_and_carries_the_due_time(void)
{
    struct source source;
    struct ibv_wc wc;
    const uint64_t start = now_ns() + 20000000; /* unless this thread is stopped, the first polls give nothing */
    const struct ringpoll_synthetic_program program = paced(start, 1000000);

    source_open(&source);
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), 0);
    for (uint64_t k = 0; k < 30; k++) {
        while (poll(&source, 1, &wc) == 0)
            ;
        CHECK_EQ(wc.wr_id, start + k * 1000000);
        CHECK(now_ns() >= wc.wr_id);
    }
    source_close(&source);
}

static void gives_all_that_came_due_while_nobody_polled(void)
{
    struct source source;
    struct ibv_wc wc[64];
    const uint64_t start = now_ns();
    const struct ringpoll_synthetic_program program = paced(start, 1000000);
    uint64_t gap;

    source_open(&source);
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), 0);
    CHECK(poll(&source, 1, wc) == 1);
    usleep(20000);
    const int got = poll(&source, 64, wc);
    CHECK(got >= 19);
    for (int i = 0; i < got; i++)
        CHECK_EQ(wc[i].wr_id, start + (uint64_t)(i + 1) * 1000000);
    CHECK_EQ(ringpoll_synthetic_take_longest_gap(source.context, &gap), 0);
    CHECK(gap >= 20000000);
    CHECK_EQ(ringpoll_synthetic_take_longest_gap(source.context, &gap), 0);
    CHECK_EQ(gap, 0);
    source_close(&source);
}

static void gives_bursts_by_its_schedule(void)
{
    struct source source;
    struct ibv_wc wc[8];
    static const uint64_t schedule[4] = {0, 0, 500000, 1500000};
    const uint64_t start = now_ns();
    struct ringpoll_synthetic_program program = paced(start, 2000000);

    program.schedule_ns = schedule;
    program.schedule_length = 4;
    source_open(&source);
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), 0);
    for (uint64_t k = 0; k < 40; k++) {
        while (poll(&source, 1, wc) == 0)
            ;
        CHECK_EQ(wc[0].wr_id, start + k / 4 * 2000000 + schedule[k % 4]);
    }
    source_close(&source);
}

static void begins_anew_with_the_next_program(void)
{
    struct source source;
    struct ibv_wc wc[4];
    struct ringpoll_synthetic_program program = saturated(RINGPOLL_SYNTHETIC_ENDLESS);
    uint64_t given;

    source_open(&source);
    for (int round = 0; round < 3; round++) {
        CHECK_EQ(ringpoll_synthetic_start(source.context, &program), 0);
        CHECK_EQ(ringpoll_synthetic_given(source.context, &given), 0);
        CHECK_EQ(given, 0);
        CHECK_EQ(poll(&source, 4, wc), 4);
        CHECK_EQ(wc[0].wr_id, 0);
        CHECK_EQ(wc[3].wr_id, 3);
    }
    source_close(&source);
}

static void refuses_what_is_no_program_and_no_synthetic_device(void)
{
    struct source source;
    struct ringpoll_synthetic_program program = saturated(1);
    uint64_t given;
    static const uint64_t descending[2] = {5, 4};

    source_open(&source);
    program.pattern_length = 3;
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), EINVAL);
    program.pattern_length = 0;
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), EINVAL);
    program = paced(0, 10);
    program.schedule_ns = descending;
    program.schedule_length = 2;
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), EINVAL);
    program.period_ns = 5;
    program.schedule_length = 1;
    CHECK_EQ(ringpoll_synthetic_start(source.context, &program), EINVAL);
    source_close(&source);

    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *other = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    program = saturated(1);
    CHECK_EQ(ringpoll_synthetic_start(other, &program), EINVAL);
    CHECK_EQ(ringpoll_synthetic_given(other, &given), EINVAL);
    CHECK_EQ(ringpoll_synthetic_take_longest_gap(other, &given), EINVAL);
    CHECK_EQ(ibv_close_device(other), 0);
}

static void makes_no_queue_pairs(void)
{
    struct ibv_context *context = ringpoll_synthetic_open();
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

    CHECK(ibv_create_qp(pd, &attr) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    CHECK_EQ(strcmp(ibv_get_device_name(context->device), "synthetic0"), 0);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
    CHECK_EQ(ibv_close_device(context), 0);
}

const struct test synthetic_tests[] = {
    {"the synthetic device gives nothing without a program", gives_nothing_without_a_program},
    {"the synthetic device gives the mix in order and then nothing",
        gives_the_mix_in_order_and_then_nothing},
    {"the synthetic device keeps to its batch and its empty polls",
        keeps_to_its_batch_and_its_empty_polls},
    {"the synthetic device gives nothing before it is due, and carries the due time",
        gives_nothing_before_it_is_due_and_carries_the_due_time},
    {"the synthetic device gives all that came due while nobody polled",
        gives_all_that_came_due_while_nobody_polled},
    {"the synthetic device gives bursts by its schedule", gives_bursts_by_its_schedule},
    {"the synthetic device begins anew with the next program", begins_anew_with_the_next_program},
    {"the synthetic device refuses what is no program, and another device refuses any",
        refuses_what_is_no_program_and_no_synthetic_device},
    {"the synthetic device makes no queue pairs", makes_no_queue_pairs},
    {NULL, NULL},
};
