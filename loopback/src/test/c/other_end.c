/* SPDX-License-Identifier: Apache-2.0 */
/* other_end.c: see other_end.h. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "other_end.h"
#include "watch.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t is_held;
static sem_t may_go;
static int held_by = -1;

/* Once: the thread may be about to take the last post. */
static void init_semaphores(void)
{
    CHECK_EQ(sem_init(&is_held, 0, 0), 0);
    CHECK_EQ(sem_init(&may_go, 0, 0), 0);
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore))
        CHECK_EQ(errno, EINTR);
}

/* On the watch thread. */
static void stay(uint64_t id)
{
    (void)id;
    CHECK_EQ(sem_post(&is_held), 0);
    wait_for(&may_go);
}

void hold_watch_thread(void)
{
    uint64_t id;

    CHECK_EQ(lb_watch_start(), 0);
    CHECK_EQ(pthread_once(&once, init_semaphores), 0);
    held_by = eventfd(1, EFD_CLOEXEC);
    CHECK(held_by >= 0);
    CHECK_EQ(lb_watch_add(held_by, stay, &id), 0);
    wait_for(&is_held);
}

void let_watch_thread_go(void)
{
    lb_watch_remove(held_by);
    CHECK_EQ(close(held_by), 0);
    CHECK_EQ(sem_post(&may_go), 0);
}

/* Its segment, and the proxy in this process. */
void open_segment(struct other *other, bool with_doorbell)
{
    int sockets[2];
    int doorbell[2] = {-1, -1};

    memset(other, 0, sizeof(*other));
    const int fd = lb_proxy_segment_create(&other->segment);
    CHECK(fd >= 0);
    (void)close(fd);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    other->socket = sockets[1];
    other->to_us = &other->segment->to[0];
    other->to_it = &other->segment->to[1];
    if (with_doorbell)
        CHECK_EQ(lb_proxy_doorbell_open(doorbell), 0);
    other->doorbell = doorbell[1];
    other->our_doorbell = with_doorbell ? dup(doorbell[0]) : -1;
    other->proxy = lb_proxy_create(other->segment, true, sockets[0], doorbell[0]);
    CHECK(other->proxy != NULL);
}

static void open_pair(struct other *other, const struct verbs_options *options)
{
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};

    verbs_pair_open(&other->pair, options);
    CHECK_EQ(ibv_modify_qp(other->pair.qp[0], &reset, IBV_QP_STATE), 0);
    verbs_connect(other->pair.qp[0], other->proxy->qp_num, options);
}

void open_other_with(struct other *other, const struct verbs_options *options)
{
    open_segment(other, false);
    open_pair(other, options);
}

static const struct verbs_options patient = {.rnr_retry = 7, .timeout = 14, .retry_cnt = 7};

void open_other(struct other *other)
{
    open_other_with(other, &patient);
}

void open_other_with_doorbell(struct other *other)
{
    open_segment(other, true);
    open_pair(other, &patient);
}

void close_other(struct other *other)
{
    verbs_pair_close(&other->pair);
    lb_proxy_destroy(other->proxy);
    (void)close(other->socket);
    if (other->doorbell >= 0)
        (void)close(other->doorbell);
    if (other->our_doorbell >= 0)
        (void)close(other->our_doorbell);
}

const struct lb_wire_record *request_at(struct other *other, uint64_t position)
{
    struct lb_wire_record *record = lb_wire_at(&other->to_it->requests, position);

    return atomic_load(lb_wire_size(record)) != 0 ? record : NULL;
}

uint64_t behind(const struct lb_wire_record *record, uint64_t position)
{
    return record->flags & LB_WIRE_LAST ? (position / LB_WIRE_RING + 1) * LB_WIRE_RING : position + record->size;
}

void put(struct lb_wire_ring *ring, uint64_t *position, const struct lb_wire_record *header)
{
    struct lb_wire_record *record = lb_wire_at(ring, *position);

    if (header->size % 64 == 0)
        atomic_store(lb_wire_size(lb_wire_at(ring, behind(header, *position))), 0);
    memcpy((char *)record + sizeof(record->size), (const char *)header + sizeof(record->size),
        sizeof(*header) - sizeof(record->size));
    atomic_store(lb_wire_size(record), header->size);
    *position = behind(header, *position);
}

void send_to_us(struct other *other)
{
    put(&other->to_us->requests, &other->requests_at, &(struct lb_wire_record){
        .size = sizeof(struct lb_wire_record),
        .kind = LB_WIRE_REQUEST,
        .opcode = IBV_WR_SEND,
        .flags = LB_WIRE_AWAITED,
        .number = other->requests_at / sizeof(struct lb_wire_record),
        .rnr_retry = 7,
    });
}

bool is_woken(const struct other *other)
{
    char byte;

    return recv(other->socket, &byte, 1, MSG_DONTWAIT) == 1;
}

bool is_notified(const struct other *other)
{
    char byte;

    return recv(other->doorbell, &byte, 1, MSG_DONTWAIT) == 1;
}
