/* SPDX-License-Identifier: Apache-2.0 */
/* link.h: a connection with both ends in this process, and the state of a measurement on it. */
#ifndef BASELINE_LINK_H
#define BASELINE_LINK_H

#include <librpma.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "baseline.h"

/* One end of the connection. */
struct link_end {
    struct rpma_conn *conn;
    struct rpma_cq *cq;
    uint32_t qp_num;
    char *memory;
    struct rpma_mr_local *local;
    struct rpma_mr_remote *remote; /* the other end's memory */
};

#define LINK_DESCRIPTOR_BYTES 256

/* The parts that connections with both ends in this process, and with one, have in common; each returns 0, or -1. */
int link_end_register(struct link_end *end, struct rpma_peer *peer); /* its memory */
int link_configure(struct rpma_conn_cfg **config);
int link_end_established(struct link_end *end); /* waits for the event of its connection */
void link_end_close(struct link_end *end);      /* what there is of it */

struct baseline_link {
    struct rpma_peer *peer;
    struct link_end client;
    struct link_end server;
    struct baseline_traffic traffic;

    _Atomic bool stop; /* no more operations are started */

    /* Owned by the posting thread. */
    alignas(128) uint64_t record_from_ns;
    uint64_t record_length_ns;
    uint64_t sent_ns;
    uint64_t recorded;
    _Atomic bool at_rest;  /* ping-pong: no message is in flight */
    _Atomic bool done;
    _Atomic bool failed;   /* an operation could not be posted */

    /* Paced operations. */
    uint64_t *schedule_ns;
    struct baseline *baseline;
    pthread_t poster;
    bool has_poster;
    uint32_t wait;
    uint64_t post_until_ns; /* operations due before this time are posted even if late */
    bool receives_ahead;    /* paced sends: the maximum number of posted receives */
    _Atomic uint64_t posted;

    /* Paced sends: owned by the handler. */
    alignas(128) uint64_t period_start_ns; /* of the next arriving message */
    uint32_t index;
    _Atomic uint64_t sent;     /* completions of sends */
    _Atomic uint64_t received; /* messages with their receive posted again */
};

#endif
