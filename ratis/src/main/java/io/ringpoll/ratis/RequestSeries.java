package io.ringpoll.ratis;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.ratis.protocol.RaftClientRequest;

/**
 * Keeps a client's ordered requests in order across connections. A single connection preserves the order; but after a failed
 * connection or a change of the leader, the engine's client resends all requests without a reply, the first one alone, the others
 * in any order and mixed with new ones.
 *
 * <p>Therefore a request waits here for its predecessors that will be resent, and for all requests in flight on another
 * connection. The wait is finite: each of those requests receives a reply, or fails and is resent, or the engine's client fails
 * all of them.
 *
 * <p>One instance per series of numbers. Thread-safe; requests are sent one at a time, outside the lock.
 */
final class RequestSeries {
    /** Failed requests that will be resent, and requests that wait for them. */
    private final TreeMap<Long, Waiting> waiting = new TreeMap<>();
    /** The connection of all requests in flight. */
    private RdmaProxy current;
    private int onTheirWay;
    private boolean sending;
    private boolean closed;

    /** A request that is not in flight; both components are null if the engine's client will resend it. */
    private record Waiting(Supplier<RdmaProxy> connection, Consumer<RdmaProxy> send) {
        private static final Waiting FOR_THE_ENGINE = new Waiting(null, null);
    }

    /**
     * Whether a request is numbered and part of a series.
     *
     * @param request of the engine's client
     * @return false if it may overtake others
     */
    static boolean isOrdered(final RaftClientRequest request) {
        return request.getSlidingWindowEntry() != null;
    }

    /**
     * Sends a request, now or when it is next in order.
     *
     * @param number     of the request
     * @param connection returns the latest connection to its server without blocking: the connection may be replaced while the
     *     request waits
     * @param send       sends it on a connection without blocking; {@link #answered} or {@link #failed} follows once
     */
    void send(final long number, final Supplier<RdmaProxy> connection, final Consumer<RdmaProxy> send) {
        synchronized (this) {
            waiting.put(number, new Waiting(connection, send));
        }
        sendDue();
    }

    /** Called when a request has received its reply. */
    void answered() {
        synchronized (this) {
            onTheirWay--;
        }
        sendDue();
    }

    /**
     * Called when a request has failed and the engine's client will resend it, before the client can do so.
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
     * Called when a request could not be sent for lack of a connection, before the engine's client can resend it.
     *
     * @param number of the request
     */
    synchronized void notSent(final long number) {
        waiting.put(number, Waiting.FOR_THE_ENGINE);
    }

    /** Sends all waiting requests: the connections are closed and fail them. */
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
        final RdmaProxy proxy = first == null || first.getValue().send() == null ? null : first.getValue().connection().get();
        sending = proxy != null && (proxy == current || onTheirWay == 0 || closed);
        if (!sending) {
            return null;
        }
        waiting.pollFirstEntry();
        current = proxy;
        onTheirWay++;
        return () -> first.getValue().send().accept(proxy);
    }
}
