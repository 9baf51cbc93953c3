/* SPDX-License-Identifier: Apache-2.0 */
/* device.c: the device list, contexts and their operations' table, limits, protection domains. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cq.h"
#include "device.h"
#include "memory.h"
#include "qp.h"
#include "srq.h"

#define GUID 0x0272706c6f6f7062ull /* locally administered, "rploopb" */

static struct ibv_device device = {
    .node_type = IBV_NODE_CA,
    .transport_type = IBV_TRANSPORT_IB,
    .name = "loopback0",
    .dev_name = "loopback0",
    .dev_path = "",
    .ibdev_path = "",
};

static const struct ibv_context_ops context_ops = {
    .poll_cq = lb_poll_cq,
    .req_notify_cq = lb_req_notify_cq,
    .post_srq_recv = lb_post_srq_recv,
    .post_send = lb_post_send,
    .post_recv = lb_post_recv,
};

static _Atomic uint32_t connect_timeout_ms = 60000;
static pthread_mutex_t cm_context_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context *cm_context;

static void hold(void)
{
    pthread_mutex_lock(&cm_context_lock);
}

static void release(void)
{
    pthread_mutex_unlock(&cm_context_lock);
}

__attribute__((constructor))
static void follow_forks(void)
{
    lb_at_fork(hold, release, release);
}

static __be64 guid(void)
{
    return __builtin_bswap64(GUID);
}

LB_EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
    struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));

    if (num_devices != NULL)
        *num_devices = list != NULL ? 1 : 0;
    if (list == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    list[0] = &device;
    return list;
}

LB_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

LB_EXPORT const char *ibv_get_device_name(struct ibv_device *ibv_device)
{
    return ibv_device->name;
}

LB_EXPORT int ibv_get_device_index(struct ibv_device *ibv_device)
{
    (void)ibv_device;
    return 0;
}

LB_EXPORT __be64 ibv_get_device_guid(struct ibv_device *ibv_device)
{
    (void)ibv_device;
    return guid();
}

struct ibv_context *lb_open_context(struct ibv_device *of, bool internal)
{
    struct lb_context *context = calloc(1, sizeof(*context));
    int error;

    if (context == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    error = lb_eventq_open(&context->async);
    if (error)
        goto free_context;
    context->internal = internal;
    context->verbs.sz = sizeof(context->verbs);
    context->verbs.query_device_ex = lb_query_device_ex;
    context->verbs.query_port = lb_query_port;
    context->verbs.advise_mr = lb_advise_mr;
    context->verbs.create_qp_ex = lb_create_qp_ex;
    context->verbs.create_srq_ex = lb_create_srq_ex;
    context->verbs.create_cq_ex = lb_create_cq_ex;
    context->verbs.query_rt_values = lb_query_rt_values;
    struct ibv_context *base = &context->verbs.context;
    base->device = of;
    base->ops = context_ops;
    base->cmd_fd = -1;
    base->async_fd = context->async.fd;
    base->num_comp_vectors = LB_COMP_VECTORS;
    base->abi_compat = __VERBS_ABI_IS_EXTENDED;
    error = pthread_mutex_init(&base->mutex, NULL);
    if (error)
        goto close_async;
    if (!internal)
        lb_count(RINGPOLL_LOOPBACK_CONTEXT, 1);
    return base;

close_async:
    lb_eventq_close(&context->async);
free_context:
    free(context);
    errno = error;
    return NULL;
}

LB_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *ibv_device)
{
    if (lb_fails(__func__))
        return NULL;
    if (ibv_device != &device) {
        errno = ENODEV;
        return NULL;
    }
    return lb_open_context(&device, false);
}

LB_EXPORT int ibv_close_device(struct ibv_context *ibv_context)
{
    struct lb_context *context = lb_context_of(ibv_context);

    if (context->internal || atomic_load(&context->children) != 0) {
        errno = EBUSY;
        return -1;
    }
    lb_eventq_close(&context->async);
    pthread_mutex_destroy(&ibv_context->mutex);
    if (context->synthetic != NULL)
        context->delete_synthetic(context->synthetic);
    free(context);
    lb_count(RINGPOLL_LOOPBACK_CONTEXT, -1);
    return 0;
}

struct ibv_context *lb_cm_context(void)
{
    struct ibv_context *context;

    pthread_mutex_lock(&cm_context_lock);
    if (cm_context == NULL)
        cm_context = lb_open_context(&device, true);
    context = cm_context;
    pthread_mutex_unlock(&cm_context_lock);
    return context;
}

LB_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    if (lb_fails(__func__))
        return errno;
    (void)context;
    memset(attr, 0, sizeof(*attr));
    strcpy(attr->fw_ver, ringpoll_loopback_version());
    attr->node_guid = guid();
    attr->sys_image_guid = guid();
    attr->max_mr_size = UINT64_MAX >> 1;
    attr->page_size_cap = 0xfffff000;
    attr->hw_ver = 1;
    attr->max_qp = LB_MAX_QP;
    attr->max_qp_wr = LB_MAX_QP_WR;
    attr->device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_RC_RNR_NAK_GEN |
        IBV_DEVICE_N_NOTIFY_CQ | IBV_DEVICE_SYS_IMAGE_GUID;
    attr->max_sge = LB_MAX_SGE;
    attr->max_sge_rd = LB_MAX_SGE;
    attr->max_cq = LB_MAX_CQ;
    attr->max_cqe = LB_MAX_CQE;
    attr->max_mr = LB_MAX_MR;
    attr->max_pd = LB_MAX_PD;
    attr->max_qp_rd_atom = LB_MAX_RD_ATOMIC;
    attr->max_res_rd_atom = LB_MAX_RD_ATOMIC * LB_MAX_QP;
    attr->max_qp_init_rd_atom = LB_MAX_RD_ATOMIC;
    attr->atomic_cap = IBV_ATOMIC_GLOB;
    attr->max_srq = LB_MAX_SRQ;
    attr->max_srq_wr = LB_MAX_SRQ_WR;
    attr->max_srq_sge = LB_MAX_SGE;
    attr->max_pkeys = 1;
    attr->local_ca_ack_delay = 0;
    attr->phys_port_cnt = LB_PORTS;
    return 0;
}

/* Fills as much of the structure as the caller's version of it has. */
int lb_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
    struct ibv_device_attr_ex *attr, size_t attr_size)
{
    if (lb_fails("ibv_query_device_ex"))
        return errno;
    struct ibv_device_attr_ex full = {0};

    if (input != NULL && input->comp_mask != 0)
        return EINVAL;
    if (attr_size < sizeof(attr->orig_attr))
        return EINVAL;
    (void)ibv_query_device(context, &full.orig_attr);
    const uint32_t odp = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
        IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
    full.odp_caps.general_caps = IBV_ODP_SUPPORT;
    full.odp_caps.per_transport_caps.rc_odp_caps = odp;
    full.device_cap_flags_ex = full.orig_attr.device_cap_flags | LB_DEVICE_ATOMIC_WRITE;
    full.phys_port_cnt_ex = LB_PORTS;
    full.completion_timestamp_mask = UINT64_MAX;
    full.hca_core_clock = LB_CLOCK_KHZ;
    memset(attr, 0, attr_size);
    memcpy(attr, &full, attr_size < sizeof(full) ? attr_size : sizeof(full));
    return 0;
}

int lb_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
    struct ibv_port_attr full = {
        .state = IBV_PORT_ACTIVE,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = IBV_MTU_4096,
        .gid_tbl_len = LB_GIDS,
        .max_msg_sz = LB_MAX_MESSAGE,
        .pkey_tbl_len = 1,
        .active_width = 2, /* 4x */
        .active_speed = 32, /* 25 Gb/s a lane: a plausible value, nothing is measured by it */
        .phys_state = 5, /* link up */
        .link_layer = IBV_LINK_LAYER_ETHERNET,
    };

    (void)context;
    if (port != 1)
        return EINVAL;
    memset(attr, 0, size);
    memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
    return 0;
}

#undef ibv_query_port
/* The form from before the port attributes were extended: without flags and port_cap_flags2. */
LB_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port,
    struct _compat_ibv_port_attr *attr)
{
    if (lb_fails(__func__))
        return errno;
    return lb_query_port(context, port, (struct ibv_port_attr *)attr,
        offsetof(struct ibv_port_attr, flags));
}

/* No hardware writes to memory here, and the device follows forks (lb_at_fork): nothing to prepare. */
LB_EXPORT int ibv_fork_init(void)
{
    return 0;
}

LB_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

LB_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    if (lb_fails(__func__))
        return NULL;
    struct lb_pd *pd;

    if (!lb_reserve(RINGPOLL_LOOPBACK_PD, LB_MAX_PD)) {
        errno = ENOMEM;
        return NULL;
    }
    pd = calloc(1, sizeof(*pd));
    if (pd == NULL) {
        lb_count(RINGPOLL_LOOPBACK_PD, -1);
        errno = ENOMEM;
        return NULL;
    }
    pd->base.context = context;
    atomic_fetch_add(&lb_context_of(context)->children, 1);
    return &pd->base;
}

LB_EXPORT int ibv_dealloc_pd(struct ibv_pd *ibv_pd)
{
    struct lb_pd *pd = lb_pd_of(ibv_pd);

    if (atomic_load(&pd->children) != 0)
        return EBUSY;
    atomic_fetch_sub(&lb_context_of(ibv_pd->context)->children, 1);
    free(pd);
    lb_count(RINGPOLL_LOOPBACK_PD, -1);
    return lb_fails(__func__) ? errno : 0;
}

LB_EXPORT int ringpoll_loopback_set_connect_timeout(uint32_t milliseconds)
{
    if (milliseconds < 1 || milliseconds > 3600000)
        return EINVAL;
    atomic_store(&connect_timeout_ms, milliseconds);
    return 0;
}

uint64_t lb_connect_timeout_ns(void)
{
    return atomic_load(&connect_timeout_ms) * UINT64_C(1000000);
}
