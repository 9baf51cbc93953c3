package io.ringpoll.connections;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WorkCompletion;
import java.nio.ByteOrder;
import org.agrona.UnsafeApi;

/**
 * Reads the record of a received message by its address: after one check of status, opcode and flags all fields are valid, where
 * each method of {@link WorkCompletion} would check again.
 */
final class ReceiveRecord {
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    /** Status and opcode, as in a record; the status is 0. */
    private static final long RECEIVED = LITTLE_ENDIAN ? (long) WcOpcode.RECV << Integer.SIZE : WcOpcode.RECV;

    private ReceiveRecord() {
    }

    /** Whether all fields are valid. */
    static boolean isReceiveWithImmediate(final long record) {
        return UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET) == RECEIVED &&
            (UnsafeApi.getInt(record + IbvWc.WC_FLAGS_OFFSET) & WorkCompletion.FLAG_WITH_IMMEDIATE) != 0;
    }

    static long workRequestId(final long record) {
        return UnsafeApi.getLong(record + IbvWc.WR_ID_OFFSET);
    }

    static int lengthBytes(final long record) {
        return UnsafeApi.getInt(record + IbvWc.BYTE_LEN_OFFSET);
    }

    /** The peer's immediate data, in host byte order. */
    static int immediate(final long record) {
        final int data = UnsafeApi.getInt(record + IbvWc.IMM_DATA_OFFSET);
        return LITTLE_ENDIAN ? Integer.reverseBytes(data) : data;
    }
}
