/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: the thread that waits for other processes. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lock.h"
#include "timer.h"
#include "uncancelled.h"
#include "watch.h"
#include "wire.h"

#define TICK_MS 1
#define TICK_NS UINT64_C(1000000)

struct watch {
    struct watch *next;
    uint64_t id;
    int fd;
    void (*ready)(uint64_t id);
};

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static struct watch *watches;
static uint64_t next_id = 1; /* 0 is lb_watch_call */
static int epoll_fd = -1;
static int call_fd = -1;
static bool started;
static _Atomic bool ticking;
static void (*_Atomic on_call)(void);
static bool (*_Atomic on_tick)(void);

static void answer_call(void)
{
    uint64_t calls;

    while (read(call_fd, &calls, sizeof(calls)) < 0 && errno == EINTR)
        ;
}

static void call(void)
{
    void (*function)(void) = atomic_load(&on_call);

    if (function != NULL)
        function();
}

/* Whether further ticks are asked for. */
static bool tick(void)
{
    bool (*function)(void) = atomic_load(&on_tick);

    return function != NULL && function();
}

static void call_ready(uint64_t id)
{
    void (*ready)(uint64_t id) = NULL;

    pthread_mutex_lock(&watch_lock);
    for (const struct watch *watch = watches; watch != NULL; watch = watch->next) {
        if (watch->id == id)
            ready = watch->ready;
    }
    pthread_mutex_unlock(&watch_lock);
    if (ready != NULL)
        ready(id);
}

static void *run(void *unused)
{
    uint64_t tick_ns = 0;
    int last_ticks = 0; /* until the ticks end; 0: there are none */

    (void)unused;
    for (;;) {
        struct epoll_event event;

        if (last_ticks == 0 && atomic_load(&ticking)) {
            last_ticks = LB_WATCH_LAST_TICKS;
            tick_ns = lb_now_ns() + TICK_NS;
        }
        const int count = epoll_wait(epoll_fd, &event, 1, last_ticks > 0 ? TICK_MS : -1);

        if (count == 1 && event.data.u64 == 0) {
            answer_call();
            call();
        } else if (count == 1) {
            call_ready(event.data.u64);
        }
        if (last_ticks > 0 && lb_now_ns() >= tick_ns) { /* also while descriptors are ready all the time */
            last_ticks = tick() ? LB_WATCH_LAST_TICKS : last_ticks - 1;
            tick_ns = lb_now_ns() + TICK_NS;
            if (last_ticks == 0) {
                /* Ticks once more: a thread that still found `ticking` set relies on a tick after its stores. */
                atomic_store(&ticking, false);
                atomic_thread_fence(memory_order_seq_cst);
                if (tick())
                    atomic_store(&ticking, true);
            }
        }
    }
    return NULL;
}

/* watch_lock held. */
static int start_thread(void)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    if (error)
        return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* Signals are for the host's threads, a JVM's among them. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        (void)pthread_setname_np(thread, "loopback-watch");
    return error;
}

/* watch_lock held. */
static int open_descriptors(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};

    if (epoll_fd < 0)
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0)
        return errno;
    if (call_fd < 0) {
        const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

        if (fd < 0)
            return errno;
        if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
            const int error = errno;

            (void)close(fd);
            return error;
        }
        call_fd = fd;
    }
    return 0;
}

void lb_watch_open(void)
{
    pthread_mutex_lock(&watch_lock);
    (void)open_descriptors();
    pthread_mutex_unlock(&watch_lock);
}

int lb_watch_start(void)
{
    int error = 0;

    pthread_mutex_lock(&watch_lock);
    if (!started) {
        error = open_descriptors();
        if (!error)
            error = start_thread();
        started = !error;
    }
    pthread_mutex_unlock(&watch_lock);
    return error;
}

int lb_watch_add(int fd, void (*ready)(uint64_t id), uint64_t *id)
{
    struct watch *watch = malloc(sizeof(*watch));
    int error = 0;

    if (watch == NULL)
        return ENOMEM;
    pthread_mutex_lock(&watch_lock);
    *watch = (struct watch){.next = watches, .id = next_id++, .fd = fd, .ready = ready};
    *id = watch->id;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.u64 = watch->id};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
        error = errno;
    else
        watches = watch;
    pthread_mutex_unlock(&watch_lock);
    if (error)
        free(watch);
    return error;
}

void lb_watch_remove(int fd)
{
    pthread_mutex_lock(&watch_lock);
    for (struct watch **link = &watches; *link != NULL; link = &(*link)->next) {
        struct watch *watch = *link;

        if (watch->fd == fd) {
            (void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
            *link = watch->next;
            free(watch);
            break;
        }
    }
    pthread_mutex_unlock(&watch_lock);
}

void lb_watch_call(void)
{
    const uint64_t one = 1;

    while (lb_write(call_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void lb_watch_on_call(void (*function)(void))
{
    atomic_store(&on_call, function);
}

void lb_watch_tick(void)
{
    lb_wire_fence();
    if (!atomic_load_explicit(&ticking, memory_order_relaxed) && !atomic_exchange(&ticking, true))
        lb_watch_call();
}

void lb_watch_on_tick(bool (*function)(void))
{
    atomic_store(&on_tick, function);
}

static void hold(void)
{
    pthread_mutex_lock(&watch_lock);
}

static void release(void)
{
    pthread_mutex_unlock(&watch_lock);
}

/* The thread is the parent's, and so are the descriptors that it watches: their owners close them here. */
static void restart(void)
{
    while (watches != NULL) {
        struct watch *watch = watches;

        watches = watch->next;
        free(watch);
    }
    if (epoll_fd >= 0)
        (void)close(epoll_fd);
    if (call_fd >= 0)
        (void)close(call_fd);
    epoll_fd = -1;
    call_fd = -1;
    started = false;
    atomic_store(&ticking, false);
    release();
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, restart);
}
