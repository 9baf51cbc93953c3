package io.ringpoll.completion;

import io.ringpoll.internal.verbs.RecordAddress;
import io.ringpoll.internal.verbs.RecordFlyweight;
import java.nio.ByteOrder;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;

/**
 * A flyweight over one {@code struct ibv_wc} in off-heap memory: the bytes that the provider wrote are the bytes read here.
 *
 * <p>One flyweight belongs to one thread, which moves it from slot to slot. Its fields are valid until that thread releases the
 * slot; copy a field, not the flyweight, to keep it.
 *
 * <p>If {@link #status()} is not {@link WcStatus#SUCCESS}, only {@link #workRequestId()}, {@link #status()},
 * {@link #queuePairNumber()}, {@link #vendorError()}, {@link #queueIndex()} and {@link #attachment()} are valid. Reading
 * anything else then throws {@link IllegalStateException}; the check is switched off with the system property
 * {@value #VALIDITY_CHECKS_PROPERTY} set to {@code false}.
 *
 * @see IbvWc
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public final class WorkCompletion extends RecordFlyweight {
    /** Name of the system property that switches the check for invalid fields off when it is {@code false}. */
    public static final String VALIDITY_CHECKS_PROPERTY = "ringpoll.validity.checks";

    /** Flag: a global route header is present; never on reliable connections. */
    public static final int FLAG_GRH = 1;
    /** Flag: {@link #immediate()} is valid. */
    public static final int FLAG_WITH_IMMEDIATE = 1 << 1;
    /** Flag: the packet's checksums were verified. */
    public static final int FLAG_IP_CHECKSUM_OK = 1 << 2;
    /** Flag: {@link #invalidatedRemoteKey()} is valid. */
    public static final int FLAG_WITH_INVALIDATE = 1 << 3;

    private static final boolean BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
    private static final boolean VALIDITY_CHECKS =
        !"false".equalsIgnoreCase(System.getProperty(VALIDITY_CHECKS_PROPERTY));

    /** In which it was found, if by {@link #wrap(DirectBuffer, int)}. */
    private DirectBuffer buffer;

    /** Creates a flyweight that shows nothing until it is wrapped. */
    public WorkCompletion() {
    }

    /**
     * Points the flyweight at a record.
     *
     * @param buffer off-heap memory that holds the record, and stays for as long as the flyweight is read
     * @param offset of the record in bytes
     * @return this
     * @throws IndexOutOfBoundsException if the record is not within the buffer
     * @throws IllegalArgumentException  if the buffer is on the heap, where records are not polled to
     */
    public WorkCompletion wrap(final DirectBuffer buffer, final int offset) {
        Objects.requireNonNull(buffer, "the buffer is null").boundsCheck(offset, IbvWc.SIZE_BYTES);
        if (buffer.byteArray() != null) {
            throw new IllegalArgumentException("the buffer is on the heap; completions are in off-heap memory");
        }
        this.buffer = buffer;
        return RecordAddress.show(this, buffer.addressOffset() + offset);
    }

    /** Shows nothing any more: reading it throws {@link IllegalStateException}, though the memory may have been freed. */
    public void unwrap() {
        buffer = null;
        RecordAddress.show(this, 0);
    }

    /**
     * Points the flyweight at another record of the buffer that it was last given.
     *
     * @param offset of the record in bytes
     * @return this
     * @throws IllegalStateException if it was not given a buffer
     */
    public WorkCompletion moveTo(final int offset) {
        if (buffer == null) {
            throw new IllegalStateException("the flyweight was given no buffer to move in");
        }
        return wrap(buffer, offset);
    }

    /**
     * The id that was given when the work request was posted ({@code wr_id}; librpma's {@code op_context}).
     *
     * @return all 64 bits of it
     */
    public long workRequestId() {
        return longAt(IbvWc.WR_ID_OFFSET);
    }

    /**
     * How the work request ended.
     *
     * @return a value of {@link WcStatus}
     */
    public int status() {
        return intAt(IbvWc.STATUS_OFFSET);
    }

    /**
     * Whether the work request ended as asked.
     *
     * @return true if the status is {@link WcStatus#SUCCESS}
     */
    public boolean isSuccess() {
        return status() == WcStatus.SUCCESS;
    }

    /**
     * The path that this completion takes, decided on status and opcode with one load.
     *
     * @return error, receive, or send/write
     */
    public CompletionPath path() {
        return CompletionPath.of(statusAndOpcode());
    }

    /**
     * Status and opcode as the one aligned word that they are in the record.
     *
     * @return the 8 bytes at {@link IbvWc#STATUS_OFFSET}, in native byte order
     */
    public long statusAndOpcode() {
        return longAt(IbvWc.STATUS_OFFSET);
    }

    /**
     * Which operation completed.
     *
     * @return a value of {@link WcOpcode}
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int opcode() {
        checkValid("opcode");
        return intAt(IbvWc.OPCODE_OFFSET);
    }

    /**
     * The provider's own error code.
     *
     * @return its meaning is the device vendor's
     */
    public int vendorError() {
        return intAt(IbvWc.VENDOR_ERR_OFFSET);
    }

    /**
     * Number of bytes transferred; on the send side providers set it for reads and atomics only.
     *
     * @return bytes, up to 2 GiB as verbs allow for a message
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int lengthBytes() {
        checkValid("byte_len");
        return intAt(IbvWc.BYTE_LEN_OFFSET);
    }

    /**
     * Whether the peer sent immediate data with the message.
     *
     * @return true if {@link #immediate()} is valid
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public boolean hasImmediate() {
        return (flags() & FLAG_WITH_IMMEDIATE) != 0;
    }

    /**
     * The peer's immediate data.
     *
     * @return the 32 bits in host byte order, as passed to the peer's send or write
     * @throws IllegalStateException if the completion failed, or has no immediate data
     */
    public int immediate() {
        if (VALIDITY_CHECKS && !hasImmediate()) {
            throw invalid("imm_data", "the completion has no immediate data");
        }
        return BIG_ENDIAN ? intAt(IbvWc.IMM_DATA_OFFSET) : Integer.reverseBytes(intAt(IbvWc.IMM_DATA_OFFSET));
    }

    /**
     * The remote key that the peer's send invalidated.
     *
     * @return the key
     * @throws IllegalStateException if the completion failed, or has no invalidated key
     */
    public int invalidatedRemoteKey() {
        if (VALIDITY_CHECKS && (flags() & FLAG_WITH_INVALIDATE) == 0) {
            throw invalid("invalidated_rkey", "the completion has no invalidated key");
        }
        return intAt(IbvWc.INVALIDATED_RKEY_OFFSET);
    }

    /**
     * Number of the local queue pair; it identifies the connection of a shared receive queue.
     *
     * @return the number, as returned by {@code rpma_conn_get_qp_num}
     */
    public int queuePairNumber() {
        return intAt(IbvWc.QP_NUM_OFFSET);
    }

    /**
     * Number of the remote queue pair; valid on datagram queue pairs only.
     *
     * @return the number
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int sourceQueuePairNumber() {
        checkValid("src_qp");
        return intAt(IbvWc.SRC_QP_OFFSET);
    }

    /**
     * The completion's flags.
     *
     * @return a combination of the constants {@code FLAG_...}
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int flags() {
        checkValid("wc_flags");
        return intAt(IbvWc.WC_FLAGS_OFFSET);
    }

    /**
     * Partition key index; valid on the general services queue pair only.
     *
     * @return the index, unsigned 16 bits
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int partitionKeyIndex() {
        checkValid("pkey_index");
        return shortAt(IbvWc.PKEY_INDEX_OFFSET) & 0xFFFF;
    }

    /**
     * Source local identifier; valid on datagram queue pairs only.
     *
     * @return the identifier, unsigned 16 bits
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int sourceLocalIdentifier() {
        checkValid("slid");
        return shortAt(IbvWc.SLID_OFFSET) & 0xFFFF;
    }

    /**
     * Service level; valid on datagram queue pairs only.
     *
     * @return the level, unsigned 8 bits
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int serviceLevel() {
        checkValid("sl");
        return byteAt(IbvWc.SL_OFFSET) & 0xFF;
    }

    /**
     * Destination path bits; valid on datagram queue pairs only.
     *
     * @return the bits, unsigned 8 bits
     * @throws IllegalStateException if the completion failed: the field is not valid then
     */
    public int destinationPathBits() {
        checkValid("dlid_path_bits");
        return byteAt(IbvWc.DLID_PATH_BITS_OFFSET) & 0xFF;
    }

    /**
     * Index of the completion queue of this completion, as assigned by the poller when the queue was added. It is no part of the
     * record: the poller keeps it once for consecutive completions of a queue, and it is looked up by this call.
     *
     * @return 0 to 65,535
     * @throws IllegalStateException if no poller has published the completion
     */
    public int queueIndex() {
        return shownQueueIndex();
    }

    /**
     * The time at which the device generated the completion, in ticks of its clock. {@link DeviceClock} converts it to the time
     * of {@link System#nanoTime()} and to wall-clock time. It is no part of the record: the poller keeps it beside the slots.
     * Valid for failed completions, too.
     *
     * @return ticks
     * @throws IllegalStateException if the completion's queue has no timestamps
     *     ({@link VerbsCompletionQueue#createWithTimestamps}), or no poller has published the completion
     */
    public long completionTimestamp() {
        return shownTimestamp();
    }

    /**
     * The object that was given with the completion queue when it was added to its poller, such as the user's connection. If that
     * object is a {@link QueuePairAttachments}, the result is its attachment for {@link #queuePairNumber()}. Allocates nothing;
     * the cost is that of a few loads.
     *
     * @return null if the queue, or the queue pair, has no attachment
     * @throws IllegalStateException if no poller has published the completion
     */
    public Object attachment() {
        final Object attached = shownAttachment();
        return attached instanceof final QueuePairAttachments connections ? connections.get(queuePairNumber()) : attached;
    }

    /**
     * The valid fields, for people; allocates.
     *
     * @return one line
     */
    @Override
    public String toString() {
        final String identity = "WorkCompletion{wr_id=0x" + Long.toHexString(workRequestId()) + ", status=" +
            WcStatus.name(status()) + ", qp_num=" + Integer.toUnsignedString(queuePairNumber());
        return isSuccess() ?
            identity + ", opcode=" + WcOpcode.name(opcode()) + ", byte_len=" + lengthBytes() + ", wc_flags=" + flags() + '}' :
            identity + ", vendor_err=" + vendorError() + '}';
    }

    private void checkValid(final String field) {
        if (VALIDITY_CHECKS && status() != WcStatus.SUCCESS) {
            throw invalid(field, "only wr_id, status, qp_num and vendor_err are valid on " + WcStatus.name(status()));
        }
    }

    private static IllegalStateException invalid(final String field, final String reason) {
        return new IllegalStateException(field + " is not valid: " + reason);
    }

    private long longAt(final int field) {
        return UnsafeApi.getLong(shown() + field);
    }

    private int intAt(final int field) {
        return UnsafeApi.getInt(shown() + field);
    }

    private short shortAt(final int field) {
        return UnsafeApi.getShort(shown() + field);
    }

    private byte byteAt(final int field) {
        return UnsafeApi.getByte(shown() + field);
    }
}
