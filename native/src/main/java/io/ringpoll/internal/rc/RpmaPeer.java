package io.ringpoll.internal.rc;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A peer over librpma: a {@link Peer}. Threads: {@link RcPeer}. */
final class RpmaPeer extends RcPeer {
    private final Peer peer;
    private final boolean owned;

    /** Closes the peer if it is owned. */
    RpmaPeer(final Peer peer, final boolean owned) {
        this.peer = peer;
        this.owned = owned;
    }

    static RpmaPeer ofLocal(final String host) {
        return new RpmaPeer(Peer.ofLocal(host), true);
    }

    static RpmaPeer ofRemote(final String host) {
        return new RpmaPeer(Peer.ofRemote(host), true);
    }

    @Override
    public VerbsContext context() {
        return peer.context();
    }

    @Override
    public RcMemory allocate(final long lengthBytes, final RcUsage... usages) {
        return new RpmaMemory(peer.allocate(lengthBytes, own(usages)));
    }

    @Override
    public RcMemory register(final MemorySegment memory, final RcUsage... usages) {
        return new RpmaMemory(peer.register(memory, own(usages)));
    }

    private static MemoryUsage[] own(final RcUsage... usages) {
        final MemoryUsage[] own = new MemoryUsage[usages.length];
        for (int i = 0; i < usages.length; i++) {
            own[i] = MemoryUsage.valueOf(usages[i].name());
        }
        return own;
    }

    @Override
    public Optional<RcQueue> newQueue(final String name, final int entries) {
        return Optional.empty();
    }

    @Override
    public boolean isClosed() {
        return peer.isClosed();
    }

    @Override
    public RcRemoteMemory remote(final byte[] descriptor) {
        return new RpmaRemoteMemory(RemoteMemoryRegion.ofDescriptor(descriptor));
    }

    @Override
    public RcListener listen(final String host, final int port) {
        return new RpmaListener(peer.listen(host, Integer.toString(port)));
    }

    @Override
    public RcRequest request(final String host, final int port, final RcConfig config) {
        try (ConnectionConfig own = config(config)) {
            return new RpmaRequest(peer.request(host, Integer.toString(port), own), config.counted());
        }
    }

    /** The configuration of librpma, to be closed. */
    static ConnectionConfig config(final RcConfig config) {
        if (config.timestamps()) {
            throw new IllegalArgumentException("librpma has no completion timestamps: use " + RdmaApi.VERBS);
        }
        final ConnectionConfig own = ConnectionConfig.create();
        boolean complete = false;
        try {
            own.timeoutMs(config.timeoutMs()).cqSize(config.cqSize()).rcqSize(config.rcqSize()).sqSize(config.sqSize())
                .rqSize(config.rqSize());
            if (config.sharedChannel()) {
                own.sharedCompletionChannel(true);
            }
            complete = true;
            return own;
        } finally {
            if (!complete) {
                own.close();
            }
        }
    }

    @Override
    public void close() {
        if (owned) {
            peer.close();
        }
    }
}
