/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_address.c: addresses and ports: binding, resolution of address and route.
 *
 * An address belongs to the device if the machine itself could bind a socket to it. A port that is bound is one of the machine:
 * no other process of the user may have it (cm_port.c). A port of the active side that the device chooses is known to this
 * process only.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "device.h"

#define FIRST_EPHEMERAL_PORT 32768u
#define LAST_EPHEMERAL_PORT 60999u

static struct cm_id *ports[65536]; /* ids by their port */
static uint16_t next_port = FIRST_EPHEMERAL_PORT;

size_t cm_address_length(const struct sockaddr *address)
{
    if (address == NULL)
        return 0;
    switch (address->sa_family) {
    case AF_INET:
        return sizeof(struct sockaddr_in);
    case AF_INET6:
        return sizeof(struct sockaddr_in6);
    default:
        return 0;
    }
}

static const struct sockaddr_in *in(const struct sockaddr *address)
{
    return (const struct sockaddr_in *)(const void *)address;
}

static const struct sockaddr_in6 *in6(const struct sockaddr *address)
{
    return (const struct sockaddr_in6 *)(const void *)address;
}

/* Both address families have their port at the same place. */
uint16_t cm_port_of(const struct sockaddr *address)
{
    return ntohs(in(address)->sin_port);
}

static void set_port(struct sockaddr *address, uint16_t port)
{
    ((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
}

bool cm_any_address(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return in(address)->sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&in6(address)->sin6_addr);
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return in(a)->sin_addr.s_addr == in(b)->sin_addr.s_addr;
    return memcmp(&in6(a)->sin6_addr, &in6(b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* As check_local; cm_lock held, which a fork takes: the child gets no socket. */
static int try_to_bind(const struct sockaddr *address, size_t length)
{
    const int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno == EAFNOSUPPORT ? EADDRNOTAVAIL : errno;
    const int error = bind(fd, address, (socklen_t)length) == 0 ? 0 : EADDRNOTAVAIL;
    (void)close(fd);
    return error;
}

/* Returns 0 if the machine itself has the address, EADDRNOTAVAIL if not, another errno value if that cannot be found out. */
static int check_local(const struct sockaddr *address)
{
    struct sockaddr_storage tried;
    const size_t length = cm_address_length(address);

    memcpy(&tried, address, length);
    set_port((struct sockaddr *)&tried, 0);
    cm_hold();
    const int error = try_to_bind((struct sockaddr *)&tried, length);
    cm_release();
    return error;
}

static bool port_is_taken(const struct cm_id *id, const struct sockaddr *address, uint16_t port)
{
    for (const struct cm_id *other = ports[port]; other != NULL; other = other->next_on_port) {
        const struct sockaddr *theirs = &other->base.route.addr.src_addr;

        if (id->reuse_addr && other->reuse_addr && other->state != CM_LISTENING)
            continue;
        if (cm_any_address(theirs) || cm_any_address(address) || same_address(theirs, address))
            return true;
    }
    return false;
}

/*
 * Assigns a source address and a port to the id: a port of the machine if `is_bound`, else, for the active side, of the process.
 * Returns 0, EADDRINUSE or EADDRNOTAVAIL, or why the machine's port cannot be had.
 */
static int take_port(struct cm_id *id, const struct sockaddr *address, bool is_bound)
{
    uint16_t port = cm_port_of(address);
    int error = 0;

    if (port == 0) {
        uint32_t tries = LAST_EPHEMERAL_PORT - FIRST_EPHEMERAL_PORT + 1;

        do {
            if (tries-- == 0)
                return EADDRNOTAVAIL;
            port = next_port;
            next_port = port == LAST_EPHEMERAL_PORT ? FIRST_EPHEMERAL_PORT : (uint16_t)(port + 1);
            error = ports[port] != NULL ? EADDRINUSE : is_bound ? cm_port_take(port) : 0;
        } while (error == EADDRINUSE);
    } else if (port_is_taken(id, address, port)) {
        return EADDRINUSE;
    } else if (is_bound) {
        error = cm_port_take(port);
    }
    if (error)
        return error;
    memcpy(&id->base.route.addr.src_storage, address, cm_address_length(address));
    set_port(&id->base.route.addr.src_addr, port);
    id->port = port;
    id->has_port = true;
    id->has_machine_port = is_bound;
    id->next_on_port = ports[port];
    ports[port] = id;
    return 0;
}

void cm_release_port(struct cm_id *id)
{
    struct cm_id **link = &ports[id->port];

    if (!id->has_port)
        return;
    while (*link != id)
        link = &(*link)->next_on_port;
    *link = id->next_on_port;
    id->has_port = false;
    if (id->has_machine_port)
        cm_port_release(id->port);
}

struct cm_id *cm_find_listener(const struct sockaddr *address)
{
    struct cm_id *any = NULL;

    for (struct cm_id *id = ports[cm_port_of(address)]; id != NULL; id = id->next_on_port) {
        const struct sockaddr *own = &id->base.route.addr.src_addr;

        if (id->state != CM_LISTENING)
            continue;
        if (same_address(own, address))
            return id;
        /* The IPv6 wildcard takes IPv4 as well. */
        if (cm_any_address(own) && (own->sa_family == address->sa_family || own->sa_family == AF_INET6))
            any = id;
    }
    return any;
}

void cm_address_forget(void)
{
    for (size_t port = 0; port < sizeof(ports) / sizeof(ports[0]); port++) {
        for (struct cm_id *id = ports[port]; id != NULL; id = id->next_on_port) {
            id->has_machine_port = false;
            if (id->state == CM_LISTENING)
                id->state = CM_ENDED;
        }
    }
}

/* An address as RoCE v2 writes it into a GID. */
static void to_gid(const struct sockaddr *address, union ibv_gid *gid)
{
    memset(gid, 0, sizeof(*gid));
    if (address->sa_family == AF_INET) {
        gid->raw[10] = 0xff;
        gid->raw[11] = 0xff;
        memcpy(gid->raw + 12, &in(address)->sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        memcpy(gid->raw, &in6(address)->sin6_addr, sizeof(gid->raw));
    }
}

void cm_set_gids(struct cm_id *id)
{
    struct rdma_addr *address = &id->base.route.addr;

    to_gid(&address->src_addr, &address->addr.ibaddr.sgid);
    to_gid(&address->dst_addr, &address->addr.ibaddr.dgid);
    address->addr.ibaddr.pkey = 0xffff;
}

/* The route: one path record from the one GID to the other. Returns 0 or ENOMEM. */
static int set_path(struct cm_id *id)
{
    struct rdma_route *route = &id->base.route;

    cm_set_gids(id);
    if (route->path_rec == NULL)
        route->path_rec = calloc(1, sizeof(*route->path_rec));
    if (route->path_rec == NULL)
        return ENOMEM;
    route->num_paths = 1;
    route->path_rec->sgid = route->addr.addr.ibaddr.sgid;
    route->path_rec->dgid = route->addr.addr.ibaddr.dgid;
    route->path_rec->pkey = 0xffff;
    route->path_rec->numb_path = 1;
    route->path_rec->reversible = 1;
    route->path_rec->hop_limit = 1;
    route->path_rec->mtu_selector = 2; /* exactly */
    route->path_rec->mtu = IBV_MTU_4096;
    return 0;
}

LB_EXPORT int rdma_bind_addr(struct rdma_cm_id *rdma_id, struct sockaddr *address)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error = 0;

    if (cm_address_length(address) == 0)
        return cm_fail(EINVAL);
    if (!cm_any_address(address))
        error = check_local(address);
    if (error)
        return cm_fail(error);
    cm_hold();
    if (id->state != CM_IDLE)
        error = EINVAL;
    if (!error)
        error = take_port(id, address, true);
    /* Bound to the wildcard it belongs to no device; each of its connections will. */
    if (!error && !cm_any_address(address))
        error = cm_attach_device(id);
    if (!error) {
        cm_set_gids(id);
        id->state = CM_BOUND;
    } else {
        cm_release_port(id);
    }
    cm_release();
    return error ? cm_fail(error) : 0;
}

/* Replaces the wildcard address by a local address. */
static void make_specific(struct sockaddr *address)
{
    if (!cm_any_address(address))
        return;
    if (address->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)(void *)address)->sin6_addr = in6addr_loopback;
}

/* Binds the active side to the requested address, or to the destination address. */
static int bind_source(struct cm_id *id, const struct sockaddr *source)
{
    struct sockaddr_storage chosen = {0};

    if (id->state == CM_BOUND) {
        make_specific(&id->base.route.addr.src_addr);
        return 0;
    }
    if (source != NULL) {
        memcpy(&chosen, source, cm_address_length(source));
    } else {
        memcpy(&chosen, &id->base.route.addr.dst_storage, sizeof(chosen));
        set_port((struct sockaddr *)&chosen, 0);
    }
    make_specific((struct sockaddr *)&chosen);
    return take_port(id, (struct sockaddr *)&chosen, false);
}

LB_EXPORT int rdma_resolve_addr(struct rdma_cm_id *rdma_id, struct sockaddr *source,
    struct sockaddr *destination, int timeout_ms)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    struct rdma_addr *own = &rdma_id->route.addr;
    int error = 0;

    (void)timeout_ms; /* there is nobody to wait for */
    if (cm_address_length(destination) == 0 || (source != NULL && cm_address_length(source) == 0))
        return cm_fail(EINVAL);
    if (source != NULL && source->sa_family != destination->sa_family)
        return cm_fail(EINVAL);
    if (source != NULL && !cm_any_address(source))
        error = check_local(source);
    if (error)
        return cm_fail(error);
    struct sockaddr_storage specific = {0};
    memcpy(&specific, destination, cm_address_length(destination));
    make_specific((struct sockaddr *)&specific);
    const int unreachable = check_local((struct sockaddr *)&specific);
    if (unreachable && unreachable != EADDRNOTAVAIL)
        return cm_fail(unreachable);

    cm_hold();
    error = id->state == CM_IDLE || id->state == CM_BOUND ? cm_event_reserve(id, 1) : EINVAL;
    if (error)
        goto unlock;
    own->dst_storage = specific;
    if (unreachable) {
        cm_raise(id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
        goto unlock;
    }
    const bool was_bound = id->has_port;
    error = bind_source(id, source);
    if (!error)
        error = cm_attach_device(id);
    if (error && !was_bound)
        cm_release_port(id); /* it is still idle, and takes one when it tries again */
    if (error)
        goto unlock;
    cm_set_gids(id);
    id->state = CM_ADDRESS_RESOLVED;
    cm_raise(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
unlock:
    cm_release();
    return error ? cm_fail(error) : cm_complete(id);
}

LB_EXPORT int rdma_resolve_route(struct rdma_cm_id *rdma_id, int timeout_ms)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    int error;

    (void)timeout_ms;
    cm_hold();
    error = id->state == CM_ADDRESS_RESOLVED ? set_path(id) : EINVAL;
    if (!error)
        error = cm_event_reserve(id, 1);
    if (!error) {
        id->state = CM_ROUTE_RESOLVED;
        cm_raise(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    }
    cm_release();
    return error ? cm_fail(error) : cm_complete(id);
}

LB_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    const struct sockaddr *address = &id->route.addr.src_addr;

    return cm_address_length(address) == 0 ? 0 : in(address)->sin_port;
}

LB_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    const struct sockaddr *address = &id->route.addr.dst_addr;

    return cm_address_length(address) == 0 ? 0 : in(address)->sin_port;
}
