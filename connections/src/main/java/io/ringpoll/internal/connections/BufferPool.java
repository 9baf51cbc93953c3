package io.ringpoll.internal.connections;

import io.ringpoll.internal.rc.RcPeer;
import java.util.ArrayDeque;

/**
 * The registered memory of connections that are alike: the memory of an ended one serves the next.
 *
 * <p>Thread-safe.
 */
public final class BufferPool {
    private final RcPeer peer;
    private final BufferSizes sizes;
    /** Guarded by its own lock, as are the following. */
    private final ArrayDeque<MessageBuffers> spare = new ArrayDeque<>();
    private int lent;
    private boolean released;

    /**
     * Creates an empty pool.
     *
     * @param peer  the device; open until everything is released
     * @param sizes of each connection's memory
     */
    public BufferPool(final RcPeer peer, final BufferSizes sizes) {
        this.peer = peer;
        this.sizes = sizes;
    }

    /**
     * Takes the memory of an ended connection, or allocates and registers memory.
     *
     * @return to be given back
     */
    public MessageBuffers take() {
        final int number;
        synchronized (spare) {
            number = lent++;
            if (!spare.isEmpty()) {
                return spare.pollLast();
            }
        }
        boolean allocated = false;
        try {
            final MessageBuffers memory = new MessageBuffers(peer, sizes, number);
            allocated = true;
            return memory;
        } finally {
            if (!allocated) {
                synchronized (spare) {
                    lent--;
                }
            }
        }
    }

    /**
     * Gives memory back that neither the device nor a connection uses any more.
     *
     * @param memory that was taken
     * @return whether nothing is registered any more: the pool has been released, and this was the last
     */
    public boolean giveBack(final MessageBuffers memory) {
        synchronized (spare) {
            lent--;
            spare.addLast(memory);
            return released && release();
        }
    }

    /**
     * Releases the memory that is not in use, and the rest as it is given back; may be repeated, also after a failure, which
     * keeps no other memory from being released.
     *
     * @return whether nothing is registered any more, so that the device can be closed
     */
    public boolean release() {
        synchronized (spare) {
            released = true;
            RuntimeException failed = null;
            for (int left = spare.size(); left > 0; left--) {
                final MessageBuffers memory = spare.removeFirst();
                try {
                    memory.release();
                } catch (final RuntimeException failure) {
                    spare.addLast(memory);
                    failed = failure;
                }
            }
            if (failed != null) {
                throw failed;
            }
            return lent == 0;
        }
    }
}
