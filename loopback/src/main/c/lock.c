/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c: the slow half of the data path's lock: spin briefly, then sleep in the kernel. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"

/* About a microsecond: longer than the usual critical section, shorter than a sleep and wake-up. */
#define SPINS 64

static const struct timespec LOOK_AGAIN = {.tv_nsec = 1000000};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

void lb_lock_contended(struct lb_lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t expected = 0;

        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(&lock->word, &expected, 1, memory_order_acquire,
                memory_order_relaxed))
            return;
        relax();
    }
    /*
     * The word is 2 from here on: the releaser cannot know whether other threads sleep as well. One that has seen 1 before frees
     * the lock and wakes nobody: the kernel finds the word changed, unless the releaser was interrupted between its two accesses.
     */
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
        (void)syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, &LOOK_AGAIN, NULL, 0);
}

void lb_lock_release_contended(struct lb_lock *lock)
{
    atomic_store_explicit(&lock->word, 0, memory_order_release);
    (void)syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
