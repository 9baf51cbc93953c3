/* SPDX-License-Identifier: Apache-2.0 */
/*
 * provider.c: the symbols without which rdma-core's libraries of providers cannot be loaded.
 *
 * perftest is linked with libmlx5.so.1 and libefa.so.1, which bind all their symbols when they are loaded. Providers register
 * then, and are not asked for devices: so none of the other functions is called with a device of theirs.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "device.h"

struct verbs_device_ops;

LB_EXPORT extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

LB_EXPORT void verbs_register_driver_34(const struct verbs_device_ops *ops);
void verbs_register_driver_34(const struct verbs_device_ops *ops)
{
    (void)ops;
}

/* No hardware writes to memory here: a page may be shared with a child. */
LB_EXPORT int ibv_dontfork_range(void *base, size_t size);
int ibv_dontfork_range(void *base, size_t size)
{
    (void)base;
    (void)size;
    return 0;
}

LB_EXPORT int ibv_dofork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size)
{
    (void)base;
    (void)size;
    return 0;
}

/* Never called. Returns NULL, the failure of functions that return a pointer. */
static void *not_offered(void)
{
    errno = EOPNOTSUPP;
    return NULL;
}

/* One of the functions that only a provider's driver calls. */
#define ABSENT(function) LB_EXPORT void *function(void) __attribute__((alias("not_offered")))

ABSENT(__verbs_log);
ABSENT(_verbs_init_and_alloc_context);
ABSENT(execute_ioctl);
ABSENT(ibv_cmd_advise_mr);
ABSENT(ibv_cmd_alloc_dm);
ABSENT(ibv_cmd_alloc_mw);
ABSENT(ibv_cmd_alloc_pd);
ABSENT(ibv_cmd_attach_mcast);
ABSENT(ibv_cmd_close_xrcd);
ABSENT(ibv_cmd_create_ah);
ABSENT(ibv_cmd_create_counters);
ABSENT(ibv_cmd_create_cq_ex);
ABSENT(ibv_cmd_create_flow);
ABSENT(ibv_cmd_create_flow_action_esp);
ABSENT(ibv_cmd_create_qp_ex2);
ABSENT(ibv_cmd_create_qp_ex);
ABSENT(ibv_cmd_create_rwq_ind_table);
ABSENT(ibv_cmd_create_srq);
ABSENT(ibv_cmd_create_srq_ex);
ABSENT(ibv_cmd_create_wq);
ABSENT(ibv_cmd_dealloc_mw);
ABSENT(ibv_cmd_dealloc_pd);
ABSENT(ibv_cmd_dereg_mr);
ABSENT(ibv_cmd_destroy_ah);
ABSENT(ibv_cmd_destroy_counters);
ABSENT(ibv_cmd_destroy_cq);
ABSENT(ibv_cmd_destroy_flow);
ABSENT(ibv_cmd_destroy_flow_action);
ABSENT(ibv_cmd_destroy_qp);
ABSENT(ibv_cmd_destroy_rwq_ind_table);
ABSENT(ibv_cmd_destroy_srq);
ABSENT(ibv_cmd_destroy_wq);
ABSENT(ibv_cmd_detach_mcast);
ABSENT(ibv_cmd_free_dm);
ABSENT(ibv_cmd_get_context);
ABSENT(ibv_cmd_modify_cq);
ABSENT(ibv_cmd_modify_flow_action_esp);
ABSENT(ibv_cmd_modify_qp);
ABSENT(ibv_cmd_modify_qp_ex);
ABSENT(ibv_cmd_modify_srq);
ABSENT(ibv_cmd_modify_wq);
ABSENT(ibv_cmd_open_qp);
ABSENT(ibv_cmd_open_xrcd);
ABSENT(ibv_cmd_query_context);
ABSENT(ibv_cmd_query_device_any);
ABSENT(ibv_cmd_query_mr);
ABSENT(ibv_cmd_query_port);
ABSENT(ibv_cmd_query_qp);
ABSENT(ibv_cmd_query_srq);
ABSENT(ibv_cmd_read_counters);
ABSENT(ibv_cmd_reg_dm_mr);
ABSENT(ibv_cmd_reg_dmabuf_mr);
ABSENT(ibv_cmd_reg_mr);
ABSENT(ibv_cmd_rereg_mr);
ABSENT(ibv_cmd_resize_cq);
ABSENT(ibv_query_gid_type);
ABSENT(verbs_init_cq);
ABSENT(verbs_open_device);
ABSENT(verbs_set_ops);
ABSENT(verbs_uninit_context);
