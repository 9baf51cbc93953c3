package io.ringpoll.ratis.transport;

import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * Registered memory for long messages, in powers of two. Registering costs far more than copying on most devices, so a bounded
 * amount stays registered while it is not used. For any thread.
 */
final class RegionPool implements AutoCloseable {
    private static final int MIN_BYTES = 64 * 1024;

    private final Peer peer;
    private final MemoryUsage usage;
    private final long maxCachedBytes;
    private final Map<Integer, ArrayDeque<Lease>> free = new HashMap<>();
    private long cachedBytes;
    private boolean closed;

    /** A region that one user has until it gives it back. */
    final class Lease {
        private final LocalMemoryRegion region;
        private final byte[] descriptor;
        private final int capacity;

        private Lease(final int capacity) {
            this.capacity = capacity;
            region = peer.allocate(capacity, usage);
            descriptor = usage == MemoryUsage.READ_SOURCE ? region.descriptor() : null;
        }

        LocalMemoryRegion region() {
            return region;
        }

        /** What a peer needs to read it. */
        byte[] descriptor() {
            return descriptor;
        }

        /** Its first bytes. */
        ByteBuffer buffer(final int lengthBytes) {
            return region.memory().asSlice(0, lengthBytes).asByteBuffer();
        }

        /** Gives it back; once, and not while the device may still touch it. */
        void release() {
            recycle(this);
        }
    }

    RegionPool(final Peer peer, final MemoryUsage usage, final long maxCachedBytes) {
        this.peer = peer;
        this.usage = usage;
        this.maxCachedBytes = maxCachedBytes;
    }

    /**
     * Takes a region.
     *
     * @param lengthBytes at least that long
     */
    Lease take(final int lengthBytes) {
        final int capacity = ceilingPowerOfTwo(Math.max(MIN_BYTES, lengthBytes));
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the memory for long messages is closed");
            }
            final ArrayDeque<Lease> leases = free.get(capacity);
            if (leases != null && !leases.isEmpty()) {
                cachedBytes -= capacity;
                return leases.pollLast();
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

    /** How much is registered and not used. */
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
