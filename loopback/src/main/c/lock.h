/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h: the short lock of the data path: one word, spins briefly, then sleeps in a futex.
 *
 * The holder may lose its processor on a small machine, so waiting threads spin only briefly. Not recursive. A zeroed
 * word is a free lock; there is nothing to destroy.
 *
 * Lock order of the whole device, outermost first. A thread that holds one lock may only take
 * locks further down; locks of one line are never nested in each other, except as stated:
 *
 *   cm_lock                  all state of the connection manager (librdmacm.so.1)
 *   lb_cq.proxies_lock, proxies_lock    which proxies a completion queue, and the process, has
 *   lb_qp.sq_lock            a send queue and everything its requester does
 *   lb_qp.rq_lock            a receive queue; the requester holds the peer's while it delivers
 *   lb_srq.lock              a shared receive queue and the senders waiting for it
 *   lb_cq.poll_lock          consumer side of a completion queue
 *   lb_cq.push_lock          producer side; taken inside poll_lock only by resize and death
 *   lb_eventq.lock           events behind one file descriptor
 *   qp_table_lock, key_lock, timer_lock, lb_context.lock    leaves
 *
 * fork(2) takes the locks of the process as a whole (cm_lock, proxies_lock, and the leaves that are no object's), in this order:
 * each file that has one registers with lb_at_fork, in a constructor, and constructors run in the order of the Makefile. The
 * child has none of the parent's connections and ports, and starts its own threads.
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

struct lb_lock {
    _Atomic uint32_t word; /* 0 free, 1 held, 2 held and somebody may sleep */
};

void lb_lock_contended(struct lb_lock *lock);
void lb_lock_release_contended(struct lb_lock *lock);

static inline void lb_lock_acquire(struct lb_lock *lock)
{
    uint32_t expected = 0;

    if (__builtin_expect(!atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1,
            memory_order_acquire, memory_order_relaxed), 0))
        lb_lock_contended(lock);
}

static inline bool lb_lock_try(struct lb_lock *lock)
{
    uint32_t expected = 0;

    return atomic_compare_exchange_strong_explicit(&lock->word, &expected, 1, memory_order_acquire, memory_order_relaxed);
}

/*
 * Without a locked instruction, and no fence, if nobody sleeps. A thread that goes to sleep between the two accesses is not seen:
 * it looks again by itself (lb_lock_contended).
 */
static inline void lb_lock_release(struct lb_lock *lock)
{
    if (__builtin_expect(atomic_load_explicit(&lock->word, memory_order_relaxed) == 1, 1))
        atomic_store_explicit(&lock->word, 0, memory_order_release);
    else
        lb_lock_release_contended(lock);
}

/* Around each fork: take a lock, release it, and release it in the child. The last to register takes its lock first. */
static inline void lb_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)pthread_atfork(before, in_parent, in_child); /* fails without memory at the program's start only */
}

#endif
