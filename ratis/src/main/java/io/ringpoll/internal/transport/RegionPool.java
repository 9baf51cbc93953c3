package io.ringpoll.internal.transport;

import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcUsage;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pool of registered memory for long messages, in powers of two. Registration costs far more than copying on most devices, so a
 * bounded amount of unused memory remains registered. Thread-safe.
 */
final class RegionPool implements AutoCloseable {
    private static final int MIN_BYTES = 64 * 1024;

    private final RcPeer peer;
    private final RcUsage[] usages;
    private final boolean readByPeers;
    private final int trailerBytes;
    private final long maxCachedBytes;
    private final Executor closer;
    private final Map<Integer, ArrayDeque<Lease>> free = new HashMap<>();
    private long cachedBytes;
    private boolean closed;

    /** A region in use until its last release; it is taken with one reference. */
    final class Lease {
        private final RcMemory region;
        private final byte[] descriptor;
        private final int capacity;
        private final AtomicInteger references = new AtomicInteger(1);

        private Lease(final int capacity) {
            this.capacity = capacity;
            region = peer.allocate(capacity, usages);
            descriptor = readByPeers ? region.descriptor() : null;
        }

        RcMemory region() {
            return region;
        }

        /** The descriptor that a peer needs to read the region. */
        byte[] descriptor() {
            return descriptor;
        }

        /** Length of the registered memory. */
        int capacityBytes() {
            return capacity;
        }

        /** The first bytes of the region. */
        ByteBuffer buffer(final int lengthBytes) {
            return region.memory().asSlice(0, lengthBytes).asByteBuffer();
        }

        /** Takes another reference; only with one that is not released. */
        void retain() {
            references.incrementAndGet();
        }

        /**
         * Releases a reference, not while the device may access the region; the last one returns it to the pool, or lets the
         * executor close it. Does not block.
         */
        void release() {
            if (references.decrementAndGet() == 0) {
                recycle(this);
            }
        }
    }

    /**
     * Creates an empty pool.
     *
     * @param closer         runs the deregistration of long regions that are not kept, which takes long
     * @param maxCachedBytes unused memory that is kept
     * @param trailerBytes   length of a region in addition to a power of two
     */
    RegionPool(final RcPeer peer, final Executor closer, final long maxCachedBytes, final int trailerBytes,
        final RcUsage... usages) {
        this.peer = peer;
        this.closer = closer;
        this.usages = usages;
        this.maxCachedBytes = maxCachedBytes;
        this.trailerBytes = trailerBytes;
        readByPeers = List.of(usages).contains(RcUsage.READ_SOURCE);
    }

    /**
     * Takes a region.
     *
     * @param lengthBytes minimum length
     */
    Lease take(final int lengthBytes) {
        final Lease lease = takeUnused(lengthBytes);
        return lease == null ? new Lease(capacityFor(lengthBytes)) : lease;
    }

    /**
     * Takes a region that is registered already, so that it takes no time.
     *
     * @param lengthBytes minimum length
     * @return null if the pool has none
     */
    synchronized Lease takeUnused(final int lengthBytes) {
        if (closed) {
            throw new IllegalStateException("the memory for long messages is closed");
        }
        final ArrayDeque<Lease> leases = free.get(capacityFor(lengthBytes));
        final Lease lease = leases == null ? null : leases.pollLast();
        if (lease != null) {
            cachedBytes -= lease.capacity;
            lease.references.set(1);
        }
        return lease;
    }

    /** Length of the region that is taken for a message. */
    int capacityFor(final int lengthBytes) {
        return ceilingPowerOfTwo(Math.max(MIN_BYTES, lengthBytes - trailerBytes)) + trailerBytes;
    }

    private void recycle(final Lease lease) {
        synchronized (this) {
            if (!closed && cachedBytes + lease.capacity <= maxCachedBytes) {
                cachedBytes += lease.capacity;
                free.computeIfAbsent(lease.capacity, capacity -> new ArrayDeque<>()).addLast(lease);
                return;
            }
        }
        if (lease.capacity > LongMessageThreads.INLINE_BYTES) {
            closer.execute(lease.region::close);
        } else {
            lease.region.close();
        }
    }

    /** Registered memory that is not in use. */
    synchronized long cachedBytes() {
        return cachedBytes;
    }

    @Override
    public synchronized void close() {
        closed = true;
        free.values().forEach(leases -> leases.forEach(lease -> lease.region.close()));
    }

    private static int ceilingPowerOfTwo(final int lengthBytes) {
        return Integer.highestOneBit(lengthBytes - 1) << 1;
    }
}
