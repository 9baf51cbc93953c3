package io.ringpoll.rpma;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.os.BlockingCalls;
import io.ringpoll.os.WaitInterruptedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * An RDMA device in librpma, with one protection domain: the factory of all other objects.
 *
 * <p>Thread-safe: several threads may create and close requests, endpoints, regions and shared queues concurrently without
 * waiting for each other. librpma's THREAD_SAFETY.md calls these functions not thread-safe because valgrind reports races below
 * them, in libibverbs, librdmacm and syslog(3); librpma itself shares nothing between two objects, and those libraries are
 * thread-safe by their own contract. The one exception, the first use of librdmacm, happens while the binding is loaded. A peer
 * is closed last.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_new.3.html">rpma_peer_new(3)</a>
 * @see <a href="https://github.com/pmem/rpma/blob/main/THREAD_SAFETY.md">THREAD_SAFETY.md of librpma</a>
 */
public final class Peer extends RpmaObject {
    static final int CONTEXT_LOCAL = 0;
    static final int CONTEXT_REMOTE = 1;

    private final VerbsContext context;

    private Peer(final String name, final long address, final VerbsContext context) {
        super(name, address);
        this.context = context;
    }

    /**
     * Opens the local device that has an address, for a server that listens on this address.
     *
     * @param address of this machine, an IPv4 or IPv6 address or a name
     * @return to be closed last
     * @throws RpmaException if no RDMA device has the address (librpma: {@code RPMA_E_PROVIDER}), or as in rpma_peer_new(3)
     * @throws IllegalStateException if the address is this machine's, but none of an RDMA device's (such as 127.0.0.1)
     * @throws IllegalArgumentException if the address is null or empty, or holds a control character
     * @throws WaitInterruptedException if the thread is interrupted before or while the address is looked up
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_utils_get_ibv_context.3.html">
     *     rpma_utils_get_ibv_context(3)</a>
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_new.3.html">rpma_peer_new(3)</a>
     */
    public static Peer ofLocal(final String address) {
        return open(address, CONTEXT_LOCAL);
    }

    /**
     * Opens the local device that reaches a remote address, for a client that connects to this address.
     *
     * @param address of the other side, an IPv4 or IPv6 address or a name
     * @return to be closed last
     * @throws RpmaException if the address is reached by no RDMA device (librpma: {@code RPMA_E_PROVIDER}), or as in
     *     rpma_peer_new(3)
     * @throws IllegalStateException as for {@link #ofLocal}
     * @throws IllegalArgumentException if the address is null or empty, or holds a control character
     * @throws WaitInterruptedException if the thread is interrupted before or while the address is looked up
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_utils_get_ibv_context.3.html">
     *     rpma_utils_get_ibv_context(3)</a>
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_new.3.html">rpma_peer_new(3)</a>
     */
    public static Peer ofRemote(final String address) {
        return open(address, CONTEXT_REMOTE);
    }

    /**
     * Creates a peer on a device that the caller has opened.
     *
     * @param context the device; must stay open until the peer is closed
     * @return to be closed last
     * @throws RpmaException as in rpma_peer_new(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_peer_new.3.html">rpma_peer_new(3)</a>
     */
    public static Peer of(final VerbsContext context) {
        Objects.requireNonNull(context, "the context is null");
        Loading.require();
        return of(context, "peer " + context.name());
    }

    private static Peer open(final String address, final int side) {
        Loading.require();
        AddressText.require("address", address);
        return BlockingCalls.create("finding the device of " + address, handover -> handover.give(find(address, side)));
    }

    private static Peer find(final String address, final int side) {
        final long context;
        final CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            LogSink.clearError();
            RpmaException.check("rpma_utils_get_ibv_context(" + address + ")",
                Librpma.PEER.rpma_utils_get_ibv_context(arena.allocateFrom(address).address(), side, state.scratch()));
            context = state.longAt(0);
        }
        // An address of this machine that no RDMA device has, such as 127.0.0.1, is no error to librpma.
        if (context == 0) {
            throw new IllegalStateException(
                address + " belongs to no RDMA device: use an address of a network interface that has one" +
                    " ('rdma link' lists them)");
        }
        return of(VerbsAccess.context(context), "peer " + address);
    }

    private static Peer of(final VerbsContext context, final String name) {
        return VerbsAccess.create(context, device -> {
            final CallState state = CallState.current();
            LogSink.clearError();
            RpmaException.check("rpma_peer_new", Librpma.PEER.rpma_peer_new(device, state.scratch()));
            return take(state.longAt(0), address -> new Peer(name, address, context),
                address -> delete(Librpma.PEER::rpma_peer_delete, address));
        });
    }

    /**
     * The device, for calls that librpma does not have.
     *
     * @return lives as long as the process
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_utils_get_ibv_context.3.html">
     *     rpma_utils_get_ibv_context(3)</a>
     */
    public VerbsContext context() {
        return context;
    }

    /**
     * Whether the device supports on-demand paging, which file systems on persistent memory require.
     *
     * @return true if it can, for reads and writes
     * @throws RpmaException as in rpma_utils_ibv_context_is_odp_capable(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_utils_ibv_context_is_odp_capable.3.html">
     *     rpma_utils_ibv_context_is_odp_capable(3)</a>
     */
    public boolean isOdpCapable() {
        enter();
        try {
            final CallState state = CallState.current();
            LogSink.clearError();
            RpmaException.check("rpma_utils_ibv_context_is_odp_capable",
                Librpma.PEER.rpma_utils_ibv_context_is_odp_capable(VerbsAccess.address(context), state.scratch()));
            return state.intAt(0) != 0;
        } finally {
            exit();
        }
    }

    /**
     * Registers memory that the caller owns. The region retains it: an attempt to close its arena before the region throws
     * {@link IllegalStateException}. One daemon thread for each arena that can be closed does so, as long as there are regions of
     * it; {@link #allocate} needs none.
     *
     * @param memory native memory, of a shared or automatic arena, a direct buffer or a mapped file
     * @param usages the permitted operations, at least one
     * @return to be closed before the peer and before the memory's arena
     * @throws IllegalArgumentException if the memory is on the heap, read-only or empty, its arena is closed or confined to one
     *     thread, or there is no usage
     * @throws RpmaException            as in rpma_mr_reg(3); {@code RPMA_E_PROVIDER} with errno ENOMEM most often means that
     *     {@code ulimit -l} is too low
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_reg.3.html">rpma_mr_reg(3)</a>
     */
    public LocalMemoryRegion register(final MemorySegment memory, final MemoryUsage... usages) {
        Objects.requireNonNull(memory, "the memory is null");
        Objects.requireNonNull(usages, "the usages are null");
        return LocalMemoryRegion.register(this, memory, usages);
    }

    /**
     * Allocates memory, page-aligned and zeroed, and registers it.
     *
     * @param lengthBytes length, at least 1
     * @param usages      the permitted operations, at least one
     * @return to be closed before the peer; closing it frees the memory
     * @throws IllegalArgumentException if there are no bytes, more than the memory of the machine or of the process's control
     *     group, or no usage
     * @throws OutOfMemoryError         if the memory cannot be had
     * @throws RpmaException as in rpma_mr_reg(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_reg.3.html">rpma_mr_reg(3)</a>
     */
    public LocalMemoryRegion allocate(final long lengthBytes, final MemoryUsage... usages) {
        Objects.requireNonNull(usages, "the usages are null");
        return LocalMemoryRegion.allocate(this, lengthBytes, usages);
    }

    /**
     * Listens for connections.
     *
     * @param address of this machine
     * @param port    TCP port number or service name; {@code "0"} takes any that is free, see {@link Endpoint#port()}
     * @return to be closed before the peer
     * @throws UnsupportedOperationException if the port is {@code "0"} and cannot be read from the loaded librpma
     * @throws RpmaException as in rpma_ep_listen(3); {@code RPMA_E_PROVIDER} with errno EADDRINUSE if the port is taken
     * @throws IllegalArgumentException if the address or the port is null or empty or holds a control character, or the port is a
     *     number outside 0 to 65535
     * @throws WaitInterruptedException if the thread is interrupted before or while the address is looked up
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_ep_listen.3.html">rpma_ep_listen(3)</a>
     */
    public Endpoint listen(final String address, final String port) {
        AddressText.require("address", address);
        AddressText.requirePort(port);
        return Endpoint.listen(this, address, port);
    }

    /**
     * Prepares a connection to another node, with the default configuration.
     *
     * @param address of the other side
     * @param port    TCP port number, at least 1, or service name
     * @return to be connected, or closed before the peer
     * @throws WaitInterruptedException if the thread is interrupted before or while the address is resolved; that goes on for a
     *     while then, and keeps this peer from being closed
     * @throws RpmaException as in rpma_conn_req_new(3)
     * @throws IllegalArgumentException as for {@link #listen}, or if the port is 0
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_req_new.3.html">rpma_conn_req_new(3)</a>
     */
    public ConnectionRequest request(final String address, final String port) {
        AddressText.require("address", address);
        AddressText.requireRemotePort(port);
        return ConnectionRequest.ofActive(this, address, port, null);
    }

    /**
     * Prepares a connection to another node.
     *
     * @param address of the other side
     * @param port    TCP port number, at least 1, or service name
     * @param config  sizes of the queues and the time-out; copied
     * @return to be connected, or closed before the peer
     * @throws WaitInterruptedException if the thread is interrupted before or while the address is resolved; that goes on for a
     *     while then, and keeps this peer from being closed
     * @throws RpmaException as in rpma_conn_req_new(3)
     * @throws IllegalArgumentException as for {@link #listen}, or if the port is 0
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_req_new.3.html">rpma_conn_req_new(3)</a>
     */
    public ConnectionRequest request(final String address, final String port, final ConnectionConfig config) {
        AddressText.require("address", address);
        AddressText.requireRemotePort(port);
        return ConnectionRequest.ofActive(this, address, port, config);
    }

    /**
     * Creates a receive queue that several connections share.
     *
     * @param config its sizes; copied
     * @return to be closed before the peer and after its connections
     * @throws RpmaException as in rpma_srq_new(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_srq_new.3.html">rpma_srq_new(3)</a>
     */
    public SharedReceiveQueue sharedReceiveQueue(final SharedReceiveQueueConfig config) {
        return SharedReceiveQueue.create(this, config);
    }

    /** Enters the peer on behalf of an object created from it. */
    long enterAsParent() {
        return enter();
    }

    /** Leaves the peer on behalf of an object created from it. */
    void exitAsParent() {
        exit();
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_peer_delete", delete(Librpma.PEER::rpma_peer_delete, lastAddress));
    }
}
