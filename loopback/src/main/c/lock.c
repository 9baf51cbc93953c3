/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c: the slow half of the data path's lock: spin briefly, then sleep in the kernel; begin and end of a bias. */
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>

#include "lock.h"
#include "uncancelled.h"

/* About a microsecond: longer than the usual critical section, shorter than a sleep and wake-up. */
#define SPINS 64

/* Times in a row that bias a lock. More than the receives that one thread posts before others poll. */
#define IN_A_ROW 20000u
/* Changes of the thread after which a lock is not biased any more. */
#define CHANGES 64u

/* Whether this process may use the expedited barrier. Set before there are locks. */
static bool has_barrier;

/* Yields after which a thread that ends a bias sleeps: a thread of real-time priority does not yield to the owner. */
#define YIELDS 100

static const struct timespec LOOK_AGAIN = {.tv_nsec = 1000000};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static bool make_barrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static bool register_barrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void lb_lock_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    /* The child of a fork may have to register again. */
    if (!has_barrier || make_barrier() || (register_barrier() && make_barrier()))
        return;
    /* A filter of system calls refuses it since the start: no store waits that long in a processor that goes on. */
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &LOOK_AGAIN, NULL) < 0 && errno == EINTR)
        ;
}

/* The owner may have lost its processor. */
static void await_owner(struct lb_lock *lock)
{
    for (int looks = 0; atomic_load_explicit(&lock->inside, memory_order_acquire) != 0 &&
            atomic_load_explicit(&lock->owner, memory_order_relaxed) != NULL; looks++) {
        if (looks < SPINS)
            relax();
        else if (looks < SPINS + YIELDS)
            sched_yield();
        else
            lb_sleep(&LOOK_AGAIN);
    }
}

/* The caller has taken the word from the owner, which sees that from the fence on. */
static void end_bias(struct lb_lock *lock)
{
    lb_lock_fence();
    await_owner(lock);
    lock->in_a_row = 0;
    atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
}

/* The caller has just taken the lock. A thread that waits for it leaves another word, and no bias begins. */
static void begin_bias(struct lb_lock *lock)
{
    uint32_t expected = LB_LOCK_HELD;

    if (!has_barrier || (lock->first != NULL && lock->first != lock->last)) {
        lock->in_a_row = LB_LOCK_SHARED;
        return;
    }
    lock->in_a_row = 0;
    lock->changes = 0;
    lock->first = lock->last;
    atomic_store_explicit(&lock->inside, 1, memory_order_relaxed);
    atomic_store_explicit(&lock->owner, lock->last, memory_order_relaxed);
    if (atomic_compare_exchange_strong_explicit(&lock->word, &expected, LB_LOCK_BIASED, memory_order_release,
            memory_order_relaxed))
        return;
    atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
    atomic_store_explicit(&lock->inside, 0, memory_order_relaxed);
}

void lb_lock_count(struct lb_lock *lock)
{
    const void *thread = lb_lock_thread();

    if (lock->last == thread) {
        if (++lock->in_a_row == IN_A_ROW)
            begin_bias(lock);
        return;
    }
    lock->last = thread;
    lock->in_a_row = ++lock->changes < CHANGES ? 0 : LB_LOCK_SHARED;
}

void lb_lock_take_word(struct lb_lock *lock)
{
    lb_lock_acquire(lock);
}

void lb_lock_return_word(struct lb_lock *lock)
{
    lb_lock_release(lock);
}

bool lb_lock_try_contended(struct lb_lock *lock)
{
    uint32_t expected = LB_LOCK_BIASED;

    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, LB_LOCK_AWAITED, memory_order_acquire,
            memory_order_relaxed))
        return false;
    end_bias(lock);
    return true;
}

void lb_lock_contended(struct lb_lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t expected = LB_LOCK_FREE;
        const uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);

        if (word == LB_LOCK_FREE &&
            atomic_compare_exchange_weak_explicit(&lock->word, &expected, LB_LOCK_HELD, memory_order_acquire,
                memory_order_relaxed))
            return;
        if (word == LB_LOCK_BIASED && lb_lock_try_contended(lock))
            return;
        relax();
    }
    /*
     * The word is 2 from here on: the releaser cannot know whether other threads sleep as well. One that has seen 1 before frees
     * the lock and wakes nobody: the kernel finds the word changed, unless the releaser was interrupted between its two accesses.
     */
    uint32_t word;
    while ((word = atomic_exchange_explicit(&lock->word, LB_LOCK_AWAITED, memory_order_acquire)) != LB_LOCK_FREE) {
        if (word == LB_LOCK_BIASED) {
            end_bias(lock);
            return;
        }
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, LB_LOCK_AWAITED, &LOOK_AGAIN, NULL, 0);
    }
}

void lb_lock_release_contended(struct lb_lock *lock)
{
    atomic_store_explicit(&lock->word, LB_LOCK_FREE, memory_order_release);
    (void)syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void lb_lock_pass(struct lb_lock *lock)
{
    if (atomic_load_explicit(&lock->word, memory_order_acquire) == LB_LOCK_BIASED) {
        await_owner(lock);
        if (atomic_load_explicit(&lock->word, memory_order_acquire) == LB_LOCK_BIASED)
            return;
    }
    lb_lock_acquire(lock);
    lb_lock_release(lock);
}

__attribute__((constructor))
static void look_for_barrier(void)
{
#ifndef __SANITIZE_THREAD__ /* it does not know that barrier */
    has_barrier = register_barrier();
#endif
}
