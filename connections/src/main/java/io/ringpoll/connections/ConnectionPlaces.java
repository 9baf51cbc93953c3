package io.ringpoll.connections;

import io.ringpoll.internal.connections.BufferPool;
import io.ringpoll.internal.connections.BufferSizes;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.rc.RcPeer;

/**
 * Limits and counts the connections of a set. Each connection needs a place, which contains its registered memory. Closes the
 * device after the release of the last memory.
 *
 * <p>Thread-safe.
 */
final class ConnectionPlaces {
    private final ConnectionSet set;
    private final RcPeer peer;
    private final int maxConnections;
    /** The memory of an ended connection stays in use while messages of it are retained. */
    private final BufferPool memory;
    /** Guards both counts. */
    private final Object counting = new Object();
    /** Occupied places: connections with a queue pair, and connections that are being set up. */
    private int connections;
    /** Users of the device: the connections above, closed ones until their last callback returns, and calls under way. */
    private int unended;

    ConnectionPlaces(final ConnectionSet set, final RcPeer peer, final BufferSizes sizes, final int maxConnections) {
        this.set = set;
        this.peer = peer;
        this.maxConnections = maxConnections;
        memory = new BufferPool(peer, sizes);
    }

    /** The place of one connection. {@link #close} frees it, unless {@link #pass} was called. Used by one thread. */
    final class Place implements AutoCloseable {
        private MessageBuffers buffers;
        /** Null while no poller can have completions for this place: then it is freed without a wait. */
        private ConnectionPoller poller;

        private Place(final MessageBuffers buffers) {
            this.buffers = buffers;
        }

        MessageBuffers buffers() {
            return buffers;
        }

        /** Hands the memory and the place over to a queue pair. */
        MessageBuffers pass() {
            final MessageBuffers passed = buffers;
            buffers = null;
            return passed;
        }

        /** From now on the device may put completions into a queue of this poller. */
        void usePoller(final ConnectionPoller chosen) {
            poller = chosen;
        }

        @Override
        public void close() {
            if (buffers != null) {
                final MessageBuffers unused = pass();
                if (poller == null) {
                    leave(unused);
                } else {
                    poller.whenDrained(() -> leave(unused));
                }
            }
        }
    }

    /** Begins a call that needs the device. The device stays open until {@link #onEnded}. */
    void begin() {
        synchronized (counting) {
            if (set.isClosed()) {
                throw new IllegalStateException(set.closeDescription());
            }
            unended++;
        }
    }

    /** Takes a place for a connection, and its memory. */
    Place take() {
        synchronized (counting) {
            if (set.isClosed() || connections >= maxConnections) {
                throw new IllegalStateException(set.isClosed() ? set.closeDescription() :
                    set.name() + " has its maximum of " + connections + " connections");
            }
            connections++;
            unended++;
        }
        boolean taken = false;
        try {
            final Place place = new Place(memory.take());
            taken = true;
            return place;
        } finally {
            if (!taken) {
                leave();
                onEnded();
            }
        }
    }

    /** Frees a place that no connection uses, and its memory. */
    void leave(final MessageBuffers buffers) {
        leave();
        try {
            giveBack(buffers);
        } finally {
            // Last: the close of the set may return now, and then the caller may close the peer or the domain.
            onEnded();
        }
    }

    /** Returns the memory of a connection to the pool. */
    void giveBack(final MessageBuffers buffers) {
        if (memory.giveBack(buffers)) {
            peer.close();
        }
    }

    /** Releases all memory that is not in use. Closes the device if no memory is left. */
    void releaseMemory() {
        if (memory.release()) {
            peer.close();
        }
    }

    /** Frees a place, after the close of its queue pair. */
    void leave() {
        synchronized (counting) {
            connections--;
        }
    }

    /** Called when the last callback of a connection has returned, and at the end of each call that needs the device. */
    void onEnded() {
        synchronized (counting) {
            unended--;
        }
    }

    /** Number of occupied places: connections with a queue pair, and connections that are being set up. */
    int connections() {
        synchronized (counting) {
            return connections;
        }
    }

    /** Number of users of the device: the set is closed when it reaches 0. */
    int unended() {
        synchronized (counting) {
            return unended;
        }
    }
}
