package io.ringpoll.internal.rc;

import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.RemoteMemory;
import java.lang.foreign.MemorySegment;

/** A memory region of verbs. */
final class VerbsMemory extends RcMemory {
    private final MemoryRegion region;

    VerbsMemory(final MemoryRegion region) {
        this.region = region;
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
        return region.remote().toBytes();
    }

    @Override
    public byte[] descriptorOfLength(final long lengthBytes) {
        return new RemoteMemory(region.memoryAddress(), lengthBytes, region.remoteKey()).toBytes();
    }

    @Override
    public void close() {
        region.close();
    }
}
