package io.ringpoll.internal.rc;

/**
 * The configuration of a connection: queue sizes, time-out, completion queues. Immutable.
 *
 * @param timeoutMs     time-out of the resolution of address and route, in milliseconds
 * @param cqSize        entries of the main completion queue
 * @param rcqSize       entries of the receive completion queue; 0 for none: then receives complete in the main one
 * @param sqSize        depth of the send queue
 * @param rqSize        depth of the receive queue
 * @param sharedChannel whether both completion queues share a completion channel
 * @param timestamps    whether completions have timestamps of the device; {@link RdmaApi#VERBS} only
 * @param counted       whether posts are counted, and refused if a completion queue could overrun
 * @param queue         the completion queue that the connection shares with others, which are not counted either; null for one of
 *                      its own
 */
public record RcConfig(
    int timeoutMs, int cqSize, int rcqSize, int sqSize, int rqSize, boolean sharedChannel, boolean timestamps,
    boolean counted, RcQueue queue) {
    private static final int DEFAULT_TIMEOUT_MS = 1000;

    /**
     * Sizes of a connection with one completion queue, found within a second.
     *
     * @param sqSize depth of the send queue
     * @param rqSize depth of the receive queue
     * @param cqSize entries of the completion queue
     * @return a configuration
     */
    public static RcConfig of(final int sqSize, final int rqSize, final int cqSize) {
        return new RcConfig(DEFAULT_TIMEOUT_MS, cqSize, 0, sqSize, rqSize, false, false, true, null);
    }

    /**
     * The same with a completion queue for receives.
     *
     * @param entries of the queue; 0 for none
     * @return a configuration
     */
    public RcConfig withReceiveQueue(final int entries) {
        return new RcConfig(timeoutMs, cqSize, entries, sqSize, rqSize, sharedChannel, timestamps, counted, queue);
    }

    /**
     * The same with one completion channel for both completion queues, or one for each.
     *
     * @param shared whether they share it
     * @return a configuration
     */
    public RcConfig withSharedChannel(final boolean shared) {
        return new RcConfig(timeoutMs, cqSize, rcqSize, sqSize, rqSize, shared, timestamps, counted, queue);
    }

    /**
     * The same with another time-out.
     *
     * @param limitMs how long finding the other side may take, in milliseconds
     * @return a configuration
     */
    public RcConfig withTimeoutMs(final int limitMs) {
        return new RcConfig(limitMs, cqSize, rcqSize, sqSize, rqSize, sharedChannel, timestamps, counted, queue);
    }

    /**
     * The same with completion queues that have timestamps, or without.
     *
     * @param wanted whether they have; connecting fails if the device has no clock
     * @return a configuration
     */
    public RcConfig withTimestamps(final boolean wanted) {
        return new RcConfig(timeoutMs, cqSize, rcqSize, sqSize, rqSize, sharedChannel, wanted, counted, queue);
    }

    /**
     * The same without a count of the requests in flight: who posts sees to it that no completion queue overruns.
     *
     * @return a configuration
     */
    public RcConfig uncounted() {
        return new RcConfig(timeoutMs, cqSize, rcqSize, sqSize, rqSize, sharedChannel, timestamps, false, queue);
    }

    /**
     * The same with a completion queue that other connections have, too, for sends and receives.
     *
     * @param shared of {@link RcPeer#newQueue}, with room for the requests of all its connections; closed after them
     * @return an uncounted configuration
     */
    public RcConfig withQueue(final RcQueue shared) {
        return new RcConfig(timeoutMs, cqSize, 0, sqSize, rqSize, sharedChannel, timestamps, false, shared);
    }
}
