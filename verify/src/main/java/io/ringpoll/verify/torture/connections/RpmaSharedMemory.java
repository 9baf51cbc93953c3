package io.ringpoll.verify.torture.connections;

import io.ringpoll.connections.ConnectionSetBuilder;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;

/** Memory that is registered with librpma. */
final class RpmaSharedMemory extends SharedMemory {
    private final Peer peer;
    private final LocalMemoryRegion region;
    /** The memory, for other sets. */
    private final RemoteMemoryRegion remote;

    private RpmaSharedMemory(final Peer peer, final LocalMemoryRegion region) {
        super(region.memory());
        this.peer = peer;
        this.region = region;
        remote = RemoteMemoryRegion.ofDescriptor(region.descriptor());
    }

    static RpmaSharedMemory open(final String address) {
        final Peer peer = Peer.ofLocal(address);
        return new RpmaSharedMemory(peer, peer.allocate(lengthBytes(), MemoryUsage.WRITE_DESTINATION, MemoryUsage.READ_SOURCE,
            MemoryUsage.WRITE_SOURCE, MemoryUsage.READ_DESTINATION));
    }

    @Override
    void describe(final ConnectionSetBuilder builder) {
        builder.peer(peer);
    }

    @Override
    boolean tryWrite(final MessageConnection connection, final SharedMemory target, final long targetOffset,
        final long sourceOffset, final long lengthBytes, final long tag) {
        return connection.tryWrite(((RpmaSharedMemory) target).remote, targetOffset, region, sourceOffset, lengthBytes, tag);
    }

    @Override
    boolean tryRead(final MessageConnection connection, final long targetOffset, final SharedMemory source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        return connection.tryRead(region, targetOffset, ((RpmaSharedMemory) source).remote, sourceOffset, lengthBytes, tag);
    }

    @Override
    public void close() {
        remote.close();
        region.close();
        peer.close();
    }
}
