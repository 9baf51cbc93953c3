package io.ringpoll.rpma;

/**
 * Kinds of operation of librpma up to 0.11 ({@code enum rpma_op}).
 *
 * @see <a href="https://pmem.io/rpma/manpages/v0.11.0/rpma_cq_get_completion.3/">rpma_cq_get_completion(3)</a>
 */
public enum LegacyOp {
    /** A read ({@code RPMA_OP_READ}); also used for a flush. */
    READ,
    /** A write, with or without immediate data ({@code RPMA_OP_WRITE}). */
    WRITE,
    /** Never used: librpma flushes by reads ({@code RPMA_OP_FLUSH}). */
    FLUSH,
    /** A send, with or without immediate data ({@code RPMA_OP_SEND}). */
    SEND,
    /** A receive of a message ({@code RPMA_OP_RECV}). */
    RECV,
    /** A receive that a write with immediate data consumed ({@code RPMA_OP_RECV_RDMA_WITH_IMM}). */
    RECV_RDMA_WITH_IMM;

    private static final LegacyOp[] ALL = values();

    /**
     * The value of the C constant.
     *
     * @return of {@code enum rpma_op}
     */
    public int value() {
        return ordinal();
    }

    static LegacyOp of(final int value) {
        return ALL[value];
    }
}
