package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Bounds;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.HotCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/**
 * Memory of the other side, created from its descriptor; the source of reads and the destination of writes and flushes.
 *
 * <p>Any thread may use it. The device of the other side checks every access again.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_remote_from_descriptor.3.html">
 *     rpma_mr_remote_from_descriptor(3)</a>
 */
public final class RemoteMemoryRegion extends RpmaObject {
    private final long lengthBytes;

    private RemoteMemoryRegion(final long address, final long lengthBytes) {
        super("remote memory region of " + lengthBytes + " bytes", address);
        this.lengthBytes = lengthBytes;
    }

    /**
     * Creates a region from a {@link LocalMemoryRegion#descriptor()} of the other side.
     *
     * @param descriptor its bytes; more may follow
     * @return to be closed when no more work requests use it
     * @throws RpmaException {@code RPMA_E_INVAL} if this is no descriptor, or as in rpma_mr_remote_from_descriptor(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_remote_from_descriptor.3.html">
     *     rpma_mr_remote_from_descriptor(3)</a>
     */
    public static RemoteMemoryRegion ofDescriptor(final byte[] descriptor) {
        Objects.requireNonNull(descriptor, "the descriptor is null");
        Loading.require();
        final CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            LogSink.clearError();
            RpmaException.check("rpma_mr_remote_from_descriptor", Librpma.MEMORY.rpma_mr_remote_from_descriptor(
                arena.allocateFrom(ValueLayout.JAVA_BYTE, descriptor).address(), descriptor.length, state.scratch()));
        }
        final long region = state.longAt(0);
        Librpma.MEMORY.rpma_mr_remote_get_size(region, state.scratch());
        return new RemoteMemoryRegion(region, state.longAt(0));
    }

    /**
     * How long the region is.
     *
     * @return bytes
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_remote_get_size.3.html">
     *     rpma_mr_remote_get_size(3)</a>
     */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * The kinds of flush that the region is registered for.
     *
     * @return a new set
     * @throws RpmaException as in rpma_mr_remote_get_flush_type(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_remote_get_flush_type.3.html">
     *     rpma_mr_remote_get_flush_type(3)</a>
     */
    public Set<FlushType> flushTypes() {
        final int bits = get("rpma_mr_remote_get_flush_type", Librpma.MEMORY::rpma_mr_remote_get_flush_type).intAt(0);
        final Set<FlushType> types = EnumSet.noneOf(FlushType.class);
        if ((bits & MemoryUsage.FLUSH_PERSISTENT.value()) != 0) {
            types.add(FlushType.PERSISTENT);
        }
        if ((bits & MemoryUsage.FLUSH_VISIBILITY.value()) != 0) {
            types.add(FlushType.VISIBILITY);
        }
        return types;
    }

    /** The address for a post, after {@link HotCalls#enter()}; throws if the piece is not within the region or it is closed. */
    long addressFor(final long offset, final long lengthBytes) {
        Bounds.checkRange(offset, lengthBytes, this.lengthBytes);
        return openAddress();
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_mr_remote_delete", delete(Librpma.MEMORY::rpma_mr_remote_delete, lastAddress));
    }
}
