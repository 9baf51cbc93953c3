package io.ringpoll.internal.transport;

import java.util.concurrent.atomic.LongAdder;

/** The counters of one peer, or of all clients, over all its connections; any thread may read or write. */
public final class PeerCounters {
    /** A counter. */
    public enum Figure {
        /** Connections that are established now. */
        CONNECTIONS,
        /** Connections established after the first one. */
        RECONNECTS,
        /** Bytes of messages sent. */
        BYTES_SENT,
        /** Bytes of messages received. */
        BYTES_RECEIVED,
        /** Requests sent to the peer. */
        REQUESTS_SENT,
        /** Requests received from the peer. */
        REQUESTS_RECEIVED,
        /** Replies received, successful or not. */
        REPLIES,
        /** Sum of the times from a request to its reply, in nanoseconds. */
        LATENCY_NS,
        /** Frames that wait for a credit or a buffer now. */
        QUEUE_DEPTH,
        /** Registered memory in use for long messages to and from the peer now, in bytes. */
        REGISTERED_BYTES
    }

    private final LongAdder[] values = new LongAdder[Figure.values().length];
    private final LongAdder opened = new LongAdder();
    /** Connections that have ended without being closed by this side; guarded by this, as is the next field. */
    private long losses;
    private boolean lost;

    PeerCounters() {
        for (int i = 0; i < values.length; i++) {
            values[i] = new LongAdder();
        }
    }

    /**
     * The current value of a counter.
     *
     * @param figure the counter
     * @return its value
     */
    public long value(final Figure figure) {
        return values[figure.ordinal()].sum();
    }

    void add(final Figure figure, final long amount) {
        values[figure.ordinal()].add(amount);
    }

    void increment(final Figure figure) {
        values[figure.ordinal()].increment();
    }

    /** Counts an established connection; called by one thread, the node's keeper. */
    void onEstablished() {
        if (opened.sum() > 0) {
            increment(Figure.RECONNECTS);
        }
        opened.increment();
        increment(Figure.CONNECTIONS);
    }

    /** Counts a lost connection; returns the number of losses. */
    synchronized long onLost() {
        lost = true;
        return ++losses;
    }

    /** Forgets a loss after which there is a connection again; returns the number of losses, or 0 if there was none since. */
    synchronized long onRegained() {
        final long times = lost ? losses : 0;
        lost = false;
        return times;
    }
}
