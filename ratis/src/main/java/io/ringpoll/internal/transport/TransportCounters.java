package io.ringpoll.internal.transport;

import java.util.concurrent.atomic.LongAdder;

/** The counters of a node; any thread may read or write. */
public final class TransportCounters {
    /** A counter. */
    public enum Count {
        /** Frames sent. */
        FRAMES_SENT,
        /** Frames received. */
        FRAMES_RECEIVED,
        /** Bytes of messages sent, in frames and by rendezvous. */
        BYTES_SENT,
        /** Bytes of messages received, in frames and by rendezvous. */
        BYTES_RECEIVED,
        /** Messages that a peer has read from this node's memory. */
        RENDEZVOUS_SENT,
        /** Messages that this node has read from a peer's memory. */
        RENDEZVOUS_RECEIVED,
        /** Messages that were not sent because they were over a limit, or there was no memory for them. */
        MESSAGES_UNSENT,
        /** Frames that had to wait for a credit or a buffer. */
        SENDS_DELAYED,
        /** Frames that only returned credits. */
        CREDIT_FRAMES_SENT,
        /** Pings to silent peers and answers to theirs; not among the frames sent. */
        KEEPALIVES_SENT,
        /** Connections established, in both directions. */
        CONNECTIONS_OPENED,
        /** Connections ended, for any reason. */
        CONNECTIONS_CLOSED,
        /** Connection requests of peers that were rejected. */
        CONNECTIONS_REJECTED,
        /** Connects that failed. */
        CONNECTS_FAILED,
        /** Connections ended because of a protocol violation by the peer. */
        PROTOCOL_VIOLATIONS,
        /** Connections ended because the peer did not answer a ping. */
        PEERS_LOST,
        /** Work requests that failed with an error other than the flush after a disconnect. */
        COMPLETION_ERRORS
    }

    private final LongAdder[] counts = new LongAdder[Count.values().length];

    /** Creates counters with value 0. */
    public TransportCounters() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    /**
     * The current value of a counter.
     *
     * @param count the counter
     * @return its value
     */
    public long value(final Count count) {
        return counts[count.ordinal()].sum();
    }

    void add(final Count count, final long amount) {
        counts[count.ordinal()].add(amount);
    }

    void increment(final Count count) {
        counts[count.ordinal()].increment();
    }
}
