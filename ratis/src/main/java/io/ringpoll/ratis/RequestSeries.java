package io.ringpoll.ratis;

import java.util.Map;
import java.util.TreeMap;
import org.apache.ratis.protocol.RaftClientRequest;

/**
 * Keeps a client's ordered requests in the order of their numbers, whatever connections they go through. A connection keeps them
 * in it by itself; but when it has failed, or another server leads, the engine's client sends all again that are not answered,
 * the first of them alone, the others in any order and among new ones.
 *
 * <p>So a request waits here for those before it that are to be sent again, and for all that are on their way through another
 * connection. That ends: each of those is answered, or fails and is sent again, or the engine's client gives up all of them.
 *
 * <p>One for each series of numbers. For any thread; requests are sent one at a time, without the lock.
 */
final class RequestSeries {
    /** What has failed and is to be sent again, and what waits for that. */
    private final TreeMap<Long, Waiting> waiting = new TreeMap<>();
    /** The connection that all go through that are on their way. */
    private RdmaProxy current;
    private int onTheirWay;
    private boolean sending;
    private boolean closed;

    /** A request that is not on its way: null for both if the engine's client is to send it again. */
    private record Waiting(RdmaProxy proxy, Runnable send) {
        private static final Waiting FOR_THE_ENGINE = new Waiting(null, null);
    }

    /**
     * Whether a request is numbered, and so one of a series.
     *
     * @param request of the engine's client
     * @return false if it may overtake others
     */
    static boolean isOrdered(final RaftClientRequest request) {
        return request.getSlidingWindowEntry() != null;
    }

    /**
     * Sends a request, now or when its turn has come.
     *
     * @param number of the request
     * @param proxy  the connection that it goes through
     * @param send   sends it, and does not wait; followed by {@link #answered} or {@link #failed} once
     */
    void send(final long number, final RdmaProxy proxy, final Runnable send) {
        synchronized (this) {
            waiting.put(number, new Waiting(proxy, send));
        }
        sendDue();
    }

    /** A request that was sent has been answered. */
    void answered() {
        synchronized (this) {
            onTheirWay--;
        }
        sendDue();
    }

    /**
     * A request that was sent has failed, and the engine's client is to send it again: told before it can.
     *
     * @param number of the request
     */
    void failed(final long number) {
        synchronized (this) {
            onTheirWay--;
            waiting.put(number, Waiting.FOR_THE_ENGINE);
        }
        sendDue();
    }

    /**
     * A request could not be sent, since there is no connection: told before the engine's client can send it again.
     *
     * @param number of the request
     */
    synchronized void notSent(final long number) {
        waiting.put(number, Waiting.FOR_THE_ENGINE);
    }

    /** Lets everything go that waits: the connections are closed, and say so. */
    void close() {
        synchronized (this) {
            closed = true;
            waiting.values().removeIf(request -> request.send() == null);
        }
        sendDue();
    }

    private void sendDue() {
        synchronized (this) {
            if (sending) {
                return;
            }
            sending = true;
        }
        for (Runnable due = nextDue(); due != null; due = nextDue()) {
            due.run();
        }
    }

    private synchronized Runnable nextDue() {
        final Map.Entry<Long, Waiting> first = waiting.firstEntry();
        sending = first != null && isDue(first.getValue());
        if (!sending) {
            return null;
        }
        waiting.pollFirstEntry();
        current = first.getValue().proxy();
        onTheirWay++;
        return first.getValue().send();
    }

    private boolean isDue(final Waiting request) {
        return request.send() != null && (request.proxy() == current || onTheirWay == 0 || closed);
    }
}
