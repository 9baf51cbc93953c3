/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c: copies into a ring around the cache or through it, and the choice of the cheaper way. */
#include "stream.c" /* which the library does not export */

#include "test.h"

#define COPIES 100000u
#define SLOW 400u
#define FAST 100u
#define ROOM (3 * LB_STREAM_MIN)

/* Makes so many copies that take these times, without a copy; returns how many of them went around the cache. */
static uint32_t copy(struct lb_stream *stream, uint32_t copies, uint32_t cached_ns, uint32_t around_ns)
{
    uint32_t around = 0;

    for (uint32_t i = 0; i < copies; i++) {
        bool measured;
        const enum lb_stream_way way = lb_stream_choose(stream, &measured);

        if (measured)
            lb_stream_learn(stream, way, way == LB_STREAM_AROUND ? around_ns : cached_ns, 1024);
        if (way == LB_STREAM_AROUND)
            around++;
    }
    return around;
}

/* The copies of a producer in trials: they become rarer, up to one run in LATE. */
#define TRIALS (COPIES / LATE + 10 * RUN)

static void should_go_the_cheaper_way(void)
{
    struct lb_stream stream = {0};

    CHECK(copy(&stream, COPIES, FAST, SLOW) <= TRIALS);
    stream = (struct lb_stream){0};
    CHECK(copy(&stream, COPIES, SLOW, SLOW * 99 / 100) <= TRIALS);
    stream = (struct lb_stream){0};
    CHECK(copy(&stream, COPIES, SLOW, FAST) >= (can_go_around ? COPIES - TRIALS : 0));
}

/* Both ends copy at the same time: the slower one counts. */
static void should_go_the_way_that_is_cheaper_for_the_slower_end(void)
{
    struct lb_stream_costs costs = {{FAST, SLOW}};
    struct lb_stream stream = {.costs = &costs};

    CHECK(copy(&stream, COPIES, FAST, FAST / 2) <= TRIALS);
    costs = (struct lb_stream_costs){{SLOW, FAST}};
    stream = (struct lb_stream){.costs = &costs};
    CHECK(copy(&stream, COPIES, FAST, FAST * 2) >= (can_go_around ? COPIES - TRIALS : 0));
    costs = (struct lb_stream_costs){{UINT32_MAX, UINT32_MAX}}; /* of an end that lies */
    CHECK(copy(&stream, COPIES, FAST, FAST) <= TRIALS);
}

static void should_show_what_the_copies_out_of_a_ring_cost(void)
{
    struct lb_stream_costs costs = {{0}};
    struct lb_stream stream = {.reads = true, .costs = &costs};

    lb_stream_learn(&stream, LB_STREAM_PLAIN, FAST, 1024);
    CHECK_EQ(costs.of[LB_STREAM_CACHED], FAST + 1);
    CHECK_EQ(costs.of[LB_STREAM_AROUND], 0);
    stream.was_around = true;
    lb_stream_learn(&stream, LB_STREAM_CACHED, SLOW, 1024);
    CHECK_EQ(costs.of[LB_STREAM_CACHED], FAST + 1);
    CHECK_EQ(costs.of[LB_STREAM_AROUND], SLOW + 1);
}

/* A consumer's other way costs nobody anything else: it is taken as soon as it is cheaper. */
static void should_fetch_by_the_cheaper_way(void)
{
    struct lb_stream stream = {.reads = true};
    const uint32_t trials = COPIES / TRIAL + 10;

    CHECK(copy(&stream, COPIES, FAST, SLOW) <= trials);
    stream = (struct lb_stream){.reads = true};
    CHECK(copy(&stream, COPIES, SLOW, SLOW * 9 / 10) >= (lb_stream_has_avx ? COPIES - trials : 0));
}

/* So that it costs little where lines move between processors that share no cache. */
static void should_end_a_trial_that_costs_several_times_as_much(void)
{
    struct lb_stream stream = {0};

    if (!can_go_around)
        return;
    (void)copy(&stream, 3 * RUN, SLOW * 10, FAST);
    CHECK(COPIES - copy(&stream, COPIES, SLOW * 10, FAST) < 20);
    /* The other end counts, too, when it has made its copies. */
    struct lb_stream_costs costs = {{SLOW * 10, FAST}};
    stream = (struct lb_stream){.costs = &costs};
    (void)copy(&stream, 3 * RUN, FAST, FAST);
    CHECK(COPIES - copy(&stream, COPIES, FAST, FAST) < 5 * RUN);
}

#define COPIES_OF_A_RING 64u

/* A consumer copies lines fast that have left the producer's cache: they do so when the ring has filled. */
static void should_try_a_way_until_the_ring_has_filled(void)
{
    struct lb_stream stream = {0};
    uint32_t in_a_row = 0;
    uint32_t around = 0;

    if (!can_go_around)
        return;
    (void)copy(&stream, 3 * RUN, SLOW, FAST * 2);
    for (uint32_t i = 0; i < COPIES; i++) {
        bool measured;
        const enum lb_stream_way way = lb_stream_choose(&stream, &measured);

        in_a_row = way == LB_STREAM_CACHED ? in_a_row + 1 : 0;
        if (measured)
            lb_stream_learn(&stream, way, way == LB_STREAM_AROUND ? FAST * 2 : in_a_row <= 2 * COPIES_OF_A_RING ? FAST * 3 : FAST, 1024);
        around += way == LB_STREAM_AROUND;
    }
    CHECK(around <= TRIALS);
}

/* A program that has done something else has other lines in its cache: its first copies show nothing. */
static void should_soon_try_a_way_again_that_it_has_just_left(void)
{
    struct lb_stream stream = {0};

    if (!can_go_around)
        return;
    (void)copy(&stream, COPIES, FAST, FAST * 2);
    (void)copy(&stream, RUN - stream.copies % RUN, FAST, FAST * 2);
    for (uint32_t i = 0; i < RUN; i++)
        lb_stream_learn(&stream, LB_STREAM_CACHED, SLOW, 1024);
    CHECK(copy(&stream, 10 * RUN, FAST, FAST * 2) < 5 * RUN);
    CHECK(copy(&stream, COPIES, FAST, FAST * 2) <= TRIALS);
}

/* As when the scheduler puts an end on another processor. */
static void should_change_the_way_when_the_other_becomes_cheaper(void)
{
    struct lb_stream stream = {0};
    const uint32_t late = 2 * RUN * LATE;

    if (!can_go_around)
        return;
    (void)copy(&stream, COPIES, FAST, SLOW);
    CHECK(copy(&stream, COPIES, SLOW, FAST) >= COPIES - late);
    CHECK(copy(&stream, COPIES, FAST, SLOW) <= late);
}

static void should_not_change_the_way_for_one_copy_that_is_interrupted(void)
{
    struct lb_stream stream = {0};

    if (!can_go_around)
        return;
    for (int i = 0; i < 10; i++) {
        CHECK(copy(&stream, COPIES, SLOW, FAST) >= COPIES - TRIALS);
        lb_stream_learn(&stream, LB_STREAM_AROUND, UINT64_C(1) << 40, LB_STREAM_MIN);
        lb_stream_learn(&stream, LB_STREAM_CACHED, UINT64_C(1) << 40, LB_STREAM_MIN);
    }
}

static void check_bytes(const char *to, const char *from, size_t at, size_t offset, size_t length)
{
    for (size_t i = 0; i < ROOM; i++)
        CHECK_EQ(to[i], i >= at && i < at + length ? from[i - at + offset] : 0);
}

/* And no other. */
static void should_copy_each_byte(void)
{
    static _Alignas(64) char from[ROOM];
    static _Alignas(64) char to[ROOM];

    for (size_t i = 0; i < ROOM; i++)
        from[i] = (char)(i * 7 + i / 256 + 1);
    for (size_t at = 0; at < 70; at += 3) {
        for (size_t length = LB_STREAM_MIN; length < LB_STREAM_MIN + 130; length += 13) {
            memset(to, 0, sizeof(to));
            copy_around(to + at, from + length % 64, length);
            check_bytes(to, from, at, length % 64, length);
            memset(to, 0, sizeof(to));
            if (lb_stream_has_avx)
                copy_plain(to + at, from + length % 64, length);
            else
                memcpy(to + at, from + length % 64, length);
            check_bytes(to, from, at, length % 64, length);
            memset(to, 0, sizeof(to));
            if (lb_stream_has_avx)
                copy_ahead(to + at, from + length % 64, length);
            else
                memcpy(to + at, from + length % 64, length);
            check_bytes(to, from, at, length % 64, length);
        }
    }
}

#if defined(__x86_64__)
/* Processors without wide registers go this way. */
static void should_copy_each_line_in_four_pieces(void)
{
    static _Alignas(64) char from[ROOM];
    static _Alignas(64) char to[ROOM];

    for (size_t i = 0; i < ROOM; i++)
        from[i] = (char)(i * 5 + i / 256 + 1);
    stream(to, from + 1, LB_STREAM_MIN / LINE);
    _mm_sfence();
    check_bytes(to, from, 0, 1, LB_STREAM_MIN);
}
#endif

const struct test stream_tests[] = {
    {"long copies to another process go the cheaper way", should_go_the_cheaper_way},
    {"long copies to another process go the way that is cheaper for the slower end",
        should_go_the_way_that_is_cheaper_for_the_slower_end},
    {"a consumer shows what its copies cost by the way of their producer", should_show_what_the_copies_out_of_a_ring_cost},
    {"long copies from another process go the cheaper way", should_fetch_by_the_cheaper_way},
    {"a trial of a way that costs several times as much ends", should_end_a_trial_that_costs_several_times_as_much},
    {"a way of long copies is tried until the ring has filled", should_try_a_way_until_the_ring_has_filled},
    {"a way of long copies is soon tried again when it was left", should_soon_try_a_way_again_that_it_has_just_left},
    {"long copies to another process change their way when the other becomes cheaper",
        should_change_the_way_when_the_other_becomes_cheaper},
    {"long copies to another process keep their way when one is interrupted",
        should_not_change_the_way_for_one_copy_that_is_interrupted},
    {"a long copy has each byte, and changes no other", should_copy_each_byte},
#if defined(__x86_64__)
    {"a copy around the cache without wide registers has each byte", should_copy_each_line_in_four_pieces},
#endif
    {NULL, NULL},
};
