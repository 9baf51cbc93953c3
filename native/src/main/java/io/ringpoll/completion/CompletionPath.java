package io.ringpoll.completion;

import io.ringpoll.internal.verbs.CompletionPaths;

/**
 * The three paths that a completion can take, by the rules of the verbs manual.
 *
 * <p>The status decides first, because the opcode field is not valid on a failed completion.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public enum CompletionPath {
    /** Successful sends, writes, reads, flushes and atomics: work requests of the send queue. */
    SEND_WRITE,
    /** Successful receives: consumed by a message of the peer. */
    RECEIVE,
    /** Every failed completion, of either side. */
    ERROR;

    /** The path of a completion by the 8 bytes at {@link IbvWc#STATUS_OFFSET}, in native byte order. */
    static CompletionPath of(final long statusAndOpcode) {
        if (CompletionPaths.isError(statusAndOpcode)) {
            return ERROR;
        }
        return CompletionPaths.receiveBit(statusAndOpcode) != 0 ? RECEIVE : SEND_WRITE;
    }
}
