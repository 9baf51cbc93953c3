package io.ringpoll.internal.transport;

import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pool of registered memory for long messages, in powers of two. Registration costs far more than copying on most devices, so a
 * bounded amount of unused memory remains registered. Thread-safe.
 */
final class RegionPool implements AutoCloseable {
    private static final int MIN_BYTES = 64 * 1024;

    private final Peer peer;
    private final MemoryUsage[] usages;
    private final boolean readByPeers;
    private final int trailerBytes;
    private final long maxCachedBytes;
    private final Map<Integer, ArrayDeque<Lease>> free = new HashMap<>();
    private long cachedBytes;
    private boolean closed;

    /** A region in use until its last release; it is taken with one reference. */
    final class Lease {
        private final LocalMemoryRegion region;
        private final byte[] descriptor;
        private final int capacity;
        private final AtomicInteger references = new AtomicInteger(1);

        private Lease(final int capacity) {
            this.capacity = capacity;
            region = peer.allocate(capacity, usages);
            descriptor = readByPeers ? region.descriptor() : null;
        }

        LocalMemoryRegion region() {
            return region;
        }

        /** The descriptor that a peer needs to read the region. */
        byte[] descriptor() {
            return descriptor;
        }

        /** Whether its registration takes long, and its release may. */
        boolean isLong() {
            return capacity > LongMessageThreads.INLINE_BYTES;
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

        /** Releases a reference, not while the device may access the region; the last one returns it to the pool. */
        void release() {
            if (references.decrementAndGet() == 0) {
                recycle(this);
            }
        }
    }

    RegionPool(final Peer peer, final MemoryUsage usage, final long maxCachedBytes) {
        this(peer, maxCachedBytes, 0, usage);
    }

    /** A pool whose regions have a number of bytes in addition to a power of two. */
    RegionPool(final Peer peer, final long maxCachedBytes, final int trailerBytes, final MemoryUsage... usages) {
        this.peer = peer;
        this.usages = usages;
        this.maxCachedBytes = maxCachedBytes;
        this.trailerBytes = trailerBytes;
        readByPeers = List.of(usages).contains(MemoryUsage.READ_SOURCE);
    }

    /**
     * Takes a region.
     *
     * @param lengthBytes minimum length
     */
    Lease take(final int lengthBytes) {
        final int capacity = ceilingPowerOfTwo(Math.max(MIN_BYTES, lengthBytes - trailerBytes)) + trailerBytes;
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the memory for long messages is closed");
            }
            final ArrayDeque<Lease> leases = free.get(capacity);
            if (leases != null && !leases.isEmpty()) {
                cachedBytes -= capacity;
                final Lease lease = leases.pollLast();
                lease.references.set(1);
                return lease;
            }
        }
        return new Lease(capacity);
    }

    private void recycle(final Lease lease) {
        synchronized (this) {
            if (!closed && cachedBytes + lease.capacity <= maxCachedBytes) {
                cachedBytes += lease.capacity;
                free.computeIfAbsent(lease.capacity, capacity -> new ArrayDeque<>()).addLast(lease);
                return;
            }
        }
        lease.region.close();
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
