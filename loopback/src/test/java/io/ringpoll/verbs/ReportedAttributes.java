package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.lifecycle.Parents;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * What the device reports of a queue pair ({@code ibv_query_qp}).
 *
 * @param trafficClass of its packets
 * @param ackTimeout   exponent
 * @param retryCount   of requests without an acknowledgement
 * @param rnrRetryCount of messages without a receive
 */
record ReportedAttributes(int trafficClass, int ackTimeout, int retryCount, int rnrRetryCount) {
    /** More than {@code struct ibv_qp_attr} and {@code struct ibv_qp_init_attr}, of which the second one begins here. */
    private static final int HALF_BYTES = 512;
    /** {@code ah_attr.grh.traffic_class}, {@code timeout}, {@code retry_cnt}, {@code rnr_retry}. */
    private static final int TRAFFIC_CLASS_OFFSET = 78;
    private static final int TIMEOUT_OFFSET = 130;
    private static final int RETRY_COUNT_OFFSET = 131;
    private static final int RNR_RETRY_OFFSET = 132;
    /** {@code IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY}. */
    private static final int MASK = 1 << 7 | 1 << 9 | 1 << 10 | 1 << 11;

    static ReportedAttributes of(final QueuePair queuePair) {
        final long address = Parents.enter(queuePair);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment attributes = arena.allocate(2 * HALF_BYTES, Long.BYTES);
            assertEquals(0, query(address, attributes));
            return new ReportedAttributes(octet(attributes, TRAFFIC_CLASS_OFFSET), octet(attributes, TIMEOUT_OFFSET),
                octet(attributes, RETRY_COUNT_OFFSET), octet(attributes, RNR_RETRY_OFFSET));
        } finally {
            Parents.exit(queuePair);
        }
    }

    @SuppressWarnings("restricted")
    private static int query(final long queuePair, final MemorySegment attributes) {
        final MethodHandle query = Linker.nativeLinker().downcallHandle(
            Libraries.current().ibverbs().find("ibv_query_qp").orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        try {
            return (int) query.invokeExact(queuePair, attributes, MASK, attributes.asSlice(HALF_BYTES));
        } catch (final Throwable t) {
            throw new AssertionError(t);
        }
    }

    private static int octet(final MemorySegment attributes, final int offset) {
        return Byte.toUnsignedInt(attributes.get(ValueLayout.JAVA_BYTE, offset));
    }
}
