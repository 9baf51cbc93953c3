package io.ringpoll.synthetic;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;

/**
 * The fields of a synthetic completion except its {@code wr_id}.
 *
 * @param status          a value of {@link WcStatus}; with any but success, opcode and length are not valid and not written
 * @param opcode          a value of {@link WcOpcode}
 * @param queuePairNumber of the queue pair that does not exist
 * @param lengthBytes     {@code byte_len}
 */
public record CompletionKind(int status, int opcode, int queuePairNumber, int lengthBytes) {
    /**
     * A send that succeeded.
     *
     * @param queuePairNumber of its queue pair
     * @return the kind
     */
    public static CompletionKind send(final int queuePairNumber) {
        return new CompletionKind(WcStatus.SUCCESS, WcOpcode.SEND, queuePairNumber, 0);
    }

    /**
     * A write that succeeded.
     *
     * @param queuePairNumber of its queue pair
     * @return the kind
     */
    public static CompletionKind write(final int queuePairNumber) {
        return new CompletionKind(WcStatus.SUCCESS, WcOpcode.RDMA_WRITE, queuePairNumber, 0);
    }

    /**
     * A receive that succeeded.
     *
     * @param queuePairNumber of its queue pair
     * @param lengthBytes     of the message
     * @return the kind
     */
    public static CompletionKind receive(final int queuePairNumber, final int lengthBytes) {
        return new CompletionKind(WcStatus.SUCCESS, WcOpcode.RECV, queuePairNumber, lengthBytes);
    }

    /**
     * A work request that was flushed because its queue pair failed.
     *
     * @param queuePairNumber of its queue pair
     * @return the kind
     */
    public static CompletionKind flushed(final int queuePairNumber) {
        return new CompletionKind(WcStatus.WR_FLUSH_ERR, 0, queuePairNumber, 0);
    }
}
