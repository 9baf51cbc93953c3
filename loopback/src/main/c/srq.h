/* SPDX-License-Identifier: Apache-2.0 */
/* srq.h: receive rings, and the shared receive queues made of one. */
#ifndef LOOPBACK_SRQ_H
#define LOOPBACK_SRQ_H

#include "device.h"

struct lb_qp;

/* One posted receive. */
struct lb_recv {
    uint64_t wr_id;
    uint32_t num_sge;
    struct ibv_sge sge[];
};

/* A ring of posted receives; guarded by the lock of its owner. */
struct lb_recv_ring {
    char *slots;
    size_t stride;
    uint32_t mask;
    uint32_t capacity;
    uint32_t max_sge;
    uint32_t posted;   /* receives ever posted */
    uint32_t consumed; /* receives ever taken by a message or flushed */
};

/* Rounds max_wr up as granted and allocates; returns 0 or ENOMEM. capacity 0 makes an empty ring. */
int lb_recv_ring_init(struct lb_recv_ring *ring, uint32_t max_wr, uint32_t max_sge);

/* Copies a work request into the ring; returns 0, ENOMEM if it is full, EINVAL if malformed. */
int lb_recv_ring_put(struct lb_recv_ring *ring, const struct ibv_recv_wr *wr);

static inline uint32_t lb_recv_ring_count(const struct lb_recv_ring *ring)
{
    return ring->posted - ring->consumed;
}

/* The oldest receive; only if the count is not 0. It stays in place until consumed is advanced. */
static inline struct lb_recv *lb_recv_ring_first(const struct lb_recv_ring *ring)
{
    return (struct lb_recv *)(void *)(ring->slots + (ring->consumed & ring->mask) * ring->stride);
}

/*
 * Copies a work request of one element into the ring. Returns false with nothing done if it has another number of elements, or
 * there is no place. Field by field: they were perhaps written so just before.
 */
static inline bool lb_recv_ring_put_one(struct lb_recv_ring *ring, const struct ibv_recv_wr *wr)
{
    const struct ibv_sge *sge = wr->sg_list;

    if (wr->num_sge != 1 || ring->max_sge == 0 || lb_recv_ring_count(ring) >= ring->capacity)
        return false;
    struct lb_recv *recv = (struct lb_recv *)(void *)(ring->slots + (ring->posted & ring->mask) * ring->stride);
    recv->wr_id = wr->wr_id;
    recv->num_sge = 1;
    recv->sge[0].addr = sge->addr;
    recv->sge[0].length = sge->length;
    recv->sge[0].lkey = sge->lkey;
    ring->posted++;
    return true;
}

struct lb_srq {
    struct ibv_srq base;
    _Atomic uint32_t async_events_fetched;
    _Atomic int users;          /* queue pairs that receive from it */
    struct lb_lock lock;
    struct lb_recv_ring ring;
    uint32_t limit;             /* armed low-water mark, 0 if none */
    struct lb_qp *first_waiter; /* senders that found it empty, oldest first, with a reference */
    struct lb_qp *last_waiter;
    struct lb_fork_member fork;
};

static inline struct lb_srq *lb_srq_of(struct ibv_srq *srq)
{
    return (struct lb_srq *)(void *)srq;
}

/*
 * Takes the oldest receive into *recv (room for the ring's max_sge elements), or, if there is
 * none, queues the sender (with a reference of its own) to be woken by the next one posted; NULL: no sender is queued.
 */
bool lb_srq_take(struct lb_srq *srq, struct lb_recv *recv, struct lb_qp *sender);

/*
 * Makes a taken receive the oldest again: its queue pair ends with no message in it. Returns false with nothing done if there is no
 * memory. The caller wakes the senders that wait (lb_srq_wake).
 */
bool lb_srq_give_back(struct lb_srq *srq, const struct lb_recv *recv);

/* Takes the oldest waiting sender, with the list's reference, if there is a receive for it; NULL otherwise. */
struct lb_qp *lb_srq_next_to_wake(struct lb_srq *srq);

/* Takes a sender out of the queue of waiters, if it is still in it. */
void lb_srq_stop_waiting(struct lb_srq *srq, struct lb_qp *sender);

/* Entries of the operations' table. */
struct ibv_srq *lb_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int lb_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr); /* recv.c */

/* recv.c. Lets senders that wait try again, as far as there are receives. No lock held. */
void lb_srq_wake(struct lb_srq *srq);

#endif
