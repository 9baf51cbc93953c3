/* SPDX-License-Identifier: Apache-2.0 */
/* cm_qp.c: queue pairs and shared receive queues of ids, and their way through the states. */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "device.h"
#include "qp.h"

/* 4.096 us * 2^14 = 67 ms a try: with 7 retries an unreachable peer is found out in 0.54 s. */
#define ACK_TIMEOUT 14

/* Attributes for the next state in the present state of the connection. Returns 0 or EINVAL. */
static int init_qp_attr(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    const enum ibv_qp_state state = attr->qp_state;

    memset(attr, 0, sizeof(*attr));
    attr->qp_state = state;
    *mask = IBV_QP_STATE;
    switch (state) {
    case IBV_QPS_INIT:
        attr->port_num = 1;
        /* No remote access until the peer is known. */
        attr->qp_access_flags = id->remote_qp_num != 0 ? IBV_ACCESS_REMOTE_WRITE : 0;
        if (id->remote_qp_num != 0 && id->responder_resources > 0)
            attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        return 0;
    case IBV_QPS_RTR:
        if (id->remote_qp_num == 0)
            return EINVAL;
        attr->ah_attr.is_global = 1;
        attr->ah_attr.port_num = 1;
        attr->ah_attr.grh.dgid = id->base.route.addr.addr.ibaddr.dgid;
        attr->ah_attr.grh.traffic_class = id->traffic_class;
        attr->path_mtu = IBV_MTU_4096;
        attr->dest_qp_num = id->remote_qp_num;
        attr->max_dest_rd_atomic = id->responder_resources;
        *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        return 0;
    case IBV_QPS_RTS:
        attr->timeout = id->has_ack_timeout ? id->ack_timeout : ACK_TIMEOUT;
        attr->retry_cnt = id->retry_count;
        attr->rnr_retry = id->rnr_retry_count;
        attr->max_rd_atomic = id->initiator_depth;
        *mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
            IBV_QP_MAX_QP_RD_ATOMIC;
        return 0;
    default:
        return EINVAL;
    }
}

int cm_modify_qp(struct cm_id *id, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = {.qp_state = state};
    int mask = IBV_QP_STATE;
    int error = 0;

    if (id->base.qp == NULL)
        return 0;
    if (state == IBV_QPS_RTR) {
        /* INIT once more: the access rights of the peer are known only now. */
        attr.qp_state = IBV_QPS_INIT;
        error = init_qp_attr(id, &attr, &mask);
        if (!error)
            error = ibv_modify_qp(id->base.qp, &attr, mask);
        attr.qp_state = state;
    }
    if (!error && state != IBV_QPS_ERR)
        error = init_qp_attr(id, &attr, &mask);
    return error ? error : ibv_modify_qp(id->base.qp, &attr, mask);
}

LB_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *rdma_id, struct ibv_qp_attr *attr, int *mask)
{
    cm_hold();
    const int error = init_qp_attr(cm_id_of(rdma_id), attr, mask);
    cm_release();
    return error ? cm_fail(error) : 0;
}

/* As after a path that broke: neither side has asked for it, and neither waits for the other's answer. */
void cm_break_off(struct cm_id *id)
{
    if (id->state == CM_ESTABLISHED) {
        id->state = CM_DISCONNECT_RECEIVED;
        /* Another process has to be told that its queue pair has failed, too. */
        cm_raise(id, id->send_event != NULL ? RDMA_CM_EVENT_CONNECT_ERROR : RDMA_CM_EVENT_DISCONNECTED, 0);
    }
}

/* No lock held: the fault plan has ended the connection of this queue pair. */
static void connection_lost(struct ibv_qp *qp)
{
    cm_hold();
    struct cm_id *id = lb_qp_owner(qp);
    if (id != NULL) {
        cm_break_off(id);
        if (id->peer != NULL)
            cm_break_off(id->peer);
    }
    cm_release();
}

static void destroy_cqs(struct rdma_cm_id *id)
{
    if (id->recv_cq != NULL)
        (void)ibv_destroy_cq(id->recv_cq);
    if (id->send_cq != NULL && id->send_cq != id->recv_cq)
        (void)ibv_destroy_cq(id->send_cq);
    if (id->recv_cq_channel != NULL)
        (void)ibv_destroy_comp_channel(id->recv_cq_channel);
    if (id->send_cq_channel != NULL && id->send_cq_channel != id->recv_cq_channel)
        (void)ibv_destroy_comp_channel(id->send_cq_channel);
    id->recv_cq = NULL;
    id->send_cq = NULL;
    id->recv_cq_channel = NULL;
    id->send_cq_channel = NULL;
}

static struct ibv_cq *create_cq(struct rdma_cm_id *id, uint32_t size,
    struct ibv_comp_channel **channel)
{
    *channel = ibv_create_comp_channel(id->verbs);
    return *channel != NULL ? ibv_create_cq(id->verbs, (int)size, id, *channel, 0) : NULL;
}

/* Makes the queues that the user did not bring. Returns 0, or -1 with errno. */
static int create_cqs(struct rdma_cm_id *id, const struct ibv_qp_init_attr_ex *attr)
{
    if (attr->recv_cq == NULL && id->recv_cq == NULL && attr->cap.max_recv_wr > 0) {
        id->recv_cq = create_cq(id, attr->cap.max_recv_wr, &id->recv_cq_channel);
        if (id->recv_cq == NULL)
            goto destroy;
    }
    if (attr->send_cq == NULL && id->send_cq == NULL && attr->cap.max_send_wr > 0) {
        id->send_cq = create_cq(id, attr->cap.max_send_wr, &id->send_cq_channel);
        if (id->send_cq == NULL)
            goto destroy;
    }
    return 0;

destroy:;
    const int error = errno;
    destroy_cqs(id);
    return cm_fail(error);
}

LB_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
    if (lb_fails(__func__))
        return -1;
    struct ibv_qp_attr qp_attr = {.qp_state = IBV_QPS_INIT};
    int mask;
    int error;

    if (id->qp != NULL || id->verbs == NULL)
        return cm_fail(EINVAL);
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || attr->pd == NULL) {
        attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
        attr->pd = id->pd;
    } else if (attr->pd->context != id->verbs) {
        return cm_fail(EINVAL);
    }
    if ((id->recv_cq != NULL && attr->recv_cq != NULL && id->recv_cq != attr->recv_cq) ||
        (id->send_cq != NULL && attr->send_cq != NULL && id->send_cq != attr->send_cq))
        return cm_fail(EINVAL);
    if (create_cqs(id, attr))
        return -1;
    if (attr->send_cq == NULL)
        attr->send_cq = id->send_cq;
    if (attr->recv_cq == NULL)
        attr->recv_cq = id->recv_cq;
    if (attr->srq == NULL)
        attr->srq = id->srq;
    struct ibv_qp *qp = ibv_create_qp_ex(id->verbs, attr);
    if (qp == NULL) {
        error = errno;
        goto destroy_cqs;
    }
    error = init_qp_attr(cm_id_of(id), &qp_attr, &mask);
    if (!error)
        error = ibv_modify_qp(qp, &qp_attr, mask);
    if (error)
        goto destroy_qp;
    cm_hold();
    id->pd = qp->pd;
    id->qp = qp;
    cm_id_of(id)->own_qp = qp;
    lb_qp_set_owner(qp, cm_id_of(id));
    lb_qp_on_disconnect(connection_lost);
    cm_release();
    return 0;

destroy_qp:
    (void)ibv_destroy_qp(qp);
destroy_cqs:
    destroy_cqs(id);
    return cm_fail(error);
}

LB_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
    struct ibv_qp_init_attr *init_attr)
{
    struct ibv_qp_init_attr_ex attr = lb_extended_attr(init_attr, pd != NULL ? pd : id->pd);
    const int result = rdma_create_qp_ex(id, &attr);

    init_attr->send_cq = attr.send_cq;
    init_attr->recv_cq = attr.recv_cq;
    init_attr->srq = attr.srq;
    init_attr->cap = attr.cap;
    return result;
}

LB_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
    struct ibv_qp *qp;

    cm_hold();
    qp = id->qp;
    id->qp = NULL;
    if (cm_id_of(id)->own_qp != NULL)
        lb_qp_set_owner(cm_id_of(id)->own_qp, NULL);
    cm_id_of(id)->own_qp = NULL;
    cm_release();
    if (qp != NULL)
        (void)ibv_destroy_qp(qp);
    destroy_cqs(id);
}

LB_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
    if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || attr->srq_type != IBV_SRQT_BASIC)
        return cm_fail(EINVAL);
    if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || attr->pd == NULL) {
        attr->pd = id->pd;
        attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    }
    if (attr->pd == NULL) /* an id without a device has no protection domain */
        return cm_fail(EINVAL);
    struct ibv_srq_init_attr basic = {.srq_context = attr->srq_context, .attr = attr->attr};
    struct ibv_srq *srq = ibv_create_srq(attr->pd, &basic);
    if (srq == NULL)
        return -1;
    attr->attr = basic.attr;
    id->srq = srq;
    return 0;
}

LB_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
    struct ibv_srq_init_attr *init_attr)
{
    struct ibv_srq_init_attr_ex attr = {
        .srq_context = init_attr->srq_context,
        .attr = init_attr->attr,
        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
        .srq_type = IBV_SRQT_BASIC,
        .pd = pd,
    };
    const int result = rdma_create_srq_ex(id, &attr);

    init_attr->attr = attr.attr;
    return result;
}

LB_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
    (void)ibv_destroy_srq(id->srq);
    id->srq = NULL;
    destroy_cqs(id);
}
