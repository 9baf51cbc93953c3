package io.ringpoll.completion;

import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.verbs.StructAccess;

/**
 * An open RDMA device: the {@code struct ibv_context} that connections use, which lives as long as the process. Thread-safe.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_open_device.3.html">ibv_open_device(3)</a>
 */
public final class VerbsContext {
    static {
        StructAccess.Holder.register(new AddressAccess());
    }

    private final long address;
    private final String name;

    private VerbsContext(final long address) {
        this.address = address;
        name = Memory.stringAt(Memory.longAt(address + IbvContext.DEVICE_OFFSET) + IbvContext.DEVICE_NAME_OFFSET);
    }

    /** Wraps a context that C has opened. */
    static VerbsContext of(final long address) {
        return new VerbsContext(address);
    }

    /** Address of its {@code struct ibv_context}. */
    long address() {
        return address;
    }

    /**
     * The device's name.
     *
     * @return for instance {@code "mlx5_0"}
     */
    public String name() {
        return name;
    }

    /**
     * The number of completion vectors: interrupts that a completion queue can raise its events by.
     *
     * @return at least 1
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_cq.3.html">ibv_create_cq(3)</a>
     */
    public int completionVectors() {
        // Soft-RoCE and others report none where the first one can be used.
        return Math.max(1, Memory.intAt(address + IbvContext.NUM_COMP_VECTORS_OFFSET));
    }

    /** Whether a read of this device ends as a write of the peer, so that its target must permit these. */
    boolean isIwarp() {
        return Memory.intAt(Memory.longAt(address + IbvContext.DEVICE_OFFSET) + IbvContext.DEVICE_TRANSPORT_OFFSET) ==
            IbvContext.IWARP;
    }

    /** The descriptor of the device's asynchronous events. */
    int asyncFd() {
        return Memory.intAt(address + IbvContext.ASYNC_FD_OFFSET);
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof final VerbsContext context && context.address == address;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(address);
    }

    @Override
    public String toString() {
        return name;
    }
}
