package io.ringpoll.connections;

import io.ringpoll.internal.connections.BufferPool;
import io.ringpoll.internal.connections.BufferSizes;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.rc.RcPeer;

/**
 * Limits and counts the connections of a set: a connection needs a place, which has its registered memory. Closes the device when
 * the last memory is released.
 *
 * <p>Thread-safe.
 */
final class ConnectionPlaces {
    private final ConnectionSet set;
    private final RcPeer peer;
    private final int maxConnections;
    /** An ended connection with retained messages still uses its memory. */
    private final BufferPool memory;
    /** Guards both counts. */
    private final Object counting = new Object();
    /** Connections with a queue pair, or that are being made. */
    private int connections;
    /** These, connections whose last callback has not returned, and calls under way that need the device. */
    private int unended;

    ConnectionPlaces(final ConnectionSet set, final RcPeer peer, final BufferSizes sizes, final int maxConnections) {
        this.set = set;
        this.peer = peer;
        this.maxConnections = maxConnections;
        memory = new BufferPool(peer, sizes);
    }

    /** A place for one connection. Its close gives it up, unless a queue pair has got its memory. Used by one thread. */
    final class Place implements AutoCloseable {
        private MessageBuffers buffers;

        private Place(final MessageBuffers buffers) {
            this.buffers = buffers;
        }

        MessageBuffers buffers() {
            return buffers;
        }

        /** Passes the memory on. */
        MessageBuffers pass() {
            final MessageBuffers passed = buffers;
            buffers = null;
            return passed;
        }

        @Override
        public void close() {
            if (buffers != null) {
                leave(pass());
            }
        }
    }

    /** Begins a call that needs the device, which stays open until {@link #onEnded}. */
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

    /** Gives up a place for which no connection was made. */
    void leave(final MessageBuffers buffers) {
        leave();
        try {
            giveBack(buffers);
        } finally {
            // Not before: then the close of the set returns, and its caller may close the peer or the domain.
            onEnded();
        }
    }

    /** Gives back the memory of a connection. */
    void giveBack(final MessageBuffers buffers) {
        if (memory.giveBack(buffers)) {
            peer.close();
        }
    }

    /** Releases all memory that is not in use, and the device with the last. */
    void releaseMemory() {
        if (memory.release()) {
            peer.close();
        }
    }

    /** The queue pair of a connection is closed. */
    void leave() {
        synchronized (counting) {
            connections--;
        }
    }

    /** The last callback of a connection has returned, or a call that needs the device. */
    void onEnded() {
        synchronized (counting) {
            unended--;
        }
    }

    /** Number of connections with a queue pair, and of those that are being made. */
    int connections() {
        synchronized (counting) {
            return connections;
        }
    }

    /** The same, and those whose last callback has not returned; and the calls that need the device. */
    int unended() {
        synchronized (counting) {
            return unended;
        }
    }
}
