package io.ringpoll.ratis.transport;

import java.util.concurrent.atomic.LongAdder;

/** What a node counts; written and read by any thread. */
public final class TransportCounters {
    /** One of the counts. */
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
        /** Frames that had to wait for a credit or a buffer. */
        SENDS_DELAYED,
        /** Frames that did nothing but give credits back. */
        CREDIT_FRAMES_SENT,
        /** Connections that came about, in both directions. */
        CONNECTIONS_OPENED,
        /** Connections that ended, for whatever reason. */
        CONNECTIONS_CLOSED,
        /** Connections that peers asked for and did not get. */
        CONNECTIONS_REJECTED,
        /** Connections that could not be made. */
        CONNECTS_FAILED,
        /** Connections ended because the peer sent what no peer sends. */
        PROTOCOL_VIOLATIONS,
        /** Work requests that ended with an error other than the flush behind a disconnect. */
        COMPLETION_ERRORS
    }

    private final LongAdder[] counts = new LongAdder[Count.values().length];

    /** Creates counts of 0. */
    public TransportCounters() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    /**
     * A count as it is now.
     *
     * @param count which
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
