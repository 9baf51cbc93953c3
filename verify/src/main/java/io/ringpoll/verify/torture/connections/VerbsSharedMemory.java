package io.ringpoll.verify.torture.connections;

import io.ringpoll.connections.ConnectionSetBuilder;
import io.ringpoll.connections.MessageConnection;
import io.ringpoll.verbs.AccessFlag;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.RdmaDevices;
import io.ringpoll.verbs.RemoteMemory;
import java.net.InetSocketAddress;

/** Memory that is registered with verbs. */
final class VerbsSharedMemory extends SharedMemory {
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    /** The memory, for other sets. */
    private final RemoteMemory remote;

    private VerbsSharedMemory(final ProtectionDomain domain, final MemoryRegion region) {
        super(region.memory());
        this.domain = domain;
        this.region = region;
        remote = region.remote();
    }

    static VerbsSharedMemory open(final String address) {
        final ProtectionDomain domain =
            ProtectionDomain.create(RdmaDevices.ofLocal(new InetSocketAddress(address, 0).getAddress()));
        return new VerbsSharedMemory(domain, domain.allocate(
            lengthBytes(), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
    }

    @Override
    void describe(final ConnectionSetBuilder builder) {
        builder.domain(domain);
    }

    @Override
    boolean tryWrite(final MessageConnection connection, final SharedMemory target, final long targetOffset,
        final long sourceOffset, final long lengthBytes, final long tag) {
        return connection.tryWrite(((VerbsSharedMemory) target).remote, targetOffset, region, sourceOffset, lengthBytes, tag);
    }

    @Override
    boolean tryRead(final MessageConnection connection, final long targetOffset, final SharedMemory source,
        final long sourceOffset, final long lengthBytes, final long tag) {
        return connection.tryRead(region, targetOffset, ((VerbsSharedMemory) source).remote, sourceOffset, lengthBytes, tag);
    }

    @Override
    public void close() {
        region.close();
        domain.close();
    }
}
