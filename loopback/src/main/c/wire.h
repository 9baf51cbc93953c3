/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h: the shared memory of a connection between two processes, with rings of records.
 *
 * A segment has two halves, one for each end, and a half has two rings: requests of the other end's queue pair, and responses to
 * the requests of this end's queue pair. They are separate because requests may have to wait for a receive, and responses must
 * not wait behind them. A ring has one producer and one consumer at a time, by the locks of their users. Records are contiguous
 * multiples of 64 bytes: a header and up to LB_WIRE_CHUNK bytes of payload.
 *
 * A producer that knows that nearly all of its records are read starts again at the beginning of the ring: the last record of a
 * lap has the flag LB_WIRE_LAST, and the rest of the ring counts as a part of it.
 *
 * A record is published when its size is not 0. A producer first clears the size of the place behind the record, where the next
 * one will be, so it always leaves that place free. A consumer polls only the line of the next header.
 *
 * Nothing in a segment is trusted: the other process may write anything at any time. Each end keeps its own positions and reads
 * the other's with a check; a header is copied before it is used, and its sizes are checked. A segment is sealed against
 * shrinking, so an access cannot fault. A violation makes a ring `broken` for good, and the connection ends.
 */
#ifndef LOOPBACK_WIRE_H
#define LOOPBACK_WIRE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stream.h"

/* Changes with every change of the segment, of records or of messages between processes (cm_remote.c). */
#define LB_WIRE_VERSION 7u

/*
 * More than a processor's own cache as a rule. Long requests fill a ring until its oldest lines have left the cache of the
 * producer for one that both processors share: the consumer reads them there faster than from the other processor. Pages that are
 * not reached take no memory: see lb_wire_next.
 */
#define LB_WIRE_RING (2048u * 1024)
/* Distance, in bytes, at which a producer of short records reads the consumer's position. */
#define LB_WIRE_LOOK (128u * 1024)
/* Length of a lap of a ring that is read as fast as it is written: a few lines, which both caches keep. */
#define LB_WIRE_MIN_LAP 256u
/* Number of laps without a wait for room after which they become shorter again. */
#define LB_WIRE_LAPS 4096u
/* Payload of one record; longer requests are sent in parts. */
#define LB_WIRE_CHUNK (32u * 1024)

enum lb_wire_kind {
    LB_WIRE_PADDING = 1, /* up to the end of the ring */
    LB_WIRE_REQUEST = 2,
    LB_WIRE_RESPONSE = 3,
};

/* Flags of a record. */
enum {
    LB_WIRE_MORE = 1,      /* a part of a request or of its response that is not the last */
    LB_WIRE_SOLICITED = 2,
    LB_WIRE_AWAITED = 4,   /* request: its requester is woken when it is acknowledged, if it sleeps */
    LB_WIRE_LAST = 8,      /* the next record is at the start of the ring */
    LB_WIRE_AROUND = 16,   /* a long payload has gone around the cache: see stream.h */
};

struct lb_wire_record {
    uint32_t size;        /* of the record, a multiple of 64; 0: not published */
    union {
        struct {
            uint8_t kind;
            uint8_t opcode; /* request: an enum ibv_wr_opcode, or LB_WR_REFUSED: imm_data is the status */
            uint8_t flags;
            uint8_t status; /* response: an enum ibv_wc_status */
        };
        uint32_t what;      /* all four */
    };
    uint32_t length;      /* bytes of payload; of a read request: bytes to read */
    uint32_t imm_data;    /* network byte order, as in a work request */
    uint64_t number;      /* of the request at its requester; the lower half counts its requests */
    uint64_t remote_addr;
    uint64_t compare_add;
    union {
        uint64_t swap;
        uint64_t taken;   /* other requests: the position up to which their sender has consumed those of the other end */
    };
    uint32_t rkey;
    uint32_t vendor_err;  /* response */
    uint32_t offset;      /* of this part in its request */
    uint8_t rnr_retry;    /* request: the requester's attributes, by which it waits for a receive or a peer */
    uint8_t retry_count;
    uint8_t timeout;
    uint8_t reserved;
};

_Static_assert(sizeof(struct lb_wire_record) == 64, "one cache line");

struct lb_wire_ring {
    alignas(64) _Atomic uint64_t consumed; /* bytes ever; the consumer's, as the next */
    struct lb_stream_costs costs;
    alignas(64) _Atomic uint32_t starved;  /* the producer found no room: wake it when there is some */
    alignas(64) char bytes[LB_WIRE_RING];
};

/*
 * How the end that consumes a half learns of a new record: a state, and flags.
 *
 * An end that polls is AWAKE. An end that sleeps is woken in one of two ways. By a byte through the connection's socket: its
 * watch thread works (WOKEN). Or by a notification through its doorbell, for the kinds of completions that it has requested: a
 * thread of its program that waits at a completion channel works. After that, and after the fetch of an event, further
 * notifications are SUPPRESSED until the next request.
 *
 * Only the end itself changes the state to AWAKE, ASLEEP and SUPPRESSED, and the flags. The other end changes ASLEEP or
 * SUPPRESSED to WOKEN, and ASLEEP to SUPPRESSED with the flag NOTIFIED.
 */
enum {
    LB_WIRE_AWAKE = 0,
    LB_WIRE_ASLEEP = 1,
    LB_WIRE_WOKEN = 2,           /* its watch thread was woken, and has not worked yet */
    LB_WIRE_SUPPRESSED = 3,      /* completions need no further wake-up */
    LB_WIRE_STATE = 3,           /* the bits of the state */
    LB_WIRE_NOTIFY_RECEIVES = 4, /* ASLEEP: it wants a notification of the completion of a receive ... */
    LB_WIRE_NOTIFY_SENDS = 8,    /* ... or of a request of its own */
    LB_WIRE_NOTIFIED = 16,       /* a byte is in its doorbell, or about to be sent there */
};

struct lb_wire_half {
    alignas(64) _Atomic uint32_t sleep_state;
    /* Of the end that consumes this half: its requests before this number are done with, those without a response in success. */
    alignas(64) _Atomic uint32_t acknowledged;
    struct lb_wire_ring requests;
    struct lb_wire_ring responses;
};

struct lb_wire_segment {
    struct lb_wire_half to[2];             /* to the active end, to the passive end */
};

/* This process's side of a ring; one of the two. */
struct lb_wire_producer {
    struct lb_wire_ring *ring;
    const _Atomic uint32_t *sleep_state; /* of this end; NULL: it may sleep */
    uint64_t produced;
    uint64_t limit;    /* see lb_wire_set_limit */
    uint32_t lap;      /* see lb_wire_next; a multiple of 64 */
    uint32_t laps;     /* since it has changed */
    uint64_t consumed_seen;
    bool broken;
    struct lb_stream stream; /* copies of payload into the ring */
};

struct lb_wire_consumer {
    struct lb_wire_ring *ring;
    _Atomic uint64_t consumed; /* read by a poller that looks for work, without a lock */
    _Atomic bool broken;       /* read under another lock than written, too */
    struct lb_stream stream;   /* copies of payload out of the ring */
};

/* Creates a sealed segment and maps it; returns its descriptor, which the caller closes, or -1 with errno. */
int lb_wire_create(struct lb_wire_segment **segment);

/* Maps the segment of another process if it has the size and the seals. Returns 0 or an errno value. */
int lb_wire_map(int fd, struct lb_wire_segment **segment);
void lb_wire_unmap(struct lb_wire_segment *segment);

/*
 * Replaces a segment by empty memory of this process. If the kernel has none, its place is left without memory: an access is a
 * SIGSEGV.
 */
void lb_wire_part(struct lb_wire_segment *segment);

/* Orders a store before a load: of two ends that both do so, at least one sees the other's store. */
static inline void lb_wire_fence(void)
{
#ifdef __SANITIZE_THREAD__
    static _Atomic int known_to_the_sanitizer;

    (void)atomic_fetch_add(&known_to_the_sanitizer, 1);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/*
 * Begins to produce into the ring of a new segment, or to consume it; the producer or consumer is zeroed. `sleep_state` is that
 * of this end, or NULL: an end that is awake, or falls asleep, checks for room again without being woken.
 */
void lb_wire_start(struct lb_wire_producer *producer, struct lb_wire_ring *ring, const _Atomic uint32_t *sleep_state);
void lb_wire_begin(struct lb_wire_consumer *consumer, struct lb_wire_ring *ring);

/*
 * Room for the payload of a record, at most LB_WIRE_CHUNK bytes. NULL: there is none, and the consumer will wake this end if it
 * sleeps, or the ring is broken. Nothing is visible before lb_wire_publish, which must be called with no other claim in between;
 * a later claim replaces an unpublished one.
 */
char *lb_wire_claim(struct lb_wire_producer *producer, uint32_t payload);

/*
 * Lets the consumer wake this end when it has consumed more. The caller then checks once more: either it sees the consumer's
 * store, or it is woken.
 */
static inline void lb_wire_await_consumption(struct lb_wire_producer *producer)
{
    atomic_store_explicit(&producer->ring->starved, 1, memory_order_relaxed);
    lb_wire_fence();
}

/* The same if this end sleeps. Returns whether it does: an end that polls costs the consumer nothing. */
static inline bool lb_wire_await_asleep(struct lb_wire_producer *producer)
{
    if (producer->sleep_state != NULL && atomic_load_explicit(producer->sleep_state, memory_order_relaxed) == LB_WIRE_AWAKE)
        return false;
    lb_wire_await_consumption(producer);
    return true;
}

/* Publishes a record with this header, except for its size, and a payload of this length, at most the claimed one. */
void lb_wire_publish(struct lb_wire_producer *producer, const struct lb_wire_record *header, uint32_t payload);

/*
 * Copies the header of the oldest record and returns its payload, valid until lb_wire_consume; NULL if there is none, or the ring
 * is broken. `present` is the number of payload bytes in the record; its size is the number of bytes to consume, up to the next
 * record.
 */
const char *lb_wire_peek(struct lb_wire_consumer *consumer, struct lb_wire_record *record, uint32_t *present);
static inline void lb_wire_consume(struct lb_wire_consumer *consumer, uint32_t size)
{
    const uint64_t consumed = atomic_load_explicit(&consumer->consumed, memory_order_relaxed) + size;

    /* First for the producer: another thread may read the second and send it, which must not be ahead of the first. */
    atomic_store_explicit(&consumer->ring->consumed, consumed, memory_order_release);
    atomic_store_explicit(&consumer->consumed, consumed, memory_order_release);
}

static inline struct lb_wire_record *lb_wire_at(const struct lb_wire_ring *ring, uint64_t position)
{
    return (struct lb_wire_record *)(void *)(uintptr_t)&ring->bytes[position % LB_WIRE_RING];
}

/* The size of a record in the ring, which the other end may change at any time. */
static inline _Atomic uint32_t *lb_wire_size(struct lb_wire_record *record)
{
    return (_Atomic uint32_t *)(void *)&record->size;
}

/*
 * The four bytes of a header in one word: a union that is filled byte by byte is read back from the stack, which waits until all
 * stores before that have reached the cache, also those to lines that another processor has.
 */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LB_WIRE_WHAT(kind, opcode, flags) ((uint32_t)(kind) << 24 | (uint32_t)(opcode) << 16 | (uint32_t)(flags) << 8)
#else
#define LB_WIRE_WHAT(kind, opcode, flags) ((uint32_t)(kind) | (uint32_t)(opcode) << 8 | (uint32_t)(flags) << 16)
#endif

/* Whether a header has one of these flags. */
static inline bool lb_wire_has_flags(uint32_t what, uint32_t flags)
{
    return what & LB_WIRE_WHAT(0, 0, flags);
}

/* With its header and its payload. */
static inline uint32_t lb_wire_record_size(uint32_t payload)
{
    return (uint32_t)sizeof(struct lb_wire_record) + (payload + 63u) / 64 * 64;
}

/* Without -mprfchw a compiler for x86 makes a prefetch to read of the built-in function. */
static inline void lb_wire_prefetch_to_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/*
 * The position of the record behind one of this size, with so many unread bytes before it. If the consumer has read nearly all,
 * that is the start of the ring, and the rest of the ring counts as a part of the record: its flag is LB_WIRE_LAST. A record of
 * the same size has its place there; a longer one may have to wait for the consumer, and then the laps become longer. So the
 * messages of two ends that answer each other use the same few lines.
 */
static inline uint64_t lb_wire_behind(const struct lb_wire_producer *producer, uint64_t unread, uint32_t size)
{
    const uint64_t at = producer->produced % LB_WIRE_RING;

    if (at >= producer->lap && 2 * unread + size + sizeof(struct lb_wire_record) <= at)
        return producer->produced - at + LB_WIRE_RING;
    return producer->produced + size;
}

/* The same with the last known position of the consumer. */
static inline uint64_t lb_wire_next(const struct lb_wire_producer *producer, uint32_t size)
{
    return lb_wire_behind(producer, producer->produced - producer->consumed_seen, size);
}

/*
 * Sets the position up to which records have a place: the end of a lap, of the known free room, or of the next LB_WIRE_LOOK
 * bytes. It only grows, so an old one is too low at worst.
 */
static inline void lb_wire_set_limit(struct lb_wire_producer *producer)
{
    const uint64_t look = (producer->produced / LB_WIRE_LOOK + 1) * LB_WIRE_LOOK;
    /* One place stays free: that of the next record. */
    const uint64_t free = producer->consumed_seen + LB_WIRE_RING - sizeof(struct lb_wire_record);

    producer->limit = producer->broken ? 0 : look < free ? look : free;
}

/*
 * Notes the consumer's position from a record that it has sent. An impossible position is ignored: it is older than the known
 * one. A consumer with a false position loses unread records; this end detects that when it next reads the ring.
 */
static inline void lb_wire_note(struct lb_wire_producer *producer, uint64_t consumed)
{
    const uint64_t ahead = consumed - producer->consumed_seen;

    if (ahead == 0 || ahead > producer->produced - producer->consumed_seen || ahead % 64 != 0)
        return;
    producer->consumed_seen += ahead;
}

/* Whether the next record is known to have its place, if it has this size. */
static inline bool lb_wire_has_place(struct lb_wire_producer *producer, uint32_t size)
{
    if (__builtin_expect(producer->produced + size <= producer->limit, 1))
        return true;
    lb_wire_set_limit(producer);
    return producer->produced + size <= producer->limit;
}

/* Marks the place of the next record as empty. Before a record is published. */
static inline void lb_wire_clear(const struct lb_wire_producer *producer, uint64_t next)
{
    atomic_store_explicit(lb_wire_size(lb_wire_at(producer->ring, next)), 0, memory_order_relaxed);
}

void lb_wire_shorten_laps(struct lb_wire_producer *producer);

/*
 * Publishes the record at the producer's position. The next one is likely to be as long: the line that it will clear is
 * prefetched now, before anyone waits for it. Its payload is not prefetched if the consumer has read all records before this one,
 * because the consumer polls there until it has answered.
 */
static inline void lb_wire_show(struct lb_wire_producer *producer, struct lb_wire_record *record, uint32_t size, uint64_t next)
{
    const bool alone = producer->consumed_seen == producer->produced;

    if (next != producer->produced + size && ++producer->laps == LB_WIRE_LAPS)
        lb_wire_shorten_laps(producer);
    producer->produced = next;
    atomic_store_explicit(lb_wire_size(record), size, memory_order_release);
    if (!alone)
        lb_wire_prefetch_to_write(lb_wire_at(producer->ring, next + sizeof(struct lb_wire_record)));
    const uint64_t unread = alone ? 0 : next - producer->consumed_seen;
    lb_wire_prefetch_to_write(lb_wire_at(producer->ring, lb_wire_behind(producer, unread, size)));
}

/* The header of a short record with a request; each field is read once. */
struct lb_wire_short {
    uint32_t size; /* up to the next record */
    uint32_t what; /* see struct lb_wire_record */
    uint32_t length;
    uint32_t imm_data;
    uint32_t number; /* the lower half */
    uint64_t taken;
};

/*
 * Reads the header of the oldest record if it has a payload of 1 to `limit` bytes, the first ones of a request. Returns its
 * payload, valid until lb_wire_consume, or NULL if there is none of this kind.
 */
static inline const char *lb_wire_peek_short(const struct lb_wire_consumer *consumer, struct lb_wire_short *request,
    uint32_t limit)
{
    const uint64_t consumed = atomic_load_explicit(&consumer->consumed, memory_order_relaxed);
    struct lb_wire_record *shared = lb_wire_at(consumer->ring, consumed);
    const uint32_t size = atomic_load_explicit(lb_wire_size(shared), memory_order_acquire);
    const volatile struct lb_wire_record *header = shared;
    const uint32_t length = header->length;
    const uint32_t to_end = (uint32_t)(LB_WIRE_RING - consumed % LB_WIRE_RING);

    if (length - 1 >= limit || size != lb_wire_record_size(length) || size > to_end || header->offset != 0)
        return NULL;
    request->what = header->what;
    request->size = lb_wire_has_flags(request->what, LB_WIRE_LAST) ? to_end : size;
    request->taken = header->taken;
    request->length = length;
    request->imm_data = header->imm_data;
    request->number = (uint32_t)header->number;
    return (const char *)(shared + 1);
}

/* Whether a record seems to be there; for a look without a lock. */
static inline bool lb_wire_has_record(const struct lb_wire_consumer *consumer)
{
    const uint64_t consumed = atomic_load_explicit(&consumer->consumed, memory_order_acquire);

    return atomic_load_explicit(lb_wire_size(lb_wire_at(consumer->ring, consumed)), memory_order_acquire) != 0;
}

/* The same for a poll. If there is none, the effects of the last consumption are visible. */
static inline bool lb_wire_pending(const struct lb_wire_consumer *consumer)
{
    const uint64_t consumed = atomic_load_explicit(&consumer->consumed, memory_order_acquire);

    struct lb_wire_record *record = lb_wire_at(consumer->ring, consumed);

    __builtin_prefetch(record + 1); /* its payload: both lines move at the same time */
    const uint32_t size = atomic_load_explicit(lb_wire_size(record), memory_order_acquire);
    if (size == 0)
        return false;
    __builtin_prefetch(lb_wire_at(consumer->ring, consumed + size)); /* the next poll reads it */
    return true;
}

/*
 * Whether the producer waits for room; called once after a series of lb_wire_consume, and after a fence of the caller.
 */
static inline bool lb_wire_starved(struct lb_wire_consumer *consumer)
{
    return atomic_load_explicit(&consumer->ring->starved, memory_order_relaxed) != 0 &&
        atomic_exchange_explicit(&consumer->ring->starved, 0, memory_order_relaxed) != 0;
}

static inline bool lb_wire_fed(struct lb_wire_consumer *consumer)
{
    lb_wire_fence();
    return lb_wire_starved(consumer);
}

#endif
