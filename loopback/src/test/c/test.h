/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h: the loopback device's C tests: checks, the list of tests, and a connected pair of
 * librpma connections to try things on.
 *
 * Each test runs under a time limit and must leave no live object behind.
 */
#ifndef LOOPBACK_TEST_H
#define LOOPBACK_TEST_H

#include <librpma.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the run with a line that names the place, unless the condition holds. */
#define CHECK(condition) \
    ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, #condition, 0, 0, false))

/* The same for a comparison of integers; shows both. */
#define CHECK_EQ(actual, expected) test_check_equal(__FILE__, __LINE__, #actual " == " #expected, \
    (long long)(actual), (long long)(expected))

_Noreturn void test_fail(const char *file, int line, const char *what, long long actual,
    long long expected, bool compared);
void test_check_equal(const char *file, int line, const char *what, long long actual,
    long long expected);

struct test {
    const char *name; /* a sentence */
    void (*run)(void);
};

/* One list of tests for each file, ended by a NULL name. */
extern const struct test connection_tests[];
extern const struct test operation_tests[];

extern const struct test failure_tests[];
extern const struct test fault_tests[];
extern const struct test completion_tests[];
extern const struct test cq_ex_tests[];
extern const struct test post_list_tests[];
extern const struct test message_list_tests[];
extern const struct test message_failure_tests[];
extern const struct test message_thread_tests[];
extern const struct test verbs_tests[];
extern const struct test hostile_tests[];
extern const struct test channel_tests[];
extern const struct test signal_tests[];
extern const struct test destroy_tests[];
extern const struct test order_tests[];
extern const struct test length_tests[];
extern const struct test bound_tests[];
extern const struct test thread_tests[];
extern const struct test synthetic_tests[];
extern const struct test proxy_tests[];    /* with a held watch thread: see other_end.h */
extern const struct test proxy_watch_tests[];
extern const struct test doorbell_tests[]; /* with these around each: they hold the watch thread */
void doorbell_set_up(void);
void doorbell_tear_down(void);
extern const struct test doorbell_watch_tests[]; /* with these */
void doorbell_watch_set_up(void);
void doorbell_watch_tear_down(void);
extern const struct test wait_tests[];
extern const struct test stream_tests[];
extern const struct test fork_tests[];
extern const struct test fork_state_tests[];
extern const struct test fork_connection_tests[];
extern const struct test speed_tests[];

/* test_process.c, test_kill.c, test_edge.c, test_wait.c: this program as the other process of a test. */
extern const struct test process_tests[];
extern const struct test kill_tests[];
extern const struct test edge_tests[];
#define PROCESS_PEER "--peer"
#define PROCESS_BINDER "--binder"
#define PROCESS_CONNECTOR "--connector"
#define PROCESS_LISTENER "--listener"
#define PROCESS_FORKER "--forker"
#define PROCESS_KILLER "--killer"
#define PROCESS_SLEEPER "--sleeper"
#define PROCESS_WAITER "--waiter"
int process_peer(const char *port, const char *operations, const char *attack);
int process_binder(const char *port);
int process_connector(const char *port);
int process_listener(const char *descriptor, const char *attack);
int process_killer(const char *kills, const char *first_seed);
int process_sleeper(const char *port, const char *rounds);
int process_waiter(const char *port, const char *shape);
int process_forker(const char *port, const char *descriptor);

/*
 * hostile_peer.c. Begins an attack on the process at the other end of this one's connections: "descriptors", or a number, the
 * seed of random writes to their segment.
 */
void hostile_peer_begin(const char *attack);

/*
 * Whether all connections take the way between processes, where a request completes some time after its post
 * (RINGPOLL_LOOPBACK_ALWAYS_REMOTE).
 */
bool test_between_processes(void);

#define ADDRESS "127.0.0.1"
#define BUFFER_SIZE 65536u

/* One side of a pair. */
struct side {
    struct rpma_peer *peer;
    struct rpma_conn *conn;
    struct rpma_cq *cq;
    struct rpma_cq *rcq;           /* NULL if receives complete on the main queue */
    uint32_t qp_num;
    char *buffer;                  /* BUFFER_SIZE bytes, registered for everything */
    struct rpma_mr_local *mr;
    struct rpma_mr_remote *remote; /* the other side's buffer */
};

struct pair {
    struct side client;
    struct side server;
    struct rpma_srq *srq;          /* the server's, if options ask for one */
    struct rpma_ep *ep;
    char port[16];
};

struct pair_options {
    uint32_t cq_size;              /* 0: librpma's default */
    uint32_t rcq_size;
    uint32_t sq_size;
    uint32_t rq_size;
    uint32_t srq_size;             /* not 0: the server receives from an SRQ with its own CQ */
    bool shared_channel;
    int client_usage;              /* 0: all; how the buffer is registered */
    int server_usage;
};

#define ALL_USAGES (RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | \
    RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_SEND | \
    RPMA_MR_USAGE_RECV)

/* A port that no test has used yet, as text. */
void test_next_port(char port[16]);

struct rpma_peer *test_peer(void);

/* Connects a pair; options may be NULL. All of it is taken down by pair_close. */
void pair_open(struct pair *pair, const struct pair_options *options);
void pair_close(struct pair *pair);

/* The next event of a connection; fails after ten seconds without one. */
enum rpma_conn_event next_event(struct rpma_conn *conn);

/* Waits for an fd to become readable, for at most so many milliseconds. */
bool readable(int fd, int timeout_ms);

/* Polls one completion; fails after ten seconds without one. */
struct ibv_wc next_wc(struct rpma_cq *cq);
void check_empty(struct rpma_cq *cq);

/* The three ways in which a work completion is checked. */
void check_success(const struct ibv_wc *wc, uint64_t wr_id, enum ibv_wc_opcode opcode,
    uint32_t byte_len, uint32_t qp_num);
void check_failed(const struct ibv_wc *wc, uint64_t wr_id, enum ibv_wc_status status,
    uint32_t qp_num);

#define WR_ID(number) ((const void *)(uintptr_t)(number))

#endif
