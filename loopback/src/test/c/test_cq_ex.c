/* SPDX-License-Identifier: Apache-2.0 */
/* test_cq_ex.c: extended completion queues: creation, reading in batches, timestamps and clocks. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "id_pair.h"
#include "ringpoll_loopback.h"
#include "test.h"
#include "verbs_pair.h"

#define TIMESTAMPS (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define ALL (IBV_WC_STANDARD_FLAGS | TIMESTAMPS)
#define PATIENCE_NS UINT64_C(30000000000)

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t device_ticks(struct ibv_context *context)
{
    struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};

    CHECK_EQ(ibv_query_rt_values_ex(context, &values), 0);
    CHECK_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
    return (uint64_t)values.raw_clock.tv_nsec + (uint64_t)values.raw_clock.tv_sec * 1000000000u;
}

static struct ibv_cq_ex *ex_of(struct ibv_cq *cq)
{
    return (struct ibv_cq_ex *)(void *)cq;
}

static int start(struct ibv_cq_ex *cq)
{
    struct ibv_poll_cq_attr attr = {0};

    return ibv_start_poll(cq, &attr);
}

/* Starts a batch, waiting for its first completion. */
static void await(struct ibv_cq_ex *cq)
{
    const uint64_t end = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
    int result;

    while ((result = start(cq)) == ENOENT && clock_ns(CLOCK_MONOTONIC) < end)
        (void)sched_yield();
    CHECK_EQ(result, 0);
}

static void open_extended(struct verbs_pair *pair, int cqe)
{
    const struct verbs_options options =
        {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7, .wc_flags = ALL, .cqe = cqe, .max_inline = 16};

    verbs_pair_open(pair, &options);
}

static void write_once(struct verbs_pair *pair, uint64_t wr_id)
{
    verbs_send(pair, 0, wr_id, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
}

static void should_refuse_what_it_does_not_offer(void)
{
    const struct refusal {
        struct ibv_cq_init_attr_ex attr;
        int error;
    } refusals[] = {
        {{.cqe = 8, .wc_flags = IBV_WC_EX_WITH_CVLAN}, EOPNOTSUPP},
        {{.cqe = 8, .wc_flags = IBV_WC_EX_WITH_FLOW_TAG}, EOPNOTSUPP},
        {{.cqe = 8, .wc_flags = IBV_WC_EX_WITH_TM_INFO}, EOPNOTSUPP},
        {{.cqe = 8, .wc_flags = UINT64_C(1) << 40}, EOPNOTSUPP},
        {{.cqe = 8, .comp_mask = 1 << 7}, EINVAL},
        {{.cqe = 8, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD}, EINVAL},
        {{.cqe = 8, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = 1 << 9}, EINVAL},
        {{.cqe = 8, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN}, EOPNOTSUPP},
        {{.cqe = 0}, EINVAL},
        {{.cqe = 1u << 30}, EINVAL},
        {{.cqe = UINT32_MAX}, EINVAL},
        {{.cqe = 8, .comp_vector = 1}, EINVAL},
    };
    struct ibv_cq_init_attr_ex plain = {.cqe = 8, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN,
        .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
    struct ibv_poll_cq_attr unknown = {.comp_mask = 1};
    struct ibv_values_ex values = {.comp_mask = 2};
    struct verbs_pair pair;

    verbs_pair_open(&pair, NULL);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct ibv_cq_init_attr_ex attr = refusals[i].attr;

        errno = 0;
        CHECK(ibv_create_cq_ex(pair.context, &attr) == NULL);
        CHECK_EQ(errno, refusals[i].error);
    }
    CHECK_EQ(ibv_query_rt_values_ex(pair.context, &values), EINVAL);
    /* A queue has the fields that were asked for, and three that all have. */
    struct ibv_cq_ex *cq = ibv_create_cq_ex(pair.context, &plain);
    CHECK(cq != NULL);
    CHECK_EQ(cq->cqe, 15);
    CHECK(cq->read_opcode != NULL && cq->read_vendor_err != NULL && cq->read_wc_flags != NULL && cq->read_byte_len != NULL);
    CHECK(cq->read_imm_data == NULL && cq->read_qp_num == NULL && cq->read_completion_ts == NULL &&
        cq->read_completion_wallclock_ns == NULL && cq->read_cvlan == NULL);
    CHECK_EQ(ibv_start_poll(cq, &unknown), EINVAL);
    CHECK_EQ(start(cq), ENOENT);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    ringpoll_loopback_fail_call(1, ENOMEM);
    CHECK(ibv_create_cq_ex(pair.context, &plain) == NULL);
    CHECK_EQ(errno, ENOMEM);
    ringpoll_loopback_fail_call(0, 0);
    verbs_pair_close(&pair);
}

static void should_describe_its_clock(void)
{
    struct ibv_device_attr_ex attr;
    struct verbs_pair pair;

    verbs_pair_open(&pair, NULL);
    CHECK_EQ(ibv_query_device_ex(pair.context, NULL, &attr), 0);
    CHECK_EQ(attr.completion_timestamp_mask, UINT64_MAX);
    CHECK_EQ(attr.hca_core_clock, 1000000);
    const uint64_t ticks = device_ticks(pair.context);
    const uint64_t before = clock_ns(CLOCK_MONOTONIC);
    while (clock_ns(CLOCK_MONOTONIC) - before < 2000000)
        (void)sched_yield();
    /* kHz: a thousandth of it is a tick of a microsecond. */
    CHECK((device_ticks(pair.context) - ticks) / (attr.hca_core_clock / 1000) >= 1990);
    verbs_pair_close(&pair);
}

static void should_read_all_fields_of_a_batch(void)
{
    struct verbs_pair pair;

    open_extended(&pair, 0);
    struct ibv_cq_ex *cq = ex_of(pair.cq[1]);
    verbs_recv(&pair, 1, 71, 0, 64);
    verbs_recv(&pair, 1, 72, 0, 64);
    verbs_recv(&pair, 1, 73, 0, 4);
    verbs_send(&pair, 0, 0x1234, IBV_WR_SEND_WITH_IMM, 24, 0);
    verbs_send(&pair, 0, 2, IBV_WR_SEND, 8, 0);
    verbs_send(&pair, 0, 3, IBV_WR_SEND, 8, 0); /* too long */
    await(cq);
    CHECK_EQ(cq->wr_id, 71);
    CHECK_EQ(cq->status, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
    CHECK_EQ(ibv_wc_read_byte_len(cq), 24);
    CHECK_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM);
    CHECK_EQ(ibv_wc_read_imm_data(cq), 0x1234);
    CHECK_EQ(ibv_wc_read_qp_num(cq), pair.qp[1]->qp_num);
    CHECK_EQ(ibv_wc_read_src_qp(cq), pair.qp[0]->qp_num);
    CHECK_EQ(ibv_wc_read_slid(cq) + ibv_wc_read_sl(cq) + ibv_wc_read_dlid_path_bits(cq), 0u);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(cq->wr_id, 72);
    CHECK_EQ(ibv_wc_read_byte_len(cq), 8);
    CHECK_EQ(ibv_wc_read_wc_flags(cq), 0);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(cq->wr_id, 73);
    CHECK_EQ(cq->status, IBV_WC_LOC_LEN_ERR);
    CHECK_EQ(ibv_wc_read_vendor_err(cq), RINGPOLL_LOOPBACK_VERR_RECV_TOO_SHORT);
    CHECK_EQ(ibv_wc_read_qp_num(cq), pair.qp[1]->qp_num);
    CHECK_EQ(ibv_next_poll(cq), ENOENT);
    ibv_end_poll(cq);
    CHECK_EQ(start(cq), ENOENT);
    verbs_pair_close(&pair);
}

/* Also by the older call, and with a batch that ends before the queue is empty. */
static void should_poll_each_completion_once(void)
{
    struct verbs_pair pair;
    struct ibv_wc wc[4];

    open_extended(&pair, 0);
    struct ibv_cq_ex *cq = ex_of(pair.cq[0]);
    for (uint64_t i = 1; i <= 5; i++)
        write_once(&pair, i);
    await(cq);
    CHECK_EQ(cq->wr_id, 1);
    ibv_end_poll(cq);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 1, wc), 1);
    CHECK_EQ(wc[0].wr_id, 2);
    await(cq);
    CHECK_EQ(cq->wr_id, 3);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(cq->wr_id, 4);
    /* Completions that are generated during a batch are part of it. */
    write_once(&pair, 6);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(cq->wr_id, 5);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(cq->wr_id, 6);
    CHECK_EQ(ibv_next_poll(cq), ENOENT);
    CHECK_EQ(ibv_next_poll(cq), ENOENT);
    ibv_end_poll(cq);
    CHECK_EQ(ibv_poll_cq(pair.cq[0], 4, wc), 0);
    verbs_pair_close(&pair);
}

static void should_return_send_slots_with_the_batch(void)
{
    struct verbs_pair pair;

    open_extended(&pair, 0);
    struct ibv_cq_ex *cq = ex_of(pair.cq[0]);
    for (uint64_t i = 0; i < 63; i++)
        verbs_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, i % 16 == 15 ? IBV_SEND_SIGNALED : 0);
    CHECK_EQ(verbs_try_send(&pair, 0, 63, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED), ENOMEM);
    await(cq);
    ibv_end_poll(cq);
    for (uint64_t i = 0; i < 16; i++)
        verbs_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, 0);
    CHECK_EQ(verbs_try_send(&pair, 0, 63, IBV_WR_RDMA_WRITE, 8, 0), ENOMEM);
    await(cq);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(ibv_next_poll(cq), ENOENT);
    ibv_end_poll(cq);
    for (uint64_t i = 0; i < 32; i++)
        verbs_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, 0);
    CHECK_EQ(verbs_try_send(&pair, 0, 63, IBV_WR_RDMA_WRITE, 8, 0), ENOMEM);
    verbs_pair_close(&pair);
}

/* A thread that posts while it reads: more completions than the queue holds. */
static void should_not_overrun_in_a_batch_without_end(void)
{
    struct verbs_pair pair;

    open_extended(&pair, 7);
    struct ibv_cq_ex *cq = ex_of(pair.cq[0]);
    write_once(&pair, 0);
    await(cq);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK_EQ(cq->wr_id, i);
        write_once(&pair, i + 1);
        CHECK_EQ(ibv_next_poll(cq), 0);
    }
    ibv_end_poll(cq);
    verbs_pair_close(&pair);
}

static void should_report_an_overrun_and_a_failed_poll(void)
{
    const struct ringpoll_loopback_fault rule = {.kind = RINGPOLL_LOOPBACK_FAULT_POLL, .times = 1, .at = 1, .object = 1};
    struct verbs_pair pair;

    CHECK_EQ(ringpoll_loopback_plan(1, &rule, 1), 0);
    open_extended(&pair, 3);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
    struct ibv_cq_ex *cq = ex_of(pair.cq[0]);
    CHECK_EQ(start(cq), EIO);
    CHECK_EQ(start(cq), ENOENT);
    for (uint64_t i = 0; i < 3; i++)
        write_once(&pair, i);
    await(cq);
    write_once(&pair, 3);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(ibv_next_poll(cq), 0);
    CHECK_EQ(ibv_next_poll(cq), EIO);
    ibv_end_poll(cq);
    CHECK_EQ(start(cq), EIO);
    verbs_pair_close(&pair);
}

static void should_raise_events(void)
{
    struct verbs_pair pair;
    struct ibv_cq *raised;
    void *context;

    open_extended(&pair, 0);
    CHECK_EQ(ibv_req_notify_cq(pair.cq[0], 0), 0);
    write_once(&pair, 1);
    CHECK(readable(pair.channel->fd, 1000));
    CHECK_EQ(ibv_get_cq_event(pair.channel, &raised, &context), 0);
    CHECK(raised == pair.cq[0]);
    ibv_ack_cq_events(raised, 1);
    verbs_pair_close(&pair);
}

/* Of both sides of a connection: between the post and the poll, in order; in device ticks and in wall-clock time. */
static void should_take_the_time_of_each_completion(void)
{
    static char buffer[2][4096];
    struct ibv_mr *mr[2];
    uint64_t last[2] = {0, 0};
    uint64_t last_wall = 0;
    struct id_pair pair;

    id_pair_open_extended(&pair, ALL);
    struct rdma_cm_id *ids[2] = {pair.active, pair.passive};
    struct ibv_context *context = pair.active->verbs;
    for (int side = 0; side < 2; side++) {
        mr[side] = ibv_reg_mr(ids[side]->pd, buffer[side], sizeof(buffer[side]), IBV_ACCESS_LOCAL_WRITE);
        CHECK(mr[side] != NULL);
    }
    for (uint64_t i = 0; i < 200; i++) {
        struct ibv_sge to = {(uintptr_t)buffer[1], 64, mr[1]->lkey};
        struct ibv_sge from = {(uintptr_t)buffer[0], 64, mr[0]->lkey};
        struct ibv_recv_wr recv = {.wr_id = i, .sg_list = &to, .num_sge = 1};
        struct ibv_send_wr send = {.wr_id = i, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
            .send_flags = IBV_SEND_SIGNALED};
        struct ibv_recv_wr *bad_recv;
        struct ibv_send_wr *bad_send;

        CHECK_EQ(ibv_post_recv(ids[1]->qp, &recv, &bad_recv), 0);
        const uint64_t posted = device_ticks(context);
        const uint64_t posted_wall = clock_ns(CLOCK_REALTIME);
        CHECK_EQ(ibv_post_send(ids[0]->qp, &send, &bad_send), 0);
        for (int side = 1; side >= 0; side--) { /* the sender's may need the receiver's poll */
            struct ibv_cq_ex *cq = ex_of(pair.cq[side]);

            await(cq);
            CHECK_EQ(cq->wr_id, i);
            CHECK_EQ(cq->status, IBV_WC_SUCCESS);
            const uint64_t ticks = ibv_wc_read_completion_ts(cq);
            const uint64_t wall = ibv_wc_read_completion_wallclock_ns(cq);
            ibv_end_poll(cq);
            CHECK(ticks >= posted && ticks <= device_ticks(context));
            CHECK(ticks >= last[side]);
            last[side] = ticks;
            /* The clocks are compared with an uncertainty: half of a read of three clocks, as a rule below 0.1 us. */
            CHECK(wall + 1000000 >= posted_wall && wall <= clock_ns(CLOCK_REALTIME) + 1000000);
            CHECK(side == 0 || wall + 1000000 >= last_wall);
            last_wall = wall;
        }
    }
    for (int side = 0; side < 2; side++)
        CHECK_EQ(ibv_dereg_mr(mr[side]), 0);
    id_pair_close(&pair);
}

static void should_keep_times_when_the_queue_changes(void)
{
    struct verbs_pair pair;
    uint64_t times[9];

    open_extended(&pair, 7);
    struct ibv_cq_ex *cq = ex_of(pair.cq[0]);
    for (int i = 0; i < 7; i++) {
        times[i] = device_ticks(pair.context);
        write_once(&pair, (uint64_t)i);
    }
    times[7] = device_ticks(pair.context);
    await(cq);
    ibv_end_poll(cq);
    CHECK_EQ(ibv_resize_cq(pair.cq[0], 31), 0);
    write_once(&pair, 7);
    times[8] = device_ticks(pair.context);
    await(cq);
    for (int i = 1; i < 8; i++) {
        CHECK_EQ(cq->wr_id, i);
        CHECK(ibv_wc_read_completion_ts(cq) >= times[i] && ibv_wc_read_completion_ts(cq) <= times[i + 1]);
        CHECK_EQ(ibv_next_poll(cq), i < 7 ? 0 : ENOENT);
    }
    ibv_end_poll(cq);
    verbs_pair_close(&pair);
}

/* The completions of a destroyed queue pair leave the queue, those of another one move together with their times. */
static void should_keep_times_when_a_queue_pair_is_destroyed(void)
{
    const struct verbs_options options =
        {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7, .wc_flags = ALL, .one_cq = true};
    struct verbs_pair pair;
    uint64_t times[5];

    verbs_pair_open(&pair, &options);
    struct ibv_cq_ex *cq = ex_of(pair.cq[0]);
    for (int i = 0; i < 4; i++) {
        times[i] = device_ticks(pair.context);
        verbs_send(&pair, i % 2, (uint64_t)i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED);
    }
    times[4] = device_ticks(pair.context);
    CHECK_EQ(ibv_destroy_qp(pair.qp[1]), 0);
    pair.qp[1] = NULL;
    await(cq);
    for (int i = 0; i < 4; i += 2) {
        CHECK_EQ(cq->wr_id, i);
        CHECK(ibv_wc_read_completion_ts(cq) >= times[i] && ibv_wc_read_completion_ts(cq) <= times[i + 1]);
        CHECK_EQ(ibv_next_poll(cq), i < 2 ? 0 : ENOENT);
    }
    ibv_end_poll(cq);
    verbs_pair_close(&pair);
}

/* The time is that of the completion, not that of its delivery. */
static void should_take_the_time_before_a_delay(void)
{
    const struct ringpoll_loopback_fault rule =
        {.kind = RINGPOLL_LOOPBACK_FAULT_DELAY, .at = 1, .object = 1, .duration_ns = 20000000};
    struct verbs_pair pair;

    CHECK_EQ(ringpoll_loopback_plan(1, &rule, 1), 0);
    open_extended(&pair, 0);
    CHECK_EQ(ringpoll_loopback_plan(0, NULL, 0), 0);
    struct ibv_cq_ex *cq = ex_of(pair.cq[0]);
    write_once(&pair, 1);
    const uint64_t posted = device_ticks(pair.context);
    await(cq);
    CHECK(ibv_wc_read_completion_ts(cq) <= posted);
    CHECK(device_ticks(pair.context) - ibv_wc_read_completion_ts(cq) >= 19000000);
    ibv_end_poll(cq);
    verbs_pair_close(&pair);
}

#define SHARED 20000u

struct reader {
    struct ibv_cq_ex *cq;
    _Atomic uint32_t *polled;
    uint64_t sum;
};

static void *read_some(void *argument)
{
    struct reader *reader = argument;
    uint64_t last = 0;

    while (atomic_load(reader->polled) < SHARED) {
        if (start(reader->cq) != 0) {
            (void)sched_yield();
            continue;
        }
        uint32_t count = 0;
        do {
            const uint64_t ticks = ibv_wc_read_completion_ts(reader->cq);

            CHECK_EQ(reader->cq->status, IBV_WC_SUCCESS);
            CHECK(ticks >= last);
            last = ticks;
            reader->sum += reader->cq->wr_id;
        } while (++count < 8 && ibv_next_poll(reader->cq) == 0);
        ibv_end_poll(reader->cq);
        atomic_fetch_add(reader->polled, count);
    }
    return NULL;
}

static void should_serve_several_threads(void)
{
    _Atomic uint32_t polled = 0;
    struct reader readers[2];
    pthread_t threads[2];
    struct verbs_pair pair;

    open_extended(&pair, 0);
    for (int i = 0; i < 2; i++) {
        readers[i] = (struct reader){.cq = ex_of(pair.cq[0]), .polled = &polled};
        CHECK_EQ(pthread_create(&threads[i], NULL, read_some, &readers[i]), 0);
    }
    for (uint64_t i = 1; i <= SHARED; i++) {
        while (verbs_try_send(&pair, 0, i, IBV_WR_RDMA_WRITE, 8, IBV_SEND_SIGNALED) == ENOMEM)
            (void)sched_yield();
    }
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(readers[0].sum + readers[1].sum, (uint64_t)SHARED * (SHARED + 1) / 2);
    verbs_pair_close(&pair);
}

static void *reset(void *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    return NULL;
}

/* The reset removes completions from the queue: it waits for the end of the batch, and keeps nobody waiting meanwhile. */
static void should_deregister_in_a_batch_while_a_queue_pair_is_reset(void)
{
    const struct timespec until_it_waits = {.tv_nsec = 20000000};
    static char bytes[64];
    struct verbs_pair pair;
    pthread_t thread;

    open_extended(&pair, 16);
    write_once(&pair, 1);
    await(ex_of(pair.cq[0]));
    CHECK_EQ(pthread_create(&thread, NULL, reset, pair.qp[0]), 0);
    (void)nanosleep(&until_it_waits, NULL);
    struct ibv_mr *mr = ibv_reg_mr(pair.pd, bytes, sizeof(bytes), IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr != NULL);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    ibv_end_poll(ex_of(pair.cq[0]));
    CHECK_EQ(pthread_join(thread, NULL), 0);
    verbs_pair_close(&pair);
}

const struct test cq_ex_tests[] = {
    {"extended queue: what the device does not offer is refused", should_refuse_what_it_does_not_offer},
    {"extended queue: the device describes its clock", should_describe_its_clock},
    {"extended queue: all fields of a batch are read", should_read_all_fields_of_a_batch},
    {"extended queue: each completion is polled once", should_poll_each_completion_once},
    {"extended queue: a batch returns the slots of its send queue", should_return_send_slots_with_the_batch},
    {"extended queue: a batch without an end does not overrun", should_not_overrun_in_a_batch_without_end},
    {"extended queue: an overrun and a failed poll are reported", should_report_an_overrun_and_a_failed_poll},
    {"extended queue: it raises events", should_raise_events},
    {"extended queue: each completion has its time", should_take_the_time_of_each_completion},
    {"extended queue: times survive a resize", should_keep_times_when_the_queue_changes},
    {"extended queue: times survive the end of a queue pair", should_keep_times_when_a_queue_pair_is_destroyed},
    {"extended queue: the time is taken before a delay", should_take_the_time_before_a_delay},
    {"extended queue: several threads poll it", should_serve_several_threads},
    {"extended queue: memory is deregistered in a batch while a queue pair is reset",
        should_deregister_in_a_batch_while_a_queue_pair_is_reset},
    {NULL, NULL},
};
