/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c: pairs of processes over two cache lines or TCP, and a copy in memory. */
#include "ends.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_SECONDS 30
#define SEQUENCE (END_WORDS - 1)

/* A message in each direction; the CPU prefetches pairs of lines, so they are 128 bytes apart. */
struct end_lines {
    alignas(128) _Atomic uint64_t to_server[END_WORDS];
    alignas(128) _Atomic uint64_t to_client[END_WORDS];
};

END_INLINE int send_line(struct baseline_end *end)
{
    _Atomic uint64_t *line = end->is_client ? end->lines->to_server : end->lines->to_client;

    for (size_t i = 0; i < SEQUENCE; i++)
        atomic_store_explicit(&line[i], end->message[i], memory_order_relaxed);
    atomic_store_explicit(&line[SEQUENCE], end->sequence, memory_order_release);
    /* The client's next message is the answer to this one; the server has used up the number. */
    end->sequence += !end->is_client;
    return 0;
}

END_INLINE int receive_line(struct baseline_end *end)
{
    _Atomic uint64_t *line = end->is_client ? end->lines->to_client : end->lines->to_server;

    if (atomic_load_explicit(&line[SEQUENCE], memory_order_acquire) != end->sequence)
        return 0;
    for (size_t i = 0; i < SEQUENCE; i++)
        end->message[i] = atomic_load_explicit(&line[i], memory_order_relaxed);
    end->sequence += end->is_client;
    return 1;
}

END_INLINE int send_tcp(struct baseline_end *end)
{
    const ssize_t sent = send(end->connection, end->message, sizeof(end->message), MSG_NOSIGNAL);

    if (sent == (ssize_t)sizeof(end->message))
        return 0;
    errno = EIO;
    return -1;
}

END_INLINE int receive_tcp(struct baseline_end *end)
{
    const ssize_t got = recv(end->connection, (char *)end->message + end->received, sizeof(end->message) - end->received,
        MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (got == 0) {
        errno = ECONNRESET;
        return -1;
    }
    end->received += (size_t)got;
    if (end->received < sizeof(end->message))
        return 0;
    end->received = 0;
    return 1;
}

/* The file is removed by the caller when both ends have it. */
static int map_lines(struct baseline_end *end, const char *path)
{
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *lines = MAP_FAILED;

    if (file < 0)
        return -1;
    if (ftruncate(file, sizeof(*end->lines)) == 0)
        lines = mmap(NULL, sizeof(*end->lines), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    (void)close(file);
    if (lines == MAP_FAILED)
        return -1;
    end->lines = lines;
    end->sequence = 1;
    return 0;
}

static int new_socket(const char *host, uint32_t port, struct sockaddr_in *address)
{
    memset(address, 0, sizeof(*address));
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)port);
    if (inet_pton(AF_INET, host, &address->sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int without_delay(int connection)
{
    const int on = 1;

    return setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int listen_tcp(struct baseline_end *end, const char *host)
{
    const struct timeval limit = {.tv_sec = ACCEPT_SECONDS};
    struct sockaddr_in address;
    socklen_t length = sizeof(address);

    end->listener = new_socket(host, 0, &address);
    if (end->listener < 0 || bind(end->listener, (struct sockaddr *)&address, length) != 0 || listen(end->listener, 1) != 0 ||
        setsockopt(end->listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
        getsockname(end->listener, (struct sockaddr *)&address, &length) != 0)
        return -1;
    end->port = ntohs(address.sin_port);
    return 0;
}

static int accept_tcp(struct baseline_end *end)
{
    end->connection = accept4(end->listener, NULL, NULL, SOCK_CLOEXEC);
    return end->connection < 0 ? -1 : without_delay(end->connection);
}

static int connect_tcp(struct baseline_end *end, const char *host)
{
    struct sockaddr_in address;

    end->connection = new_socket(host, end->port, &address);
    if (end->connection < 0 || connect(end->connection, (struct sockaddr *)&address, sizeof(address)) != 0)
        return -1;
    return without_delay(end->connection);
}

static struct baseline_end *new_end(uint32_t medium, uint32_t port, uint32_t wait, bool is_client)
{
    struct baseline_end *end = calloc(1, sizeof(*end));

    if (end == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    end->medium = medium;
    end->wait = wait;
    end->port = port;
    end->is_client = is_client;
    end->listener = -1;
    end->connection = -1;
    return end;
}

/* Closes an end that cannot be opened. */
static struct baseline_end *opened(struct baseline_end *end, int result)
{
    const int error = errno;

    if (result == 0)
        return end;
    baseline_end_close(end);
    errno = error;
    return NULL;
}

struct baseline_end *baseline_end_listen(uint32_t medium, const char *place, uint32_t port, uint32_t wait)
{
    struct baseline_end *end = new_end(medium, port, wait, false);

    if (end == NULL)
        return NULL;
    switch (medium) {
    case BASELINE_LINES:
        return opened(end, map_lines(end, place));
    case BASELINE_TCP:
        return opened(end, listen_tcp(end, place));
    default:
        return opened(end, end_device_listen(end, place));
    }
}

uint32_t baseline_end_port(const struct baseline_end *end)
{
    return end->port;
}

int baseline_end_accept(struct baseline_end *end)
{
    switch (end->medium) {
    case BASELINE_LINES:
        return 0;
    case BASELINE_TCP:
        return accept_tcp(end);
    default:
        return end_device_accept(end);
    }
}

struct baseline_end *baseline_end_connect(uint32_t medium, const char *place, uint32_t port, uint32_t wait)
{
    struct baseline_end *end = new_end(medium, port, wait, true);

    if (end == NULL)
        return NULL;
    switch (medium) {
    case BASELINE_LINES:
        return opened(end, map_lines(end, place));
    case BASELINE_TCP:
        return opened(end, connect_tcp(end, place));
    default:
        return opened(end, end_device_connect(end, place));
    }
}

int baseline_end_ping(struct baseline_end *end, uint64_t from_ns, uint64_t until_ns, uint64_t *histogram)
{
    switch (end->medium) {
    case BASELINE_LINES:
        return end_ping(end, send_line, receive_line, from_ns, until_ns, histogram);
    case BASELINE_TCP:
        return end_ping(end, send_tcp, receive_tcp, from_ns, until_ns, histogram);
    default:
        return end_device_ping(end, from_ns, until_ns, histogram);
    }
}

int baseline_end_answer(struct baseline_end *end, uint64_t until_ns)
{
    switch (end->medium) {
    case BASELINE_LINES:
        return end_answer(end, send_line, receive_line, until_ns);
    case BASELINE_TCP:
        return end_answer(end, send_tcp, receive_tcp, until_ns);
    default:
        return end_device_answer(end, until_ns);
    }
}

void baseline_end_close(struct baseline_end *end)
{
    end_device_close(end);
    if (end->lines != NULL)
        (void)munmap(end->lines, sizeof(*end->lines));
    if (end->connection >= 0)
        (void)close(end->connection);
    if (end->listener >= 0)
        (void)close(end->listener);
    free(end);
}

int baseline_copies(uint32_t size, uint32_t slots, uint64_t from_ns, uint64_t until_ns, struct baseline_transfers *transfers)
{
    const size_t bytes = (size_t)size * slots;
    char *memory = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    uint64_t count = 0;
    uint64_t begin_ns = 0;
    uint64_t now = 0;

    if (memory == MAP_FAILED)
        return -1;
    for (uint64_t copied = 0; now < until_ns; copied++) {
        const size_t offset = (copied % slots) * size;

        memcpy(memory + bytes + offset, memory + offset, size);
        __asm__ volatile("" : : "r"(memory) : "memory");
        now = now_ns();
        if (begin_ns != 0)
            count++;
        else if (now >= from_ns)
            begin_ns = now;
    }
    transfers->count = count;
    transfers->elapsed_ns = now - begin_ns;
    (void)munmap(memory, 2 * bytes);
    return 0;
}
