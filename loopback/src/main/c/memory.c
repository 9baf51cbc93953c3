/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c: registration of memory and the table of keys.
 *
 * A key is 20 bits of slot index, 11 bits of the slot's generation and one bit that distinguishes an rkey from an lkey.
 * Slots are reused first in first out and only when thousands are free: a stale key meets the same slot and generation
 * again after millions of registrations at the earliest.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "uncancelled.h"

/* The table of keys: an lkey has the index of its slot above this many bits. */
#define INDEX_SHIFT 12
#define CHUNK 4096u
#define CHUNKS ((LB_MAX_MR + 1u) / CHUNK)
#define GENERATION_SHIFT 1
#define GENERATION_MASK 0x7ffu
#define MIN_FREE 4096u /* slots kept out of reuse for as long as the table can still grow */
#define NO_SLOT UINT32_MAX

/* Since Linux 5.14; the C library's headers may be older. */
#define LB_MADV_POPULATE_READ 22
#define LB_MADV_POPULATE_WRITE 23

_Static_assert(sizeof(struct lb_region) == 64, "one cache line a region");

struct lb_region lb_no_region;
static _Atomic(struct lb_region *) chunks[CHUNKS];
static void (*await_sections)(void); /* set once, by a constructor */
static struct lb_lock key_lock;
static uint32_t slots_made = 1; /* index 0 is left out: key 0 is nobody's */
static uint32_t free_first = NO_SLOT;
static uint32_t free_last = NO_SLOT;
static uint32_t free_count;

static struct lb_region *slot_at(uint32_t index)
{
    struct lb_region *chunk =
        atomic_load_explicit(&chunks[index / CHUNK], memory_order_acquire);

    return chunk != NULL ? &chunk[index % CHUNK] : NULL;
}

/* Takes a slot for a new region; its users are 0 and its key is 0. NULL if there is no memory. */
static struct lb_region *take_slot(uint32_t *index)
{
    struct lb_region *slot = NULL;

    lb_lock_acquire(&key_lock);
    if (free_count > MIN_FREE || (free_count > 0 && slots_made > LB_MAX_MR)) {
        *index = free_first;
        slot = slot_at(free_first);
        free_first = slot->next_free;
        if (--free_count == 0)
            free_last = NO_SLOT;
    } else if (slots_made <= LB_MAX_MR) {
        if (slots_made % CHUNK == 0 || slots_made == 1) {
            struct lb_region *chunk = aligned_alloc(64, CHUNK * sizeof(*chunk));

            if (chunk == NULL)
                goto unlock;
            memset(chunk, 0, CHUNK * sizeof(*chunk));
            atomic_store_explicit(&chunks[slots_made / CHUNK], chunk, memory_order_release);
        }
        *index = slots_made++;
        slot = slot_at(*index);
        /* Different first generations: keys of different slots do not look alike. */
        slot->generation = (*index * 37u) & GENERATION_MASK;
    }
unlock:
    lb_lock_release(&key_lock);
    return slot;
}

static void give_slot(struct lb_region *slot, uint32_t index)
{
    slot->next_free = NO_SLOT;
    lb_lock_acquire(&key_lock);
    if (free_last == NO_SLOT)
        free_first = index;
    else
        slot_at(free_last)->next_free = index;
    free_last = index;
    free_count++;
    lb_lock_release(&key_lock);
}

void lb_region_on_removal(void (*function)(void))
{
    await_sections = function;
}

static char *hold(uint32_t lkey, const struct ibv_pd *pd, uint64_t address, uint64_t length,
    struct lb_region **held, uint32_t *reason, const uint32_t reasons[3])
{
    struct lb_region *region = slot_at(lkey >> INDEX_SHIFT);

    if (region == NULL || lkey == 0) {
        *reason = reasons[0];
        return NULL;
    }
    /* Sequentially consistent against dereg: either it sees this user or we see its key gone. */
    atomic_fetch_add(&region->users, 1);
    if (atomic_load(&region->key) != lkey) {
        *reason = reasons[0];
        goto refuse;
    }
    if (region->pd != pd) {
        *reason = reasons[1];
        goto refuse;
    }
    const uint64_t offset = address - region->start;
    if (offset > region->length || length > region->length - offset) {
        *reason = reasons[2];
        goto refuse;
    }
    *held = region;
    return region->host + offset;

refuse:
    lb_region_release(region);
    return NULL;
}

char *lb_region_look_up(struct lb_region **found, uint32_t lkey, const struct ibv_pd *pd, uint64_t address, uint64_t length,
    unsigned int access)
{
    struct lb_region *region = slot_at(lkey >> INDEX_SHIFT);

    if (region == NULL || lkey == 0 || atomic_load_explicit(&region->key, memory_order_acquire) != lkey || region->pd != pd)
        return NULL;
    *found = region;
    const uint64_t offset = address - region->start;
    if (access & ~region->access || offset > region->length || length > region->length - offset)
        return NULL;
    return region->host + offset;
}

char *lb_region_hold_local(uint32_t lkey, const struct ibv_pd *pd, uint64_t address,
    uint64_t length, unsigned int access, struct lb_region **held, uint32_t *reason)
{
    static const uint32_t reasons[3] = {RINGPOLL_LOOPBACK_VERR_LKEY,
        RINGPOLL_LOOPBACK_VERR_LOCAL_PD, RINGPOLL_LOOPBACK_VERR_LOCAL_BOUNDS};

    /* An lkey has the remote bit clear, so an rkey given as lkey matches no slot's key. */
    char *host = hold(lkey, pd, address, length, held, reason, reasons);
    if (host != NULL && access & ~(*held)->access) {
        lb_region_release(*held);
        *reason = RINGPOLL_LOOPBACK_VERR_LOCAL_ACCESS;
        return NULL;
    }
    return host;
}

char *lb_region_hold_remote(uint32_t rkey, const struct ibv_pd *pd, uint64_t address,
    uint64_t length, unsigned int access, struct lb_region **held, uint32_t *reason)
{
    static const uint32_t reasons[3] = {RINGPOLL_LOOPBACK_VERR_RKEY,
        RINGPOLL_LOOPBACK_VERR_REMOTE_PD, RINGPOLL_LOOPBACK_VERR_REMOTE_BOUNDS};

    char *host = hold(rkey ^ LB_REMOTE_BIT, pd, address, length, held, reason, reasons);
    if (host != NULL && access & ~(*held)->access) {
        lb_region_release(*held);
        *reason = RINGPOLL_LOOPBACK_VERR_REMOTE_ACCESS;
        return NULL;
    }
    return host;
}

/* madvise(2), repeated where it was only disturbed. Returns 0 or an errno value. */
static int advise(uintptr_t first, uintptr_t end, int advice)
{
    while (madvise((void *)first, end - first, advice) != 0) {
        if (errno != EAGAIN && errno != EINTR)
            return errno;
    }
    return 0;
}

/* Whether all pages are mapped: the best check without touching them on kernels before 5.14. */
static bool is_mapped(uintptr_t first, uintptr_t end, uintptr_t page)
{
    unsigned char resident;

    for (uintptr_t at = first; at < end; at += page) {
        if (mincore((void *)at, page, &resident) != 0)
            return false;
    }
    return true;
}

/*
 * Populates the pages, as pinning does: all are present afterwards, or the range is refused. Returns 0 or EFAULT.
 */
static int make_present(const void *addr, size_t length, bool writable)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)addr & ~(page - 1);
    const uintptr_t end = ((uintptr_t)addr + length + page - 1) & ~(page - 1);
    const int advice = writable ? LB_MADV_POPULATE_WRITE : LB_MADV_POPULATE_READ;
    const int error = advise(first, end, advice);

    if (error != EINVAL)
        return error ? EFAULT : 0;
    /* Memory that may not be accessed like that, or advice that this kernel does not know. */
    char *probe = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED)
        return EFAULT;
    const bool known = advise((uintptr_t)probe, (uintptr_t)probe + page, advice) == 0;
    (void)munmap(probe, page);
    return !known && is_mapped(first, end, page) ? 0 : EFAULT;
}

static struct ibv_mr *register_region(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
    unsigned int access)
{
    const unsigned int known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
        IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ON_DEMAND |
        IBV_ACCESS_HUGETLB | LB_ACCESS_FLUSH_GLOBAL | LB_ACCESS_FLUSH_PERSISTENT;
    const unsigned int needs_local_write = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    struct ibv_mr *mr;
    struct lb_region *region;
    uint32_t index;
    int error;

    access &= ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE; /* hints such as relaxed ordering */
    if (access & ~known) {
        error = EOPNOTSUPP;
        goto fail;
    }
    error = EINVAL;
    if (length == 0 || (uintptr_t)addr + length < (uintptr_t)addr || iova + length < iova)
        goto fail;
    if (access & needs_local_write && !(access & IBV_ACCESS_LOCAL_WRITE))
        goto fail;
    /* As in the kernel: both addresses have the same alignment. */
    if (((uintptr_t)addr ^ iova) & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1))
        goto fail;
    if (!(access & IBV_ACCESS_ON_DEMAND)) {
        error = make_present(addr, length, access & IBV_ACCESS_LOCAL_WRITE);
        if (error)
            goto fail;
    }
    error = ENOMEM;
    if (!lb_reserve(RINGPOLL_LOOPBACK_MR, LB_MAX_MR))
        goto fail;
    mr = calloc(1, sizeof(*mr));
    if (mr == NULL)
        goto uncount;
    region = take_slot(&index);
    if (region == NULL)
        goto free_mr;

    region->pd = pd;
    region->host = addr;
    region->start = iova;
    region->length = length;
    region->access = access;
    const uint32_t generation = (uint32_t)(region->generation++ & GENERATION_MASK);
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = addr;
    mr->length = length;
    mr->handle = index;
    mr->lkey = index << INDEX_SHIFT | generation << GENERATION_SHIFT;
    mr->rkey = mr->lkey | LB_REMOTE_BIT;
    atomic_fetch_add(&lb_pd_of(pd)->children, 1);
    atomic_store(&region->key, mr->lkey);
    return mr;

free_mr:
    free(mr);
uncount:
    lb_count(RINGPOLL_LOOPBACK_MR, -1);
fail:
    errno = error;
    return NULL;
}

#undef ibv_reg_mr
LB_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    if (lb_fails(__func__))
        return NULL;
    return register_region(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

#undef ibv_reg_mr_iova
LB_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
    uint64_t iova, int access)
{
    if (lb_fails(__func__))
        return NULL;
    return register_region(pd, addr, length, iova, (unsigned int)access);
}

LB_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
    uint64_t iova, unsigned int access)
{
    if (lb_fails(__func__))
        return NULL;
    return register_region(pd, addr, length, iova, access);
}

LB_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
    struct lb_region *region = slot_at(mr->handle);
    const struct timespec moment = {.tv_nsec = 50000};

    atomic_store(&region->key, 0);
    if (await_sections != NULL)
        await_sections();
    /* A holder is in the middle of a copy: wait, first for its processor, then for ours. */
    for (int tries = 0; atomic_load(&region->users) != 0; tries++) {
        if (tries < 100)
            sched_yield();
        else
            lb_sleep(&moment);
    }
    give_slot(region, mr->handle);
    atomic_fetch_sub(&lb_pd_of(mr->pd)->children, 1);
    free(mr);
    lb_count(RINGPOLL_LOOPBACK_MR, -1);
    return lb_fails(__func__) ? errno : 0;
}

LB_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
    size_t length, int access)
{
    (void)mr, (void)flags, (void)pd, (void)addr, (void)length, (void)access;
    errno = EOPNOTSUPP;
    return IBV_REREG_MR_ERR_INPUT;
}

int lb_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
    struct ibv_sge *sg_list, uint32_t num_sge)
{
    if (lb_fails("ibv_advise_mr"))
        return errno;
    bool writable = false;

    switch (advice) {
    case IBV_ADVISE_MR_ADVICE_PREFETCH:
    case IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
        break;
    case IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE:
        writable = true;
        break;
    default:
        return EOPNOTSUPP;
    }
    if (flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || num_sge == 0)
        return EINVAL;
    for (uint32_t i = 0; i < num_sge; i++) {
        struct lb_region *region;
        uint32_t reason;
        char *host = lb_region_hold_local(sg_list[i].lkey, pd, sg_list[i].addr, sg_list[i].length,
            writable ? IBV_ACCESS_LOCAL_WRITE : 0, &region, &reason);

        if (host == NULL) {
            if (reason == RINGPOLL_LOOPBACK_VERR_LKEY)
                return ENOENT;
            return reason == RINGPOLL_LOOPBACK_VERR_LOCAL_BOUNDS ? EFAULT : EPERM;
        }
        int error = make_present(host, sg_list[i].length, writable);
        lb_region_release(region);
        if (error && advice != IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
            return error;
    }
    return 0;
}

static void hold_keys(void)
{
    lb_lock_acquire(&key_lock);
}

static void release_keys(void)
{
    lb_lock_release(&key_lock);
}

/* The threads that held regions are not in the child: ibv_dereg_mr must not wait for them. */
static void forget_holders(void)
{
    for (uint32_t index = 1; index < slots_made; index++) {
        struct lb_region *region = slot_at(index);

        if (atomic_load_explicit(&region->users, memory_order_relaxed) != 0)
            atomic_store_explicit(&region->users, 0, memory_order_relaxed);
    }
    release_keys();
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold_keys, release_keys, forget_holders);
}
