/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c: the device thread and its list of timers, earliest first. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "lock.h"
#include "timer.h"

static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t timer_cond;
static struct lb_timer timers = {.next = &timers, .previous = &timers};
static bool thread_started;

uint64_t lb_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void unlink_timer(struct lb_timer *timer)
{
    timer->previous->next = timer->next;
    timer->next->previous = timer->previous;
    timer->armed = false;
}

static void *run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&timer_lock);
    for (;;) {
        struct lb_timer *first = timers.next;

        if (first == &timers) {
            pthread_cond_wait(&timer_cond, &timer_lock);
        } else if (first->deadline_ns > lb_now_ns()) {
            const struct timespec until = {
                .tv_sec = (time_t)(first->deadline_ns / 1000000000u),
                .tv_nsec = (long)(first->deadline_ns % 1000000000u),
            };

            (void)pthread_cond_timedwait(&timer_cond, &timer_lock, &until);
        } else {
            /* The owner may arm it anew as soon as the lock is free. */
            void (*expired)(struct lb_timer *) = first->expired;

            unlink_timer(first);
            pthread_mutex_unlock(&timer_lock);
            expired(first);
            pthread_mutex_lock(&timer_lock);
        }
    }
    return NULL;
}

/* Called with timer_lock held. */
static int start_thread(void)
{
    pthread_condattr_t monotonic;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    int error;

    error = pthread_condattr_init(&monotonic);
    if (error)
        return error;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    error = pthread_cond_init(&timer_cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (error)
        return error;
    error = pthread_attr_init(&attributes);
    if (error)
        goto destroy_cond;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* The host's signals, a JVM's among them, are the host's threads' business. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        goto destroy_cond;
    (void)pthread_setname_np(thread, "loopback-device");
    thread_started = true;
    return 0;

destroy_cond:
    pthread_cond_destroy(&timer_cond);
    return error;
}

/* From the back: most timers have the same delay as the one armed last. */
static struct lb_timer *last_not_later(uint64_t deadline_ns)
{
    struct lb_timer *after = timers.previous;

    while (after != &timers && after->deadline_ns > deadline_ns)
        after = after->previous;
    return after;
}

/* The same from the front, for a timer that is due now: few timers precede it. */
static struct lb_timer *last_due(uint64_t deadline_ns)
{
    struct lb_timer *next = timers.next;

    while (next != &timers && next->deadline_ns <= deadline_ns)
        next = next->next;
    return next->previous;
}

int lb_timer_arm(struct lb_timer *timer, uint64_t delay_ns, void (*expired)(struct lb_timer *))
{
    struct lb_timer *after;
    int error = 0;

    timer->deadline_ns = lb_now_ns() + delay_ns;
    timer->expired = expired;
    pthread_mutex_lock(&timer_lock);
    if (!thread_started)
        error = start_thread();
    if (!error) {
        after = delay_ns == 0 ? last_due(timer->deadline_ns) : last_not_later(timer->deadline_ns);
        timer->previous = after;
        timer->next = after->next;
        after->next->previous = timer;
        after->next = timer;
        timer->armed = true;
        if (timers.next == timer)
            pthread_cond_signal(&timer_cond);
    }
    pthread_mutex_unlock(&timer_lock);
    return error;
}

bool lb_timer_cancel(struct lb_timer *timer)
{
    bool cancelled = false;

    pthread_mutex_lock(&timer_lock);
    if (timer->armed) {
        unlink_timer(timer);
        cancelled = true;
    }
    pthread_mutex_unlock(&timer_lock);
    return cancelled;
}

static void hold(void)
{
    pthread_mutex_lock(&timer_lock);
}

static void release(void)
{
    pthread_mutex_unlock(&timer_lock);
}

/* The thread and its timers are the parent's. */
static void restart(void)
{
    while (timers.next != &timers)
        unlink_timer(timers.next);
    thread_started = false;
    release();
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, restart);
}
