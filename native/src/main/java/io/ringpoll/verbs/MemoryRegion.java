package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.Bounds;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Parents;
import io.ringpoll.internal.os.RegionMemory;
import io.ringpoll.os.Errno;
import java.lang.foreign.MemorySegment;

/**
 * Memory of this process that the device may use, as far as its {@link AccessFlag}s permit.
 *
 * <p>Thread-safe. It stays open as long as a {@link PostList} refers to it, and must stay open until the completions of all
 * requests that use it have been polled: later accesses of the device fail. While it is open it retains its memory: closing the
 * memory's arena throws {@link IllegalStateException}, and the garbage collector frees nothing. Memory that the JDK does not
 * manage must outlive it: C memory wrapped by {@link MemorySegment#reinterpret(long)}, a mapped file that is truncated.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html">ibv_reg_mr(3)</a>
 */
public final class MemoryRegion extends NativeResource {
    private final ProtectionDomain domain;
    private final MemorySegment memory;
    /** Of the segment, whose own methods cost more than a field. */
    private final long begin;
    private final long lengthBytes;
    private final Runnable free;
    private final int localKey;
    private final int remoteKey;

    private MemoryRegion(final ProtectionDomain domain, final long address, final RegionMemory owned) {
        super(owned.name(), address);
        this.domain = domain;
        memory = owned.memory();
        begin = memory.address();
        lengthBytes = memory.byteSize();
        free = owned.free();
        localKey = Memory.intAt(address + IbvMr.LKEY_OFFSET);
        remoteKey = Memory.intAt(address + IbvMr.RKEY_OFFSET);
    }

    /** Registers memory, which is given back if that fails. */
    static MemoryRegion register(final ProtectionDomain domain, final RegionMemory owned, final int access) {
        final long address = owned.memory().address();
        final long lengthBytes = owned.memory().byteSize();
        boolean registered = false;
        try {
            final long pd = Parents.enter(domain);
            try {
                final boolean optional = (access & AccessFlag.OPTIONAL) != 0;
                final long mr = optional ? ResourceFunctions.ibv_reg_mr_iova2(pd, address, lengthBytes, address, access) :
                    ResourceFunctions.ibv_reg_mr(pd, address, lengthBytes, access);
                if (mr == 0) {
                    throw refused(optional ? "ibv_reg_mr_iova2" : "ibv_reg_mr", CallState.current().errno());
                }
                // From here on the device has the memory.
                registered = true;
                return take(mr, known -> {
                    final MemoryRegion region = new MemoryRegion(domain, known, owned);
                    region.dependsOn(domain);
                    return region;
                }, known -> deregister(known, owned.free()));
            } finally {
                Parents.exit(domain);
            }
        } finally {
            if (!registered) {
                owned.free().run();
            }
        }
    }

    private static VerbsException refused(final String function, final int errno) {
        return new VerbsException(function, errno,
            errno == Errno.ENOMEM ? "the limit of pinned memory may be too low: 'ulimit -l'" : "");
    }

    /**
     * The memory itself.
     *
     * @return the segment that was registered
     */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * The address of the memory.
     *
     * @return of its first byte
     */
    public long memoryAddress() {
        return begin;
    }

    /**
     * The length of the region.
     *
     * @return bytes
     */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * The key by which requests of this side name the region ({@code lkey}).
     *
     * @return the key
     */
    public int localKey() {
        return localKey;
    }

    /**
     * The key by which the other side's requests name the region ({@code rkey}).
     *
     * @return the key
     */
    public int remoteKey() {
        return remoteKey;
    }

    /**
     * The region as the other side needs it, to be sent there.
     *
     * @return address, length and key
     */
    public RemoteMemory remote() {
        return new RemoteMemory(begin, lengthBytes, remoteKey);
    }

    /** Where its keys are valid. */
    ProtectionDomain domain() {
        return domain;
    }

    /** Checks a piece and returns its address. */
    long addressFor(final long offset, final long pieceBytes) {
        Bounds.checkRange(offset, pieceBytes, lengthBytes);
        return begin + offset;
    }

    /** As {@link #addressFor}, for a post without a list, within a hot call; throws if this is closed. */
    long openAddressFor(final long offset, final long pieceBytes) {
        openAddress();
        return addressFor(offset, pieceBytes);
    }

    @Override
    protected boolean usedInHotCalls() {
        return true;
    }

    /** Ends a registration, and frees its memory unless that fails: the device may still write to it then. */
    private static int deregister(final long mr, final Runnable free) {
        final int errno = ResourceFunctions.ibv_dereg_mr(mr);
        if (errno == 0) {
            free.run();
        }
        return errno;
    }

    @Override
    protected void destroy(final long lastAddress) {
        final int errno = deregister(lastAddress, free);
        if (errno != 0) {
            throw new VerbsException("ibv_dereg_mr", Math.abs(errno));
        }
    }
}
