/* SPDX-License-Identifier: Apache-2.0 */
/* echo.c: an echo over many connections, with one thread at each end that polls and answers. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <librpma.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "baseline.h"
#include "histogram.h"
#include "hot.h"
#include "threads.h"

#define BATCH 32
#define STRIDE_ALIGNMENT 64u
#define REST_TRIES 50000
#define REST_US 100

enum state { PARKED, RUNNING, ENDING };

/* One end of a connection. Its buffers: a window of receives, then a window of sends. */
struct echo_line {
    struct rpma_conn *conn;
    struct rpma_cq *cq;
    size_t first;         /* offset of its first receive */
    uint32_t next_send;   /* buffer of the next message */
    uint32_t unsignalled; /* sends since the last signalled one */
};

/* All connections of one thread. */
struct echo_end {
    struct baseline_echo *echo;
    char *memory;
    struct rpma_mr_local *region;
    struct echo_line *lines;
    pthread_t thread;
    bool has_thread;
    bool is_client;
};

struct baseline_echo {
    struct rpma_peer *peer;
    struct echo_end client;
    struct echo_end server;
    struct baseline_echo_options options;
    size_t stride;
    size_t memory_bytes; /* of each end */
    uint32_t signal_interval;
    pthread_mutex_t mutex;
    pthread_cond_t resumed;
    _Atomic uint32_t state;

    /* Written before the client is resumed, then read by it. */
    alignas(128) _Atomic uint32_t turn;
    bool ping_pong;
    uint64_t record_from_ns;
    uint64_t record_length_ns;
    _Atomic bool stop;

    /* Owned by the client's thread. */
    alignas(128) uint64_t sent_ns;
    uint32_t in_flight;
    char message[BASELINE_ECHO_MAX_BYTES];
    _Atomic uint64_t answers;
    _Atomic bool at_rest;
    uint64_t histogram[HISTOGRAM_LENGTH];

    alignas(128) _Atomic bool failed; /* by either thread */
};

static void *in_context(uint64_t number)
{
    return (void *)(uintptr_t)number;
}

static void fail(struct baseline_echo *echo)
{
    atomic_store_explicit(&echo->failed, true, memory_order_release);
}

static size_t receive_offset(const struct baseline_echo *echo, const struct echo_line *line, uint32_t buffer)
{
    return line->first + buffer * echo->stride;
}

static void post_receive(struct echo_end *end, struct echo_line *line, uint32_t buffer)
{
    struct baseline_echo *echo = end->echo;

    if (rpma_recv(line->conn, end->region, receive_offset(echo, line, buffer), echo->stride, in_context(buffer)) != 0)
        fail(echo);
}

static size_t send_offset(const struct baseline_echo *echo, const struct echo_line *line)
{
    return receive_offset(echo, line, echo->options.window + line->next_send);
}

/* Of an interval of sends, one is signalled. */
static void post_send(struct echo_end *end, struct echo_line *line)
{
    struct baseline_echo *echo = end->echo;
    const size_t offset = send_offset(echo, line);
    int flags = RPMA_F_COMPLETION_ON_ERROR;

    if (++line->unsignalled >= echo->signal_interval) {
        line->unsignalled = 0;
        flags = RPMA_F_COMPLETION_ALWAYS;
    }
    line->next_send = line->next_send + 1 == echo->options.window ? 0 : line->next_send + 1;
    if (rpma_send(line->conn, end->region, offset, echo->options.size, flags, NULL) != 0)
        fail(echo);
}

static void send_from_client(struct baseline_echo *echo, struct echo_line *line)
{
    if (echo->ping_pong)
        echo->sent_ns = now_ns();
    memcpy(echo->client.memory + send_offset(echo, line), echo->message, echo->options.size);
    post_send(&echo->client, line);
}

static void on_answer(struct baseline_echo *echo, struct echo_line *line)
{
    if (echo->ping_pong) {
        if (echo->sent_ns - echo->record_from_ns < echo->record_length_ns)
            histogram_record(echo->histogram, now_ns() - echo->sent_ns);
        /* The next connection. */
        line = line + 1 == echo->client.lines + echo->options.connections ? echo->client.lines : line + 1;
    }
    atomic_store_explicit(&echo->answers, atomic_load_explicit(&echo->answers, memory_order_relaxed) + 1,
        memory_order_release);
    if (!atomic_load_explicit(&echo->stop, memory_order_relaxed))
        send_from_client(echo, line);
    else if (--echo->in_flight == 0)
        atomic_store_explicit(&echo->at_rest, true, memory_order_release);
}

static void handle(struct echo_end *end, struct echo_line *line, const struct ibv_wc *wc)
{
    if (wc->status != IBV_WC_SUCCESS) {
        fail(end->echo);
    } else if ((wc->opcode & IBV_WC_RECV) != 0) {
        const uint32_t buffer = (uint32_t)wc->wr_id;

        if (end->is_client) {
            on_answer(end->echo, line);
        } else {
            memcpy(end->memory + send_offset(end->echo, line), end->memory + receive_offset(end->echo, line, buffer),
                end->echo->options.size);
            post_send(end, line);
        }
        /* Later than the send: not all receives have a message in flight. */
        post_receive(end, line, buffer);
    }
}

static int poll_line(struct echo_end *end, struct echo_line *line)
{
    struct ibv_wc wc[BATCH];
    int count = 0;
    const int result = rpma_cq_get_wc(line->cq, BATCH, wc, &count);

    if (result == RPMA_E_NO_COMPLETION)
        return 0;
    if (result != 0) {
        fail(end->echo);
        return 0;
    }
    for (int i = 0; i < count; i++)
        handle(end, line, &wc[i]);
    return count;
}

/* Sends the first messages of a turn. */
static void begin(struct baseline_echo *echo)
{
    const uint32_t connections = echo->ping_pong ? 1 : echo->options.connections;
    const uint32_t messages = echo->ping_pong ? 1 : echo->options.in_flight;

    echo->in_flight = connections * messages;
    for (uint32_t i = 0; i < connections; i++) {
        for (uint32_t j = 0; j < messages; j++)
            send_from_client(echo, &echo->client.lines[i]);
    }
}

static bool await_turn(struct baseline_echo *echo)
{
    uint32_t state;

    (void)pthread_mutex_lock(&echo->mutex);
    while ((state = atomic_load(&echo->state)) == PARKED)
        (void)pthread_cond_wait(&echo->resumed, &echo->mutex);
    (void)pthread_mutex_unlock(&echo->mutex);
    return state == RUNNING;
}

static void *run(void *argument)
{
    struct echo_end *end = argument;
    struct baseline_echo *echo = end->echo;
    uint32_t turn = 0;

    for (;;) {
        int polled = 0;

        if (atomic_load_explicit(&echo->state, memory_order_acquire) != RUNNING && !await_turn(echo))
            return NULL;
        if (end->is_client) {
            const uint32_t present = atomic_load_explicit(&echo->turn, memory_order_acquire);

            if (present != turn) {
                turn = present;
                begin(echo);
            }
        }
        for (uint32_t i = 0; i < echo->options.connections; i++)
            polled += poll_line(end, &end->lines[i]);
        if (polled == 0)
            relax(echo->options.wait);
    }
}

static void set_state(struct baseline_echo *echo, uint32_t state)
{
    (void)pthread_mutex_lock(&echo->mutex);
    atomic_store(&echo->state, state);
    (void)pthread_cond_broadcast(&echo->resumed);
    (void)pthread_mutex_unlock(&echo->mutex);
}

static int allocate(struct baseline_echo *echo, struct echo_end *end, bool is_client)
{
    end->echo = echo;
    end->is_client = is_client;
    end->lines = calloc(echo->options.connections, sizeof(*end->lines));
    end->memory = mmap(NULL, echo->memory_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (end->memory == MAP_FAILED)
        end->memory = NULL;
    if (end->lines == NULL || end->memory == NULL)
        return -1;
    for (uint32_t i = 0; i < echo->options.connections; i++)
        end->lines[i].first = i * 2 * (size_t)echo->options.window * echo->stride;
    return rpma_mr_reg(echo->peer, end->memory, echo->memory_bytes, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
        &end->region);
}

static int connect_end(struct echo_end *end, struct echo_line *line, struct rpma_conn_req *request)
{
    const struct baseline_echo *echo = end->echo;

    for (uint32_t i = 0; i < echo->options.window; i++) {
        if (rpma_conn_req_recv(request, end->region, receive_offset(echo, line, i), echo->stride, in_context(i)) != 0) {
            (void)rpma_conn_req_delete(&request);
            return -1;
        }
    }
    if (rpma_conn_req_connect(&request, NULL, &line->conn) != 0) {
        (void)rpma_conn_req_delete(&request);
        return -1;
    }
    return 0;
}

static int await_established(struct echo_line *line)
{
    enum rpma_conn_event event;

    if (rpma_conn_next_event(line->conn, &event) != 0 || event != RPMA_CONN_ESTABLISHED)
        return -1;
    return rpma_conn_get_cq(line->conn, &line->cq);
}

static int connect_line(struct baseline_echo *echo, struct rpma_ep *endpoint, const char *address, const char *port,
    const struct rpma_conn_cfg *config, uint32_t i)
{
    struct rpma_conn_req *request;

    if (rpma_conn_req_new(echo->peer, address, port, config, &request) != 0 ||
        connect_end(&echo->client, &echo->client.lines[i], request) != 0)
        return -1;
    if (rpma_ep_next_conn_req(endpoint, config, &request) != 0 ||
        connect_end(&echo->server, &echo->server.lines[i], request) != 0)
        return -1;
    return await_established(&echo->client.lines[i]) != 0 || await_established(&echo->server.lines[i]) != 0 ? -1 : 0;
}

/* The send queue also has room for sends with completions that have not been polled yet. */
static int connect_all(struct baseline_echo *echo, const char *address, const char *port)
{
    const uint32_t sends = BASELINE_ECHO_SENDS_PER_WINDOW * echo->options.window;
    struct rpma_conn_cfg *config;
    struct rpma_ep *endpoint;
    int result = -1;

    if (rpma_conn_cfg_new(&config) != 0)
        return -1;
    if (rpma_conn_cfg_set_cq_size(config, sends + echo->options.window) != 0 ||
        rpma_conn_cfg_set_sq_size(config, sends) != 0 ||
        rpma_conn_cfg_set_rq_size(config, echo->options.window) != 0 ||
        rpma_ep_listen(echo->peer, address, port, &endpoint) != 0)
        goto delete_config;
    result = 0;
    for (uint32_t i = 0; i < echo->options.connections && result == 0; i++)
        result = connect_line(echo, endpoint, address, port, config, i);
    (void)rpma_ep_shutdown(&endpoint);
delete_config:
    (void)rpma_conn_cfg_delete(&config);
    return result;
}

static int start_end(struct echo_end *end, const char *name, int32_t cpu)
{
    const int error = start_thread(&end->thread, name, cpu, run, end);

    end->has_thread = error == 0;
    return error;
}

struct baseline_echo *baseline_echo_open(const char *address, const char *port,
    const struct baseline_echo_options *options)
{
    struct baseline_echo *echo;
    struct ibv_context *device;

    if (options->connections == 0 || options->in_flight == 0 || options->window <= options->in_flight ||
        options->size == 0 || options->size > BASELINE_ECHO_MAX_BYTES) {
        errno = EINVAL;
        return NULL;
    }
    echo = aligned_alloc(alignof(struct baseline_echo), sizeof(*echo));
    if (echo == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(echo, 0, sizeof(*echo));
    (void)pthread_mutex_init(&echo->mutex, NULL);
    (void)pthread_cond_init(&echo->resumed, NULL);
    echo->options = *options;
    echo->stride = (options->size + STRIDE_ALIGNMENT - 1) / STRIDE_ALIGNMENT * STRIDE_ALIGNMENT;
    echo->memory_bytes = 2 * (size_t)options->window * options->connections * echo->stride;
    echo->signal_interval = options->window / 2 == 0 ? 1 : options->window / 2;
    if (rpma_utils_get_ibv_context(address, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device) == 0 &&
        rpma_peer_new(device, &echo->peer) == 0 && allocate(echo, &echo->client, true) == 0 &&
        allocate(echo, &echo->server, false) == 0 && connect_all(echo, address, port) == 0 &&
        start_end(&echo->server, "bench-c-server", options->server_cpu) == 0 &&
        start_end(&echo->client, "bench-c-client", options->client_cpu) == 0)
        return echo;
    baseline_echo_close(echo);
    errno = EIO;
    return NULL;
}

void baseline_echo_start(struct baseline_echo *echo, uint32_t ping_pong, uint64_t record_from_ns,
    uint64_t record_until_ns)
{
    memset(echo->histogram, 0, sizeof(echo->histogram));
    echo->ping_pong = ping_pong != 0;
    echo->record_from_ns = record_from_ns;
    echo->record_length_ns = record_until_ns - record_from_ns;
    atomic_store(&echo->stop, false);
    atomic_store(&echo->at_rest, false);
    atomic_fetch_add(&echo->turn, 1);
    set_state(echo, RUNNING);
}

uint64_t baseline_echo_answers(struct baseline_echo *echo)
{
    return atomic_load_explicit(&echo->answers, memory_order_acquire);
}

int baseline_echo_stop(struct baseline_echo *echo)
{
    int tries = 0;

    atomic_store(&echo->stop, true);
    while (!atomic_load(&echo->at_rest) && !atomic_load(&echo->failed) && tries++ < REST_TRIES)
        (void)usleep(REST_US);
    set_state(echo, PARKED);
    if (atomic_load(&echo->at_rest) && !atomic_load(&echo->failed))
        return 0;
    errno = atomic_load(&echo->failed) ? EIO : ETIMEDOUT;
    return -1;
}

const uint64_t *baseline_echo_histogram(const struct baseline_echo *echo)
{
    return echo->histogram;
}

/* Each call accepts NULL for parts that were not created. */
static void close_end(struct echo_end *end)
{
    for (uint32_t i = 0; end->lines != NULL && i < end->echo->options.connections; i++) {
        if (end->lines[i].conn != NULL) {
            (void)rpma_conn_disconnect(end->lines[i].conn);
            (void)rpma_conn_delete(&end->lines[i].conn);
        }
    }
    free(end->lines);
    if (end->region != NULL)
        (void)rpma_mr_dereg(&end->region);
    if (end->memory != NULL)
        (void)munmap(end->memory, end->echo->memory_bytes);
}

void baseline_echo_close(struct baseline_echo *echo)
{
    set_state(echo, ENDING);
    if (echo->client.has_thread)
        (void)pthread_join(echo->client.thread, NULL);
    if (echo->server.has_thread)
        (void)pthread_join(echo->server.thread, NULL);
    close_end(&echo->client);
    close_end(&echo->server);
    if (echo->peer != NULL)
        (void)rpma_peer_delete(&echo->peer);
    (void)pthread_cond_destroy(&echo->resumed);
    (void)pthread_mutex_destroy(&echo->mutex);
    free(echo);
}
