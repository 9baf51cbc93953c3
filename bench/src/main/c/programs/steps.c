/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c: counts the instructions that one thread of another process executes, by address.
 *
 * The program stops the thread and executes it one instruction at a time (ptrace, PTRACE_SINGLESTEP). The other threads of the
 * process continue at full speed. It needs no performance counters, which virtual machines often lack.
 *
 * usage: ringpoll-steps TID SECONDS
 *
 * It prints "stopped" when the thread is stopped, and then reads one command per line from standard input:
 *     step COUNT ADDRESS  executes COUNT instructions, then continues until the thread reaches ADDRESS (hexadecimal; 0: does not
 *                         continue); prints "done STEPS", fewer than COUNT if SECONDS have elapsed or the thread has ended
 *     clear               sets all counts to 0; prints "cleared"
 *     end                 resumes the thread, and prints "at ADDRESS COUNT" for each address that it reached
 * Each command must arrive within TURN_MS: the caller is a thread of the same process, and may itself be blocked until the
 * stopped thread continues, since a JVM stops all its threads together.
 * Exit codes: 0; 1 if the thread cannot be traced; 2 for wrong usage; 3 if a command was late or the caller has ended.
 * Messages go to standard error.
 *
 * On x86-64 a step sets the trap flag of the thread. The flag survives in flags that the thread pushes meanwhile, and in the
 * thread itself if this program is killed; a later SIGTRAP would then end the traced process. A traced process has to handle that
 * signal (traps.c of the C baseline).
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
#define MOST_STEPS_TO_ADDRESS 1000000
#define TURN_MS 2000

struct bucket {
    uint64_t address;
    uint64_t count; /* 0: free */
};

static struct bucket buckets[BUCKETS];
static uint32_t used;

/* Counts an arrival at an address; false if there is no room for a new address. */
static bool count_arrival(uint64_t address)
{
    uint32_t index = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - BUCKET_BITS));

    while (buckets[index].count != 0 && buckets[index].address != address)
        index = (index + 1) % BUCKETS;
    if (buckets[index].count == 0) {
        if (used == BUCKETS / 2)
            return false;
        used++;
        buckets[index].address = address;
    }
    buckets[index].count++;
    return true;
}

static bool read_address(pid_t thread, uint64_t *address)
{
    struct user_regs_struct registers;
    struct iovec part = {.iov_base = &registers, .iov_len = sizeof(registers)};

    if (ptrace(PTRACE_GETREGSET, thread, (void *)(uintptr_t)NT_PRSTATUS, &part) != 0)
        return false;
#if defined(__x86_64__)
    *address = registers.rip;
#elif defined(__aarch64__)
    *address = registers.pc;
#else
#error "the program counter of this architecture is not known"
#endif
    return true;
}

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

/*
 * Executes a number of instructions, and further ones until the thread reaches an address, unless that is 0. Returns the number
 * of executed instructions.
 */
static uint64_t step(pid_t thread, uint64_t count, uint64_t until, time_t end)
{
    uint64_t steps = 0;
    uint64_t address = 0;
    int signal = 0;

    while (steps < count || (until != 0 && address != until && steps < count + MOST_STEPS_TO_ADDRESS)) {
        int status;

        if (ptrace(PTRACE_SINGLESTEP, thread, NULL, (void *)(intptr_t)signal) != 0 || !await_stop(thread, &status))
            break;
        /* The JVM uses signals for null checks and safepoints: the thread gets them. */
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (signal != 0)
            continue;
        if (!read_address(thread, &address) || !count_arrival(address))
            break;
        steps++;
        if (steps % STEPS_BETWEEN_CLOCKS == 0 && time(NULL) >= end)
            break;
    }
    return steps;
}

static void clear(void)
{
    memset(buckets, 0, sizeof(buckets));
    used = 0;
}

/* Reads one command; false if it is late or the caller has ended. */
static bool read_command(char *line, size_t size)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    (void)fflush(stdout);
    if (poll(&input, 1, TURN_MS) != 1)
        return false;
    /* The caller writes a whole line at once, and the next one after its answer. */
    const ssize_t length = read(STDIN_FILENO, line, size - 1);
    if (length <= 0)
        return false;
    line[length] = '\0';
    return true;
}

/* Executes commands until the last one; returns an exit code. */
static int execute_commands(pid_t thread, time_t end)
{
    char line[64];
    uint64_t count;
    uint64_t address;

    while (read_command(line, sizeof(line))) {
        if (strcmp(line, "end\n") == 0)
            return EXIT_SUCCESS;
        if (strcmp(line, "clear\n") == 0) {
            clear();
            (void)printf("cleared\n");
        } else if (sscanf(line, "step %" SCNu64 " %" SCNx64, &count, &address) == 2) {
            (void)printf("done %" PRIu64 "\n", step(thread, count, address, end));
        } else {
            (void)fprintf(stderr, "ringpoll-steps: no command: %s", line);
            return 2;
        }
    }
    (void)fprintf(stderr, "ringpoll-steps: no command within %d ms\n", TURN_MS);
    return 3;
}

static int number(const char *text)
{
    char *end;

    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    return errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value > INT32_MAX ? 0 : (int)value;
}

int main(int argc, char **argv)
{
    const pid_t thread = argc == 3 ? number(argv[1]) : 0;
    const time_t seconds = argc == 3 ? number(argv[2]) : 0;
    int status;

    if (thread == 0 || seconds == 0) {
        (void)fprintf(stderr, "usage: ringpoll-steps TID SECONDS\n");
        return 2;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0)
        return fail("cannot trace thread", argv[1]);
    if (!await_stop(thread, &status))
        return fail("cannot stop thread", argv[1]);
    (void)printf("stopped\n");
    const int result = execute_commands(thread, time(NULL) + seconds);
    (void)ptrace(PTRACE_DETACH, thread, NULL, NULL);
    for (uint32_t i = 0; result == EXIT_SUCCESS && i < BUCKETS; i++) {
        if (buckets[i].count != 0)
            (void)printf("at %" PRIx64 " %" PRIu64 "\n", buckets[i].address, buckets[i].count);
    }
    return result;
}
