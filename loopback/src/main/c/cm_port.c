/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_port.c: ports as a name space of the machine's processes of one user, and the sockets by which they find each other.
 *
 * A private folder has two files for each port in use: PORT.lock, on which its process holds a lock as long as it lives, and PORT,
 * a Unix socket, if it listens. Both are removed at the end, or, if the process was killed, by the next process that uses the
 * folder. The folder is $RINGPOLL_LOOPBACK_FOLDER, else $XDG_RUNTIME_DIR/ringpoll-loopback, else /tmp/ringpoll-loopback-UID. It
 * must belong to the user and be closed to others; the kernel tells each end the user of the other. Where no such folder can be
 * had, ports are those of the process.
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
#include <unistd.h>

#include "cm.h"
#include "watch.h"

#define BACKLOG 1024

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
static int folder_fd = -1;
static bool folder_tried;
static int spare_fd = -1; /* for a moment in which the process has no other descriptor left */

/* Opens the folder for the user alone. Returns a descriptor or -1. */
static int open_private(const char *path)
{
    struct stat opened;

    if (mkdir(path, S_IRWXU) && errno != EEXIST)
        return -1;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &opened) || opened.st_uid != geteuid() || (opened.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static int open_folder(void)
{
    const char *chosen = getenv("RINGPOLL_LOOPBACK_FOLDER");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char *path = NULL;
    int length;

    if (chosen != NULL && chosen[0] == '/')
        return open_private(chosen);
    if (runtime != NULL && runtime[0] == '/')
        length = asprintf(&path, "%s/ringpoll-loopback", runtime);
    else
        length = asprintf(&path, "/tmp/ringpoll-loopback-%u", (unsigned int)geteuid());
    if (length < 0)
        return -1;
    const int fd = open_private(path);
    free(path);
    return fd;
}

static void lock_name(uint16_t number, char *name, size_t size)
{
    (void)snprintf(name, size, "%u.lock", (unsigned int)number);
}

static void socket_name(uint16_t number, char *name, size_t size)
{
    (void)snprintf(name, size, "%u", (unsigned int)number);
}

/*
 * Takes the lock file of a port. Returns its descriptor, or -1 with errno: EWOULDBLOCK, another process has it. The file may have
 * been removed between its opening and its locking: then it is another one.
 */
static int take_lock(uint16_t number)
{
    char name[16];

    lock_name(number, name, sizeof(name));
    for (;;) {
        struct stat locked;
        struct stat named;
        const int fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);

        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB)) {
            const int error = errno;

            (void)close(fd);
            errno = error;
            return -1;
        }
        if (!fstat(fd, &locked) && !fstatat(folder_fd, name, &named, AT_SYMLINK_NOFOLLOW) && locked.st_ino == named.st_ino)
            return fd;
        (void)close(fd);
    }
}

/* Removes the files of a port whose lock is held, and the lock with them. */
static void remove_files(uint16_t number, int lock)
{
    char name[16];

    socket_name(number, name, sizeof(name));
    (void)unlinkat(folder_fd, name, 0);
    lock_name(number, name, sizeof(name));
    (void)unlinkat(folder_fd, name, 0);
    (void)close(lock);
}

/* Removes what killed processes have left behind. */
static void sweep(void)
{
    const int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *opened = fd >= 0 ? fdopendir(fd) : NULL;

    if (opened == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    for (const struct dirent *entry = readdir(opened); entry != NULL; entry = readdir(opened)) {
        char *end;
        const unsigned long number = strtoul(entry->d_name, &end, 10);

        if (end == entry->d_name || strcmp(end, ".lock") != 0 || number > UINT16_MAX)
            continue;
        const int lock = take_lock((uint16_t)number);
        if (lock >= 0)
            remove_files((uint16_t)number, lock);
    }
    (void)closedir(opened);
}

static bool have_folder(void)
{
    if (!folder_tried) {
        folder_tried = true;
        folder_fd = open_folder();
        if (folder_fd >= 0)
            sweep();
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
    pthread_mutex_lock(&cm_lock);
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
    pthread_mutex_unlock(&cm_lock);
}

static void address_of(uint16_t number, struct sockaddr_un *address)
{
    /* By the folder's descriptor: a path may be too long for a socket address. */
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    (void)snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%u", folder_fd, (unsigned int)number);
}

int cm_port_listen(uint16_t number, void (*connected)(int socket))
{
    struct port *port = *find(number);
    struct sockaddr_un address;
    int error;

    if (port == NULL || port->socket >= 0)
        return 0; /* no folder; or the process listens at this port of another address already */
    error = lb_watch_start();
    if (error)
        return error;
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    address_of(number, &address);
    (void)unlink(address.sun_path); /* of a killed process: the lock is ours */
    port->connected = connected;
    error = bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG) ? errno :
        lb_watch_add(fd, ready, &port->watch);
    if (error)
        (void)close(fd);
    else
        port->socket = fd;
    return error;
}

int cm_port_connect(uint16_t number)
{
    struct sockaddr_un address;

    if (!have_folder())
        return cm_fail(ENOENT);
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
}
