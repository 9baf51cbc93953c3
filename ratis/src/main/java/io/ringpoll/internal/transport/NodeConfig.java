package io.ringpoll.internal.transport;

import io.ringpoll.internal.connections.BufferSizes;
import io.ringpoll.internal.rc.RcConfig;

/**
 * The configuration of a node.
 *
 * @param name              for threads and counters
 * @param bufferBytes       length of a send or receive buffer; longer messages are fetched by an RDMA read
 * @param credits           number of frames that each peer may have in flight to this node
 * @param maxConnections    further connections are rejected
 * @param maxMessageBytes   longer messages are rejected
 * @param cachedRegionBytes unused memory for long messages that remains registered
 * @param connectTimeoutMs  time-out of a connect, in milliseconds
 * @param closeTimeoutMs    time for the connections to end at a close, and again for the handlers, in milliseconds
 * @param poller            polls the node's queues
 * @param countersFile      whether {@code ringpoll stat} can read the counters of this node's own poller; a shared poller always
 *     has a counters file
 * @param bounds            time and memory that peers may take
 * @param access            identity of the node, and the peers that it accepts
 */
public record NodeConfig(String name, int bufferBytes, int credits, int maxConnections, int maxMessageBytes,
    long cachedRegionBytes, int connectTimeoutMs, int closeTimeoutMs, PollerConfig poller, boolean countersFile,
    PeerBounds bounds, Access access) {
    /** Minimum length of a frame: an advertisement must fit. */
    public static final int MIN_BUFFER_BYTES = 256;

    /** Additional receives per connection for frames without credit: two credit frames, a ping and its answer. */
    static final int CONTROL_FRAMES = 4;

    /** Number of urgent frames that each peer may have in flight to a node: votes, heartbeats and their replies. */
    static final int URGENT_CREDITS = 4;

    /** Additional receives per connection for urgent frames, and for two frames that return their credits. */
    static final int URGENT_FRAMES = URGENT_CREDITS + 2;

    /** Number of additional connections of peers that have not proven the secret: the oldest one ends when there are more. */
    static final int UNPROVEN_CONNECTIONS = 32;

    /** Number of time-outs of a connect that a request for a connection waits for the peer. */
    private static final int PENDING_CONNECTS = 5;

    /**
     * A configuration with the default bounds for peers, that accepts all of them.
     *
     * @param name              as in the record
     * @param bufferBytes       as in the record
     * @param credits           as in the record
     * @param maxConnections    as in the record
     * @param maxMessageBytes   as in the record
     * @param cachedRegionBytes as in the record
     * @param connectTimeoutMs  as in the record
     * @param closeTimeoutMs    as in the record
     * @param poller            as in the record
     * @param countersFile      as in the record
     */
    public NodeConfig(final String name, final int bufferBytes, final int credits, final int maxConnections,
        final int maxMessageBytes, final long cachedRegionBytes, final int connectTimeoutMs, final int closeTimeoutMs,
        final PollerConfig poller, final boolean countersFile) {
        this(name, bufferBytes, credits, maxConnections, maxMessageBytes, cachedRegionBytes, connectTimeoutMs, closeTimeoutMs,
            poller, countersFile, PeerBounds.DEFAULT, Access.OPEN);
    }

    /** The same configuration with other bounds. */
    NodeConfig with(final PeerBounds other) {
        return new NodeConfig(name, bufferBytes, credits, maxConnections, maxMessageBytes, cachedRegionBytes, connectTimeoutMs,
            closeTimeoutMs, poller, countersFile, other, access);
    }

    /**
     * The same configuration with another identity and other accepted peers.
     *
     * @param other identity and accepted peers
     * @return a new configuration
     */
    public NodeConfig with(final Access other) {
        return new NodeConfig(name, bufferBytes, credits, maxConnections, maxMessageBytes, cachedRegionBytes, connectTimeoutMs,
            closeTimeoutMs, poller, countersFile, bounds, other);
    }

    /**
     * The buffers of a connection: receives for the frames of all kinds, and as many sends with some more for control frames.
     *
     * @return their number and length
     * @throws IllegalArgumentException if they are too many
     */
    public BufferSizes buffers() {
        final int receives = credits + CONTROL_FRAMES + URGENT_FRAMES;
        final BufferSizes sizes = new BufferSizes(receives, receives + CONTROL_FRAMES, bufferBytes);
        if (sizes.memoryBytes() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("the buffers of a connection would have " + sizes.memoryBytes() +
                " bytes, more than 2 GB (raft.rdma.credits, raft.rdma.buffer.size)");
        }
        return sizes;
    }

    /** Every how many sends one is signalled: at most a quarter of the buffers remains in use without a signalled send. */
    int signalInterval() {
        return Integer.highestOneBit(buffers().sends() / 4);
    }

    /** The queues of a new connection. */
    RcConfig connectionConfig() {
        // A send per buffer, a read per long message being fetched, and one for the disconnect.
        final BufferSizes sizes = buffers();
        final int sends = sizes.sends() + Rendezvous.MAX_LANDINGS + 2;
        return RcConfig.of(sends, sizes.receives(), sends + sizes.receives()).withTimeoutMs(connectTimeoutMs);
    }

    /** Time after which a requested connection ends that has not been established, in milliseconds; callers wait less. */
    long pendingConnectMs() {
        return (long) PENDING_CONNECTS * connectTimeoutMs;
    }

    /** Number of connections that clients may have: the others are reserved for servers. */
    int clientConnections() {
        return maxConnections - bounds.reservedConnections();
    }
}
