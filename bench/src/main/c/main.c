/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: the baseline without a JVM, over the synthetic device: to check whether the JVM changes its
 * figures, and to profile it with perf(1).
 *
 * usage: LD_LIBRARY_PATH=<folder of the loopback device's libraries> baseline [OPTION...]
 *   -n N    handlers, 0 to 3 (1)               -s S    seconds (1)
 *   -r N    completions a second, 0: saturation (0)
 *   -b N    completions a poll asks for (32)   -z N    slots of the ring (8192)
 *   -B N    maximum completions of a poll (0: the batch)
 *   -e N    empty polls after each successful poll (0)
 *   -c CPUS for the poller and each handler, as in 0,1,1,1 (not pinned)
 *   -y      wait by sched_yield
 *   -w N    microseconds that handlers sleep before the first completion (0)
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "baseline.h"
#include "histogram.h"
#include "hot.h"
#include "ringpoll_synthetic.h"

static void print_percentiles(const struct baseline_result *result)
{
    static const double levels[] = {0.5, 0.9, 0.99, 0.999, 1};
    uint64_t total = 0;
    uint64_t seen = 0;
    uint32_t level = 0;

    for (uint32_t i = 0; i < result->histogram_length; i++)
        total += result->histogram[i];
    for (uint32_t i = 0; i < result->histogram_length && total > 0; i++) {
        seen += result->histogram[i];
        while (level < 5 && (double)seen >= levels[level] * (double)total) {
            const uint32_t bucket =
                i < (2u << HISTOGRAM_HALF_BITS) ? 0 : (i >> HISTOGRAM_HALF_BITS) - 1;

            printf("p%g %llu ns  ", levels[level] * 100,
                (unsigned long long)(i - (bucket << HISTOGRAM_HALF_BITS)) << bucket);
            level++;
        }
    }
    printf("of %llu\n", (unsigned long long)total);
}

static void read_cpus(char *text, struct baseline_options *options)
{
    int index = 0;

    for (char *part = strtok(text, ","); part != NULL; part = strtok(NULL, ","), index++) {
        if (index == 0)
            options->poller_cpu = atoi(part);
        else if (index <= (int)BASELINE_MAX_HANDLERS)
            options->handler_cpu[index - 1] = atoi(part);
    }
}

int main(int argc, char **argv)
{
    struct ibv_context *(*synthetic_open)(void);
    int (*synthetic_start)(struct ibv_context *, const struct ringpoll_synthetic_program *);
    const uint64_t at_once = 0;
    static const struct ringpoll_synthetic_kind mix[4] = {{IBV_WC_SUCCESS, IBV_WC_SEND, 1, 0},
        {IBV_WC_SUCCESS, IBV_WC_RECV, 1, 64}, {IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, 1, 0},
        {IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, 1, 0}};
    struct ringpoll_synthetic_program program = {.count = RINGPOLL_SYNTHETIC_ENDLESS,
        .schedule_ns = &at_once, .schedule_length = 1, .pattern = mix, .pattern_length = 4};
    struct baseline_options options = {.ring_size = 8192, .batch = 32, .handlers = 1,
        .poller_cpu = BASELINE_ANY_CPU,
        .handler_cpu = {BASELINE_ANY_CPU, BASELINE_ANY_CPU, BASELINE_ANY_CPU}};
    double seconds = 1;
    uint64_t rate = 0;
    int option;

    while ((option = getopt(argc, argv, "n:s:r:b:z:B:e:c:w:y")) != -1) {
        switch (option) {
        case 'n': options.handlers = (uint32_t)atoi(optarg); break;
        case 's': seconds = atof(optarg); break;
        case 'r': rate = (uint64_t)atoll(optarg); break;
        case 'b': options.batch = (uint32_t)atoi(optarg); break;
        case 'z': options.ring_size = (uint32_t)atoi(optarg); break;
        case 'B': program.max_batch = (uint32_t)atoi(optarg); break;
        case 'e': program.empty_polls = (uint32_t)atoi(optarg); break;
        case 'c': read_cpus(optarg, &options); break;
        case 'w': options.stall_us = (uint32_t)atoi(optarg); break;
        case 'y': options.wait = BASELINE_YIELD; break;
        default: return 2;
        }
    }
    *(void **)&synthetic_open = dlsym(RTLD_DEFAULT, "ringpoll_synthetic_open");
    *(void **)&synthetic_start = dlsym(RTLD_DEFAULT, "ringpoll_synthetic_start");
    if (synthetic_open == NULL || synthetic_start == NULL) {
        fprintf(stderr, "baseline: libibverbs.so.1 is not the loopback device's: set LD_LIBRARY_PATH\n");
        return 1;
    }
    static const uint32_t paths[3][3] = {{7}, {BASELINE_SEND_WRITE, 6}, {1, 2, 4}};
    if (options.handlers > 0 && options.handlers <= BASELINE_MAX_HANDLERS)
        memcpy(options.handler_paths, paths[options.handlers - 1], sizeof(paths[0]));
    options.device = synthetic_open();
    options.work = rate > 0 ? BASELINE_LATENCY : BASELINE_SUM;
    const uint64_t start = now_ns() + 10000000;
    const uint64_t lead_in = 50000000;
    options.record_from_ns = start + lead_in;
    options.record_until_ns = start + lead_in + (uint64_t)(seconds * 1e9);
    if (rate > 0) {
        program.start_ns = start;
        program.period_ns = 1000000000 / rate;
    }
    if (synthetic_start(options.device, &program) != 0)
        return 1;
    struct baseline *baseline = baseline_start(&options);
    if (baseline == NULL) {
        perror("baseline");
        return 1;
    }
    struct baseline_sample first;
    struct baseline_sample last;
    struct baseline_result result;
    uint64_t lag = 0;
    uint64_t samples = 0;

    (void)usleep(60000);
    const uint64_t from = now_ns();
    baseline_sample(baseline, &first);
    while (now_ns() < options.record_until_ns) {
        (void)usleep(10000);
        baseline_sample(baseline, &last);
        lag += last.published - last.passed;
        samples++;
    }
    const uint64_t until = now_ns();
    baseline_sample(baseline, &last);
    baseline_stop(baseline, &result);
    printf("%.2f ns a completion, %.1f slots behind on average, %llu involuntary switches\n",
        (double)(until - from) / (double)(last.passed - first.passed), (double)lag / (double)samples,
        (unsigned long long)(result.poller_switches + result.handler[0].involuntary_switches));
    if (rate > 0)
        print_percentiles(&result);
    baseline_free(baseline);
    return ibv_close_device(options.device);
}
