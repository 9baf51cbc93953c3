package io.ringpoll.internal.transport;

/**
 * The bounds on the time and memory that a node spends on its peers.
 *
 * @param keepaliveIntervalMs silence of a peer, in milliseconds, after which it is asked for a sign of life
 * @param keepaliveTimeoutMs  silence of a peer, in milliseconds, after which its connection ends
 * @param replyTimeoutMs      time in milliseconds for which a reply may wait for its peer, after which its connection ends
 * @param reservedConnections connections that clients cannot take
 * @param maxLinkRequests     requests of a connection, in each direction, without reply; a peer waits, a sender gets an exception
 * @param maxLinkBytes        length of the requests of a connection without reply
 * @param maxRequests         requests of all clients of a node without reply
 * @param maxBytes            length of the requests of all clients of a node without reply
 * @param maxReplyBytes       memory of a node for the long replies to all clients that have not been read
 * @param maxLandingBytes     memory of a node for long messages that are being received
 */
public record PeerBounds(int keepaliveIntervalMs, int keepaliveTimeoutMs, int replyTimeoutMs, int reservedConnections,
    int maxLinkRequests, long maxLinkBytes, int maxRequests, long maxBytes, long maxReplyBytes, long maxLandingBytes) {
    /** The defaults of the transport's settings, without reserved connections. */
    public static final PeerBounds DEFAULT =
        new PeerBounds(1_000, 10_000, 60_000, 0, 4096, 64 << 20, 16_384, 256 << 20, 512 << 20, 256 << 20);

    /** The same bounds with others for silent peers. */
    PeerBounds withKeepalive(final int intervalMs, final int timeoutMs) {
        return new PeerBounds(intervalMs, timeoutMs, replyTimeoutMs, reservedConnections, maxLinkRequests, maxLinkBytes,
            maxRequests, maxBytes, maxReplyBytes, maxLandingBytes);
    }

    /** The same bounds with others for replies that are not read. */
    PeerBounds withReplies(final int timeoutMs, final long replyBytes) {
        return new PeerBounds(keepaliveIntervalMs, keepaliveTimeoutMs, timeoutMs, reservedConnections, maxLinkRequests,
            maxLinkBytes, maxRequests, maxBytes, replyBytes, maxLandingBytes);
    }

    /** The same bounds with another number of reserved connections. */
    PeerBounds withReserved(final int connections) {
        return new PeerBounds(keepaliveIntervalMs, keepaliveTimeoutMs, replyTimeoutMs, connections, maxLinkRequests, maxLinkBytes,
            maxRequests, maxBytes, maxReplyBytes, maxLandingBytes);
    }

    /** The same bounds with others for requests and long messages. */
    PeerBounds withQueues(final int linkRequests, final long linkBytes, final int requests, final long bytes,
        final long landingBytes) {
        return new PeerBounds(keepaliveIntervalMs, keepaliveTimeoutMs, replyTimeoutMs, reservedConnections, linkRequests,
            linkBytes, requests, bytes, maxReplyBytes, landingBytes);
    }
}
