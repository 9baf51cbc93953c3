package io.ringpoll.bench.handoff;

import io.ringpoll.verbs.IbvWc;
import org.agrona.DirectBuffer;

/** A work completion as an ordinary object, for hand-offs that copy completions. */
public final class CompletionRecord {
    private long workRequestId;
    private int status;
    private int opcode;
    private int vendorError;
    private int lengthBytes;
    private int immediate;
    private int queuePairNumber;
    private int sourceQueuePairNumber;
    private int flags;

    /** Creates an empty record. */
    public CompletionRecord() {
    }

    /**
     * Copies a record.
     *
     * @param memory memory of the record
     * @param offset its offset in bytes
     * @return a new object
     */
    public static CompletionRecord copyOf(final DirectBuffer memory, final int offset) {
        final CompletionRecord record = new CompletionRecord();
        record.copyFrom(memory, offset);
        return record;
    }

    /**
     * Copies the fields of a record into this object.
     *
     * @param memory memory of the record
     * @param offset its offset in bytes
     */
    public void copyFrom(final DirectBuffer memory, final int offset) {
        workRequestId = memory.getLong(offset + IbvWc.WR_ID_OFFSET);
        status = memory.getInt(offset + IbvWc.STATUS_OFFSET);
        opcode = memory.getInt(offset + IbvWc.OPCODE_OFFSET);
        vendorError = memory.getInt(offset + IbvWc.VENDOR_ERR_OFFSET);
        lengthBytes = memory.getInt(offset + IbvWc.BYTE_LEN_OFFSET);
        immediate = memory.getInt(offset + IbvWc.IMM_DATA_OFFSET);
        queuePairNumber = memory.getInt(offset + IbvWc.QP_NUM_OFFSET);
        sourceQueuePairNumber = memory.getInt(offset + IbvWc.SRC_QP_OFFSET);
        flags = memory.getInt(offset + IbvWc.WC_FLAGS_OFFSET);
    }

    /**
     * The identifier of the work request.
     *
     * @return {@code wr_id}
     */
    public long workRequestId() {
        return workRequestId;
    }

    /**
     * The status.
     *
     * @return a value of {@link io.ringpoll.verbs.WcStatus}
     */
    public int status() {
        return status;
    }

    /**
     * The operation.
     *
     * @return a value of {@link io.ringpoll.verbs.WcOpcode}
     */
    public int opcode() {
        return opcode;
    }

    /**
     * The vendor-specific error code.
     *
     * @return {@code vendor_err}
     */
    public int vendorError() {
        return vendorError;
    }

    /**
     * The transferred bytes.
     *
     * @return bytes
     */
    public int lengthBytes() {
        return lengthBytes;
    }

    /**
     * The immediate data of the peer.
     *
     * @return in network byte order
     */
    public int immediate() {
        return immediate;
    }

    /**
     * The local queue pair.
     *
     * @return its number
     */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /**
     * The remote queue pair.
     *
     * @return its number
     */
    public int sourceQueuePairNumber() {
        return sourceQueuePairNumber;
    }

    /**
     * The flags of the valid optional fields.
     *
     * @return {@code wc_flags}
     */
    public int flags() {
        return flags;
    }
}
