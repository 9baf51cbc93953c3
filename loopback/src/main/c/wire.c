/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: segments of shared memory, and the records in their rings. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int map(int fd, struct lb_wire_segment **segment)
{
    void *mapped = mmap(NULL, sizeof(struct lb_wire_segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (mapped == MAP_FAILED)
        return errno;
    *segment = mapped;
    return 0;
}

/* Gives the file its length. Returns 0, or -1 with errno: EFBIG, over RLIMIT_FSIZE, where ftruncate would end the process. */
static int extend(int fd)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < sizeof(struct lb_wire_segment)) {
        errno = EFBIG;
        return -1;
    }
    return ftruncate(fd, sizeof(struct lb_wire_segment));
}

int lb_wire_create(struct lb_wire_segment **segment)
{
    const int fd = memfd_create("ringpoll-loopback", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error;

    if (fd < 0)
        return -1;
    if (extend(fd) || fcntl(fd, F_ADD_SEALS, SEALS))
        error = errno;
    else
        error = map(fd, segment);
    if (error) {
        (void)close(fd);
        errno = error;
        return -1;
    }
    /* Nobody polls yet at either end. */
    atomic_store_explicit(&(*segment)->to[0].sleep_state, LB_WIRE_ASLEEP, memory_order_relaxed);
    atomic_store_explicit(&(*segment)->to[1].sleep_state, LB_WIRE_ASLEEP, memory_order_relaxed);
    return fd;
}

int lb_wire_map(int fd, struct lb_wire_segment **segment)
{
    struct stat file;
    const int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
        return EPROTO;
    if (fstat(fd, &file))
        return errno;
    return file.st_size == (off_t)sizeof(struct lb_wire_segment) ? map(fd, segment) : EPROTO;
}

void lb_wire_unmap(struct lb_wire_segment *segment)
{
    (void)munmap(segment, sizeof(*segment));
}

void lb_wire_part(struct lb_wire_segment *segment)
{
    const int flags = MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;

    /* A limit of private memory (RLIMIT_DATA) does not count shared memory, which no other process has either. */
    if (mmap(segment, sizeof(*segment), PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, -1, 0) != MAP_FAILED ||
            mmap(segment, sizeof(*segment), PROT_READ | PROT_WRITE, MAP_SHARED | flags, -1, 0) != MAP_FAILED)
        return;
    /*
     * The kernel has no memory, or a limit is exceeded: then nothing is there, which ends the child when it uses it, not before. A
     * failed map may have removed what was there (kernels before 6.12): a place without rights keeps others out, and costs nothing.
     */
    if (mmap(segment, sizeof(*segment), PROT_NONE, MAP_PRIVATE | flags, -1, 0) != MAP_FAILED ||
            mprotect(segment, sizeof(*segment), PROT_NONE) == 0)
        return;
    if (munmap(segment, sizeof(*segment)))
        abort(); /* the child of a fork may not write to its parent's memory */
}

/* Reads the position of the consumer; sets broken if it is impossible. */
static void look(struct lb_wire_producer *producer)
{
    const uint64_t consumed = atomic_load_explicit(&producer->ring->consumed, memory_order_acquire);

    if (consumed - producer->consumed_seen > producer->produced - producer->consumed_seen || consumed % 64 != 0)
        producer->broken = true;
    else
        producer->consumed_seen = consumed;
    lb_wire_set_limit(producer);
}

void lb_wire_start(struct lb_wire_producer *producer, struct lb_wire_ring *ring, const _Atomic uint32_t *sleep_state)
{
    producer->ring = ring;
    producer->sleep_state = sleep_state;
    producer->stream.costs = &ring->costs;
    producer->lap = LB_WIRE_MIN_LAP;
    lb_wire_set_limit(producer);
}

void lb_wire_begin(struct lb_wire_consumer *consumer, struct lb_wire_ring *ring)
{
    consumer->ring = ring;
    consumer->stream.reads = true;
    consumer->stream.costs = &ring->costs;
}

void lb_wire_shorten_laps(struct lb_wire_producer *producer)
{
    producer->laps = 0;
    if (producer->lap > LB_WIRE_MIN_LAP)
        producer->lap /= 2;
}

/* The ring is full. Makes the laps longer if the record would fit had the last lap not left out the rest of the ring. */
static void lengthen_laps(struct lb_wire_producer *producer)
{
    const uint64_t at = producer->produced % LB_WIRE_RING;

    if (producer->consumed_seen >= producer->produced - at || at > LB_WIRE_RING / 2 || producer->lap > LB_WIRE_RING / 4)
        return;
    producer->laps = 0;
    producer->lap *= 2;
}

/* Whether so many bytes are free, and the place behind them. */
static bool has_room(struct lb_wire_producer *producer, uint32_t record)
{
    const uint32_t bytes = record + (uint32_t)sizeof(struct lb_wire_record);

    if (producer->produced - producer->consumed_seen + bytes <= LB_WIRE_RING)
        return true;
    look(producer);
    return !producer->broken && producer->produced - producer->consumed_seen + bytes <= LB_WIRE_RING;
}

/*
 * Makes a record at the producer's position visible, and nothing behind it. The header is written last, by stores that follow
 * each other: the consumer polls its cache line, and would fetch it between two stores with other work in between.
 */
static void publish(struct lb_wire_producer *producer, struct lb_wire_record header, uint32_t size)
{
    struct lb_wire_record *record = lb_wire_at(producer->ring, producer->produced);
    const uint64_t next = header.kind == LB_WIRE_PADDING ? producer->produced + size : lb_wire_next(producer, size);
    const size_t rest = sizeof(header.size);

    if (next != producer->produced + size)
        header.flags |= LB_WIRE_LAST;
    if (size > LB_STREAM_MIN && producer->stream.was_around)
        header.flags |= LB_WIRE_AROUND;
    lb_wire_clear(producer, next);
    memcpy((char *)record + rest, (const char *)&header + rest, sizeof(header) - rest);
    lb_wire_show(producer, record, size, next);
}

char *lb_wire_claim(struct lb_wire_producer *producer, uint32_t payload)
{
    const uint32_t size = lb_wire_record_size(payload);
    const uint32_t to_end = (uint32_t)(LB_WIRE_RING - producer->produced % LB_WIRE_RING);
    const uint32_t padding = to_end < size ? to_end : 0;

    /* A long record is one of many, or its bytes take longer than the lines move. */
    if (payload < LB_STREAM_MIN && producer->produced / LB_WIRE_LOOK != (producer->produced + size) / LB_WIRE_LOOK)
        look(producer);
    if (producer->broken)
        return NULL;
    if (!has_room(producer, size + padding) &&
            (producer->broken || !lb_wire_await_asleep(producer) || !has_room(producer, size + padding))) {
        lengthen_laps(producer);
        return NULL;
    }
    producer->stream.was_around = false;
    if (padding > 0)
        publish(producer, (struct lb_wire_record){.kind = LB_WIRE_PADDING}, padding);
    return (char *)(lb_wire_at(producer->ring, producer->produced) + 1);
}

void lb_wire_publish(struct lb_wire_producer *producer, const struct lb_wire_record *header, uint32_t payload)
{
    publish(producer, *header, lb_wire_record_size(payload));
}

/* Copies the oldest header; false if there is none, or the ring is broken. */
static bool peek(struct lb_wire_consumer *consumer, struct lb_wire_record *record)
{
    const uint64_t consumed = atomic_load_explicit(&consumer->consumed, memory_order_relaxed);
    struct lb_wire_record *shared = lb_wire_at(consumer->ring, consumed);
    const uint32_t size = atomic_load_explicit(lb_wire_size(shared), memory_order_acquire);

    if (size == 0 || consumer->broken)
        return false;
    memcpy(record, shared, sizeof(*record));
    atomic_signal_fence(memory_order_acq_rel); /* the compiler may not read the segment instead of the copy */
    record->size = size;
    if (size % 64 == 0 && size <= LB_WIRE_RING - consumed % LB_WIRE_RING) {
        __builtin_prefetch(lb_wire_at(consumer->ring, consumed + size)); /* while the payload of this one is copied */
        return true;
    }
    consumer->broken = true;
    return false;
}

const char *lb_wire_peek(struct lb_wire_consumer *consumer, struct lb_wire_record *record, uint32_t *present)
{
    if (!peek(consumer, record))
        return NULL;
    if (record->kind == LB_WIRE_PADDING) {
        lb_wire_consume(consumer, record->size);
        if (!peek(consumer, record))
            return NULL;
        if (record->kind == LB_WIRE_PADDING) { /* a producer that wants to keep us here */
            consumer->broken = true;
            return NULL;
        }
    }
    const uint64_t consumed = atomic_load_explicit(&consumer->consumed, memory_order_relaxed);

    consumer->stream.was_around = record->flags & LB_WIRE_AROUND;
    *present = record->size - (uint32_t)sizeof(*record);
    if (record->flags & LB_WIRE_LAST)
        record->size = (uint32_t)(LB_WIRE_RING - consumed % LB_WIRE_RING);
    return (const char *)lb_wire_at(consumer->ring, consumed) + sizeof(*record);
}
