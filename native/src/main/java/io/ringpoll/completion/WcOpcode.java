package io.ringpoll.completion;

/**
 * Values of {@code enum ibv_wc_opcode}: which operation a successful work completion belongs to.
 *
 * <p>Plain integers, since they are compared on the hot path. Not valid on a completion with a status other than
 * {@link WcStatus#SUCCESS}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public final class WcOpcode {
    /** A SEND, with or without immediate data. */
    public static final int SEND = 0;
    /** An RDMA WRITE, with or without immediate data. */
    public static final int RDMA_WRITE = 1;
    /** An RDMA READ; librpma's flush completes as one. */
    public static final int RDMA_READ = 2;
    /** A compare-and-swap. */
    public static final int COMP_SWAP = 3;
    /** A fetch-and-add. */
    public static final int FETCH_ADD = 4;
    /** A memory window's bind. */
    public static final int BIND_MW = 5;
    /** A local invalidation. */
    public static final int LOCAL_INV = 6;
    /** A TCP segmentation offload. */
    public static final int TSO = 7;
    /** A native flush. */
    public static final int FLUSH = 8;
    /** A native 8-byte atomic write. */
    public static final int ATOMIC_WRITE = 9;
    /** A receive that a SEND of the peer consumed; its bit is set in every opcode of the receive path. */
    public static final int RECV = 128;
    /** A receive that an RDMA WRITE with immediate data of the peer consumed. */
    public static final int RECV_RDMA_WITH_IMM = 129;

    private WcOpcode() {
    }

    /**
     * The name of an opcode in the verbs manual.
     *
     * @param opcode a value of {@code enum ibv_wc_opcode}
     * @return for instance {@code "IBV_WC_RDMA_WRITE"}; {@code "opcode 77"} for a value the manual does not have
     */
    public static String name(final int opcode) {
        return switch (opcode) {
            case SEND -> "IBV_WC_SEND";
            case RDMA_WRITE -> "IBV_WC_RDMA_WRITE";
            case RDMA_READ -> "IBV_WC_RDMA_READ";
            case COMP_SWAP -> "IBV_WC_COMP_SWAP";
            case FETCH_ADD -> "IBV_WC_FETCH_ADD";
            case BIND_MW -> "IBV_WC_BIND_MW";
            case LOCAL_INV -> "IBV_WC_LOCAL_INV";
            case TSO -> "IBV_WC_TSO";
            case FLUSH -> "IBV_WC_FLUSH";
            case ATOMIC_WRITE -> "IBV_WC_ATOMIC_WRITE";
            case RECV -> "IBV_WC_RECV";
            case RECV_RDMA_WITH_IMM -> "IBV_WC_RECV_RDMA_WITH_IMM";
            default -> "opcode " + opcode;
        };
    }
}
