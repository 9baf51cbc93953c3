package io.ringpoll.internal.rc;

import io.ringpoll.rpma.RemoteMemoryRegion;

/** Remote memory over librpma: a {@link RemoteMemoryRegion}. Threads: {@link RcRemoteMemory}. */
final class RpmaRemoteMemory extends RcRemoteMemory {
    private final RemoteMemoryRegion region;

    RpmaRemoteMemory(final RemoteMemoryRegion region) {
        this.region = region;
    }

    static RemoteMemoryRegion of(final RcRemoteMemory memory) {
        return memory == null ? null : ((RpmaRemoteMemory) memory).region;
    }

    @Override
    public long lengthBytes() {
        return region.lengthBytes();
    }

    @Override
    public boolean isClosed() {
        return region.isClosed();
    }

    @Override
    public void close() {
        region.close();
    }
}
