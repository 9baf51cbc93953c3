package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.testing.CHeaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The structs and enums of verbs as Java has them, against the installed header. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsLayoutTest {
    private static final List<String> HEADERS = List.of("infiniband/verbs.h");
    /** Opcodes that are defined by providers only. */
    private static final List<String> DRIVER_OPCODES = List.of("IBV_WC_DRIVER1", "IBV_WC_DRIVER2", "IBV_WC_DRIVER3");
    private static final List<String> TAG_MATCHING_OPCODES = List.of("IBV_WC_TM_ADD", "IBV_WC_TM_DEL", "IBV_WC_TM_SYNC",
        "IBV_WC_TM_RECV", "IBV_WC_TM_NO_TAG");

    @TempDir
    private Path folder;

    @BeforeAll
    static void requireHeader() {
        assumeTrue(Files.exists(VerbsHeader.PATH), "infiniband/verbs.h is not installed (libibverbs-dev)");
    }

    @Test
    void shouldLayAWorkCompletionOutAsTheHeaderDoes() {
        final Map<String, Long> layout = new TreeMap<>();
        layout.put("sizeof(struct ibv_wc)", (long) IbvWc.SIZE_BYTES);
        putField(layout, "ibv_wc", "wr_id", IbvWc.WR_ID_OFFSET, Long.BYTES);
        putField(layout, "ibv_wc", "status", IbvWc.STATUS_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "opcode", IbvWc.OPCODE_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "vendor_err", IbvWc.VENDOR_ERR_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "byte_len", IbvWc.BYTE_LEN_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "imm_data", IbvWc.IMM_DATA_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "invalidated_rkey", IbvWc.INVALIDATED_RKEY_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "qp_num", IbvWc.QP_NUM_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "src_qp", IbvWc.SRC_QP_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "wc_flags", IbvWc.WC_FLAGS_OFFSET, Integer.BYTES);
        putField(layout, "ibv_wc", "pkey_index", IbvWc.PKEY_INDEX_OFFSET, Short.BYTES);
        putField(layout, "ibv_wc", "slid", IbvWc.SLID_OFFSET, Short.BYTES);
        putField(layout, "ibv_wc", "sl", IbvWc.SL_OFFSET, Byte.BYTES);
        putField(layout, "ibv_wc", "dlid_path_bits", IbvWc.DLID_PATH_BITS_OFFSET, Byte.BYTES);
        CHeaders.assertEqualToHeaders(folder, HEADERS, layout);
    }

    @Test
    void shouldLayContextsQueuesChannelsAndEventsOutAsTheHeaderDoes() {
        final Map<String, Long> layout = new TreeMap<>();
        putField(layout, "ibv_context", "device", IbvContext.DEVICE_OFFSET, Long.BYTES);
        putField(layout, "ibv_context", "ops.poll_cq", IbvContext.POLL_CQ_OFFSET, Long.BYTES);
        putField(layout, "ibv_context", "ops.req_notify_cq", IbvContext.REQ_NOTIFY_CQ_OFFSET, Long.BYTES);
        putField(layout, "ibv_context", "async_fd", IbvContext.ASYNC_FD_OFFSET, Integer.BYTES);
        putField(layout, "ibv_context", "num_comp_vectors", IbvContext.NUM_COMP_VECTORS_OFFSET, Integer.BYTES);
        layout.put("offsetof(struct ibv_device, transport_type)", (long) IbvContext.DEVICE_TRANSPORT_OFFSET);
        layout.put("IBV_TRANSPORT_IWARP", (long) IbvContext.IWARP);
        layout.put("offsetof(struct ibv_device, name)", (long) IbvContext.DEVICE_NAME_OFFSET);
        putField(layout, "ibv_cq", "context", IbvCq.CONTEXT_OFFSET, Long.BYTES);
        putField(layout, "ibv_cq", "channel", IbvCq.CHANNEL_OFFSET, Long.BYTES);
        putField(layout, "ibv_cq", "cqe", IbvCq.CQE_OFFSET, Integer.BYTES);
        putField(layout, "ibv_comp_channel", "context", IbvCq.CHANNEL_CONTEXT_OFFSET, Long.BYTES);
        putField(layout, "ibv_comp_channel", "fd", IbvCq.CHANNEL_FD_OFFSET, Integer.BYTES);
        putField(layout, "ibv_qp", "qp_num", IbvCq.QP_NUM_OFFSET, Integer.BYTES);
        putField(layout, "ibv_async_event", "element", 0, Long.BYTES);
        putField(layout, "ibv_async_event", "event_type", AsyncEvents.EVENT_TYPE_OFFSET, Integer.BYTES);
        CHeaders.assertEqualToHeaders(folder, HEADERS, layout);
    }

    @Test
    void shouldHaveEveryStatusOfTheHeader() {
        final Map<String, Long> values = new TreeMap<>();
        for (int status = 0; status < WcStatus.COUNT; status++) {
            values.put(WcStatus.name(status), (long) status);
        }
        CHeaders.assertEqualToHeaders(folder, HEADERS, values);
        assertEquals(new TreeSet<>(), without(new VerbsHeader().constants("ibv_wc_status"), values));
    }

    @Test
    void shouldHaveEveryOpcodeOfTheHeaderThatVerbsDefine() {
        final TreeSet<String> declared = new VerbsHeader().constants("ibv_wc_opcode");
        final Map<String, Long> values = new TreeMap<>();
        for (int opcode = 0; opcode <= WcOpcode.RECV_RDMA_WITH_IMM; opcode++) {
            final String name = WcOpcode.name(opcode);
            if (declared.contains(name)) {
                values.put(name, (long) opcode);
            }
        }
        CHeaders.assertEqualToHeaders(folder, HEADERS, values);
        declared.removeAll(DRIVER_OPCODES);
        declared.removeAll(TAG_MATCHING_OPCODES);
        assertEquals(new TreeSet<>(), without(declared, values));
        assertTrue(values.size() >= 8, values::toString);
    }

    @Test
    void shouldHaveTheFlagsOfTheHeader() {
        CHeaders.assertEqualToHeaders(folder, HEADERS, Map.of(
            "IBV_WC_GRH", (long) WorkCompletion.FLAG_GRH,
            "IBV_WC_WITH_IMM", (long) WorkCompletion.FLAG_WITH_IMMEDIATE,
            "IBV_WC_IP_CSUM_OK", (long) WorkCompletion.FLAG_IP_CHECKSUM_OK,
            "IBV_WC_WITH_INV", (long) WorkCompletion.FLAG_WITH_INVALIDATE));
    }

    @Test
    void shouldHaveEveryAsynchronousEventOfTheHeader() {
        final Map<String, Long> values = new TreeMap<>();
        for (final AsyncEventType type : AsyncEventType.values()) {
            if (type != AsyncEventType.UNKNOWN) {
                values.put("IBV_EVENT_" + type, (long) type.value());
            }
        }
        CHeaders.assertEqualToHeaders(folder, HEADERS, values);
        assertEquals(new TreeSet<>(), without(new VerbsHeader().constants("ibv_event_type"), values));
    }

    private static TreeSet<String> without(final TreeSet<String> declared, final Map<String, Long> known) {
        declared.removeAll(known.keySet());
        return declared;
    }

    private static void putField(final Map<String, Long> layout, final String struct, final String field, final int offset,
        final int size) {
        layout.put("offsetof(struct " + struct + ", " + field + ")", (long) offset);
        layout.put("sizeof(((struct " + struct + " *) 0)->" + field + ")", (long) size);
    }
}
