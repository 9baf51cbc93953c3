/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c: counts the instructions that a thread of another process executes, by their addresses.
 *
 * The thread is stopped and executed instruction by instruction (ptrace, PTRACE_SINGLESTEP). The counts do not depend on the
 * load of the machine, and need no performance counters, which virtual machines often lack. The other threads of the process run
 * on at their speed.
 *
 * usage: ringpoll-steps TID COUNT SECONDS
 *
 * The program and its caller take turns. The thread is stopped during the caller's turn, which ends with a line from the caller:
 *     stopped             before the first instruction; the caller's turn
 *     done STEPS          after COUNT instructions, or fewer if SECONDS are over or the thread has ended; the caller's turn
 *     at ADDRESS COUNT    a line for each address (hexadecimal) at which the thread has arrived, and how often; it runs again
 * A turn of the caller ends after a second at the latest, because the caller may have to wait for the stopped thread: a JVM stops
 * all its threads together.
 * Exit codes: 0; 1 if the thread cannot be traced; 2 for wrong usage; 3 if the caller did not end its turn in time, or has ended.
 * A message goes to standard error.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUCKET_BITS 18
#define BUCKETS (1u << BUCKET_BITS)
#define STEPS_BETWEEN_CLOCKS 256
#define TURN_MS 1000

struct bucket {
    uint64_t address;
    uint64_t count; /* 0: free */
    bool pushes_flags;
};

static struct bucket buckets[BUCKETS];
static uint32_t used;

/* The bucket of an address; a new one if there is room, or NULL. */
static struct bucket *bucket_of(uint64_t address)
{
    uint32_t index = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - BUCKET_BITS));

    while (buckets[index].count != 0 && buckets[index].address != address)
        index = (index + 1) % BUCKETS;
    if (buckets[index].count == 0) {
        if (used == BUCKETS / 2)
            return NULL;
        used++;
        buckets[index].address = address;
    }
    return &buckets[index];
}

static bool transfer(enum __ptrace_request request, pid_t thread, struct user_regs_struct *registers)
{
    struct iovec part = {.iov_base = registers, .iov_len = sizeof(*registers)};

    return ptrace(request, thread, (void *)(uintptr_t)NT_PRSTATUS, &part) == 0;
}

#if defined(__x86_64__)
/*
 * A step is made with the trap flag of the thread's flags. An instruction that saves the flags saves it, too, and the thread
 * would set it again for itself when it restores them, as the JVM does at safepoints; after the trace, that ends the process.
 */
#define TRAP_FLAG 0x100u
#define PUSHF 0x9c

static uint64_t address_in(const struct user_regs_struct *registers)
{
    return registers->rip;
}

static bool pushes_flags(pid_t thread, uint64_t address)
{
    errno = 0;
    const long bytes = ptrace(PTRACE_PEEKTEXT, thread, (void *)(uintptr_t)address, NULL);

    return errno == 0 && (bytes & 0xff) == PUSHF;
}

static bool repair_pushed_flags(pid_t thread, const struct user_regs_struct *registers)
{
    void *top = (void *)(uintptr_t)registers->rsp;

    errno = 0;
    const long flags = ptrace(PTRACE_PEEKDATA, thread, top, NULL);

    return errno == 0 && ptrace(PTRACE_POKEDATA, thread, top, (void *)(flags & ~(long)TRAP_FLAG)) == 0;
}

static void repair_flags(pid_t thread)
{
    struct user_regs_struct registers;

    if (!transfer(PTRACE_GETREGSET, thread, &registers) || (registers.eflags & TRAP_FLAG) == 0)
        return;
    registers.eflags &= ~(unsigned long long)TRAP_FLAG;
    (void)transfer(PTRACE_SETREGSET, thread, &registers);
}
#elif defined(__aarch64__)
/* Steps leave no traces in the thread. */
static uint64_t address_in(const struct user_regs_struct *registers)
{
    return registers->pc;
}

static bool pushes_flags(pid_t thread, uint64_t address)
{
    (void)thread;
    (void)address;
    return false;
}

static bool repair_pushed_flags(pid_t thread, const struct user_regs_struct *registers)
{
    (void)thread;
    (void)registers;
    return true;
}

static void repair_flags(pid_t thread)
{
    (void)thread;
}
#else
#error "the registers of this architecture are not known"
#endif

static int fail(const char *what, const char *which)
{
    (void)fprintf(stderr, "ringpoll-steps: %s %s: %s\n", what, which, strerror(errno));
    return EXIT_FAILURE;
}

static bool await_stop(pid_t thread, int *status)
{
    pid_t got;

    do {
        got = waitpid(thread, status, __WALL);
    } while (got < 0 && errno == EINTR);
    return got == thread && WIFSTOPPED(*status);
}

/* Executes up to a number of instructions; returns how many. */
static uint64_t step(pid_t thread, uint64_t count, time_t seconds)
{
    const time_t end = time(NULL) + seconds;
    bool pushed = false;
    int signal = 0;
    uint64_t steps = 0;

    while (steps < count || pushed) {
        struct user_regs_struct registers;
        int status;

        if (ptrace(PTRACE_SINGLESTEP, thread, NULL, (void *)(intptr_t)signal) != 0 || !await_stop(thread, &status))
            break;
        /* The JVM uses signals for null checks and safepoints: they are passed on. */
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (signal != 0)
            continue;
        if (!transfer(PTRACE_GETREGSET, thread, &registers) || (pushed && !repair_pushed_flags(thread, &registers)))
            break;
        struct bucket *next = bucket_of(address_in(&registers));
        if (next == NULL)
            break;
        if (next->count == 0)
            next->pushes_flags = pushes_flags(thread, next->address);
        next->count++;
        pushed = next->pushes_flags;
        steps++;
        /* Flags that are to be repaired are not left behind. */
        if (steps % STEPS_BETWEEN_CLOCKS == 0 && !pushed && time(NULL) >= end)
            break;
    }
    return steps;
}

/* The caller's turn; false if it does not end in time. */
static bool callers_turn(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[16];

    (void)fflush(stdout);
    return poll(&input, 1, TURN_MS) == 1 && read(STDIN_FILENO, line, sizeof(line)) > 0;
}

static void let_go(pid_t thread)
{
    repair_flags(thread);
    (void)ptrace(PTRACE_DETACH, thread, NULL, NULL);
}

static int too_late(pid_t thread)
{
    let_go(thread);
    (void)fprintf(stderr, "ringpoll-steps: the caller did not answer within %d ms\n", TURN_MS);
    return 3;
}

static uint64_t number(const char *text)
{
    char *end;

    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    return errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value > INT32_MAX ? 0 : value;
}

int main(int argc, char **argv)
{
    const pid_t thread = argc == 4 ? (pid_t)number(argv[1]) : 0;
    const uint64_t count = argc == 4 ? number(argv[2]) : 0;
    const time_t seconds = argc == 4 ? (time_t)number(argv[3]) : 0;
    int status;

    if (thread == 0 || count == 0 || seconds == 0) {
        (void)fprintf(stderr, "usage: ringpoll-steps TID COUNT SECONDS\n");
        return 2;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0)
        return fail("cannot trace thread", argv[1]);
    if (!await_stop(thread, &status))
        return fail("cannot stop thread", argv[1]);
    (void)printf("stopped\n");
    if (!callers_turn())
        return too_late(thread);
    (void)printf("done %" PRIu64 "\n", step(thread, count, seconds));
    if (!callers_turn())
        return too_late(thread);
    let_go(thread);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        if (buckets[i].count != 0)
            (void)printf("at %" PRIx64 " %" PRIu64 "\n", buckets[i].address, buckets[i].count);
    }
    return EXIT_SUCCESS;
}
