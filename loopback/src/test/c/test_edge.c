/* SPDX-License-Identifier: Apache-2.0 */
/* test_edge.c: the connection manager without memory or folder, with others' files in the folder, and events in unusual order. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process_end.h"

#define PATIENCE_MS 30000

/* Two ids on a channel, up to the request of the one at the other's listener. */
struct ids {
    struct rdma_event_channel *channel;
    struct rdma_cm_id *listener;
    struct rdma_cm_id *active;
    struct rdma_cm_id *passive;
};

static struct rdma_conn_param parameters = {.retry_count = 7, .rnr_retry_count = 7};

static enum rdma_cm_event_type next(struct ids *ids, struct rdma_cm_id **id)
{
    struct rdma_cm_event *event;

    CHECK(readable(ids->channel->fd, PATIENCE_MS));
    CHECK_EQ(rdma_get_cm_event(ids->channel, &event), 0);
    const enum rdma_cm_event_type type = event->event;
    if (id != NULL)
        *id = event->id;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return type;
}

static void create_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };

    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
}

static void open_ids(struct ids *ids)
{
    struct sockaddr_in address = address_of(0);

    ids->channel = rdma_create_event_channel();
    CHECK(ids->channel != NULL);
    CHECK_EQ(rdma_create_id(ids->channel, &ids->listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(ids->listener, (struct sockaddr *)&address), 0);
    CHECK_EQ(rdma_listen(ids->listener, 1), 0);
    CHECK_EQ(rdma_create_id(ids->channel, &ids->active, NULL, RDMA_PS_TCP), 0);
}

static void resolve(struct ids *ids)
{
    struct sockaddr_in address = address_of(ntohs(rdma_get_src_port(ids->listener)));

    CHECK_EQ(rdma_resolve_addr(ids->active, NULL, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(next(ids, NULL), RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK_EQ(rdma_resolve_route(ids->active, 1000), 0);
    CHECK_EQ(next(ids, NULL), RDMA_CM_EVENT_ROUTE_RESOLVED);
    create_qp(ids->active);
}

static void request(struct ids *ids)
{
    resolve(ids);
    CHECK_EQ(rdma_connect(ids->active, &parameters), 0);
    CHECK_EQ(next(ids, &ids->passive), RDMA_CM_EVENT_CONNECT_REQUEST);
    create_qp(ids->passive);
}

static void close_ids(struct ids *ids)
{
    rdma_destroy_qp(ids->active);
    rdma_destroy_qp(ids->passive);
    CHECK_EQ(rdma_destroy_id(ids->active), 0);
    CHECK_EQ(rdma_destroy_id(ids->passive), 0);
    CHECK_EQ(rdma_destroy_id(ids->listener), 0);
    rdma_destroy_event_channel(ids->channel);
}

/* Established by rdma_notify and disconnected again, before the active side has fetched the reply. */
static void should_disconnect_before_the_other_side_is_ready(void)
{
    struct ids ids;
    struct rdma_cm_id *id;
    struct rdma_cm_event *event;

    open_ids(&ids);
    request(&ids);
    struct rdma_event_channel *apart = rdma_create_event_channel();
    CHECK(apart != NULL);
    CHECK_EQ(rdma_migrate_id(ids.passive, apart), 0);
    CHECK_EQ(rdma_accept(ids.passive, &parameters), 0);
    CHECK_EQ(rdma_notify(ids.passive, IBV_EVENT_COMM_EST), 0);
    CHECK_EQ(rdma_disconnect(ids.passive), 0);
    CHECK_EQ(next(&ids, &id), RDMA_CM_EVENT_ESTABLISHED);
    CHECK(id == ids.active);
    CHECK_EQ(next(&ids, &id), RDMA_CM_EVENT_DISCONNECTED);
    CHECK(id == ids.active);
    CHECK_EQ(rdma_disconnect(ids.active), 0);
    /* Once each. */
    for (int i = 0; i < 3; i++) {
        static const enum rdma_cm_event_type expected[] = {
            RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT,
        };

        CHECK(readable(apart->fd, PATIENCE_MS));
        CHECK_EQ(rdma_get_cm_event(apart, &event), 0);
        CHECK_EQ(event->event, expected[i]);
        CHECK_EQ(rdma_ack_cm_event(event), 0);
    }
    close_ids(&ids);
    rdma_destroy_event_channel(apart);
}

/* As by the kernel, although the passive side is established: its peer was not. */
static void should_reject_when_an_end_leaves_before_it_has_fetched_the_reply(void)
{
    static const enum rdma_cm_event_type expected[] = {RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_REJECTED};
    struct rdma_cm_event *event;
    struct ids ids;

    open_ids(&ids);
    request(&ids);
    struct rdma_event_channel *apart = rdma_create_event_channel();
    CHECK(apart != NULL);
    CHECK_EQ(rdma_migrate_id(ids.passive, apart), 0);
    CHECK_EQ(rdma_accept(ids.passive, &parameters), 0);
    CHECK_EQ(rdma_notify(ids.passive, IBV_EVENT_COMM_EST), 0);
    CHECK(readable(ids.channel->fd, PATIENCE_MS));
    rdma_destroy_qp(ids.active);
    CHECK_EQ(rdma_destroy_id(ids.active), 0);
    for (int i = 0; i < 2; i++) {
        CHECK(readable(apart->fd, PATIENCE_MS));
        CHECK_EQ(rdma_get_cm_event(apart, &event), 0);
        CHECK_EQ(event->event, expected[i]);
        CHECK_EQ(rdma_ack_cm_event(event), 0);
    }
    rdma_destroy_qp(ids.passive);
    CHECK_EQ(rdma_destroy_id(ids.passive), 0);
    CHECK_EQ(rdma_destroy_id(ids.listener), 0);
    rdma_destroy_event_channel(ids.channel);
    rdma_destroy_event_channel(apart);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which need memory themselves */
#define STACK (256u * 1024)

struct block {
    struct block *next;
};

static struct rlimit memory;

/* A stack that needs to grow would have no memory, either. */
__attribute__((noinline))
static void touch_stack(void)
{
    volatile char touched[STACK];

    for (size_t i = 0; i < STACK; i += 4096)
        touched[i] = 1;
    (void)touched;
}

static struct block *take_all_memory(void)
{
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = memory.rlim_max};
    struct block *taken = NULL;
    struct block *block;

    touch_stack();
    CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
    for (size_t size = 1u << 20; size >= sizeof(*block); size = size > 8192 ? size / 2 : size - 8) {
        while ((block = malloc(size)) != NULL) {
            block->next = taken;
            taken = block;
        }
    }
    return taken;
}

static void give_memory_back(struct block *taken)
{
    CHECK_EQ(setrlimit(RLIMIT_AS, &memory), 0);
    while (taken != NULL) {
        struct block *block = taken;

        taken = block->next;
        free(block);
    }
}

/* In a process of its own. */
static void connect_without_memory(void)
{
    struct ids ids;
    struct rdma_cm_id *synchronous;
    struct rdma_cm_id *id;

    CHECK_EQ(mallopt(M_ARENA_MAX, 1), 1);
    CHECK_EQ(getrlimit(RLIMIT_AS, &memory), 0);
    open_ids(&ids);
    struct sockaddr_in address = address_of(ntohs(rdma_get_src_port(ids.listener)));
    CHECK_EQ(rdma_create_id(NULL, &synchronous, NULL, RDMA_PS_TCP), 0);
    struct block *taken = take_all_memory();
    const int resolved = rdma_resolve_addr(synchronous, NULL, (struct sockaddr *)&address, 1000);
    const int error = errno;
    give_memory_back(taken);
    CHECK_EQ(resolved, -1);
    CHECK_EQ(error, ENOMEM);
    CHECK_EQ(rdma_resolve_addr(synchronous, NULL, (struct sockaddr *)&address, 1000), 0);
    CHECK_EQ(rdma_destroy_id(synchronous), 0);

    request(&ids);
    taken = take_all_memory();
    CHECK_EQ(rdma_accept(ids.passive, &parameters), 0);
    CHECK_EQ(next(&ids, NULL), RDMA_CM_EVENT_ESTABLISHED);
    CHECK_EQ(next(&ids, NULL), RDMA_CM_EVENT_ESTABLISHED);
    CHECK_EQ(rdma_disconnect(ids.active), 0);
    CHECK_EQ(next(&ids, &id), RDMA_CM_EVENT_DISCONNECTED);
    CHECK(id == ids.passive);
    CHECK_EQ(rdma_disconnect(ids.passive), 0);
    CHECK_EQ(next(&ids, &id), RDMA_CM_EVENT_DISCONNECTED);
    CHECK(id == ids.active);
    CHECK_EQ(next(&ids, NULL), RDMA_CM_EVENT_TIMEWAIT_EXIT);
    CHECK_EQ(next(&ids, NULL), RDMA_CM_EVENT_TIMEWAIT_EXIT);
    give_memory_back(taken);
    close_ids(&ids);
}

/* In a process of its own. It looks as if there were no listener otherwise. */
static void request_without_memory(void)
{
    struct rlimit files;
    struct ids ids;

    CHECK_EQ(mallopt(M_ARENA_MAX, 1), 1);
    CHECK_EQ(getrlimit(RLIMIT_AS, &memory), 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    const struct rlimit no_files = {.rlim_cur = 0, .rlim_max = files.rlim_max};
    CHECK_EQ(setenv("RINGPOLL_LOOPBACK_ALWAYS_REMOTE", "1", 1), 0);
    open_ids(&ids);
    resolve(&ids);
    /* Reserves the memory of the id's events. */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &no_files), 0);
    CHECK_EQ(rdma_connect(ids.active, &parameters), -1);
    CHECK_EQ(errno, EMFILE);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    struct block *taken = take_all_memory();
    const int connected = rdma_connect(ids.active, &parameters);
    const int error = errno;
    give_memory_back(taken);
    CHECK_EQ(connected, -1);
    CHECK_EQ(error, ENOMEM);
    CHECK_EQ(rdma_connect(ids.active, &parameters), 0);
    CHECK_EQ(next(&ids, &ids.passive), RDMA_CM_EVENT_CONNECT_REQUEST);
    create_qp(ids.passive);
    close_ids(&ids);
}

static void in_a_child(void (*run)(void))
{
    int status;
    const pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        alarm(PATIENCE_S);
        run();
        _exit(0);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static void should_raise_the_events_of_a_connection_without_memory(void)
{
    in_a_child(connect_without_memory);
}

static void should_name_the_limit_when_memory_is_exhausted_in_a_connect(void)
{
    in_a_child(request_without_memory);
}
#endif

/* A file of a port in the tests' own folder, opened; -1: there is none. */
static int open_file(int port, const char *suffix, int flags)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%d%s", getenv("RINGPOLL_LOOPBACK_FOLDER"), port, suffix);
    return open(path, flags | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

static void delete_file(int port, const char *suffix)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%d%s", getenv("RINGPOLL_LOOPBACK_FOLDER"), port, suffix);
    CHECK_EQ(unlink(path), 0);
}

/* Serves one peer. */
static void serve(struct rdma_cm_id *listener, int port)
{
    int status;
    struct end end = {.seed = 1};
    const pid_t peer = start_peer(port, "24", "");

    accept_peer(listener, &end);
    while (!has_ended(&end))
        poll_queues(&end, true);
    settle(&end);
    CHECK_EQ(waitpid(peer, &status, 0), peer);
    CHECK_EQ(status, 0);
    close_end(&end);
}

static void should_create_a_deleted_folder_again(void)
{
    const char *folder = getenv("RINGPOLL_LOOPBACK_FOLDER");
    int port;
    int later_port;

    if (folder == NULL) /* the user's own is not for tests */
        return;
    struct rdma_cm_id *listener = listen_at(&port);
    delete_file(port, "");
    delete_file(port, ".lock");
    CHECK_EQ(rmdir(folder), 0);
    struct rdma_cm_id *later = listen_at(&later_port);
    serve(later, later_port);
    serve(listener, port);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    CHECK_EQ(rdma_destroy_id(later), 0);
    CHECK_EQ(open_file(port, ".lock", O_RDWR), -1);
}

/* Somebody has deleted the lock file of a port, and another process has taken the port since. */
static void should_leave_the_files_of_another_process(void)
{
    int port;

    if (getenv("RINGPOLL_LOOPBACK_FOLDER") == NULL)
        return;
    struct rdma_cm_id *listener = listen_at(&port);
    delete_file(port, "");
    delete_file(port, ".lock");
    const int lock = open_file(port, ".lock", O_RDWR | O_CREAT | O_EXCL);
    CHECK(lock >= 0);
    CHECK_EQ(flock(lock, LOCK_EX | LOCK_NB), 0);
    const int socket = open_file(port, "", O_RDWR | O_CREAT | O_EXCL);
    CHECK(socket >= 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    delete_file(port, "");
    delete_file(port, ".lock");
    (void)close(socket);
    (void)close(lock);
}

struct sweep {
    int port;
    int lock;
};

static void *end_sweep(void *argument)
{
    const struct sweep *sweep = argument;
    const struct timespec moment = {.tv_nsec = 20000000};

    (void)nanosleep(&moment, NULL);
    delete_file(sweep->port, ".lock");
    (void)close(sweep->lock);
    return NULL;
}

/* Another process removes the files that a killed one has left at the port. */
static void should_bind_a_port_that_is_being_removed(void)
{
    struct sweep sweep;
    struct rdma_cm_id *id;
    pthread_t thread;

    if (getenv("RINGPOLL_LOOPBACK_FOLDER") == NULL)
        return;
    struct rdma_cm_id *listener = listen_at(&sweep.port);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    struct sockaddr_in address = address_of(sweep.port);
    sweep.lock = open_file(sweep.port, ".lock", O_RDWR | O_CREAT);
    CHECK(sweep.lock >= 0);
    CHECK_EQ(flock(sweep.lock, LOCK_SH | LOCK_NB), 0);
    CHECK_EQ(pthread_create(&thread, NULL, end_sweep, &sweep), 0);
    CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(rdma_destroy_id(id), 0);
}

/* What a process with this folder prints that connects to this port. */
static void warning_of(int port, const char *folder, char *said, size_t size)
{
    int ends[2];
    int status;
    size_t length = 0;
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", port);
    CHECK_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const int nothing = open("/dev/null", O_WRONLY);

        (void)dup2(nothing, STDOUT_FILENO);
        (void)dup2(ends[1], STDERR_FILENO);
        (void)setenv("RINGPOLL_LOOPBACK_FOLDER", folder, 1);
        execl("/proc/self/exe", "loopback-tests", PROCESS_PEER, text, "24", "", (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    for (ssize_t got = 1; got > 0 && length < size - 1; length += (size_t)got) {
        got = read(ends[0], said + length, size - 1 - length);
        CHECK(got >= 0);
    }
    said[length] = '\0';
    (void)close(ends[0]);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(WEXITSTATUS(status), 1); /* it was rejected */
}

static void should_say_why_other_processes_cannot_be_reached(void)
{
    char folder[] = "/tmp/ringpoll-folder-XXXXXX";
    char missing[64];
    char said[4096];
    int port;

    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(chmod(folder, S_IRWXU | S_IXGRP), 0);
    struct rdma_cm_id *listener = listen_at(&port);
    warning_of(port, folder, said, sizeof(said));
    CHECK(strstr(said, "is open to others") != NULL && strstr(said, folder) != NULL);
    (void)snprintf(missing, sizeof(missing), "%s/a/b", folder);
    warning_of(port, missing, said, sizeof(said));
    CHECK(strstr(said, "cannot be created") != NULL);
    warning_of(port, "relative", said, sizeof(said));
    CHECK(strstr(said, "is not an absolute path") != NULL);
    CHECK_EQ(rmdir(folder), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

/* A daemon has a umask for its files: without the right to enter it, the folder would be of no use to any process. */
static void should_have_all_rights_to_a_folder_that_it_creates(void)
{
    char parent[] = "/tmp/ringpoll-folder-XXXXXX";
    char folder[64];
    struct stat created;
    int status;

    CHECK(mkdtemp(parent) != NULL);
    (void)snprintf(folder, sizeof(folder), "%s/ports", parent);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)umask(S_IXUSR | S_IRWXG | S_IRWXO);
        (void)setenv("RINGPOLL_LOOPBACK_FOLDER", folder, 1);
        execl("/proc/self/exe", "loopback-tests", PROCESS_BINDER, "7471", (char *)NULL);
        _exit(127);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_EQ(stat(folder, &created), 0);
    CHECK_EQ(created.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO), S_IRWXU);
    CHECK_EQ(rmdir(folder), 0);
    CHECK_EQ(rmdir(parent), 0);
}

static void should_refuse_a_shared_receive_queue_of_an_id_without_a_device(void)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};
    struct rdma_cm_id *id;

    CHECK(channel != NULL);
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_create_srq(id, NULL, &attr), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK(id->srq == NULL);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

const struct test edge_tests[] = {
    {"a connection that is ended before the other side is ready has each event once",
        should_disconnect_before_the_other_side_is_ready},
    {"a connection is rejected that the other side leaves before it is ready",
        should_reject_when_an_end_leaves_before_it_has_fetched_the_reply},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    {"a connection has its events without memory", should_raise_the_events_of_a_connection_without_memory},
    {"exhausted memory is named by a connect", should_name_the_limit_when_memory_is_exhausted_in_a_connect},
#endif
    {"a deleted folder of ports is created again", should_create_a_deleted_folder_again},
    {"a port's files of another process are left alone", should_leave_the_files_of_another_process},
    {"a port whose files are being removed can be bound", should_bind_a_port_that_is_being_removed},
    {"a created folder of ports has all rights of its user, with any umask", should_have_all_rights_to_a_folder_that_it_creates},
    {"a process is told why it reaches no other", should_say_why_other_processes_cannot_be_reached},
    {"an id without a device has no shared receive queue", should_refuse_a_shared_receive_queue_of_an_id_without_a_device},
    {NULL, NULL},
};
