/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_port.c: ports as a name space of the machine's processes of one user, and the sockets by which they find each other.
 *
 * A private folder has two files for each port in use: PORT.lock, on which its process holds an exclusive lock as long as it
 * lives, and PORT, a Unix socket, if it listens. Both are removed at the end, or, if the process was killed, by the next process
 * that uses the folder, under a shared lock: by it a process that binds the port knows that it is not in use. The folder is
 * $RINGPOLL_LOOPBACK_FOLDER, else $XDG_RUNTIME_DIR/ringpoll-loopback, else /tmp/ringpoll-loopback-UID. It must belong to the user
 * and be closed to others; the kernel tells each end the user of the other. Without such a folder ports are those of the process.
 * A folder that was deleted since is created again by the next operation, with the files of the process's ports.
 *
 * All functions require cm_lock.
 */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cm.h"
#include "watch.h"

#define BACKLOG 1024
/* Milliseconds for which a process that removes the files of a killed one may hold the lock. */
#define SWEEP_PATIENCE 10000

struct port {
    struct port *next;
    uint16_t number;
    int users;
    int lock;
    int socket;  /* -1: does not listen */
    uint64_t watch;
    void (*connected)(int socket);
};

static struct port *ports;
static char *folder_path;
static int folder_fd = -1;
static bool folder_tried;
static int folder_error;  /* why there is none */
static bool has_warned;
static int spare_fd = -1; /* for a moment in which the process has no other descriptor left */

/* Opens the folder for the user alone. Returns a descriptor, or -1 with errno: EPERM, it belongs or is open to others. */
static int open_private(const char *path)
{
    struct stat opened;

    if (path[0] != '/') { /* would be another one for processes that work elsewhere */
        errno = EINVAL;
        return -1;
    }
    const bool is_new = !mkdir(path, S_IRWXU);
    if (!is_new && errno != EEXIST)
        return -1;
    if (is_new)
        (void)chmod(path, S_IRWXU); /* the umask may have taken rights of the user, also that to open it */
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &opened) || opened.st_uid != geteuid() || (opened.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        (void)close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

/* The folder's path, from malloc; NULL without memory. */
static char *choose_folder(void)
{
    const char *chosen = getenv("RINGPOLL_LOOPBACK_FOLDER");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char *path = NULL;
    int length;

    if (chosen != NULL && chosen[0] != '\0')
        return strdup(chosen);
    if (runtime != NULL && runtime[0] == '/')
        length = asprintf(&path, "%s/ringpoll-loopback", runtime);
    else
        length = asprintf(&path, "/tmp/ringpoll-loopback-%u", (unsigned int)geteuid());
    return length < 0 ? NULL : path;
}

static bool is_same(const struct stat *file, const struct stat *other)
{
    return file->st_ino == other->st_ino && file->st_dev == other->st_dev;
}

static void lock_name(uint16_t number, char *name, size_t size)
{
    (void)snprintf(name, size, "%u.lock", (unsigned int)number);
}

static void socket_name(uint16_t number, char *name, size_t size)
{
    (void)snprintf(name, size, "%u", (unsigned int)number);
}

/* Whether the locked file is still the one of this name: it may have been removed before it was locked, or by somebody else. */
static bool is_named(int lock, const char *name)
{
    struct stat locked;
    struct stat named;

    return !fstat(lock, &locked) && !fstatat(folder_fd, name, &named, AT_SYMLINK_NOFOLLOW) && is_same(&locked, &named);
}

/* Takes the lock file of a port. Returns its descriptor, or -1 with errno: EWOULDBLOCK, another process has it. */
static int take_lock(uint16_t number)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    char name[16];

    lock_name(number, name, sizeof(name));
    for (int tries = 0;;) {
        const int fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);

        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB)) {
            const int error = errno;
            const bool is_swept = error == EWOULDBLOCK && tries++ < SWEEP_PATIENCE && !flock(fd, LOCK_SH | LOCK_NB);

            (void)close(fd);
            errno = error;
            if (!is_swept)
                return -1;
            (void)nanosleep(&moment, NULL);
            continue;
        }
        if (is_named(fd, name))
            return fd;
        (void)close(fd);
    }
}

/*
 * Removes the files of a port whose lock is held, and the lock with them. If somebody has deleted the lock file, the files of
 * these names are another process's.
 */
static void remove_files(uint16_t number, int lock)
{
    char name[16];
    char socket[16];

    lock_name(number, name, sizeof(name));
    socket_name(number, socket, sizeof(socket));
    if (is_named(lock, name)) {
        (void)unlinkat(folder_fd, socket, 0);
        (void)unlinkat(folder_fd, name, 0);
    }
    (void)close(lock);
}

/* Removes the files of killed processes, unless another process does so. */
static void sweep(void)
{
    const int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *opened = fd >= 0 ? fdopendir(fd) : NULL;

    if (opened == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    const bool is_alone = !flock(fd, LOCK_EX | LOCK_NB); /* two shared locks would not exclude each other */
    for (const struct dirent *entry = readdir(opened); is_alone && entry != NULL; entry = readdir(opened)) {
        char *end;
        const unsigned long number = strtoul(entry->d_name, &end, 10);

        if (end == entry->d_name || strcmp(end, ".lock") != 0 || number > UINT16_MAX)
            continue;
        const int lock = openat(folder_fd, entry->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (lock >= 0 && !flock(lock, LOCK_SH | LOCK_NB))
            remove_files((uint16_t)number, lock);
        else if (lock >= 0)
            (void)close(lock);
    }
    (void)closedir(opened);
}

static void address_of(uint16_t number, struct sockaddr_un *address)
{
    /* By the folder's descriptor: a path may be too long for a socket address. */
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%u", folder_fd, (unsigned int)number);
}

static void ready(uint64_t watch);

/* Listens at a port whose lock is held, instead of at its former socket if it has one. Returns 0 or an errno value. */
static int open_socket(struct port *port)
{
    struct sockaddr_un address;
    uint64_t watch;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return errno;
    address_of(port->number, &address);
    (void)unlink(address.sun_path); /* of a killed process: the lock is ours */
    const int error = bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG) ? errno :
        lb_watch_add(fd, ready, &watch);
    if (error) {
        (void)close(fd);
        return error;
    }
    if (port->socket >= 0) {
        lb_watch_remove(port->socket);
        (void)close(port->socket);
    }
    port->socket = fd;
    port->watch = watch;
    return 0;
}

/* The ports of the process get files in a new folder, except those that another process has taken there. */
static void publish_ports(void)
{
    for (struct port *port = ports; port != NULL; port = port->next) {
        const int lock = take_lock(port->number);

        if (lock < 0)
            continue;
        (void)close(port->lock);
        port->lock = lock;
        if (port->socket >= 0)
            (void)open_socket(port);
    }
}

/* Whether the path still leads to the opened folder. */
static bool is_current(void)
{
    struct stat opened;
    struct stat named;

    return !fstat(folder_fd, &opened) && !lstat(folder_path, &named) && is_same(&opened, &named);
}

static bool have_folder(void)
{
    if (folder_tried && (folder_fd < 0 || is_current()))
        return folder_fd >= 0;
    if (!folder_tried)
        folder_path = choose_folder();
    folder_tried = true;
    const int fd = folder_path != NULL ? open_private(folder_path) : -1;
    if (fd < 0)
        folder_error = folder_path != NULL ? errno : ENOMEM;
    if (fd >= 0) {
        if (folder_fd >= 0)
            (void)close(folder_fd);
        folder_fd = fd;
        sweep();
        publish_ports();
    }
    return folder_fd >= 0;
}

void cm_port_open(void)
{
    lb_watch_open();
    if (have_folder() && spare_fd < 0)
        spare_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0);
}

static struct port **find(uint16_t number)
{
    struct port **link = &ports;

    while (*link != NULL && (*link)->number != number)
        link = &(*link)->next;
    return link;
}

int cm_port_take(uint16_t number)
{
    struct port *port = *find(number);

    if (!have_folder())
        return 0;
    if (port != NULL) {
        port->users++;
        return 0;
    }
    const int lock = take_lock(number);
    if (lock < 0)
        return errno == EWOULDBLOCK ? EADDRINUSE : errno;
    port = malloc(sizeof(*port));
    if (port == NULL) {
        remove_files(number, lock);
        return ENOMEM;
    }
    *port = (struct port){.next = ports, .number = number, .users = 1, .lock = lock, .socket = -1};
    ports = port;
    return 0;
}

void cm_port_release(uint16_t number)
{
    struct port **link = find(number);
    struct port *port = *link;

    if (port == NULL || --port->users > 0)
        return;
    if (port->socket >= 0) {
        lb_watch_remove(port->socket);
        (void)close(port->socket);
    }
    remove_files(number, port->lock);
    *link = port->next;
    free(port);
}

/* Ends a connection for which there is no descriptor: otherwise it stays ready, and its other end waits. */
static void turn_away(int listening)
{
    if (spare_fd < 0)
        return;
    (void)close(spare_fd);
    const int socket = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0)
        (void)close(socket);
    spare_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0);
}

/* On the watch thread: another process connects. */
static void ready(uint64_t watch)
{
    cm_hold();
    for (struct port *port = ports; port != NULL; port = port->next) {
        if (port->socket >= 0 && port->watch == watch) {
            const int socket = accept4(port->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

            if (socket >= 0)
                port->connected(socket);
            else if (errno == EMFILE || errno == ENFILE)
                turn_away(port->socket);
            break;
        }
    }
    cm_release();
}

int cm_port_listen(uint16_t number, void (*connected)(int socket))
{
    struct port *port = *find(number);

    (void)have_folder();
    if (port == NULL || port->socket >= 0)
        return 0; /* no folder; or the process listens at this port of another address already */
    const int error = lb_watch_start();
    port->connected = connected;
    return error ? error : open_socket(port);
}

/* A program whose listener is in another process gets a rejection; this prints the reason, once in a process. */
static void warn(uint16_t number)
{
    if (has_warned)
        return;
    has_warned = true;
    (void)fprintf(stderr, "librdmacm: Warning: no listener at port %u of this process, and other processes cannot be reached: "
        "the folder of ports '%s' %s\n", (unsigned int)number, folder_path != NULL ? folder_path : "",
        folder_error == EPERM ? "belongs to another user or is open to others: it needs mode 0700" :
        folder_error == EINVAL ? "(RINGPOLL_LOOPBACK_FOLDER) is not an absolute path" :
        "(RINGPOLL_LOOPBACK_FOLDER, else in XDG_RUNTIME_DIR, else in /tmp) cannot be created or opened");
}

int cm_port_connect(uint16_t number)
{
    struct sockaddr_un address;

    if (!have_folder()) {
        warn(number);
        return cm_fail(ENOENT);
    }
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    address_of(number, &address);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
        const int error = errno;

        (void)close(fd);
        return cm_fail(error);
    }
    return fd;
}

/* The child opens the folder anew: it may close all its descriptors, and use the numbers for others, before it uses the device. */
static void forget_folder(void)
{
    if (spare_fd >= 0)
        (void)close(spare_fd);
    if (folder_fd >= 0)
        (void)close(folder_fd);
    free(folder_path);
    spare_fd = -1;
    folder_fd = -1;
    folder_path = NULL;
    folder_tried = false;
}

void cm_port_forget(void)
{
    while (ports != NULL) {
        struct port *port = ports;

        ports = port->next;
        (void)close(port->lock);
        if (port->socket >= 0)
            (void)close(port->socket);
        free(port);
    }
    forget_folder();
}
