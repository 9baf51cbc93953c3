package io.ringpoll.ratis.transport;

/**
 * The sizes and times of a node.
 *
 * @param name               for threads and counters
 * @param bufferBytes        length of a send or receive buffer: longer messages are fetched by an RDMA read
 * @param credits            frames that each peer may have on their way to this node
 * @param maxConnections     more are rejected
 * @param maxMessageBytes    longer messages are refused
 * @param cachedRegionBytes  how much memory for long messages stays registered while it is not used
 * @param connectTimeoutMs   for a connection to come about, in milliseconds
 * @param poller             who polls its queues, and where its handlers run
 * @param countersFile       whether {@code ringpoll stat} is to see this node's own poller; one that is shared is always seen
 */
public record NodeConfig(String name, int bufferBytes, int credits, int maxConnections, int maxMessageBytes,
    long cachedRegionBytes, int connectTimeoutMs, PollerConfig poller, boolean countersFile) {
    /** A frame must have room for an advertisement. */
    public static final int MIN_BUFFER_BYTES = 256;

    /** Receives behind the credits of a connection: a credit frame costs none, and two may be on their way. */
    static final int CONTROL_FRAMES = 2;

    /** How many receives a connection needs. */
    int receivesPerConnection() {
        return credits + CONTROL_FRAMES;
    }

    Hello hello() {
        return new Hello(credits, bufferBytes);
    }
}
