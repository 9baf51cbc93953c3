package io.ringpoll.internal.transport;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;

/**
 * Received messages of one connection that wait for the delivery of an earlier one. A long message reserves its place when it is
 * announced and fills it when it has been read; the messages behind it wait. Several places may be open together, and are filled
 * in any order. The messages leave in the order of their places.
 * <pre>
 *   next &lt;- | filled | filled | open | filled | open | &lt;- reserve
 * </pre>
 *
 * <p>One thread delivers at a time: the thread that claims the first message delivers it and the following ones until
 * {@link #next()} returns null. A thread that fails to deliver a message does not ask for the next one: all messages behind it
 * remain here, and none is skipped.
 *
 * <p>Bounded by the credits of the connection: the credit of a waiting message has not been returned to the peer. A short message
 * needs no more memory than the peer's frame. Of the long ones, {@link Rendezvous#MAX_LANDINGS} have been read or are being read;
 * the others are still in the peer's memory.
 *
 * <p>Guarded by the lock of the link.
 *
 * @param <M> type of a message
 */
final class ReorderBuffer<M> {
    private final ArrayDeque<Place<M>> places = new ArrayDeque<>();
    private final int capacity;
    private boolean delivering;

    /** The place of a message in the order of delivery. */
    static final class Place<M> {
        private M message;

        private Place() {
        }

        /** Fills the place with its message. */
        void fill(final M complete) {
            message = complete;
        }
    }

    /**
     * Creates an empty buffer.
     *
     * @param capacity maximum number of places: the credits granted to the peer
     */
    ReorderBuffer(final int capacity) {
        this.capacity = capacity;
    }

    /** Whether the next message needs no place: all earlier ones have been delivered. */
    boolean isIdle() {
        return !delivering && places.isEmpty();
    }

    /**
     * Reserves the next place.
     *
     * @throws IllegalStateException if there are as many places as credits
     */
    Place<M> reserve() {
        if (places.size() == capacity) {
            throw new IllegalStateException("more than " + capacity + " messages wait for delivery");
        }
        final Place<M> place = new Place<>();
        places.addLast(place);
        return place;
    }

    /** Claims the delivery; returns the first message, or null if it is incomplete or another thread delivers. */
    M claim() {
        return delivering ? null : next();
    }

    /** The next message for the delivering thread; null ends its claim. */
    M next() {
        final Place<M> first = places.peekFirst();
        delivering = first != null && first.message != null;
        return delivering ? places.removeFirst().message : null;
    }

    /** Drops all messages; returns those that were complete. */
    List<M> clear() {
        final List<M> complete = places.stream().map(place -> place.message).filter(Objects::nonNull).toList();
        places.clear();
        return complete;
    }
}
