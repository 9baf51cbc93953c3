package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Bounds;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.os.RegionMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory of this process that the device may read or write, as far as its usages permit.
 *
 * <p>Any thread may use it in posts and read its properties. It must stay open until the completions of all work requests that
 * use it have been polled: later requests fail.
 *
 * <p>It is for the connections and shared receive queues of its peer, which has a protection domain of its own. A request with
 * memory of another peer is accepted, and completes with {@link io.ringpoll.completion.WcStatus#LOC_PROT_ERR}, which ends its
 * connection; so does one of the other side that names such memory, with {@code REM_ACCESS_ERR}.
 *
 * <p>While it is open it retains its memory: {@link Arena#close()} of the memory's arena throws {@link IllegalStateException},
 * and the garbage collector frees nothing, even if the region is unreachable. Memory that is not managed by the JDK must outlive
 * the region: C memory wrapped by {@link MemorySegment#reinterpret(long)}, a mapped file that is truncated.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_reg.3.html">rpma_mr_reg(3)</a>
 */
public final class LocalMemoryRegion extends RpmaObject {
    /** The value of {@code IBV_ADVISE_MR_FLAG_FLUSH}. */
    static final int ADVISE_FLAG_FLUSH = 1;

    /** librpma puts the length into 32 bits unseen. */
    private static final long MAX_ADVISED_BYTES = 0xFFFF_FFFFL;

    private final MemorySegment memory;
    private final Runnable free;
    private final long lengthBytes;

    private LocalMemoryRegion(final long address, final RegionMemory owned) {
        super(owned.name(), address);
        memory = owned.memory();
        free = owned.free();
        lengthBytes = memory.byteSize();
    }

    /** Registers memory of somebody else, and retains it. */
    static LocalMemoryRegion register(final Peer peer, final MemorySegment memory, final MemoryUsage... usages) {
        final int usage = MemoryUsage.bits(usages);
        return register(peer, RegionMemory.retain(memory, false), usage);
    }

    /** Allocates memory and registers it. */
    static LocalMemoryRegion allocate(final Peer peer, final long lengthBytes, final MemoryUsage... usages) {
        final int usage = MemoryUsage.bits(usages);
        return register(peer, RegionMemory.allocate(lengthBytes), usage);
    }

    private static LocalMemoryRegion register(final Peer peer, final RegionMemory owned, final int usage) {
        final MemorySegment memory = owned.memory();
        boolean registered = false;
        try {
            final long peerAddress = peer.enterAsParent();
            try {
                final CallState state = CallState.current();
                LogSink.clearError();
                RpmaException.check("rpma_mr_reg",
                    Librpma.MEMORY.rpma_mr_reg(peerAddress, memory.address(), memory.byteSize(), usage, state.scratch()));
                // From here on the device has the memory.
                registered = true;
                return take(state.longAt(0), address -> {
                    final LocalMemoryRegion region = new LocalMemoryRegion(address, owned);
                    region.dependsOn(peer);
                    return region;
                }, address -> deregister(address, owned.free()));
            } finally {
                peer.exitAsParent();
            }
        } finally {
            if (!registered) {
                owned.free().run();
            }
        }
    }

    /**
     * The memory itself.
     *
     * @return the segment that was registered
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_reg.3.html">rpma_mr_reg(3)</a>
     */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * The address of the memory in librpma.
     *
     * @return the address of its first byte
     * @throws RpmaException as in rpma_mr_get_ptr(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_get_ptr.3.html">rpma_mr_get_ptr(3)</a>
     */
    public long memoryAddress() {
        return get("rpma_mr_get_ptr", Librpma.MEMORY::rpma_mr_get_ptr).longAt(0);
    }

    /**
     * The length of the region in librpma.
     *
     * @return bytes
     * @throws RpmaException as in rpma_mr_get_size(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_get_size.3.html">rpma_mr_get_size(3)</a>
     */
    public long lengthBytes() {
        return get("rpma_mr_get_size", Librpma.MEMORY::rpma_mr_get_size).longAt(0);
    }

    /**
     * The descriptor from which the other side creates a {@link RemoteMemoryRegion}; usually sent as private data.
     *
     * @return a new array of {@code rpma_mr_get_descriptor_size} bytes
     * @throws RpmaException as in rpma_mr_get_descriptor(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_get_descriptor.3.html">rpma_mr_get_descriptor(3)</a>
     */
    public byte[] descriptor() {
        return descriptor("rpma_mr_get_descriptor_size", Librpma.MEMORY::rpma_mr_get_descriptor_size,
            "rpma_mr_get_descriptor", Librpma.MEMORY::rpma_mr_get_descriptor);
    }

    /**
     * Advises the device on a piece of the region. For regions with on-demand paging.
     *
     * @param offset      of the piece in bytes
     * @param lengthBytes of the piece, below 4 GiB
     * @param advice      the advice
     * @param flush       whether to wait until the device has done it ({@code IBV_ADVISE_MR_FLAG_FLUSH})
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalArgumentException  if the piece is too long for one advice
     * @throws IllegalStateException     if the region is closed
     * @throws RpmaException             as in rpma_mr_advise(3); {@code RPMA_E_NOSUPP} if the device takes no advice
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_advise.3.html">rpma_mr_advise(3)</a>
     */
    public void advise(final long offset, final long lengthBytes, final MemoryAdvice advice, final boolean flush) {
        checkRange(offset, lengthBytes);
        if (lengthBytes > MAX_ADVISED_BYTES) {
            throw new IllegalArgumentException(
                "advice for " + lengthBytes + " bytes; at most " + MAX_ADVISED_BYTES + " are possible");
        }
        final long region = enter();
        try {
            LogSink.clearError();
            RpmaException.check("rpma_mr_advise",
                Librpma.MEMORY.rpma_mr_advise(region, offset, lengthBytes, advice.value(), flush ? ADVISE_FLAG_FLUSH : 0));
        } finally {
            exit();
        }
    }

    /** The address for a post, after {@link HotCalls#enter()}; throws if the piece is not within the region or it is closed. */
    long addressFor(final long offset, final long lengthBytes) {
        checkRange(offset, lengthBytes);
        return openAddress();
    }

    /** Enters the region for a post off the hot path; throws if the piece is not within the region or it is closed. */
    long enterFor(final long offset, final long lengthBytes) {
        checkRange(offset, lengthBytes);
        return enter();
    }

    /** Leaves the region after a post off the hot path. */
    void exitFromPost() {
        exit();
    }

    private void checkRange(final long offset, final long lengthBytes) {
        Bounds.checkRange(offset, lengthBytes, this.lengthBytes);
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    /** Ends a registration, and frees its memory unless that fails: the device may still write to it then. */
    private static int deregister(final long region, final Runnable free) {
        final int result = delete(Librpma.MEMORY::rpma_mr_dereg, region);
        if (result == RpmaError.SUCCESS) {
            free.run();
        }
        return result;
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_mr_dereg", deregister(lastAddress, free));
    }
}
