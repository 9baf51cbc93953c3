package io.ringpoll.internal.rc;

import io.ringpoll.completion.VerbsContext;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A device and a protection domain on it, from which memory and connections are made. Any thread may use it. */
public abstract class RcPeer extends RcResource {
    RcPeer() {
    }

    /**
     * The device.
     *
     * @return lives as long as the process
     */
    public abstract VerbsContext context();

    /**
     * Allocates and registers memory.
     *
     * @param lengthBytes number of bytes
     * @param usages      at least one
     * @return to be closed before this
     */
    public abstract RcMemory allocate(long lengthBytes, RcUsage... usages);

    /**
     * Registers memory of the caller.
     *
     * @param memory native memory, whose arena can be closed after the region
     * @param usages at least one
     * @return to be closed before this
     */
    public abstract RcMemory register(MemorySegment memory, RcUsage... usages);

    /**
     * Creates a completion queue that connections can share.
     *
     * @param name    for reports
     * @param entries minimum number of completions that it holds
     * @return to be closed before this; empty over librpma, whose connections have queues of their own
     * @throws io.ringpoll.completion.RdmaException if the device does not allow so many entries
     */
    public abstract Optional<RcQueue> newQueue(String name, int entries);

    /**
     * Whether this is closed.
     *
     * @return false until then
     */
    public abstract boolean isClosed();

    /**
     * Takes a {@link RcMemory#descriptor()} of the other side, which may use the other binding.
     *
     * @param descriptor its bytes
     * @return to be closed
     * @throws RuntimeException if this is no descriptor
     */
    public abstract RcRemoteMemory remote(byte[] descriptor);

    /**
     * Listens at a local address.
     *
     * @param host address or name
     * @param port 0 takes any that is free
     * @return to be closed before this
     * @throws io.ringpoll.completion.RdmaException with the errno, for instance EADDRINUSE
     */
    public abstract RcListener listen(String host, int port);

    /**
     * Finds the other side, to be connected.
     *
     * @param host   address or name of the other side
     * @param port   where it listens
     * @param config sizes and time-out
     * @return to be connected or closed
     * @throws io.ringpoll.completion.RdmaException if it is not found
     */
    public abstract RcRequest request(String host, int port, RcConfig config);
}
