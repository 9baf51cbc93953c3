package io.ringpoll.internal.transport;

/**
 * The bounds on the time and memory that a node spends on its peers.
 *
 * @param keepaliveIntervalMs silence of a peer, in milliseconds, after which it is asked for a sign of life
 * @param keepaliveTimeoutMs  silence of a peer, in milliseconds, after which its connection ends
 * @param reservedConnections connections that clients cannot take
 */
public record PeerBounds(int keepaliveIntervalMs, int keepaliveTimeoutMs, int reservedConnections) {
    /** The defaults of the transport's settings, without reserved connections. */
    public static final PeerBounds DEFAULT = new PeerBounds(1_000, 10_000, 0);
}
