package io.ringpoll.bench.handoff;

import io.ringpoll.verbs.IbvWc;
import org.agrona.DirectBuffer;

/**
 * A work completion as an ordinary object: what is handed over where completions are copied.
 */
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

    /** Makes an empty record. */
    public CompletionRecord() {
    }

    /**
     * Makes a copy of a record.
     *
     * @param memory that holds it
     * @param offset of it in bytes
     * @return a new object
     */
    public static CompletionRecord copyOf(final DirectBuffer memory, final int offset) {
        final CompletionRecord record = new CompletionRecord();
        record.copyFrom(memory, offset);
        return record;
    }

    /**
     * Takes over the fields of a record.
     *
     * @param memory that holds it
     * @param offset of it in bytes
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
     * The work request's identity.
     *
     * @return {@code wr_id}
     */
    public long workRequestId() {
        return workRequestId;
    }

    /**
     * How it ended.
     *
     * @return a value of {@link io.ringpoll.verbs.WcStatus}
     */
    public int status() {
        return status;
    }

    /**
     * Which operation it was.
     *
     * @return a value of {@link io.ringpoll.verbs.WcOpcode}
     */
    public int opcode() {
        return opcode;
    }

    /**
     * The provider's own code.
     *
     * @return {@code vendor_err}
     */
    public int vendorError() {
        return vendorError;
    }

    /**
     * How much was transferred.
     *
     * @return bytes
     */
    public int lengthBytes() {
        return lengthBytes;
    }

    /**
     * The peer's immediate data.
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
     * What is valid besides.
     *
     * @return flags
     */
    public int flags() {
        return flags;
    }
}
