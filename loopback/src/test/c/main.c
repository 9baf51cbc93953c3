/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: runs the tests: all of them, or those with the argument in their name. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "other_end.h"
#include "process_end.h"
#include "ringpoll_loopback.h"
#include "test.h"

#define TIME_LIMIT_S 180
#define PATIENCE_MS 10000

static const char *running = "(none)";

#ifdef __SANITIZE_THREAD__
/* Children of forks create threads, too. */
const char *__tsan_default_options(void);
__attribute__((visibility("default")))
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}
#endif

_Noreturn void test_fail(const char *file, int line, const char *what, long long actual,
    long long expected, bool compared)
{
    const char *name = strrchr(file, '/');

    printf("FAILED  %s\n        %s:%d: %s", running, name != NULL ? name + 1 : file, line, what);
    if (compared)
        printf(" (is %lld, not %lld)", actual, expected);
    printf("\n");
    fflush(stdout);
    _exit(1);
}

void test_check_equal(const char *file, int line, const char *what, long long actual,
    long long expected)
{
    if (actual != expected)
        test_fail(file, line, what, actual, expected, true);
}

bool test_between_processes(void)
{
    return getenv("RINGPOLL_LOOPBACK_ALWAYS_REMOTE") != NULL;
}

static void time_is_up(int signal)
{
    static const char text[] = "FAILED  time limit: ";

    (void)signal;
    (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
    (void)!write(STDOUT_FILENO, running, strlen(running));
    (void)!write(STDOUT_FILENO, "\n", 1);
    _exit(1);
}

/* An object whose timer is about to run lives until it has run. */
static void check_nothing_left(void)
{
    for (int kind = 0; kind < RINGPOLL_LOOPBACK_OBJECT_KINDS; kind++) {
        for (int waited_ms = 0; ringpoll_loopback_live(kind) != 0 && waited_ms < PATIENCE_MS; waited_ms++)
            (void)poll(NULL, 0, 1);
        if (ringpoll_loopback_live(kind) != 0) {
            printf("left behind: %lld %s\n", (long long)ringpoll_loopback_live(kind),
                ringpoll_loopback_live_name(kind));
            CHECK_EQ(ringpoll_loopback_live(kind), 0);
        }
    }
}

/* The first two functions run before and after each test. */
static int run_list_with(void (*set_up)(void), void (*tear_down)(void), const struct test *tests, const char *filter)
{
    int count = 0;

    for (; tests->name != NULL; tests++) {
        if (filter != NULL && strstr(tests->name, filter) == NULL)
            continue;
        running = tests->name;
        const double began = seconds();
        alarm(TIME_LIMIT_S);
        set_up();
        tests->run();
        tear_down();
        check_nothing_left();
        alarm(0);
        printf("ok      %s (%.0f ms)\n", running, (seconds() - began) * 1e3);
        fflush(stdout);
        count++;
    }
    return count;
}

static void do_nothing(void)
{
}

static int run_list(const struct test *tests, const char *filter)
{
    return run_list_with(do_nothing, do_nothing, tests, filter);
}

int main(int argc, char **argv)
{
    const char *filter = argc > 1 ? argv[1] : NULL;
    struct rlimit files;
    int count = 0;

    if (argc == 5 && strcmp(argv[1], PROCESS_PEER) == 0)
        return process_peer(argv[2], argv[3], argv[4]);
    if (argc == 3 && strcmp(argv[1], PROCESS_BINDER) == 0)
        return process_binder(argv[2]);
    if (argc == 3 && strcmp(argv[1], PROCESS_CONNECTOR) == 0)
        return process_connector(argv[2]);
    if (argc == 4 && strcmp(argv[1], PROCESS_LISTENER) == 0)
        return process_listener(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], PROCESS_SLEEPER) == 0)
        return process_sleeper(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], PROCESS_WAITER) == 0)
        return process_waiter(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], PROCESS_FORKER) == 0)
        return process_forker(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], PROCESS_KILLER) == 0) {
        running = PROCESS_KILLER;
        (void)signal(SIGALRM, time_is_up);
        alarm(TIME_LIMIT_S);
        const int result = process_killer(argv[2], argv[3]);
        check_nothing_left();
        return result;
    }
    /* Hundreds of connections have thousands of descriptors. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    (void)signal(SIGALRM, time_is_up);
    /* Provoked failures would fill the system log. */
    (void)rpma_log_set_threshold(RPMA_LOG_THRESHOLD,
        getenv("RPMA_LOG") != NULL ? RPMA_LOG_LEVEL_DEBUG : RPMA_LOG_DISABLED);
    (void)rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX,
        getenv("RPMA_LOG") != NULL ? RPMA_LOG_LEVEL_DEBUG : RPMA_LOG_DISABLED);

    count += run_list(connection_tests, filter);
    count += run_list(operation_tests, filter);
    count += run_list(failure_tests, filter);
    count += run_list(fault_tests, filter);
    count += run_list(completion_tests, filter);
    count += run_list(cq_ex_tests, filter);
    count += run_list(post_list_tests, filter);
    count += run_list(message_list_tests, filter);
    count += run_list(message_failure_tests, filter);
    count += run_list(message_thread_tests, filter);
    count += run_list(verbs_tests, filter);
    count += run_list(hostile_tests, filter);
    count += run_list(channel_tests, filter);
    count += run_list(signal_tests, filter);
    count += run_list(destroy_tests, filter);
    count += run_list(order_tests, filter);
    count += run_list(length_tests, filter);
    count += run_list(bound_tests, filter);
    count += run_list(thread_tests, filter);
    count += run_list(synthetic_tests, filter);
    count += run_list(stream_tests, filter);
    count += run_list_with(hold_watch_thread, let_watch_thread_go, proxy_tests, filter);
    count += run_list(proxy_watch_tests, filter);
    count += run_list_with(doorbell_set_up, doorbell_tear_down, doorbell_tests, filter);
    count += run_list_with(doorbell_watch_set_up, doorbell_watch_tear_down, doorbell_watch_tests, filter);
    count += run_list(wait_tests, filter);
    count += run_list(fork_tests, filter);
    count += run_list(fork_state_tests, filter);
    count += run_list(fork_connection_tests, filter);
    count += run_list(process_tests, filter);
    count += run_list(kill_tests, filter);
    count += run_list(edge_tests, filter);
    if (!test_between_processes())
        count += run_list(speed_tests, filter);
    if (count == 0 && !test_between_processes()) { /* which leaves out some */
        printf("no test has \"%s\" in its name\n", filter);
        return 1;
    }
    printf("%d tests passed on loopback device %s%s\n", count, ringpoll_loopback_version(),
        test_between_processes() ? ", connected as between processes" : "");
    return 0;
}
