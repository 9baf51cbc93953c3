package io.ringpoll.completion;

import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Owner;
import io.ringpoll.internal.verbs.StructAccess;
import java.util.function.LongFunction;

/**
 * An open RDMA device: the {@code struct ibv_context} that connections use, which lives as long as the process, but for that of a
 * synthetic device: when the device is closed, calls with its context throw {@link IllegalStateException}. Thread-safe.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_open_device.3.html">ibv_open_device(3)</a>
 */
public final class VerbsContext {
    static {
        StructAccess.Holder.register(new AddressAccess());
    }

    private final long address;
    private final String name;
    private final Owner owner;

    private VerbsContext(final long address, final Owner owner) {
        this.address = address;
        this.owner = owner;
        name = Memory.stringAt(Memory.longAt(address + IbvContext.DEVICE_OFFSET) + IbvContext.DEVICE_NAME_OFFSET);
    }

    /** Wraps a context that C has opened, and that its owner closes. */
    static VerbsContext of(final long address, final Owner owner) {
        return new VerbsContext(address, owner);
    }

    /** Address of its {@code struct ibv_context}, for an object that the context is kept for. */
    long address() {
        return address;
    }

    /** Address of its {@code struct ibv_context}, valid until {@link #exit()}. */
    long enter() {
        owner.enter();
        return address;
    }

    void exit() {
        owner.exit();
    }

    /** Creates an object by the address of the {@code struct ibv_context}, which is kept as long as the object. */
    <T extends NativeResource> T create(final LongFunction<T> creation) {
        owner.enter();
        try {
            final T created = creation.apply(address);
            owner.keepFor(created);
            return created;
        } finally {
            owner.exit();
        }
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
        final long entered = enter();
        try {
            return Math.max(1, Memory.intAt(entered + IbvContext.NUM_COMP_VECTORS_OFFSET));
        } finally {
            exit();
        }
    }

    /** Whether a read of this device ends as a write of the peer, so that its target must permit these. */
    boolean isIwarp() {
        return Memory.intAt(Memory.longAt(address + IbvContext.DEVICE_OFFSET) + IbvContext.DEVICE_TRANSPORT_OFFSET) ==
            IbvContext.IWARP;
    }

    /** Whether the device reports asynchronous events: a synthetic one has none. */
    boolean hasAsyncEvents() {
        return owner.isProcess();
    }

    /** The descriptor of the device's asynchronous events, of a device that lives as long as the process. */
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
