/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: memory regions by key, and the check of every access against them.
 *
 * A region stays usable for as long as somebody holds it: ibv_dereg_mr first makes the keys
 * unknown, then waits for the holders, so the caller may unmap the memory when it returns.
 */
#ifndef LOOPBACK_MEMORY_H
#define LOOPBACK_MEMORY_H

#include "device.h"

/* ABI constants that the installed headers may be too old to have. */
#define LB_ACCESS_FLUSH_GLOBAL (1u << 8)
#define LB_ACCESS_FLUSH_PERSISTENT (1u << 9)

/* The registration behind a key. Slots are never freed, only reused under new keys. */
struct lb_region {
    _Alignas(64) _Atomic uint32_t key; /* the lkey; 0 while nothing is registered here */
    _Atomic uint32_t users; /* operations that hold the region */
    struct ibv_pd *pd;
    char *host;             /* where the first byte is */
    uint64_t start;         /* the address that users pass: the virtual address, or the iova */
    uint64_t length;
    unsigned int access;
    uint32_t next_free;     /* index of the next slot in the free list */
    uint64_t generation;    /* number of times the slot was used */
};

/*
 * Finds the region of an lkey (or of an rkey), checks protection domain, bounds and access, and
 * holds it. Returns the host address of `address`, or NULL with the reason in *reason. After
 * success, and only then, lb_region_release must be called.
 */
char *lb_region_hold_local(uint32_t lkey, const struct ibv_pd *pd, uint64_t address,
    uint64_t length, unsigned int access, struct lb_region **held, uint32_t *reason);
char *lb_region_hold_remote(uint32_t rkey, const struct ibv_pd *pd, uint64_t address,
    uint64_t length, unsigned int access, struct lb_region **held, uint32_t *reason);

/*
 * The same as lb_region_hold_local for a caller that holds the sq_lock of a queue pair, but without a hold: the region is usable
 * until the lock is released, since ibv_dereg_mr waits for that. NULL for any reason. *found is the region that the last call has
 * found, most calls name the same; it begins with &lb_no_region.
 */
char *lb_region_look_up(struct lb_region **found, uint32_t lkey, const struct ibv_pd *pd, uint64_t address, uint64_t length,
    unsigned int access);
static inline char *lb_region_find_local(struct lb_region **found, uint32_t lkey, const struct ibv_pd *pd, uint64_t address,
    uint64_t length, unsigned int access)
{
    const struct lb_region *region = *found;

    if (__builtin_expect(atomic_load_explicit(&region->key, memory_order_acquire) != lkey || lkey == 0 || region->pd != pd, 0))
        return lb_region_look_up(found, lkey, pd, address, length, access);
    const uint64_t offset = address - region->start;
    if (access & ~region->access || offset > region->length || length > region->length - offset)
        return NULL;
    return region->host + offset;
}

/* Has no key and no protection domain. */
extern struct lb_region lb_no_region;

/* Set from above: returns when no section under the sq_lock of a queue pair is left that had begun before. */
void lb_region_on_removal(void (*await_sections)(void));

static inline void lb_region_release(struct lb_region *region)
{
    atomic_fetch_sub_explicit(&region->users, 1, memory_order_release);
}

/* The remote key of the region with this lkey. */
#define LB_REMOTE_BIT 1u

/*
 * The same for a region that the caller holds, by its lkey or its rkey. Returns NULL if a check fails: then the functions above
 * report which.
 */
static inline char *lb_region_look(const struct lb_region *region, uint32_t key, const struct ibv_pd *pd, uint64_t address,
    uint64_t length, unsigned int access)
{
    const uint64_t offset = address - region->start;

    /* 0: a returned region has it, and a wrong key may be it. */
    if (atomic_load_explicit(&region->key, memory_order_relaxed) != key || key == 0 || region->pd != pd ||
            offset > region->length || length > region->length - offset || access & ~region->access)
        return NULL;
    return region->host + offset;
}

/* Entries of the operations' table. */
int lb_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
    struct ibv_sge *sg_list, uint32_t num_sge);

#endif
