package io.ringpoll.bench.link;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;

/**
 * An end of a connection with memory for a message. Posts allocate nothing; any thread may post.
 *
 * @param connection of either binding
 * @param memory     source and target of all messages, at least {@link #MEMORY_BYTES}
 * @param peerMemory memory of the other end
 */
public record LinkEnd(RcConnection connection, RcMemory memory, RcRemoteMemory peerMemory) {
    /** Maximum number of work requests in flight; as in baseline.h. */
    public static final int DEPTH = 64;
    /** Memory for a message; as in baseline.h. */
    public static final int MEMORY_BYTES = 1 << 23;

    static final int TIMEOUT_MS = 30_000;
    private static final RcUsage[] USAGES = {RcUsage.SEND, RcUsage.RECEIVE, RcUsage.WRITE_SOURCE,
        RcUsage.WRITE_DESTINATION, RcUsage.READ_SOURCE, RcUsage.READ_DESTINATION};

    /** What the memory of an end is used for. */
    static RcUsage[] usages() {
        return USAGES.clone();
    }

    /**
     * Posts a receive for a message of any length.
     *
     * @return false if there is no room
     */
    public boolean receive() {
        return connection.receive(memory, 0, MEMORY_BYTES, 0);
    }

    /**
     * Posts a message that the other end receives, or a read.
     *
     * @param operation a write has immediate data
     * @param sizeBytes length of the message
     * @return false if there is no room
     */
    public boolean postMessage(final Traffic.Operation operation, final int sizeBytes) {
        return switch (operation) {
            case SEND -> connection.send(memory, 0, sizeBytes, true, 0);
            case WRITE -> connection.writeWithImmediate(peerMemory, 0, memory, 0, sizeBytes, true, 0, 0);
            case READ -> connection.read(memory, 0, peerMemory, 0, sizeBytes, true, 0);
        };
    }
}
