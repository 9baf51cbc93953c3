/* SPDX-License-Identifier: Apache-2.0 */
/* ends_device.c: a pair of processes over a connection of librpma. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ends.h"
#include "link.h"

#define RECEIVES 16u
#define SENDS_PER_SIGNAL 16u
#define STRIDE 128u
#define PORT_TEXT 8

/* Its memory: a message to send, then the receives; or the data of writes. */
struct end_device {
    struct rpma_peer *peer;
    struct rpma_ep *listener;
    struct rpma_conn_cfg *config;
    struct link_end end;
    char descriptor[LINK_DESCRIPTOR_BYTES]; /* of the memory, private data of the connection */
    size_t descriptor_size;
    uint32_t unsignalled; /* sends since the last signalled one */
    uint32_t arrived;     /* receive buffer of the last message, or RECEIVES if it is posted */
};

static int failed(void)
{
    errno = EIO;
    return -1;
}

static size_t receive_offset(uint32_t buffer)
{
    return (1 + buffer) * STRIDE;
}

/* Posts the receive of the last message again only after the send, which the other end waits for. */
END_INLINE int send_message(struct baseline_end *baseline)
{
    struct end_device *device = baseline->device;
    struct link_end *end = &device->end;
    int flags = RPMA_F_COMPLETION_ON_ERROR;

    memcpy(end->memory, baseline->message, sizeof(baseline->message));
    if (++device->unsignalled == SENDS_PER_SIGNAL) {
        device->unsignalled = 0;
        flags = RPMA_F_COMPLETION_ALWAYS;
    }
    if (rpma_send(end->conn, end->local, 0, sizeof(baseline->message), flags, NULL) != 0)
        return failed();
    if (device->arrived != RECEIVES) {
        if (rpma_recv(end->conn, end->local, receive_offset(device->arrived), STRIDE, (void *)(uintptr_t)device->arrived) != 0)
            return failed();
        device->arrived = RECEIVES;
    }
    return 0;
}

END_INLINE int receive_message(struct baseline_end *baseline)
{
    struct end_device *device = baseline->device;
    struct ibv_wc wc;
    const int result = rpma_cq_get_wc(device->end.cq, 1, &wc, NULL);

    if (result == RPMA_E_NO_COMPLETION)
        return 0;
    if (result != 0 || wc.status != IBV_WC_SUCCESS)
        return failed();
    if ((wc.opcode & IBV_WC_RECV) == 0)
        return 0;
    device->arrived = (uint32_t)wc.wr_id;
    memcpy(baseline->message, device->end.memory + receive_offset(device->arrived), sizeof(baseline->message));
    return 1;
}

/* Registers the memory of an end. */
static int open_device(struct baseline_end *baseline, const char *host, enum rpma_util_ibv_context_type type)
{
    struct end_device *device = calloc(1, sizeof(*device));
    struct ibv_context *context;

    if (device == NULL) {
        errno = ENOMEM;
        return -1;
    }
    baseline->device = device;
    device->arrived = RECEIVES;
    if (rpma_utils_get_ibv_context(host, type, &context) != 0 || rpma_peer_new(context, &device->peer) != 0 ||
        link_end_register(&device->end, device->peer) != 0 || link_configure(&device->config) != 0 ||
        rpma_mr_get_descriptor_size(device->end.local, &device->descriptor_size) != 0 ||
        device->descriptor_size > sizeof(device->descriptor) ||
        rpma_mr_get_descriptor(device->end.local, device->descriptor) != 0)
        return failed();
    return 0;
}

/* With receives posted before the first message can arrive. */
static int establish(struct end_device *device, struct rpma_conn_req *request)
{
    const struct rpma_conn_private_data data = {.ptr = device->descriptor, .len = (uint8_t)device->descriptor_size};

    for (uint32_t i = 0; i < RECEIVES; i++) {
        if (rpma_conn_req_recv(request, device->end.local, receive_offset(i), STRIDE, (void *)(uintptr_t)i) != 0) {
            (void)rpma_conn_req_delete(&request);
            return failed();
        }
    }
    if (rpma_conn_req_connect(&request, &data, &device->end.conn) != 0 || link_end_established(&device->end) != 0)
        return failed();
    return 0;
}

int end_device_listen(struct baseline_end *baseline, const char *host)
{
    char port[PORT_TEXT];

    (void)snprintf(port, sizeof(port), "%u", baseline->port & 0xffff);
    if (open_device(baseline, host, RPMA_UTIL_IBV_CONTEXT_LOCAL) != 0)
        return -1;
    return rpma_ep_listen(baseline->device->peer, host, port, &baseline->device->listener) != 0 ? failed() : 0;
}

int end_device_accept(struct baseline_end *baseline)
{
    struct end_device *device = baseline->device;
    struct rpma_conn_req *request;

    if (rpma_ep_next_conn_req(device->listener, device->config, &request) != 0)
        return failed();
    return establish(device, request);
}

int end_device_connect(struct baseline_end *baseline, const char *host)
{
    struct rpma_conn_req *request;
    struct rpma_conn_private_data data;
    char port[PORT_TEXT];

    (void)snprintf(port, sizeof(port), "%u", baseline->port & 0xffff);
    if (open_device(baseline, host, RPMA_UTIL_IBV_CONTEXT_REMOTE) != 0)
        return -1;
    struct end_device *device = baseline->device;
    if (rpma_conn_req_new(device->peer, host, port, device->config, &request) != 0 || establish(device, request) != 0 ||
        rpma_conn_get_private_data(device->end.conn, &data) != 0 ||
        rpma_mr_remote_from_descriptor(data.ptr, data.len, &device->end.remote) != 0)
        return failed();
    return 0;
}

int end_device_ping(struct baseline_end *baseline, uint64_t from_ns, uint64_t until_ns, uint64_t *histogram)
{
    return end_ping(baseline, send_message, receive_message, from_ns, until_ns, histogram);
}

int end_device_answer(struct baseline_end *baseline, uint64_t until_ns)
{
    return end_answer(baseline, send_message, receive_message, until_ns);
}

void end_device_close(struct baseline_end *baseline)
{
    struct end_device *device = baseline->device;

    if (device == NULL)
        return;
    link_end_close(&device->end);
    if (device->listener != NULL)
        (void)rpma_ep_shutdown(&device->listener);
    if (device->config != NULL)
        (void)rpma_conn_cfg_delete(&device->config);
    if (device->peer != NULL)
        (void)rpma_peer_delete(&device->peer);
    free(device);
    baseline->device = NULL;
}

/* The state of a turn of writes. */
struct writes {
    uint64_t posted;
    uint64_t completed;
    uint64_t begin_ns; /* of the recording; 0 before it */
    uint64_t end_ns;
    uint64_t recorded;
};

/* Polls once for a completion. */
static int complete_write(struct end_device *device, struct writes *writes, uint64_t from_ns)
{
    struct ibv_wc wc;
    const int result = rpma_cq_get_wc(device->end.cq, 1, &wc, NULL);

    if (result == RPMA_E_NO_COMPLETION)
        return 0;
    if (result != 0 || wc.status != IBV_WC_SUCCESS)
        return failed();
    /* A send of an earlier turn of messages may complete here. */
    if (wc.opcode != IBV_WC_RDMA_WRITE)
        return 0;
    writes->completed++;
    writes->end_ns = now_ns();
    if (writes->begin_ns != 0)
        writes->recorded++;
    else if (writes->end_ns >= from_ns)
        writes->begin_ns = writes->end_ns;
    return 0;
}

static int write_all(struct baseline_end *baseline, uint32_t size, uint32_t depth, uint64_t from_ns, uint64_t until_ns,
    struct writes *writes)
{
    struct end_device *device = baseline->device;
    struct link_end *end = &device->end;
    bool more = true;

    while (more || writes->completed < writes->posted) {
        const uint64_t now = now_ns();

        more = now < until_ns;
        if (now > until_ns + END_GRACE_NS) {
            errno = ETIMEDOUT;
            return -1;
        }
        while (more && writes->posted - writes->completed < depth) {
            const size_t offset = (writes->posted % depth) * size;

            if (rpma_write(end->conn, end->remote, offset, end->local, offset, size, RPMA_F_COMPLETION_ALWAYS, NULL) != 0)
                return failed();
            writes->posted++;
        }
        if (complete_write(device, writes, from_ns) != 0)
            return -1;
        relax(baseline->wait);
    }
    return 0;
}

int baseline_end_writes(struct baseline_end *baseline, uint32_t size, uint32_t depth, uint64_t from_ns, uint64_t until_ns,
    struct baseline_transfers *transfers)
{
    struct writes writes = {0};

    if (baseline->device == NULL || depth == 0 || depth > BASELINE_LINK_DEPTH / 2 ||
        (uint64_t)size * depth > BASELINE_LINK_BYTES) {
        errno = EINVAL;
        return -1;
    }
    if (write_all(baseline, size, depth, from_ns, until_ns, &writes) != 0)
        return -1;
    transfers->count = writes.recorded;
    transfers->elapsed_ns = writes.end_ns - writes.begin_ns;
    /* The last message of the turn, which is not recorded. */
    return end_device_ping(baseline, UINT64_MAX, now_ns(), NULL);
}
