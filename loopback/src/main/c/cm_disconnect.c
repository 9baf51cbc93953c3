/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm_disconnect.c: how a connection ends: by disconnect, by an id that goes away, by time-outs.
 *
 *   DISCONNECT_SENT   ------->     DISCONNECT_RECEIVED   rdma_disconnect, either side first
 *   TIMEWAIT          <-------     TIMEWAIT              rdma_disconnect of the other side
 */
#include <errno.h>

#include "cm.h"
#include "device.h"

LB_EXPORT int rdma_disconnect(struct rdma_cm_id *rdma_id)
{
    if (lb_fails(__func__))
        return -1;
    struct cm_id *id = cm_id_of(rdma_id);
    bool answered;
    int error = 0;

    if (rdma_id->verbs == NULL)
        return cm_fail(EINVAL);
    cm_hold();
    if (rdma_id->qp != NULL)
        error = cm_modify_qp(id, IBV_QPS_ERR);
    answered = id->state == CM_ESTABLISHED || id->state == CM_DISCONNECT_SENT;
    if (!error)
        cm_send_disconnect(id);
    cm_release();
    if (error)
        return cm_fail(error);
    return answered ? cm_complete(id) : 0;
}
