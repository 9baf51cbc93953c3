package io.ringpoll.rpma;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import java.lang.foreign.Arena;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A completion of librpma up to 0.11 ({@code struct rpma_completion}), for code written for it. New code reads a {@link
 * WorkCompletion}.
 *
 * <pre>
 *   struct rpma_completion {
 *       void *op_context;               offset  0
 *       enum rpma_op op;                        8
 *       uint32_t byte_len;                     12
 *       enum ibv_wc_status op_status;          16
 *       unsigned flags;                        20
 *       uint32_t imm;                          24
 *   };                                  size   32
 * </pre>
 *
 * <p>If {@link #opStatus()} is not {@link WcStatus#SUCCESS} only {@link #opContext()} is valid; {@link #imm()} is valid only if
 * {@link #flags()} include it. Fields that are not valid keep their previous value, as in the old call. Used by one thread;
 * allocates nothing after its creation.
 *
 * @see <a href="https://pmem.io/rpma/manpages/v0.11.0/rpma_cq_get_completion.3/">rpma_cq_get_completion(3)</a>
 */
public final class LegacyCompletion {
    static final int OP_CONTEXT_OFFSET = 0;
    static final int OP_OFFSET = 8;
    static final int BYTE_LEN_OFFSET = 12;
    static final int OP_STATUS_OFFSET = 16;
    static final int FLAGS_OFFSET = 20;
    static final int IMM_OFFSET = 24;
    static final int SIZE_BYTES = 32;

    private static final int CACHE_LINE_BYTES = 64;

    /** The first field: it names a missing flag of the JVM, without which the next one fails in Agrona. */
    private final WorkCompletions wc = WorkCompletions.allocate(1);
    private final UnsafeBuffer struct =
        new UnsafeBuffer(Arena.ofAuto().allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).asByteBuffer());
    private final WorkCompletion completion = wc.show(0, new WorkCompletion());

    /**
     * Creates a completion that shows zeros.
     *
     * @throws io.ringpoll.device.DeviceException if the JVM lacks a flag; the message names it
     */
    public LegacyCompletion() {
    }

    /**
     * Takes over a work completion, with the old call's meaning of each field.
     *
     * @param completion of any queue; copied
     * @return 0, or {@link RpmaError#NOSUPP} if the old call did not know the opcode
     */
    public int set(final WorkCompletion completion) {
        struct.putLong(OP_CONTEXT_OFFSET, completion.workRequestId());
        final int status = completion.status();
        struct.putInt(OP_STATUS_OFFSET, status);
        if (status != WcStatus.SUCCESS) {
            return RpmaError.SUCCESS;
        }
        final int opcode = completion.opcode();
        switch (opcode) {
            case WcOpcode.RDMA_READ -> set(LegacyOp.READ);
            case WcOpcode.RDMA_WRITE -> set(LegacyOp.WRITE);
            case WcOpcode.SEND -> set(LegacyOp.SEND);
            case WcOpcode.RECV -> set(LegacyOp.RECV);
            case WcOpcode.RECV_RDMA_WITH_IMM -> set(LegacyOp.RECV_RDMA_WITH_IMM);
            default -> {
                return RpmaError.NOSUPP;
            }
        }
        struct.putInt(BYTE_LEN_OFFSET, completion.lengthBytes());
        final int flags = completion.flags();
        struct.putInt(FLAGS_OFFSET, flags);
        if ((opcode & WcOpcode.RECV) != 0 && (flags & WorkCompletion.FLAG_WITH_IMMEDIATE) != 0) {
            struct.putInt(IMM_OFFSET, completion.immediate());
        }
        return RpmaError.SUCCESS;
    }

    /**
     * The context that was given when the operation was posted.
     *
     * @return the work request id
     */
    public long opContext() {
        return struct.getLong(OP_CONTEXT_OFFSET);
    }

    /**
     * The kind of the completed operation.
     *
     * @return one of five; never {@link LegacyOp#FLUSH}
     */
    public LegacyOp op() {
        return LegacyOp.of(struct.getInt(OP_OFFSET));
    }

    /**
     * Number of bytes transferred.
     *
     * @return bytes
     */
    public int byteLen() {
        return struct.getInt(BYTE_LEN_OFFSET);
    }

    /**
     * How the operation ended.
     *
     * @return a value of {@link WcStatus}
     */
    public int opStatus() {
        return struct.getInt(OP_STATUS_OFFSET);
    }

    /**
     * The completion's flags.
     *
     * @return a combination of the constants {@code FLAG_...} of {@link WorkCompletion}
     */
    public int flags() {
        return struct.getInt(FLAGS_OFFSET);
    }

    /**
     * The other side's immediate data.
     *
     * @return the 32 bits in host byte order
     */
    public int imm() {
        return struct.getInt(IMM_OFFSET);
    }

    /** Memory for the struct, {@value #SIZE_BYTES} bytes. */
    long structAddress() {
        return struct.addressOffset();
    }

    /** The path that the completion takes. */
    CompletionPath path() {
        if (opStatus() != WcStatus.SUCCESS) {
            return CompletionPath.ERROR;
        }
        return op() == LegacyOp.RECV || op() == LegacyOp.RECV_RDMA_WITH_IMM ? CompletionPath.RECEIVE : CompletionPath.SEND_WRITE;
    }

    /** Memory for one work completion. */
    WorkCompletions wc() {
        return wc;
    }

    /** The address of {@link #wc()}. */
    long wcAddress() {
        return wc.address(0, 1);
    }

    /** Takes over the work completion in {@link #wc()}. */
    int setFromWc() {
        return set(completion);
    }

    private void set(final LegacyOp op) {
        struct.putInt(OP_OFFSET, op.value());
    }
}
