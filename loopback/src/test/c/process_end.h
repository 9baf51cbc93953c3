/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_end.h: one end of a connection between processes, with work of all kinds, for test_process.c, test_kill.c, and tests of
 * waits.
 *
 * The other process is this program again, with an argument that names its role (test.h).
 */
#ifndef LOOPBACK_PROCESS_END_H
#define LOOPBACK_PROCESS_END_H

#include <netinet/in.h>
#include <sys/types.h>

#include "test.h"

#define DEPTH 32
#define PATIENCE_S 60

/* One side: a synchronous id with a region, which the other side may write, read and change atomically. */
struct end {
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    char *bytes;
    uint64_t remote_addr;
    uint32_t rkey;
    unsigned int seed;
    uint32_t sends_posted, sends_ended, receives_posted, receives_ended, failures;
};

double seconds(void);

struct sockaddr_in address_of(int port);

void post_receive(struct end *end);

/* Posts an operation of a random kind and length; false: the queue pair has failed. */
bool post_any(struct end *end);

/* Polls both queues once; receives are posted again while `again`. */
void poll_queues(struct end *end, bool again);

void close_end(struct end *end);

/* Connects; false: the listener, or its process, is gone. */
bool connect_to(int port, struct end *end);

pid_t start_peer(int port, const char *operations, const char *attack);

/* The other process listens. Its port can be read from *told, a descriptor that the caller closes. */
pid_t start_listener(const char *attack, int *told);

struct rdma_cm_id *listen_at(int *port);

/* Accepts the next request; false: its process is gone. */
bool accept_any(struct rdma_cm_id *listener, struct end *end, pid_t *peer);

void accept_peer(struct rdma_cm_id *listener, struct end *end);

/* The connection has ended: every request has its completion. */
void settle(struct end *end);

/* Whether the id has the event of the end of its connection. */
bool has_ended(const struct end *end);

int count_descriptors(void);

#endif
