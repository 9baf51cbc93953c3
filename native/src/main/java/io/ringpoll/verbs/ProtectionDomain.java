package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.os.RegionMemory;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A protection domain of a device: memory regions, queue pairs and shared receive queues work together only within one.
 *
 * <p>Thread-safe. It is closed after the objects that are created in it.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_alloc_pd.3.html">ibv_alloc_pd(3)</a>
 */
public final class ProtectionDomain extends NativeResource {
    private final VerbsContext context;

    private ProtectionDomain(final VerbsContext context, final long address) {
        super("protection domain of " + context.name(), address);
        this.context = context;
    }

    /**
     * Creates a protection domain.
     *
     * @param context the device, see {@link RdmaDevices} and {@link ConnectionId#context()}
     * @return to be closed last
     * @throws VerbsException with the errno of ibv_alloc_pd(3)
     */
    public static ProtectionDomain create(final VerbsContext context) {
        Objects.requireNonNull(context, "the context is null");
        Loading.require();
        return VerbsAccess.create(context, device -> {
            final long address = ResourceFunctions.ibv_alloc_pd(device);
            if (address == 0) {
                throw new VerbsException("ibv_alloc_pd", CallState.current().errno());
            }
            return take(address, pd -> new ProtectionDomain(context, pd), ResourceFunctions::ibv_dealloc_pd);
        });
    }

    /**
     * The device.
     *
     * @return lives as long as the process
     */
    public VerbsContext context() {
        return context;
    }

    /**
     * Registers memory that the caller owns: of a shared or automatic arena, a direct buffer, or a mapped file. The region
     * retains it: an attempt to close its arena before the region throws {@link IllegalStateException}.
     *
     * @param memory native memory, writable unless the flags are at most {@link AccessFlag#REMOTE_READ}
     * @param flags  what the device may do with it; none for memory that is only sent
     * @return to be closed before the domain and before the memory's arena
     * @throws IllegalArgumentException if the memory is on the heap or empty, or read-only and a flag permits writes; if its
     *     arena is closed or confined to one thread, or a flag lacks another one
     * @throws VerbsException           with the errno of ibv_reg_mr(3); ENOMEM most often means that {@code ulimit -l} is too low
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html">ibv_reg_mr(3)</a>
     */
    public MemoryRegion register(final MemorySegment memory, final AccessFlag... flags) {
        Objects.requireNonNull(memory, "the memory is null");
        Objects.requireNonNull(flags, "the flags are null");
        final int access = AccessFlag.bits(flags);
        final boolean readable = (access & ~AccessFlag.REMOTE_READ.value()) == 0;
        return MemoryRegion.register(this, RegionMemory.retain(memory, readable), access);
    }

    /**
     * Allocates memory, page-aligned and zeroed, and registers it.
     *
     * @param lengthBytes length, at least 1
     * @param flags       what the device may do with it
     * @return to be closed before the domain; closing it frees the memory
     * @throws IllegalArgumentException if there are no bytes, more than the memory of the machine or of the process's control
     *     group, or a flag lacks another one
     * @throws OutOfMemoryError         if the memory cannot be had
     * @throws VerbsException           with the errno of ibv_reg_mr(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html">ibv_reg_mr(3)</a>
     */
    public MemoryRegion allocate(final long lengthBytes, final AccessFlag... flags) {
        Objects.requireNonNull(flags, "the flags are null");
        final int access = AccessFlag.bits(flags);
        return MemoryRegion.register(this, RegionMemory.allocate(lengthBytes), access);
    }

    /**
     * Allocates memory in huge pages of the system's default size and registers it: the device then needs fewer entries in its
     * translation tables.
     *
     * @param lengthBytes length, at least 1; the memory is a whole number of pages
     * @param flags       what the device may do with it
     * @return to be closed before the domain; closing it frees the memory
     * @throws IllegalArgumentException      as for {@link #allocate}
     * @throws io.ringpoll.os.OsException    with the errno of mmap(2); ENOMEM if too few huge pages are reserved
     *     ({@code sysctl vm.nr_hugepages})
     * @throws VerbsException                with the errno of ibv_reg_mr(3)
     * @see <a href="https://man7.org/linux/man-pages/man2/mmap.2.html">mmap(2)</a>
     */
    public MemoryRegion allocateHugePages(final long lengthBytes, final AccessFlag... flags) {
        Objects.requireNonNull(flags, "the flags are null");
        final int access = AccessFlag.bits(flags);
        return MemoryRegion.register(this, RegionMemory.allocateHugePages(lengthBytes), access);
    }

    @Override
    protected void destroy(final long lastAddress) {
        final int errno = ResourceFunctions.ibv_dealloc_pd(lastAddress);
        if (errno != 0) {
            throw new VerbsException("ibv_dealloc_pd", Math.abs(errno));
        }
    }
}
