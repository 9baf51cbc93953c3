package io.ringpoll.internal.transport;

import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.SharedReceiveQueue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The receives of a node, posted to the shared receive queue of all its connections. Their number covers the credits of all
 * peers, so that a message never encounters receiver-not-ready. The receives of an ended connection serve the next one, since a
 * shared queue does not return them.
 *
 * <p>Buffers are allocated by the thread that creates connections, and reposted by the handlers' threads.
 */
final class ReceiveBuffers implements AutoCloseable {
    private static final int SLOT_BITS = 12;
    private static final int SLOTS_PER_BLOCK = 1 << SLOT_BITS;

    private final Peer peer;
    private final SharedReceiveQueue queue;
    private final int bufferBytes;
    private volatile List<Block> blocks = List.of();
    private int posted;

    /** Buffers of one allocation. */
    private record Block(LocalMemoryRegion region, ByteBuffer bytes) {
    }

    ReceiveBuffers(final Peer peer, final SharedReceiveQueue queue, final int bufferBytes) {
        this.peer = peer;
        this.queue = queue;
        this.bufferBytes = bufferBytes;
    }

    /** Posts further receives until there are at least the given number. */
    synchronized void ensure(final int receives) {
        while (posted < receives) {
            final int slots = Math.min(SLOTS_PER_BLOCK, receives - posted);
            final LocalMemoryRegion region = peer.allocate((long) slots * bufferBytes, MemoryUsage.RECEIVE);
            final List<Block> more = new ArrayList<>(blocks);
            final int block = more.size();
            more.add(new Block(region, region.memory().asByteBuffer()));
            blocks = List.copyOf(more);
            for (int i = 0; i < slots; i++) {
                post(WorkRequestId.receive(block << SLOT_BITS | i));
            }
            posted += slots;
        }
    }

    /** The content of a filled buffer. */
    ByteBuffer frame(final int slot, final int lengthBytes) {
        return blocks.get(slot >>> SLOT_BITS).bytes.slice(offset(slot), lengthBytes);
    }

    /** Reposts a buffer. */
    synchronized void post(final long workRequestId) {
        final int slot = WorkRequestId.index(workRequestId);
        if (!queue.receive(blocks.get(slot >>> SLOT_BITS).region, offset(slot), bufferBytes, workRequestId)) {
            throw new IllegalStateException("the shared receive queue has no room for its own receives");
        }
    }

    private int offset(final int slot) {
        return (slot & SLOTS_PER_BLOCK - 1) * bufferBytes;
    }

    /** Releases the memory; after the queue has been closed. */
    @Override
    public synchronized void close() {
        blocks.forEach(block -> block.region.close());
        blocks = List.of();
    }
}
