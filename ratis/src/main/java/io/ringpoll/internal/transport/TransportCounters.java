package io.ringpoll.internal.transport;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

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
        /** Long replies to clients that were refused because others had not been read; messages unsent, too. */
        REPLIES_REFUSED,
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
        /** Connections ended because the peer did not read a reply in time. */
        REPLIES_UNREAD,
        /** Work requests that failed with an error other than the flush after a disconnect. */
        COMPLETION_ERRORS
    }

    /** Name of the counters of all clients. */
    public static final String CLIENTS = "clients";

    /** Peers choose their names: the counters of further ones are summed up. */
    private static final int MAX_PEERS = 64;
    private static final String OTHERS = "others";

    private final Map<String, PeerCounters> peers = new HashMap<>();
    private BiConsumer<String, PeerCounters> onPeer = (name, peer) -> { };
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

    /**
     * Observes the peers.
     *
     * @param observer called with the name and the counters of each known peer, and then of each new one before its first count
     */
    public void onPeer(final BiConsumer<String, PeerCounters> observer) {
        synchronized (peers) {
            onPeer = observer;
            peers.forEach(observer);
        }
    }

    /**
     * The counters of a peer.
     *
     * @param id of a server, of which hellos carry the start, or {@link #CLIENTS}
     * @return its counters, or those of further peers if there are too many
     */
    public PeerCounters peer(final String id) {
        final String start = id.length() > Hello.MAX_NAME_BYTES ? id.substring(0, Hello.MAX_NAME_BYTES) : id;
        final String name = start.replaceAll("[^\\x21-\\x7e]", "?");
        synchronized (peers) {
            final String known = peers.containsKey(name) || peers.size() < MAX_PEERS ? name : OTHERS;
            PeerCounters peer = peers.get(known);
            if (peer == null) {
                peer = new PeerCounters();
                peers.put(known, peer);
                onPeer.accept(known, peer);
            }
            return peer;
        }
    }

    void add(final Count count, final long amount) {
        counts[count.ordinal()].add(amount);
    }

    void increment(final Count count) {
        counts[count.ordinal()].increment();
    }
}
