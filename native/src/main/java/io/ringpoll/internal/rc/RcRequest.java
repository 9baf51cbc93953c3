package io.ringpoll.internal.rc;

import java.net.InetAddress;
import java.util.Optional;

/**
 * A connection before it is established, of either side: receives can be posted already. A closed request is withdrawn.
 *
 * <p>One thread at a time uses it.
 */
public abstract class RcRequest extends RcResource {
    RcRequest() {
    }

    /**
     * The private data of the other side's request.
     *
     * @return a new array; empty if there is none, or this side made the request
     */
    public abstract byte[] privateData();

    /**
     * The address from which the other side requests.
     *
     * @return empty if it is not known, or this side made the request
     */
    public abstract Optional<InetAddress> remoteAddress();

    /**
     * Posts a receive before the connection is made.
     *
     * @param destination   of the message
     * @param offset        in bytes
     * @param lengthBytes   capacity for the message
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if there is no room
     */
    public abstract boolean receive(RcMemory destination, long offset, long lengthBytes, long workRequestId);

    /**
     * The completion queue of the configuration, which the connection shares with others.
     *
     * @return empty if it has one of its own, as always over librpma
     */
    public Optional<RcQueue> sharedQueue() {
        return Optional.empty();
    }

    /**
     * The number of the queue pair, by which its completions are found in a shared queue.
     *
     * @return as of the connection
     * @throws UnsupportedOperationException over librpma, which tells it only when the connection has been made
     */
    public int queuePairNumber() {
        throw new UnsupportedOperationException("librpma tells no queue pair number before the connection is made");
    }

    /**
     * Connects, or accepts the other side's request, without private data. This request ends, also on failure.
     *
     * @return usable after {@link RcEvent#ESTABLISHED}
     */
    public final RcConnection connect() {
        return connect(new byte[0]);
    }

    /**
     * Connects, or accepts the other side's request. This request ends, also on failure.
     *
     * @param privateData at most 56 bytes with a request and 196 with an answer
     * @return usable after {@link RcEvent#ESTABLISHED}
     */
    public abstract RcConnection connect(byte[] privateData);
}
