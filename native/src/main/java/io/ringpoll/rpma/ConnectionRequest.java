package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.os.BlockingCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.Objects;
import java.util.Optional;

/**
 * A connection request of this side ({@link Peer#request}) or of the other ({@link Endpoint#nextRequest}).
 *
 * <p>Used by one thread at a time. {@link #connect} turns it into a {@link Connection} and ends it, also on failure; {@link
 * #close} drops a request of this side and rejects one of the other.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_req_new.3.html">rpma_conn_req_new(3)</a>
 */
public final class ConnectionRequest extends RpmaObject {
    /** Offset of {@code len} in {@code struct rpma_conn_private_data}. */
    static final int PRIVATE_DATA_LENGTH_OFFSET = 8;
    /** Size of {@code struct rpma_conn_private_data}. */
    static final int PRIVATE_DATA_BYTES = 16;

    private static final int PRIVATE_DATA_MAX_LENGTH = 255;
    private static final int CARRIED_WITH_REQUEST = 56;
    private static final int CARRIED_WITH_ANSWER = 196;

    private final Peer peer;
    private final SharedReceiveQueue sharedQueue;
    /** The requested size of the queue in which receives complete. */
    private final int mostReceives;
    /** Held around a post and its count. */
    private final Object posting = new Object();
    private int receivesPosted;
    /** Null for a request of this side, and if it cannot be read. */
    private InetAddress remoteAddress;

    private ConnectionRequest(final String name, final Peer peer, final SharedReceiveQueue sharedQueue, final int mostReceives,
        final long address) {
        super(name, address);
        this.peer = peer;
        this.sharedQueue = sharedQueue;
        this.mostReceives = mostReceives;
        dependsOn(peer);
        if (sharedQueue != null) {
            dependsOn(sharedQueue);
        }
    }

    static ConnectionRequest ofActive(final Peer peer, final String address, final String port,
        final ConnectionConfig config) {
        return BlockingCalls.create("a request to " + address + ":" + port, handover -> {
            // An interrupted caller may close its own while the call goes on.
            try (ConnectionConfig copy = ConnectionConfig.copyOf(config)) {
                return create(peer, address, port, copy, handover);
            }
        });
    }

    private static ConnectionRequest create(final Peer peer, final String address, final String port,
        final ConnectionConfig config, final BlockingCalls.Handover handover) {
        final long peerAddress = peer.enterAsParent();
        try (Arena arena = Arena.ofConfined()) {
            final long configAddress = ConnectionConfig.enter(config);
            try {
                final CallState state = CallState.current();
                LogSink.clearError();
                RpmaException.check("rpma_conn_req_new(" + address + ":" + port + ")",
                    Librpma.CONNECTION.rpma_conn_req_new(peerAddress, arena.allocateFrom(address).address(),
                        arena.allocateFrom(port).address(), configAddress, state.scratch()), QueueLimits.remedy(peer, config));
                if (handover.isRefused()) {
                    // As a dependent of the peer it could make the peer's close fail.
                    delete(state.longAt(0));
                    return null;
                }
                return handover.give(of("request to " + address + ":" + port, peer, config, state.longAt(0)));
            } finally {
                ConnectionConfig.exit(config);
            }
        } finally {
            peer.exitAsParent();
        }
    }

    static ConnectionRequest ofPassive(final Endpoint endpoint, final ConnectionConfig config, final long address,
        final long channel) {
        final ConnectionRequest request = of("request at " + endpoint.name(), endpoint.peer(), config, address);
        // Until it is connected, the request uses the endpoint's event channel.
        request.dependsOn(endpoint);
        request.remoteAddress = RpmaConnReq.remoteAddress(address, channel);
        return request;
    }

    /** Takes a request that C has created; deletes it if that fails. */
    private static ConnectionRequest of(final String name, final Peer peer, final ConnectionConfig config, final long address) {
        try {
            return new ConnectionRequest(
                name, peer, ConnectionConfig.sharedQueueOf(config), ConnectionConfig.mostReceivesOf(config), address);
        } catch (final RuntimeException | Error failure) {
            delete(address);
            throw failure;
        }
    }

    /**
     * The private data of the other side's request.
     *
     * @return a new array; empty if there is none, or this side made the request
     * @throws RpmaException as in rpma_conn_req_get_private_data(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_req_get_private_data.3.html">
     *     rpma_conn_req_get_private_data(3)</a>
     */
    public byte[] privateData() {
        final long request = enter();
        try {
            final CallState state = CallState.current();
            RpmaException.check("rpma_conn_req_get_private_data",
                Librpma.CONNECTION.rpma_conn_req_get_private_data(request, state.scratch()));
            return privateData(state);
        } finally {
            exit();
        }
    }

    /**
     * The address from which the other side connects, as its device's packets have it. The other side cannot choose it freely,
     * but the network decides whether it is genuine.
     *
     * @return the address; empty if this side made the request, or the loaded librpma hides it
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rdma_get_peer_addr.3.html">rdma_get_peer_addr(3)</a>
     */
    public Optional<InetAddress> remoteAddress() {
        return Optional.ofNullable(remoteAddress);
    }

    /**
     * Posts a receive before the connection is established, so that it is there for the other side's first message. It counts
     * against the budget of the connection's future queue: at most the requested queue size is accepted, even if the device
     * grants more.
     *
     * @param destination   the target of the message, registered for {@link MemoryUsage#RECEIVE}
     * @param offset        in the region, in bytes
     * @param lengthBytes   capacity for the message
     * @param workRequestId is returned with the completion
     * @return true if it was accepted; false if the receive queue is full, or the completion queue could not hold one more
     * @throws IndexOutOfBoundsException if the piece is not within the region
     * @throws IllegalArgumentException  if there is no region, or the message may not be that long
     * @throws IllegalStateException     if the request or the region is closed
     * @throws RpmaException             as in rpma_conn_req_recv(3), except for a full queue
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_req_recv.3.html">rpma_conn_req_recv(3)</a>
     */
    public boolean receive(final LocalMemoryRegion destination, final long offset, final long lengthBytes,
        final long workRequestId) {
        Posts.checkLength(lengthBytes);
        if (destination == null) {
            throw new IllegalArgumentException("the destination is null: a receive before the connection needs a memory region");
        }
        final long request = enter();
        try {
            final long region = destination.enterFor(offset, lengthBytes);
            try {
                synchronized (posting) {
                    final boolean accepted = receivesPosted < mostReceives && Posts.isAccepted("rpma_conn_req_recv",
                        Librpma.POSTING.rpma_conn_req_recv(request, region, offset, lengthBytes, workRequestId));
                    receivesPosted += accepted ? 1 : 0;
                    return accepted;
                }
            } finally {
                destination.exitFromPost();
            }
        } finally {
            exit();
        }
    }

    /**
     * Connects, or accepts the other side's request, without private data. This request ends, also on failure.
     *
     * @return the connection; it can be used after {@link ConnectionEvent#ESTABLISHED}
     * @throws RpmaException as in rpma_conn_req_connect(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_req_connect.3.html">rpma_conn_req_connect(3)</a>
     */
    public Connection connect() {
        return connect(new byte[0]);
    }

    /**
     * Connects, or accepts the other side's request. This request ends, also on failure.
     *
     * @param privateData at most 255 bytes, of which InfiniBand and RoCE carry 56 with a request and 196 with a reply; empty for
     *                    none
     * @return the connection; it can be used after {@link ConnectionEvent#ESTABLISHED}
     * @throws IllegalArgumentException if there is too much private data
     * @throws RpmaException            as in rpma_conn_req_connect(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_conn_req_connect.3.html">rpma_conn_req_connect(3)</a>
     */
    public Connection connect(final byte[] privateData) {
        Objects.requireNonNull(privateData, "privateData is null: call connect() to send none");
        if (privateData.length > PRIVATE_DATA_MAX_LENGTH) {
            throw new IllegalArgumentException(
                "private data of " + privateData.length + " bytes; at most " + PRIVATE_DATA_MAX_LENGTH + " can be sent");
        }
        final long request = surrender();
        if (request == 0) {
            throw closed();
        }
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment struct = arena.allocate(PRIVATE_DATA_BYTES, Long.BYTES);
            struct.set(ValueLayout.JAVA_LONG, 0, arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData).address());
            struct.set(ValueLayout.JAVA_BYTE, PRIVATE_DATA_LENGTH_OFFSET, (byte) privateData.length);
            final CallState state = CallState.current();
            final long pointers = state.scratch();
            state.longAt(0, request);
            LogSink.clearError();
            RpmaException.check("rpma_conn_req_connect", Librpma.CONNECTION.rpma_conn_req_connect(pointers,
                privateData.length == 0 ? 0 : struct.address(), pointers + Long.BYTES), errno -> remedy(privateData.length));
            final long connection = state.longAt(Long.BYTES);
            try {
                return new Connection(peer, sharedQueue, connection, receivesPosted);
            } catch (final RuntimeException | Error failure) {
                ConnectionCalls.delete(connection);
                throw failure;
            }
        } finally {
            release();
        }
    }

    private static String remedy(final int privateDataLength) {
        return privateDataLength <= CARRIED_WITH_REQUEST ? "" :
            privateDataLength + " bytes of private data may be too many: InfiniBand and RoCE carry " + CARRIED_WITH_REQUEST +
                " with a request and " + CARRIED_WITH_ANSWER + " with an answer; send more as a message";
    }

    /** Reads a {@code struct rpma_conn_private_data} from the scratch memory. */
    static byte[] privateData(final CallState state) {
        final int lengthBytes = state.byteAt(PRIVATE_DATA_LENGTH_OFFSET) & 0xFF;
        return lengthBytes == 0 ? new byte[0] : Memory.bytesAt(state.longAt(0), lengthBytes);
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_conn_req_delete", delete(lastAddress));
    }

    private static int delete(final long request) {
        return delete(Librpma.CONNECTION::rpma_conn_req_delete, request);
    }
}
