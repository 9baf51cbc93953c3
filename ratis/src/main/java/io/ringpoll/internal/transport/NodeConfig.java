package io.ringpoll.internal.transport;

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
 */
public record NodeConfig(String name, int bufferBytes, int credits, int maxConnections, int maxMessageBytes,
    long cachedRegionBytes, int connectTimeoutMs, int closeTimeoutMs, PollerConfig poller, boolean countersFile) {
    /** Minimum length of a frame: an advertisement must fit. */
    public static final int MIN_BUFFER_BYTES = 256;

    /** Additional receives per connection: a credit frame costs no credit, and two may be in flight. */
    static final int CONTROL_FRAMES = 2;

    /** Number of receives per connection. */
    int receivesPerConnection() {
        return credits + CONTROL_FRAMES;
    }

    Hello hello() {
        return new Hello(credits, bufferBytes, maxMessageBytes);
    }
}
