package io.ringpoll.internal.rc;

import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.RemoteMemory;
import java.lang.foreign.MemorySegment;

/** Memory over verbs: a {@link MemoryRegion}. Threads: {@link RcMemory}. */
final class VerbsMemory extends RcMemory {
    private final MemoryRegion region;
    private final byte usageBits;

    VerbsMemory(final MemoryRegion region, final byte usageBits) {
        this.region = region;
        this.usageBits = usageBits;
    }

    static MemoryRegion of(final RcMemory memory) {
        return memory == null ? null : ((VerbsMemory) memory).region;
    }

    @Override
    public MemorySegment memory() {
        return region.memory();
    }

    @Override
    public byte[] descriptor() {
        return RpmaDescriptor.write(region.remote(), usageBits);
    }

    @Override
    public byte[] descriptorOfLength(final long lengthBytes) {
        return RpmaDescriptor.write(
            new RemoteMemory(region.memoryAddress(), lengthBytes, region.remoteKey()), usageBits);
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
