package io.ringpoll.internal.rc;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.lifecycle.Parents;
import io.ringpoll.os.Errno;
import io.ringpoll.verbs.AccessFlag;
import io.ringpoll.verbs.ConnectionEvent;
import io.ringpoll.verbs.ConnectionEventType;
import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.Listener;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.RdmaDevices;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/** A peer over verbs: a {@link ProtectionDomain}. Threads: {@link RcPeer}. */
final class VerbsPeer extends RcPeer {
    /** Bytes that a flush reads, as librpma's. */
    static final int FLUSH_BYTES = 8;

    private static final int BACKLOG = 0;
    private static final int FIND_TIMEOUT_MS = 5_000;
    /** Any but 0; the address alone decides on the device. */
    private static final int SOME_PORT = 1;

    private final ProtectionDomain domain;
    /** Whether the domain is closed with this. */
    private final boolean owned;
    /** Whether a read ends as a write of the peer. */
    private final boolean iwarp;
    /** Where the bytes go that flushes read; nobody reads them. */
    private final MemoryRegion flushed;

    private VerbsPeer(final ProtectionDomain domain, final boolean owned) {
        this.domain = domain;
        this.owned = owned;
        iwarp = VerbsAccess.isIwarp(domain.context());
        flushed = domain.allocate(FLUSH_BYTES, flags(RcUsage.READ_DESTINATION));
    }

    /** A peer in a domain of the caller, which closes the domain after the peer. */
    static VerbsPeer of(final ProtectionDomain domain) {
        return new VerbsPeer(domain, false);
    }

    private static VerbsPeer of(final VerbsContext context) {
        final ProtectionDomain domain = ProtectionDomain.create(context);
        boolean complete = false;
        try {
            final VerbsPeer peer = new VerbsPeer(domain, true);
            complete = true;
            return peer;
        } finally {
            if (!complete) {
                domain.close();
            }
        }
    }

    static VerbsPeer ofLocal(final String host) {
        return of(RdmaDevices.ofLocal(address(host, SOME_PORT).getAddress()));
    }

    static VerbsPeer ofRemote(final String host) {
        try (ConnectionId id = ConnectionId.create()) {
            id.resolveAddress(address(host, SOME_PORT), FIND_TIMEOUT_MS);
            final ConnectionEvent event = id.nextEvent(FIND_TIMEOUT_MS).orElseThrow(
                () -> new VerbsException("rdma_resolve_addr(" + host + ")", Errno.ETIMEDOUT));
            if (event.type() != ConnectionEventType.ADDR_RESOLVED) {
                throw new VerbsException("rdma_resolve_addr(" + host + ")", Math.max(0, -event.status()));
            }
            return of(id.context());
        }
    }

    static InetSocketAddress address(final String host, final int port) {
        final InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            // Without an errno: Java's resolver has none.
            throw new VerbsException("getaddrinfo(" + host + ")", 0,
                "the name cannot be resolved: check it, or use an IP address");
        }
        return address;
    }

    ProtectionDomain domain() {
        return domain;
    }

    MemoryRegion flushed() {
        return flushed;
    }

    @Override
    public VerbsContext context() {
        return domain.context();
    }

    @Override
    public RcMemory allocate(final long lengthBytes, final RcUsage... usages) {
        return new VerbsMemory(domain.allocate(lengthBytes, flags(usages)), RpmaDescriptor.bits(usages));
    }

    @Override
    public RcMemory register(final MemorySegment memory, final RcUsage... usages) {
        return new VerbsMemory(domain.register(memory, flags(usages)), RpmaDescriptor.bits(usages));
    }

    private AccessFlag[] flags(final RcUsage... usages) {
        final Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        for (final RcUsage usage : usages) {
            switch (usage) {
                case READ_SOURCE, FLUSH_VISIBILITY -> flags.add(AccessFlag.REMOTE_READ);
                case READ_DESTINATION -> {
                    flags.add(AccessFlag.LOCAL_WRITE);
                    if (iwarp) {
                        flags.add(AccessFlag.REMOTE_WRITE);
                    }
                }
                case RECEIVE -> flags.add(AccessFlag.LOCAL_WRITE);
                case WRITE_DESTINATION -> {
                    flags.add(AccessFlag.LOCAL_WRITE);
                    flags.add(AccessFlag.REMOTE_WRITE);
                }
                case WRITE_SOURCE, SEND -> {
                    // Local reads are always permitted.
                }
            }
        }
        return flags.toArray(AccessFlag[]::new);
    }

    @Override
    public Optional<RcQueue> newQueue(final String name, final int entries) {
        return Optional.of(new RcQueue(context(), name, entries));
    }

    @Override
    public boolean isClosed() {
        return domain.isClosed();
    }

    @Override
    public RcRemoteMemory remote(final byte[] descriptor) {
        return new VerbsRemoteMemory(RpmaDescriptor.read(descriptor));
    }

    @Override
    public RcListener listen(final String host, final int port) {
        return new VerbsListener(this, Listener.listen(address(host, port), BACKLOG));
    }

    @Override
    public RcRequest request(final String host, final int port, final RcConfig config) {
        return VerbsRequest.of(this, ConnectionId.resolve(address(host, port), config.timeoutMs()), config);
    }

    @Override
    public void close() {
        if (owned) {
            // A connection that is open needs this memory.
            Parents.requireNoDependentsBut(domain, flushed);
        }
        flushed.close();
        if (owned) {
            domain.close();
        }
    }
}
