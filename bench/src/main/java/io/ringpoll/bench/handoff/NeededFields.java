package io.ringpoll.bench.handoff;

import io.ringpoll.completion.IbvWc;
import org.agrona.UnsafeApi;

/**
 * The fields that a handler needs of a completion: {@code wr_id}, which names the request, and the 8 bytes of {@code status} and
 * {@code opcode}, which select the path. A hand-off that copies copies these 16 of 48 bytes.
 *
 * <pre>
 *   struct ibv_wc    uint64_t wr_id;   enum status;   enum opcode;   ...
 *   message          workRequestId     statusAndOpcode
 *   offset           0                 8                             16
 * </pre>
 *
 * <p>All addresses are of native memory that the caller has claimed: nothing is checked.
 */
final class NeededFields {
    /** Offset of the request in a message. */
    static final int WORK_REQUEST_ID_OFFSET = 0;
    /** Offset of status and opcode in a message. */
    static final int STATUS_AND_OPCODE_OFFSET = Long.BYTES;
    /** Size of a message. */
    static final int SIZE_BYTES = 2 * Long.BYTES;

    private NeededFields() {
    }

    /** The {@code wr_id} of a polled record. */
    static long workRequestId(final long record) {
        return UnsafeApi.getLong(record + IbvWc.WR_ID_OFFSET);
    }

    /** The status of a polled record and, in the upper half on a little-endian CPU, its opcode. */
    static long statusAndOpcode(final long record) {
        return UnsafeApi.getLong(record + IbvWc.STATUS_OFFSET);
    }

    /** Copies consecutive polled records to consecutive messages. */
    static void copy(final long records, final long messages, final int count) {
        for (int i = 0; i < count; i++) {
            final long record = records + i * (long) IbvWc.SIZE_BYTES;
            final long message = messages + i * (long) SIZE_BYTES;
            UnsafeApi.putLong(message + WORK_REQUEST_ID_OFFSET, workRequestId(record));
            UnsafeApi.putLong(message + STATUS_AND_OPCODE_OFFSET, statusAndOpcode(record));
        }
    }

    /** Passes consecutive messages to the handler. */
    static void handle(final long messages, final int count, final Work work) {
        for (int i = 0; i < count; i++) {
            final long message = messages + i * (long) SIZE_BYTES;
            work.onCopy(UnsafeApi.getLong(message + WORK_REQUEST_ID_OFFSET),
                UnsafeApi.getLong(message + STATUS_AND_OPCODE_OFFSET));
        }
    }
}
