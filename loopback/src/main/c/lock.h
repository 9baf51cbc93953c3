/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h: the short lock of the data path: one word, spins briefly, then sleeps in a futex.
 *
 * The holder may lose its processor on a small machine, so waiting threads spin only briefly. Not recursive. A zeroed
 * lock is free; there is nothing to destroy.
 *
 * A lock that one thread has taken thousands of times in a row becomes biased to it, where membarrier(2) is available: the
 * owner then enters and leaves by plain stores, without a locked instruction. The first other thread ends the bias: it takes the
 * word, makes all processors pass a barrier, and waits until the owner is outside. A new bias, after as many times in a row, is to
 * the same thread again, never to another one: a thread that has seen itself as the owner, and was interrupted, would enter beside
 * a new owner.
 *
 * Lock order of the whole device, outermost first. A thread that holds one lock may only take
 * locks further down; locks of one line are never nested in each other, except as stated:
 *
 *   lb_wr_builder.lock       one builder of a list at a time (qp_ex.c); held between calls
 *   cm_lock                  all state of the connection manager (librdmacm.so.1)
 *   cm_context_lock (device.c)    the connection manager's context, while it is opened
 *   lb_cq.proxies_lock, proxies_lock    which proxies a completion queue, and the process, has
 *   lb_proxy.doorbell_lock       how the end of a connection with another process sleeps
 *   lb_comp_channel.subscriptions_lock    the doorbells of a completion channel
 *   lb_qp.sq_lock            a send queue and everything its requester does
 *   lb_qp.rq_lock            a receive queue; the requester holds the peer's while it delivers
 *   lb_srq.lock              a shared receive queue and the senders waiting for it
 *   lb_cq.poll_lock          consumer side of a completion queue
 *   lb_cq_faults.life        the queue of a fault plan's timers (cq_fault.c)
 *   lb_cq.push_lock          producer side; taken inside poll_lock only by resize and death
 *   lb_eventq.lock           events behind one file descriptor
 *   qp_table_lock, key_lock, timer_lock, members_lock (fork.c), present_lock (plan.c)    leaves
 *
 * fork(2) takes the locks of the process as a whole (cm_lock, cm_context_lock, proxies_lock, and the leaves that are no object's),
 * in this order: each file that has one registers with lb_at_fork, in a constructor, and constructors run in the order of the
 * Makefile; the context's is taken after proxies_lock, which is never taken under it. The child has none of the parent's connections and ports, and starts its own threads.
 *
 * No lock is held while a long message is copied (lb_copy_aside in peer.c): sq_lock and rq_lock are released for it
 * and taken again, and a thread that executes a send ring then checks whether the ring has changed.
 *
 * Two send queues are never locked together: work of a requester on its peer as a whole (an error transition, waking
 * the peer's sender) is done after its own sq_lock is released; see struct lb_aftermath.
 */
#ifndef LOOPBACK_LOCK_H
#define LOOPBACK_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Values of the word. */
enum {
    LB_LOCK_FREE = 0,
    LB_LOCK_HELD = 1,
    LB_LOCK_AWAITED = 2, /* held, and somebody may sleep */
    LB_LOCK_BIASED = 3,
};

/* The lock is not biased any more: its threads change. */
#define LB_LOCK_SHARED UINT32_MAX

struct lb_lock {
    _Atomic uint32_t word;
    _Atomic uint32_t inside;     /* biased: whether the owner holds the lock */
    const void *_Atomic owner;   /* the thread it is biased to, or NULL */
    const void *first;           /* of the holder: the thread it was biased to first, or NULL */
    const void *last;            /* of the holder: the thread that took it last */
    uint32_t in_a_row;           /* of the holder: how often it did, without another one in between; or LB_LOCK_SHARED */
    uint32_t changes;            /* of the holder: how often the thread has changed, since the last bias */
};

void lb_lock_contended(struct lb_lock *lock);
bool lb_lock_try_contended(struct lb_lock *lock);
void lb_lock_release_contended(struct lb_lock *lock);
void lb_lock_count(struct lb_lock *lock);
void lb_lock_take_word(struct lb_lock *lock);
void lb_lock_return_word(struct lb_lock *lock);

/* An address that is the running thread's. */
static inline const void *lb_lock_thread(void)
{
#if defined(__x86_64__)
    const void *self;

    __asm__("movq %%fs:0, %0" : "=r"(self)); /* the ABI of thread-local storage: the thread's control block */
    return self;
#elif defined(__aarch64__)
    return __builtin_thread_pointer();
#else
    static _Thread_local char mark;

    return &mark;
#endif
}

/* Whether the lock is biased to this thread, which holds it then. */
static inline bool lb_lock_enter(struct lb_lock *lock)
{
    if (atomic_load_explicit(&lock->owner, memory_order_relaxed) != lb_lock_thread())
        return false;
    atomic_store_explicit(&lock->inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* the thread that ends the bias makes a fence of it */
    if (__builtin_expect(atomic_load_explicit(&lock->word, memory_order_acquire) == LB_LOCK_BIASED, 1))
        return true;
    atomic_store_explicit(&lock->inside, 0, memory_order_release);
    return false;
}

static inline void lb_lock_acquire(struct lb_lock *lock)
{
    uint32_t expected = LB_LOCK_FREE;

    if (lb_lock_enter(lock))
        return;
    if (__builtin_expect(!atomic_compare_exchange_strong_explicit(&lock->word, &expected, LB_LOCK_HELD,
            memory_order_acquire, memory_order_relaxed), 0))
        lb_lock_contended(lock);
    else if (lock->in_a_row != LB_LOCK_SHARED)
        lb_lock_count(lock);
}

/* May wait for the end of a bias, which is rare. */
static inline bool lb_lock_try(struct lb_lock *lock)
{
    uint32_t expected = LB_LOCK_FREE;

    if (lb_lock_enter(lock))
        return true;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &expected, LB_LOCK_HELD, memory_order_acquire,
            memory_order_relaxed))
        return expected == LB_LOCK_BIASED && lb_lock_try_contended(lock);
    if (lock->in_a_row != LB_LOCK_SHARED)
        lb_lock_count(lock);
    return true;
}

/*
 * Without a locked instruction, and no fence, if nobody sleeps. A thread that goes to sleep between the two accesses is not seen:
 * it looks again by itself (lb_lock_contended).
 */
static inline void lb_lock_release(struct lb_lock *lock)
{
    /* While the owner is inside, it stays the owner; a thread that has taken the word is none. */
    if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == lb_lock_thread())
        atomic_store_explicit(&lock->inside, 0, memory_order_release);
    else if (__builtin_expect(atomic_load_explicit(&lock->word, memory_order_relaxed) == LB_LOCK_HELD, 1))
        atomic_store_explicit(&lock->word, LB_LOCK_FREE, memory_order_release);
    else
        lb_lock_release_contended(lock);
}

/* After lb_lock_enter. */
static inline void lb_lock_leave(struct lb_lock *lock)
{
    atomic_store_explicit(&lock->inside, 0, memory_order_release);
}

/*
 * The same as lb_lock_acquire and lb_lock_release, for short sections of one function: what the first returns is for the second,
 * and saves it the look at the owner.
 */
static inline bool lb_lock_take(struct lb_lock *lock)
{
    if (__builtin_expect(lb_lock_enter(lock), 1))
        return true;
    lb_lock_take_word(lock);
    return false;
}

static inline void lb_lock_return(struct lb_lock *lock, bool biased)
{
    if (__builtin_expect(biased, 1))
        lb_lock_leave(lock);
    else
        lb_lock_return_word(lock);
}

/* Before its first use: the thread that releases the lock may be another one than the thread that took it. */
static inline void lb_lock_share(struct lb_lock *lock)
{
    lock->in_a_row = LB_LOCK_SHARED;
}

/* In the child of a fork, where the holder is not: the lock is free again, and biased to no thread. A shared one stays so. */
static inline void lb_lock_forget(struct lb_lock *lock)
{
    const bool is_shared = lock->in_a_row == LB_LOCK_SHARED;

    memset(lock, 0, sizeof(*lock));
    if (is_shared)
        lb_lock_share(lock);
}

/*
 * For a thread that holds no lock: returns when no section under the lock is left that had begun before lb_lock_fence. What the
 * caller has written before that is seen by all later sections.
 */
void lb_lock_fence(void);
void lb_lock_pass(struct lb_lock *lock);

/* Around each fork: take a lock, release it, and release it in the child. The last to register takes its lock first. */
static inline void lb_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)pthread_atfork(before, in_parent, in_child); /* fails without memory at the program's start only */
}

#endif
