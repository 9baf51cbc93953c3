package io.ringpoll.testing;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * A queue pair that is connected to itself, with a completion queue of the test's choice, as in programs that use verbs without
 * librpma. Created by C without a connection manager.
 */
public final class SelfConnectedQueuePair implements AutoCloseable {
    private static final String SOURCE = """
        #include <stdint.h>
        #include <stdlib.h>
        #include <string.h>
        #include <infiniband/verbs.h>

        struct attached {
            struct ibv_pd *pd;
            struct ibv_qp *qp;
        };

        static int any_gid(struct ibv_context *context, union ibv_gid *gid)
        {
            struct ibv_port_attr port;
            static const union ibv_gid none;

            if (ibv_query_port(context, 1, &port))
                return -1;
            for (int i = port.gid_tbl_len - 1; i >= 0; i--) {
                if (ibv_query_gid(context, 1, i, gid) == 0 && memcmp(gid, &none, sizeof(none)) != 0)
                    return i;
            }
            return 0;
        }

        static int connect_to_itself(struct ibv_context *context, struct ibv_qp *qp)
        {
            union ibv_gid gid = {{0}};
            int index = any_gid(context, &gid);
            struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

            if (index < 0 || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
                return -1;
            attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
                .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
                .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .sgid_index = index, .hop_limit = 1}}};
            if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
                return -1;
            attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
                .max_rd_atomic = 1};
            return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
        }

        void detach(struct attached *attached)
        {
            if (attached->qp)
                ibv_destroy_qp(attached->qp);
            if (attached->pd)
                ibv_dealloc_pd(attached->pd);
            free(attached);
        }

        struct attached *attach(struct ibv_context *context, struct ibv_cq *cq)
        {
            struct attached *attached = calloc(1, sizeof(*attached));
            struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                .cap = {.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1}};

            attached->pd = ibv_alloc_pd(context);
            attached->qp = attached->pd ? ibv_create_qp(attached->pd, &attr) : NULL;
            if (attached->qp == NULL || connect_to_itself(context, attached->qp)) {
                detach(attached);
                return NULL;
            }
            return attached;
        }

        /* An empty message to itself: a completion of the receive, and one of the send. */
        int send_to_itself(struct attached *attached, uint64_t wr_id)
        {
            struct ibv_recv_wr receive = {.wr_id = wr_id}, *bad_receive;
            struct ibv_send_wr send = {.wr_id = wr_id, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad_send;

            return ibv_post_recv(attached->qp, &receive, &bad_receive) || ibv_post_send(attached->qp, &send, &bad_send);
        }
        """;

    private static SymbolLookup library;

    private final long attached;

    /** Creates a queue pair; the completion queue must be closed after it. */
    public SelfConnectedQueuePair(final long contextAddress, final long cqAddress) {
        attached = (long) call("attach",
            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
            contextAddress, cqAddress);
        if (attached == 0) {
            throw new AssertionError("the device makes no queue pair that is connected to itself");
        }
    }

    /** Sends an empty message: results in two completions. */
    public void send(final long workRequestId) {
        final int refused = (int) call("send_to_itself",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG), attached, workRequestId);
        if (refused != 0) {
            throw new AssertionError("the queue pair takes no more");
        }
    }

    @Override
    public void close() {
        call("detach", FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG), attached);
    }

    private static synchronized SymbolLookup library() {
        if (library == null) {
            library = CCompiler.loadedLibrary("libselfconnected.so", SOURCE, "-libverbs");
        }
        return library;
    }

    @SuppressWarnings("restricted")
    private static Object call(final String function, final FunctionDescriptor descriptor, final Object... arguments) {
        final MemorySegment address = library().find(function).orElseThrow();
        final MethodHandle handle = Linker.nativeLinker().downcallHandle(address, descriptor);
        try {
            return handle.invokeWithArguments(arguments);
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }
}
