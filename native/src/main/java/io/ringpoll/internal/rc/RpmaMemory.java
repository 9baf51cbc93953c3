package io.ringpoll.internal.rc;

import io.ringpoll.rpma.LocalMemoryRegion;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory over librpma: a {@link LocalMemoryRegion}. Threads: {@link RcMemory}. */
final class RpmaMemory extends RcMemory {
    private final LocalMemoryRegion region;

    RpmaMemory(final LocalMemoryRegion region) {
        this.region = region;
    }

    static LocalMemoryRegion of(final RcMemory memory) {
        return memory == null ? null : ((RpmaMemory) memory).region;
    }

    @Override
    public MemorySegment memory() {
        return region.memory();
    }

    @Override
    public byte[] descriptor() {
        return region.descriptor();
    }

    @Override
    public byte[] descriptorOfLength(final long lengthBytes) {
        final byte[] changed = region.descriptor();
        ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putLong(RpmaDescriptor.LENGTH_OFFSET, lengthBytes);
        return changed;
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
