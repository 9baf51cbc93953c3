package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.testing.CHeaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The structs and constants of connections, queue pairs and work requests, against the installed headers. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaLayoutTest {
    private static final List<String> HEADERS = List.of("rdma/rdma_cma.h");

    @TempDir
    private Path folder;
    private final Map<String, Long> layout = new TreeMap<>();

    @BeforeAll
    static void requireHeader() {
        assumeTrue(Files.exists(Path.of("/usr/include/rdma/rdma_cma.h")), "rdma/rdma_cma.h is not installed (librdmacm-dev)");
    }

    @Test
    void shouldLayWorkRequestsOutAsTheHeaderDoes() {
        put("ibv_send_wr", "wr_id", IbvWr.WR_ID_OFFSET);
        put("ibv_send_wr", "next", IbvWr.NEXT_OFFSET);
        put("ibv_send_wr", "sg_list", IbvWr.SG_LIST_OFFSET);
        put("ibv_send_wr", "num_sge", IbvWr.NUM_SGE_OFFSET);
        put("ibv_send_wr", "opcode", IbvWr.OPCODE_OFFSET);
        put("ibv_send_wr", "send_flags", IbvWr.SEND_FLAGS_OFFSET);
        put("ibv_send_wr", "imm_data", IbvWr.IMM_DATA_OFFSET);
        put("ibv_send_wr", "wr.rdma.remote_addr", IbvWr.REMOTE_ADDR_OFFSET);
        put("ibv_send_wr", "wr.atomic.remote_addr", IbvWr.REMOTE_ADDR_OFFSET);
        put("ibv_send_wr", "wr.rdma.rkey", IbvWr.RDMA_RKEY_OFFSET);
        put("ibv_send_wr", "wr.atomic.compare_add", IbvWr.ATOMIC_COMPARE_ADD_OFFSET);
        put("ibv_send_wr", "wr.atomic.swap", IbvWr.ATOMIC_SWAP_OFFSET);
        put("ibv_send_wr", "wr.atomic.rkey", IbvWr.ATOMIC_RKEY_OFFSET);
        put("ibv_recv_wr", "wr_id", IbvWr.WR_ID_OFFSET);
        put("ibv_recv_wr", "next", IbvWr.NEXT_OFFSET);
        put("ibv_recv_wr", "sg_list", IbvWr.SG_LIST_OFFSET);
        put("ibv_recv_wr", "num_sge", IbvWr.NUM_SGE_OFFSET);
        put("ibv_sge", "addr", IbvWr.SGE_ADDR_OFFSET);
        put("ibv_sge", "length", IbvWr.SGE_LENGTH_OFFSET);
        put("ibv_sge", "lkey", IbvWr.SGE_LKEY_OFFSET);
        layout.put("sizeof(struct ibv_send_wr)", (long) IbvWr.SEND_SIZE_BYTES);
        layout.put("sizeof(struct ibv_recv_wr)", (long) IbvWr.RECV_SIZE_BYTES);
        layout.put("sizeof(struct ibv_sge)", (long) IbvWr.SGE_SIZE_BYTES);
        CHeaders.assertEqualToHeaders(folder, HEADERS, layout);
    }

    @Test
    void shouldLayQueuesAndRegionsOutAsTheHeaderDoes() {
        put("ibv_qp", "context", IbvWr.CONTEXT_OFFSET);
        put("ibv_cq", "context", IbvWr.CONTEXT_OFFSET);
        put("ibv_srq", "context", IbvWr.CONTEXT_OFFSET);
        put("ibv_pd", "context", IbvWr.CONTEXT_OFFSET);
        put("ibv_qp", "qp_num", IbvWr.QP_NUM_OFFSET);
        put("ibv_context", "ops.post_srq_recv", IbvWr.POST_SRQ_RECV_OFFSET);
        put("ibv_context", "ops.post_send", IbvWr.POST_SEND_OFFSET);
        put("ibv_context", "ops.post_recv", IbvWr.POST_RECV_OFFSET);
        put("ibv_mr", "lkey", IbvMr.LKEY_OFFSET);
        put("ibv_mr", "rkey", IbvMr.RKEY_OFFSET);
        put("ibv_qp_init_attr", "send_cq", IbvQpInitAttr.SEND_CQ_OFFSET);
        put("ibv_qp_init_attr", "recv_cq", IbvQpInitAttr.RECV_CQ_OFFSET);
        put("ibv_qp_init_attr", "srq", IbvQpInitAttr.SRQ_OFFSET);
        put("ibv_qp_init_attr", "cap.max_send_wr", IbvQpInitAttr.MAX_SEND_WR_OFFSET);
        put("ibv_qp_init_attr", "cap.max_recv_wr", IbvQpInitAttr.MAX_RECV_WR_OFFSET);
        put("ibv_qp_init_attr", "cap.max_send_sge", IbvQpInitAttr.MAX_SEND_SGE_OFFSET);
        put("ibv_qp_init_attr", "cap.max_recv_sge", IbvQpInitAttr.MAX_RECV_SGE_OFFSET);
        put("ibv_qp_init_attr", "cap.max_inline_data", IbvQpInitAttr.MAX_INLINE_DATA_OFFSET);
        put("ibv_qp_init_attr", "qp_type", IbvQpInitAttr.QP_TYPE_OFFSET);
        put("ibv_qp_init_attr", "sq_sig_all", IbvQpInitAttr.SQ_SIG_ALL_OFFSET);
        put("ibv_srq_init_attr", "attr.max_wr", IbvQpInitAttr.SRQ_MAX_WR_OFFSET);
        put("ibv_srq_init_attr", "attr.max_sge", IbvQpInitAttr.SRQ_MAX_SGE_OFFSET);
        layout.put("sizeof(struct ibv_qp_init_attr)", (long) IbvQpInitAttr.SIZE_BYTES);
        layout.put("sizeof(struct ibv_srq_init_attr)", (long) IbvQpInitAttr.SRQ_SIZE_BYTES);
        CHeaders.assertEqualToHeaders(folder, HEADERS, layout);
    }

    @Test
    void shouldLayIdsAndEventsOutAsTheHeaderDoes() {
        put("rdma_event_channel", "fd", RdmaCm.CHANNEL_FD_OFFSET);
        put("rdma_cm_id", "verbs", RdmaCm.ID_VERBS_OFFSET);
        put("rdma_cm_id", "qp", RdmaCm.ID_QP_OFFSET);
        put("rdma_cm_id", "route.addr.src_addr", RdmaCm.ID_SOURCE_OFFSET);
        put("rdma_cm_id", "route.addr.dst_addr", RdmaCm.ID_DESTINATION_OFFSET);
        put("rdma_cm_event", "id", RdmaCm.EVENT_ID_OFFSET);
        put("rdma_cm_event", "event", RdmaCm.EVENT_TYPE_OFFSET);
        put("rdma_cm_event", "status", RdmaCm.EVENT_STATUS_OFFSET);
        put("rdma_cm_event", "param.conn", RdmaCm.EVENT_CONNECTION_OFFSET);
        put("rdma_conn_param", "private_data", RdmaCm.PRIVATE_DATA_OFFSET);
        put("rdma_conn_param", "private_data_len", RdmaCm.PRIVATE_DATA_LENGTH_OFFSET);
        put("rdma_conn_param", "responder_resources", RdmaCm.RESPONDER_RESOURCES_OFFSET);
        put("rdma_conn_param", "initiator_depth", RdmaCm.INITIATOR_DEPTH_OFFSET);
        put("rdma_conn_param", "flow_control", RdmaCm.FLOW_CONTROL_OFFSET);
        put("rdma_conn_param", "retry_count", RdmaCm.RETRY_COUNT_OFFSET);
        put("rdma_conn_param", "rnr_retry_count", RdmaCm.RNR_RETRY_COUNT_OFFSET);
        put("rdma_conn_param", "srq", RdmaCm.SRQ_OFFSET);
        layout.put("sizeof(struct rdma_conn_param)", (long) RdmaCm.CONNECTION_PARAMETERS_BYTES);
        CHeaders.assertEqualToHeaders(folder, HEADERS, layout);
    }

    @Test
    void shouldHaveTheConstantsOfTheHeader() {
        for (final ConnectionEventType type : ConnectionEventType.values()) {
            if (type != ConnectionEventType.UNKNOWN) {
                layout.put("RDMA_CM_EVENT_" + type, (long) type.ordinal());
            }
        }
        for (final AccessFlag flag : AccessFlag.values()) {
            layout.put("IBV_ACCESS_" + (flag == AccessFlag.HUGE_PAGES ? "HUGETLB" : flag.name()), (long) flag.value());
        }
        for (final SendFlag flag : SendFlag.values()) {
            layout.put("IBV_SEND_" + flag, (long) flag.value());
        }
        layout.put("IBV_ACCESS_OPTIONAL_RANGE", (long) AccessFlag.OPTIONAL);
        layout.put("RDMA_PS_TCP", (long) RdmaCm.PORT_SPACE_TCP);
        layout.put("RDMA_OPTION_ID", (long) RdmaCm.OPTION_ID);
        layout.put("RDMA_OPTION_ID_TOS", (long) RdmaCm.OPTION_TOS);
        layout.put("RDMA_OPTION_ID_ACK_TIMEOUT", (long) RdmaCm.OPTION_ACK_TIMEOUT);
        layout.put("IBV_QPT_RC", (long) IbvQpInitAttr.QPT_RC);
        layout.put("IBV_WR_RDMA_WRITE", (long) SendList.RDMA_WRITE);
        layout.put("IBV_WR_RDMA_WRITE_WITH_IMM", (long) SendList.RDMA_WRITE_WITH_IMM);
        layout.put("IBV_WR_SEND", (long) SendList.SEND);
        layout.put("IBV_WR_SEND_WITH_IMM", (long) SendList.SEND_WITH_IMM);
        layout.put("IBV_WR_RDMA_READ", (long) SendList.RDMA_READ);
        layout.put("IBV_WR_ATOMIC_CMP_AND_SWP", (long) SendList.ATOMIC_CMP_AND_SWP);
        layout.put("IBV_WR_ATOMIC_FETCH_AND_ADD", (long) SendList.ATOMIC_FETCH_AND_ADD);
        CHeaders.assertEqualToHeaders(folder, HEADERS, layout);
    }

    private void put(final String struct, final String field, final int offset) {
        layout.put("offsetof(struct " + struct + ", " + field + ")", (long) offset);
    }
}
