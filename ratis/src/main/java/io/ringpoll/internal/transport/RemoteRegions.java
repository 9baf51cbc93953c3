package io.ringpoll.internal.transport;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import org.agrona.CloseHelper;

/**
 * The peer's regions from which one connection has read last, by their descriptors. A peer advertises the regions of its pool
 * again and again, and the close of a region of librpma waits until no thread is in a call on the hot path, for which it reads
 * the stacks of these threads: that takes longer than the read of a message. Guarded by the lock of the link.
 */
final class RemoteRegions implements AutoCloseable {
    /** Regions that are kept; more than the messages being read, so that those of the latter are never closed. */
    static final int MOST = 64;

    private final LinkedHashMap<ByteBuffer, RcRemoteMemory> regions = new LinkedHashMap<>(MOST, 0.75f, true);
    private final RcPeer peer;
    private boolean closed;

    /** Keeps none yet; the peer is that of this side. */
    RemoteRegions(final RcPeer peer) {
        this.peer = peer;
    }

    /**
     * The region of a descriptor; the one that has not been used for longest is closed for a new one.
     *
     * @param descriptor not changed any more
     * @return valid for the next {@link #MOST} - 1 calls, and until the end of the connection
     * @throws RuntimeException if this is no descriptor, as {@link RcPeer#remote}
     */
    RcRemoteMemory of(final byte[] descriptor) {
        final ByteBuffer key = ByteBuffer.wrap(descriptor);
        final RcRemoteMemory known = regions.get(key);
        if (known != null) {
            return known;
        }
        if (closed) {
            throw new IllegalStateException("the connection has ended");
        }
        final RcRemoteMemory region = peer.remote(descriptor);
        regions.put(key, region);
        if (regions.size() > MOST) {
            regions.pollFirstEntry().getValue().close();
        }
        return region;
    }

    /** The number of regions that are kept. */
    int size() {
        return regions.size();
    }

    /** Closes all; no read is in flight. */
    @Override
    public void close() {
        closed = true;
        CloseHelper.closeAll(regions.values());
        regions.clear();
    }
}
