/* SPDX-License-Identifier: Apache-2.0 */
/*
 * other_end.h: the other process of a connection, played by the test itself: it reads and writes the shared segment, and so also
 * breaks its rules.
 */
#ifndef LOOPBACK_OTHER_END_H
#define LOOPBACK_OTHER_END_H

#include "proxy.h"
#include "test.h"
#include "verbs_pair.h"

/* Side 0 of the pair is connected to the proxy of a queue pair that does not exist. */
struct other {
    struct verbs_pair pair;
    struct ibv_qp *proxy;
    struct lb_wire_segment *segment;
    struct lb_wire_half *to_us;
    struct lb_wire_half *to_it;
    int socket;
    int doorbell;              /* or -1, as the next */
    int our_doorbell;          /* the end of this process: it was the one that has made the pair */
    uint64_t requests_at;  /* where the next record of the ring is that the test writes */
    uint64_t responses_at;
};

/*
 * Starts the watch thread and holds it until it is let go: meanwhile it takes no record, wakes no end, and marks none as asleep. A
 * test that is stopped for some milliseconds would see that otherwise.
 */
void hold_watch_thread(void);
void let_watch_thread_go(void);

/* The segment and the proxy alone. */
void open_segment(struct other *other, bool with_doorbell);

/* Without a doorbell; the last with one. */
void open_other_with(struct other *other, const struct verbs_options *options);
void open_other(struct other *other);
void open_other_with_doorbell(struct other *other);
void close_other(struct other *other);

/* The request that was sent as the next one; NULL: there is none. */
const struct lb_wire_record *request_at(struct other *other, uint64_t position);

/* The position of the record behind this one. */
uint64_t behind(const struct lb_wire_record *record, uint64_t position);

/* Writes a record. */
void put(struct lb_wire_ring *ring, uint64_t *position, const struct lb_wire_record *header);

/* A message of the other process, without bytes. */
void send_to_us(struct other *other);

/* Whether the watch thread of the other process was woken, or its doorbell has a byte; takes that. */
bool is_woken(const struct other *other);
bool is_notified(const struct other *other);

#endif
