package io.ringpoll.connections;

import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.internal.connections.BufferSizes;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcPeer;

/**
 * The sizes of a connection's queues and memory, derived from the messages in flight and their maximum length.
 *
 * <p>The receive queue has room for a window of messages, for credit messages and for the goodbye, so each message finds a posted
 * receive. A side sends a credit message when it owes at least as many credits as its peer has left. Each credit message that the
 * peer has not processed yet therefore doubles the credits on their way, and there are at most 1 + log2(window) of them.
 *
 * <p>The send queue has room for a window of messages, for as many credit messages as there are sends between two signalled ones,
 * for the one-sided operations, for a keepalive and for the goodbye. The completion queue has room for the completions of all.
 *
 * @param window          maximum number of messages in flight in each direction
 * @param maxMessageBytes maximum length of a message
 * @param operations      maximum number of one-sided operations under way
 */
record ConnectionSizes(int window, int maxMessageBytes, int operations) {
    /** More would delay the next message by the time of their posts. */
    private static final int MOST_RECEIVES_OF_POST = 4;
    private static final int KEEPALIVES = 1;

    /** Number of posted receives of an idle connection. */
    int receives() {
        return window + 1 + Integer.SIZE - Integer.numberOfLeadingZeros(window);
    }

    /** Every how many sends one is signalled; a power of two. */
    int signalInterval() {
        return Integer.highestOneBit(Math.max(1, window / 2));
    }

    /** Maximum number of handled messages whose receives have not been posted again yet. */
    int pendingReceives() {
        return Math.max(1, window / 4);
    }

    /** Fewest receives that are posted again at the end of a batch while the peer has credits: a short post, but not of one. */
    int receivesOfPost() {
        return Math.min(MOST_RECEIVES_OF_POST, pendingReceives());
    }

    /** Maximum number of credit messages without a known completion. */
    int creditSends() {
        return signalInterval();
    }

    int sendQueueSize() {
        return window + creditSends() + operations + KEEPALIVES + 1;
    }

    int completionQueueSize() {
        return receives() + sendQueueSize();
    }

    /** The registered memory: a buffer for each receive, and one for each message that is sent. */
    BufferSizes buffers() {
        return new BufferSizes(receives(), window, maxMessageBytes);
    }

    /** Refuses queues that the device does not have: no connection could be made, and peers would wait for an answer. */
    void requireWithin(final RcPeer device) {
        DeviceAttributes.of(device.context()).ifPresent(limits -> {
            require("a send queue", sendQueueSize(), limits.maxQpWr(), limits.name());
            require("a receive queue", receives(), limits.maxQpWr(), limits.name());
            require("a completion queue", completionQueueSize(), limits.maxCqe(), limits.name());
        });
    }

    /** Entries of a completion queue that so many connections share. */
    int sharedQueueSize(final int connections) {
        return Math.toIntExact((long) connections * completionQueueSize());
    }

    /** Refuses a shared completion queue that the device does not have. */
    void requireShareable(final RcPeer device, final int connections) {
        final long size = (long) connections * completionQueueSize();
        final DeviceAttributes limits = DeviceAttributes.of(device.context()).orElse(null);
        final int limit = limits == null || limits.maxCqe() <= 0 ? Integer.MAX_VALUE : limits.maxCqe();
        if (size > limit) {
            throw new IllegalArgumentException("maxConnections is " + connections + " and messagesInFlight is " + window +
                ", which need a shared completion queue of " + size + ": at most " + limit + " are possible" +
                (limits == null ? "" : " on " + limits.name()) + "; reduce one of them, or share no completion queue");
        }
    }

    private void require(final String queue, final int size, final int limit, final String device) {
        if (limit > 0 && size > limit) {
            throw new IllegalArgumentException("messagesInFlight is " + window + ", which needs " + queue + " of " + size +
                ": at most " + limit + " are possible on " + device +
                (operations > 0 ? "; reduce it, or operationsInFlight" : ""));
        }
    }

    /** The configuration of a connection: the window bounds its requests in flight, so nothing else counts them. */
    RcConfig config(final int timeoutMs) {
        return RcConfig.of(sendQueueSize(), receives(), completionQueueSize()).withTimeoutMs(timeoutMs).uncounted();
    }
}
