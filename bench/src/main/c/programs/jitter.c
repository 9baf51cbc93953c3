/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitter.c: interruptions of a spinning thread on each CPU, measured in plain C.
 *
 * The same loop as the Java meter's (io.ringpoll.bench.jitter.SpinLoop): read the monotonic clock, compare with the last
 * reading, count a gap of at least the floor. The difference between the two is due to the JVM.
 *
 * usage: ringpoll-jitter CPU[,CPU...] MILLISECONDS FLOOR_NS
 *
 * Output, a line each, times in nanoseconds:
 *     cpu CPU spins N elapsed T voluntary V involuntary I
 *     gap CPU VALUE COUNT        for each bucket that is not empty; VALUE is the bucket's middle
 * Exit codes: 0; 1 if a CPU cannot be used; 2 for wrong usage. A message goes to standard error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Buckets: 128 to each power of two, so that a value is known to 1 %. */
#define SUB_BITS 7
#define SUBS (1u << SUB_BITS)
#define BUCKETS ((64 - SUB_BITS + 1) * SUBS)
#define MAX_CPUS 65536
#define NS_PER_S 1000000000u

struct meter {
    pthread_t thread;
    pthread_barrier_t *start;
    int cpu;
    uint64_t duration_ns;
    uint64_t floor_ns;
    /* written by the thread, read after it is joined */
    int error;
    uint64_t spins;
    uint64_t elapsed_ns;
    long voluntary;
    long involuntary;
    uint64_t *counts;
};

static inline uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static unsigned bucket_of(uint64_t value)
{
    unsigned shift;

    if (value < SUBS) {
        return (unsigned)value;
    }
    shift = 63u - (unsigned)__builtin_clzll(value) - SUB_BITS;
    return (shift + 1) * SUBS + (unsigned)(value >> shift) - SUBS;
}

static uint64_t middle_of(unsigned bucket)
{
    unsigned shift;

    if (bucket < SUBS) {
        return bucket;
    }
    shift = bucket / SUBS - 1;
    return (((uint64_t)(bucket % SUBS) + SUBS) << shift) + ((UINT64_C(1) << shift) >> 1);
}

static void spin(struct meter *meter)
{
    const uint64_t floor = meter->floor_ns;
    const uint64_t begin = now_ns();
    const uint64_t end = begin + meter->duration_ns;
    uint64_t last = begin;
    uint64_t now;
    uint64_t spins = 0;

    do {
        now = now_ns();
        if (now - last >= floor) {
            meter->counts[bucket_of(now - last)]++;
            /* The time for counting is not an interruption. */
            last = now_ns();
        } else {
            last = now;
        }
        spins++;
    } while (now < end);
    meter->spins = spins;
    meter->elapsed_ns = now - begin;
}

static int pin(int cpu)
{
    cpu_set_t *set = CPU_ALLOC(MAX_CPUS);
    const size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
    int error;

    if (set == NULL) {
        return ENOMEM;
    }
    CPU_ZERO_S(size, set);
    CPU_SET_S((size_t)cpu, size, set);
    error = sched_setaffinity(0, size, set) == 0 ? 0 : errno;
    CPU_FREE(set);
    return error;
}

static void *run(void *argument)
{
    struct meter *meter = argument;
    struct rusage before;
    struct rusage after;

    meter->error = pin(meter->cpu);
    (void)pthread_barrier_wait(meter->start);
    (void)getrusage(RUSAGE_THREAD, &before);
    spin(meter);
    (void)getrusage(RUSAGE_THREAD, &after);
    meter->voluntary = after.ru_nvcsw - before.ru_nvcsw;
    meter->involuntary = after.ru_nivcsw - before.ru_nivcsw;
    return NULL;
}

static bool number(const char *text, uint64_t max, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *text != '-' && *value <= max;
}

/* Parses the CPU list; returns the number of CPUs, or 0 if the list is invalid. */
static size_t cpus_of(char *list, struct meter *meters, size_t capacity)
{
    size_t count = 0;
    char *rest = NULL;
    char *word;
    uint64_t cpu;

    for (word = strtok_r(list, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        if (count == capacity || !number(word, MAX_CPUS - 1, &cpu)) {
            return 0;
        }
        meters[count++].cpu = (int)cpu;
    }
    return count;
}

static int refused(int cpu, int error)
{
    (void)fprintf(stderr, "ringpoll-jitter: cannot pin to CPU %d: %s\n", cpu, strerror(error));
    return 1;
}

static int report(const struct meter *meters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (meters[i].error != 0) {
            return refused(meters[i].cpu, meters[i].error);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct meter *meter = &meters[i];

        (void)printf("cpu %d spins %" PRIu64 " elapsed %" PRIu64 " voluntary %ld involuntary %ld\n", meter->cpu, meter->spins,
                     meter->elapsed_ns, meter->voluntary, meter->involuntary);
        for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
            if (meter->counts[bucket] != 0) {
                (void)printf("gap %d %" PRIu64 " %" PRIu64 "\n", meter->cpu, middle_of(bucket), meter->counts[bucket]);
            }
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct meter meters[1024];
    pthread_barrier_t start;
    uint64_t milliseconds;
    uint64_t floor_ns;
    size_t count;

    count = argc == 4 ? cpus_of(argv[1], meters, sizeof(meters) / sizeof(meters[0])) : 0;
    if (count == 0 || !number(argv[2], 86400000, &milliseconds) || !number(argv[3], NS_PER_S, &floor_ns) || floor_ns == 0) {
        (void)fprintf(stderr, "usage: ringpoll-jitter CPU[,CPU...] MILLISECONDS FLOOR_NS\n");
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        const int error = pin(meters[i].cpu);

        if (error != 0) {
            return refused(meters[i].cpu, error);
        }
    }
    (void)pthread_barrier_init(&start, NULL, (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        meters[i].start = &start;
        meters[i].duration_ns = milliseconds * 1000000u;
        meters[i].floor_ns = floor_ns;
        meters[i].counts = calloc(BUCKETS, sizeof(uint64_t));
        if (meters[i].counts == NULL || pthread_create(&meters[i].thread, NULL, run, &meters[i]) != 0) {
            /* Threads that have started wait at the barrier: exiting ends them. */
            (void)fprintf(stderr, "ringpoll-jitter: no memory for a thread on CPU %d\n", meters[i].cpu);
            return 1;
        }
    }
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(meters[i].thread, NULL);
    }
    return report(meters, count);
}
