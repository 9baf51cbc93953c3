/* SPDX-License-Identifier: Apache-2.0 */
/* cm_addrinfo.c: translation of names and services to addresses, as rdma_getaddrinfo(3) has it. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cm.h"
#include "device.h"

static int copy_address(struct sockaddr **to, socklen_t *to_length, const struct sockaddr *from,
    socklen_t length)
{
    *to = malloc(length);
    if (*to == NULL)
        return cm_fail(ENOMEM);
    memcpy(*to, from, length);
    *to_length = length;
    return 0;
}

LB_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *result)
{
    while (result != NULL) {
        struct rdma_addrinfo *next = result->ai_next;

        free(result->ai_connect);
        free(result->ai_route);
        free(result->ai_src_canonname);
        free(result->ai_dst_canonname);
        free(result->ai_src_addr);
        free(result->ai_dst_addr);
        free(result);
        result = next;
    }
}

/* Whether a service is a number, and one that is no port: getaddrinfo(3) of the C library would cut it down to 16 bits. */
static bool is_no_port(const char *service)
{
    char *end;

    errno = 0;
    const long port = strtol(service, &end, 10);
    return end != service && *end == 0 && (errno == ERANGE || port < 0 || port > UINT16_MAX);
}

/* The errno value for a code of getaddrinfo(3), which has left `cause` in errno. */
static int errno_of(int code, int cause)
{
    switch (code) {
    case EAI_SYSTEM:
        return cause;
    case EAI_MEMORY:
        return ENOMEM;
    case EAI_AGAIN:
        return EAGAIN;
    case EAI_FAMILY:
    case EAI_ADDRFAMILY:
        return EAFNOSUPPORT;
    case EAI_NONAME:
    case EAI_NODATA:
    case EAI_FAIL:
        return ENXIO;
    default:
        return EINVAL;
    }
}

/* Returns the code as librdmacm does, because librpma prints a text for it; errno is set for callers that read it. */
static int fail_translation(int code, int cause)
{
    if (cause == EMFILE || cause == ENFILE)
        return cm_fail(cause); /* the resolver could not even read its files */
    errno = errno_of(code, cause);
    return code;
}

/* Returns 0, or a code of getaddrinfo(3) or -1 with errno. */
static int translate(const char *node, const char *service, const struct rdma_addrinfo *hints,
    struct rdma_addrinfo *result)
{
    const bool passive = hints != NULL && hints->ai_flags & RAI_PASSIVE;
    struct addrinfo socket_hints = {.ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP};
    struct addrinfo *found;
    int error;

    if (hints != NULL) {
        socket_hints.ai_family = hints->ai_family;
        if (hints->ai_flags & RAI_NUMERICHOST)
            socket_hints.ai_flags |= AI_NUMERICHOST;
    }
    if (passive)
        socket_hints.ai_flags |= AI_PASSIVE;
    if (service != NULL && is_no_port(service))
        return cm_fail(ERANGE);
    errno = 0;
    error = getaddrinfo(node, service, &socket_hints, &found);
    if (error)
        return fail_translation(error, errno);
    result->ai_family = found->ai_family;
    if (passive) {
        result->ai_flags = RAI_PASSIVE;
        error = copy_address(&result->ai_src_addr, &result->ai_src_len, found->ai_addr,
            found->ai_addrlen);
    } else {
        error = copy_address(&result->ai_dst_addr, &result->ai_dst_len, found->ai_addr,
            found->ai_addrlen);
    }
    freeaddrinfo(found);
    return error;
}

LB_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
    const struct rdma_addrinfo *hints, struct rdma_addrinfo **found)
{
    if (lb_fails(__func__))
        return -1;
    struct rdma_addrinfo *result;
    int error = 0;

    if (node == NULL && service == NULL && hints == NULL)
        return cm_fail(EINVAL);
    result = calloc(1, sizeof(*result));
    if (result == NULL)
        return cm_fail(ENOMEM);
    result->ai_qp_type = hints != NULL && hints->ai_qp_type ? hints->ai_qp_type : IBV_QPT_RC;
    result->ai_port_space =
        hints != NULL && hints->ai_port_space ? hints->ai_port_space : RDMA_PS_TCP;
    if (node != NULL || service != NULL) {
        error = translate(node, service, hints, result);
    } else {
        result->ai_flags = hints->ai_flags;
        result->ai_family = hints->ai_family;
        if (hints->ai_dst_len > 0)
            error = copy_address(&result->ai_dst_addr, &result->ai_dst_len, hints->ai_dst_addr,
                hints->ai_dst_len);
    }
    if (!error && result->ai_src_len == 0 && hints != NULL && hints->ai_src_len > 0)
        error = copy_address(&result->ai_src_addr, &result->ai_src_len, hints->ai_src_addr,
            hints->ai_src_len);
    if (error) {
        rdma_freeaddrinfo(result);
        return error;
    }
    *found = result;
    return 0;
}
