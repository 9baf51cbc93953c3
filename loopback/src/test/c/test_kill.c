/* SPDX-License-Identifier: Apache-2.0 */
/* test_kill.c: a process is killed at any moment: its peer accounts for everything, and nothing is left. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process_end.h"

/* Of each run: CI runs these tests five times. */
#define KILLS 40
/* Retries after a kill take most of the time: so many processes kill in parallel. */
#define KILLERS 8
#define LATEST_KILL_US 20000u

/*
 * The other process as a listener, which writes its port to a descriptor: works until it is killed; with an attack unless that is
 * empty.
 */
int process_listener(const char *descriptor, const char *attack)
{
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = (unsigned int)getpid()};

    alarm(PATIENCE_S);
    CHECK_EQ(write(atoi(descriptor), &port, sizeof(port)), sizeof(port));
    accept_peer(listener, &end);
    if (attack[0] != '\0')
        hostile_peer_begin(attack);
    for (;;) {
        if (end.sends_posted - end.sends_ended < DEPTH / 2)
            (void)post_any(&end);
        poll_queues(&end, true);
    }
}

/* Kills a process after a time, also while the thread of the test waits. */
struct killer {
    pid_t pid;
    double at;
    pthread_t thread;
};

static void *kill_in_time(void *argument)
{
    const struct killer *killer = argument;

    for (double left = killer->at - seconds(); left > 0; left = killer->at - seconds()) {
        const struct timespec pause = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};

        (void)nanosleep(&pause, NULL);
    }
    CHECK_EQ(kill(killer->pid, SIGKILL), 0);
    return NULL;
}

static void start_killer(struct killer *killer, pid_t pid, double delay)
{
    killer->pid = pid;
    killer->at = seconds() + delay;
    CHECK_EQ(pthread_create(&killer->thread, NULL, kill_in_time, killer), 0);
}

static void await_death(const struct killer *killer)
{
    CHECK_EQ(pthread_join(killer->thread, NULL), 0);
    CHECK_EQ(waitpid(killer->pid, NULL, 0), killer->pid);
}

/* Works until the connection ends, which must be by a disconnect; everything is accounted for. */
static void work_until_the_end(struct end *end)
{
    struct rdma_cm_event *event;
    const double limit = seconds() + PATIENCE_S;

    while (!has_ended(end) && seconds() < limit) {
        if (end->sends_posted - end->sends_ended < DEPTH / 2 && end->failures == 0)
            (void)post_any(end);
        poll_queues(end, true);
    }
    CHECK(has_ended(end));
    CHECK_EQ(rdma_get_cm_event(end->id->channel, &event), 0);
    CHECK_EQ(event->event, RDMA_CM_EVENT_DISCONNECTED);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    settle(end);
    close_end(end);
}

/* The connection was not established. */
static void give_up(struct end *end)
{
    settle(end);
    close_end(end);
}

/* A random time, in seconds, up to this. */
static double any_time(unsigned int *seed, double latest)
{
    return latest * (rand_r(seed) % 10001) / 10000;
}

static unsigned int any_seed(void)
{
    const char *chosen = getenv("RINGPOLL_LOOPBACK_SEED");
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return chosen != NULL ? (unsigned int)strtoul(chosen, NULL, 10) : (unsigned int)(now.tv_nsec ^ now.tv_sec);
}

/*
 * Kills a process that connects to the listener: while it starts and connects, or, if that is `late`, a moment after. Requests of
 * processes that were killed before may precede it.
 */
static void kill_a_connecting_process(struct rdma_cm_id *listener, int port, bool late, double *startup, unsigned int *seed)
{
    const double began = seconds();
    const pid_t peer = start_peer(port, "0", "");
    struct pollfd request = {.fd = listener->channel->fd, .events = POLLIN};
    struct killer killer;

    if (!late)
        start_killer(&killer, peer, any_time(seed, *startup * 1.2));
    while (poll(&request, 1, late ? PATIENCE_S * 1000 : 20) == 1) {
        struct end end = {.seed = *seed};
        pid_t accepted;

        if (!accept_any(listener, &end, &accepted)) {
            give_up(&end);
            continue;
        }
        if (late && accepted == peer) {
            *startup = seconds() - began;
            start_killer(&killer, peer, any_time(seed, LATEST_KILL_US / 1e6));
        }
        work_until_the_end(&end);
        if (accepted == peer)
            break;
    }
    await_death(&killer);
}

/* The same for a process that listens; this one connects to it. */
static void kill_a_listening_process(bool late, double *startup, unsigned int *seed)
{
    const double began = seconds();
    int told;
    int port;
    struct killer killer;
    struct end end = {.seed = *seed};
    const pid_t peer = start_listener("", &told);

    if (!late)
        start_killer(&killer, peer, any_time(seed, *startup * 1.2));
    if (read(told, &port, sizeof(port)) == sizeof(port)) {
        const bool connected = connect_to(port, &end);

        CHECK(connected || !late);
        if (late) {
            *startup = seconds() - began;
            start_killer(&killer, peer, any_time(seed, LATEST_KILL_US / 1e6));
        }
        (connected ? work_until_the_end : give_up)(&end);
    }
    (void)close(told);
    await_death(&killer);
}

static int count_mapped_segments(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");

    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL)
        count += strstr(line, "memfd:ringpoll-loopback") != NULL;
    (void)fclose(maps);
    return count;
}

/* Files of ports without a living owner. */
static int count_stale_files(void)
{
    const char *folder = getenv("RINGPOLL_LOOPBACK_FOLDER");
    DIR *opened = folder != NULL ? opendir(folder) : NULL;
    int count = 0;

    if (opened == NULL) /* the tests' own folder is needed: others' processes may be killed, too */
        return 0;
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        char name[sizeof(entry->d_name) + sizeof(".lock")];
        const char *dot = strchr(entry->d_name, '.');

        if (dot == entry->d_name)
            continue;
        (void)snprintf(name, sizeof(name), "%s%s", entry->d_name, dot != NULL ? "" : ".lock");
        const int lock = openat(dirfd(opened), name, O_RDWR | O_CLOEXEC);
        count += lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0;
        if (lock >= 0)
            (void)close(lock);
    }
    (void)closedir(opened);
    return count;
}

/* Kills processes one after the other, and accounts for everything. */
int process_killer(const char *kills, const char *first_seed)
{
    double connecting = 0;
    double listening = 0;
    unsigned int seed = (unsigned int)strtoul(first_seed, NULL, 10);
    int port;
    struct rdma_cm_id *listener = listen_at(&port);
    const int descriptors = count_descriptors();
    const int segments = count_mapped_segments();

    for (int i = 0; i < atoi(kills); i++) {
        /* The first two show how long a process takes to connect. */
        const bool late = i < 2 || rand_r(&seed) % 3 != 0;

        if (i % 2 == 0)
            kill_a_connecting_process(listener, port, late, &connecting, &seed);
        else
            kill_a_listening_process(late, &listening, &seed);
    }
    const double limit = seconds() + PATIENCE_S; /* the watch thread closes the last ones */
    while ((count_descriptors() > descriptors || count_mapped_segments() > segments) && seconds() < limit)
        (void)poll(NULL, 0, 1);
    CHECK_EQ(count_descriptors(), descriptors);
    CHECK_EQ(count_mapped_segments(), segments);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    return 0;
}

static pid_t start_killing(int kills, unsigned int seed)
{
    char count[16];
    char first[16];

    (void)snprintf(count, sizeof(count), "%d", kills);
    (void)snprintf(first, sizeof(first), "%u", seed);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execl("/proc/self/exe", "loopback-tests", PROCESS_KILLER, count, first, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void should_account_for_everything_when_the_peer_is_killed(void)
{
    const char *more = getenv("RINGPOLL_LOOPBACK_KILLS");
    const int kills = more != NULL ? atoi(more) : KILLS;
    const unsigned int seed = any_seed();
    pid_t killers[KILLERS];
    int status;
    int port;
    pid_t accepted;

    printf("        RINGPOLL_LOOPBACK_SEED=%u\n", seed);
    fflush(stdout);
    for (int i = 0; i < KILLERS; i++)
        killers[i] = start_killing(kills / KILLERS + (i < kills % KILLERS), seed + (unsigned int)i * 2654435761u);
    for (int i = 0; i < KILLERS; i++) {
        CHECK_EQ(waitpid(killers[i], &status, 0), killers[i]);
        CHECK_EQ(status, 0);
    }
    /* A new process removes the files of the killed ones, and is served as before. */
    struct rdma_cm_id *listener = listen_at(&port);
    struct end end = {.seed = 1};
    const pid_t peer = start_peer(port, "24", "");
    CHECK(accept_any(listener, &end, &accepted));
    CHECK_EQ(accepted, peer);
    work_until_the_end(&end);
    CHECK_EQ(waitpid(peer, &status, 0), peer);
    CHECK_EQ(status, 0);
    CHECK_EQ(count_stale_files(), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

const struct test kill_tests[] = {
    {"everything is accounted for when the other process is killed", should_account_for_everything_when_the_peer_is_killed},
    {NULL, NULL},
};
