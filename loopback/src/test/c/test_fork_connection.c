/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fork_connection.c: children of forks and the connection manager: time-outs of the parent's connections, its ports, and the
 * descriptors of the device.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "id_pair.h"
#include "process_end.h"
#include "ringpoll_loopback.h"
#include "test.h"

/* The limit of a child, which then ends by a signal. */
#define CHILD_S 20

/* The child has a time limit. */
static pid_t fork_child(void)
{
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0)
        alarm(CHILD_S);
    return child;
}

/* Ends the child; in the parent, waits for that. */
static void end_child(pid_t child)
{
    int status;

    if (child == 0)
        _exit(0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static int await_event(const struct id_pair *pair, const struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event;
    bool found = false;
    int status = 0;

    while (!found) {
        CHECK_EQ(rdma_get_cm_event(pair->channel, &event), 0);
        found = event->id == id && event->event == type;
        status = event->status;
        CHECK_EQ(rdma_ack_cm_event(event), 0);
    }
    return status;
}

/* The peer does not answer. The timer is the parent's, and has a reference to its id. */
static void should_time_out_a_disconnection_in_the_child_of_a_fork(void)
{
    const int64_t before = ringpoll_loopback_live(RINGPOLL_LOOPBACK_CM_ID);
    struct id_pair pair;

    id_pair_open(&pair, 7);
    CHECK_EQ(rdma_disconnect(pair.active), 0);
    const pid_t child = fork_child();
    CHECK_EQ(await_event(&pair, pair.active, RDMA_CM_EVENT_DISCONNECTED), -ETIMEDOUT);
    CHECK_EQ(await_event(&pair, pair.active, RDMA_CM_EVENT_TIMEWAIT_EXIT), 0);
    id_pair_close(&pair);
    CHECK_EQ(ringpoll_loopback_live(RINGPOLL_LOOPBACK_CM_ID), before);
    end_child(child);
}

/* It destroys the id before the time is over. */
static void should_free_an_id_in_the_child_of_a_fork_during_a_time_out(void)
{
    const int64_t before = ringpoll_loopback_live(RINGPOLL_LOOPBACK_CM_ID);
    struct id_pair pair;

    id_pair_open(&pair, 7);
    CHECK_EQ(rdma_disconnect(pair.active), 0);
    const pid_t child = fork_child();
    id_pair_close(&pair);
    CHECK_EQ(ringpoll_loopback_live(RINGPOLL_LOOPBACK_CM_ID), before);
    end_child(child);
}

/* Returns 0 or the errno value; the port is released again. */
static int try_to_bind(int port)
{
    struct sockaddr_in address = address_of(port);
    struct rdma_cm_id *id;

    CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    const int error = rdma_bind_addr(id, (struct sockaddr *)&address) ? errno : 0;
    CHECK_EQ(rdma_destroy_id(id), 0);
    return error;
}

/* A parent and the child of its fork, which do their steps in turns. */
struct turns {
    int fds[2]; /* a socket for each of them */
};

static void pass(int fd)
{
    CHECK_EQ(write(fd, "x", 1), 1);
}

static void await(int fd)
{
    char passed;

    CHECK_EQ(read(fd, &passed, 1), 1);
}

/* Returns whether this is the child, with its socket in *fd. */
static bool fork_in_turns(struct turns *turns, pid_t *child, int *fd)
{
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, turns->fds), 0);
    *child = fork_child();
    const bool is_child = *child == 0;
    CHECK_EQ(close(turns->fds[is_child ? 0 : 1]), 0);
    *fd = turns->fds[is_child ? 1 : 0];
    return is_child;
}

static void await_end(pid_t child, int fd)
{
    end_child(child);
    CHECK_EQ(close(fd), 0);
}

/* Port 0: any. */
static struct rdma_cm_id *bind_id(int port)
{
    struct sockaddr_in address = address_of(port);
    struct rdma_cm_id *id;
    int reuse = 1;

    CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse)), 0);
    CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
    return id;
}

static void should_listen_in_the_child_of_a_fork_at_a_port_that_the_parent_has_released(void)
{
    struct rdma_cm_id *id = bind_id(0);
    const int port = ntohs(rdma_get_src_port(id));
    struct turns turns;
    pid_t child;
    int fd;

    if (fork_in_turns(&turns, &child, &fd)) {
        CHECK_EQ(rdma_listen(id, 1), -1);
        CHECK_EQ(errno, EADDRINUSE);
        pass(fd);
        await(fd);
        CHECK_EQ(rdma_listen(id, 1), 0);
        pass(fd);
        await(fd);
        CHECK_EQ(rdma_destroy_id(id), 0);
        _exit(0);
    }
    await(fd);
    CHECK_EQ(rdma_destroy_id(id), 0);
    pass(fd);
    await(fd);
    CHECK_EQ(try_to_bind(port), EADDRINUSE);
    pass(fd);
    await_end(child, fd);
    CHECK_EQ(try_to_bind(port), 0);
}

/* The child listens with an id of its own. */
static void should_keep_the_port_of_a_child_that_destroys_the_id_of_its_parent(void)
{
    struct rdma_cm_id *id = bind_id(0);
    const int port = ntohs(rdma_get_src_port(id));
    struct turns turns;
    pid_t child;
    int fd;

    CHECK_EQ(rdma_listen(id, 1), 0);
    if (fork_in_turns(&turns, &child, &fd)) {
        await(fd);
        struct rdma_cm_id *own = bind_id(port);
        CHECK_EQ(rdma_listen(own, 1), 0);
        CHECK_EQ(rdma_destroy_id(id), 0);
        pass(fd);
        await(fd);
        CHECK_EQ(rdma_destroy_id(own), 0);
        _exit(0);
    }
    CHECK_EQ(rdma_destroy_id(id), 0);
    pass(fd);
    await(fd);
    CHECK_EQ(try_to_bind(port), EADDRINUSE);
    pass(fd);
    await_end(child, fd);
}

/* More than this process has. */
#define FILES 256

static void connect_without_the_descriptors_of_the_parent(void)
{
    static int files[FILES];
    struct id_pair pair;

    CHECK_EQ(close_range(3, ~0u, 0), 0);
    for (int i = 0; i < FILES; i++) {
        files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        CHECK(files[i] >= 0);
    }
    id_pair_open(&pair, 7);
    id_pair_close(&pair);
    for (int i = 0; i < FILES; i++) {
        struct stat file;

        CHECK_EQ(fstat(files[i], &file), 0);
        CHECK(S_ISCHR(file.st_mode));
    }
}

/* As a daemon does: the numbers of the descriptors that the device had in the parent are those of the child's own files. */
static void should_leave_the_files_alone_of_a_child_that_has_closed_all_descriptors(void)
{
    struct id_pair pair;

    id_pair_open(&pair, 7);
    const pid_t child = fork_child();
    if (child == 0)
        connect_without_the_descriptors_of_the_parent();
    end_child(child);
    id_pair_close(&pair);
}

const struct test fork_connection_tests[] = {
    {"the child of a fork times out a disconnection", should_time_out_a_disconnection_in_the_child_of_a_fork},
    {"the child of a fork frees an id during a time-out", should_free_an_id_in_the_child_of_a_fork_during_a_time_out},
    {"the child of a fork listens at a port that its parent has released",
        should_listen_in_the_child_of_a_fork_at_a_port_that_the_parent_has_released},
    {"the child of a fork keeps a port that an id of its parent has had",
        should_keep_the_port_of_a_child_that_destroys_the_id_of_its_parent},
    {"the child of a fork that has closed all descriptors uses its own files",
        should_leave_the_files_alone_of_a_child_that_has_closed_all_descriptors},
    {NULL, NULL},
};
