package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.os.Errno;
import io.ringpoll.os.WaitInterruptedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;

/**
 * One side of a reliable connection in the connection manager: {@code struct rdma_cm_id}, with an event channel of its own.
 *
 * <p>The calls that resolve, connect, accept and disconnect begin an operation; its result is an event of {@link #nextEvent},
 * which also makes the step to the next {@link ConnectionState}. A call in a wrong state throws {@link IllegalStateException}.
 *
 * <pre>{@code
 * try (ConnectionId id = ConnectionId.resolve(remote, timeoutMs);
 *      ProtectionDomain domain = ProtectionDomain.create(id.context());
 *      VerbsCompletionQueue queue = VerbsCompletionQueue.create(id.context(), "client", 256, null);
 *      QueuePair queuePair = id.createQueuePair(domain, QueuePairAttributes.create(queue))) {
 *     id.connect(ConnectionParameters.create());
 *     id.nextEvent(timeoutMs);                        // ESTABLISHED
 * }
 * }</pre>
 *
 * <p>Thread-safe: any thread may call, wait and close. It is closed after its queue pair.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rdma_cm.7.html">rdma_cm(7)</a>
 * @see <a href="https://man7.org/linux/man-pages/man3/rdma_create_id.3.html">rdma_create_id(3)</a>
 */
public final class ConnectionId extends NativeResource {
    private static final int MAX_TRAFFIC_CLASS = 255;
    private static final int MAX_ACK_TIMEOUT = 31;
    private static final int MAX_REJECT_BYTES = 148;
    private static final int CARRIED_WITH_REQUEST = 56;
    private static final int CARRIED_WITH_ACCEPTANCE = 196;

    private static final Set<ConnectionState> BEFORE_ADDRESS = EnumSet.of(ConnectionState.IDLE, ConnectionState.BOUND);
    private static final Set<ConnectionState> WITH_OPTIONS = EnumSet.of(ConnectionState.IDLE, ConnectionState.BOUND,
        ConnectionState.ADDRESS_RESOLVED, ConnectionState.ROUTE_RESOLVED, ConnectionState.REQUESTED);
    private static final Set<ConnectionState> WITH_DEVICE = EnumSet.of(ConnectionState.ADDRESS_RESOLVED,
        ConnectionState.RESOLVING_ROUTE, ConnectionState.ROUTE_RESOLVED, ConnectionState.REQUESTED);

    private final long channel;
    private final int eventFd;
    private final byte[] requestData;
    /** Made once: a poll for an event allocates nothing. */
    private final LongFunction<Optional<ConnectionEvent>> eventTake = id -> takeEvent();
    /** Guards the next two fields, and the calls of C that change the id. */
    private final Object lock = new Object();
    private ConnectionState state;
    /** Null if there is none. */
    private QueuePair queuePair;

    private ConnectionId(
        final String name, final long address, final long channel, final ConnectionState state, final byte[] requestData) {
        super(name, address);
        this.channel = channel;
        this.state = state;
        this.requestData = requestData;
        eventFd = EventChannel.fd(channel);
    }

    /**
     * Creates an id that is bound to nothing.
     *
     * @return to be closed
     * @throws VerbsException                     with the errno of rdma_create_event_channel(3) or rdma_create_id(3)
     * @throws io.ringpoll.device.DeviceException if there is no device, or a library or a JVM flag is missing
     */
    public static ConnectionId create() {
        Loading.require();
        final long channel = EventChannel.create();
        final long id = EventChannel.createId(channel);
        return new ConnectionId("connection id 0x" + Long.toHexString(id), id, channel, ConnectionState.IDLE, new byte[0]);
    }

    /**
     * Creates an id and resolves the address and the route of the other side.
     *
     * @param remote    where the other side listens
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits without end
     * @return in state {@link ConnectionState#ROUTE_RESOLVED}; to be closed
     * @throws IllegalArgumentException if the address is unresolved
     * @throws VerbsException           with the errno of the call or the event that failed; ETIMEDOUT if the time is over
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     */
    public static ConnectionId resolve(final InetSocketAddress remote, final int timeoutMs) {
        SocketAddress.require("remote address (remote)", remote);
        final ConnectionId id = create();
        boolean complete = false;
        try {
            final long startNs = System.nanoTime();
            id.resolveAddress(remote, timeoutMs);
            id.await(ConnectionEventType.ADDR_RESOLVED, "rdma_resolve_addr", timeoutMs);
            final int remainingMs = Deadline.remainingMs(timeoutMs, startNs);
            id.resolveRoute(remainingMs);
            id.await(ConnectionEventType.ROUTE_RESOLVED, "rdma_resolve_route", remainingMs);
            complete = true;
            return id;
        } finally {
            if (!complete) {
                id.close();
            }
        }
    }

    private void await(final ConnectionEventType expected, final String function, final int timeoutMs) {
        final Optional<ConnectionEvent> event = nextEvent(timeoutMs);
        if (event.isEmpty()) {
            throw new VerbsException(function, Errno.ETIMEDOUT, "no answer in " + timeoutMs + " ms");
        }
        if (event.get().type() != expected) {
            throw new VerbsException(function, Math.max(0, -event.get().status()), "the event is " + event.get());
        }
    }

    /** Takes an id that C has made for a request of the other side; destroys it if that fails, which rejects the request. */
    static ConnectionId ofRequest(final Listener listener, final long id, final byte[] requestData) {
        long channel = 0;
        try {
            channel = EventChannel.create();
            EventChannel.check("rdma_migrate_id", ConnectionFunctions.rdma_migrate_id(id, channel), "");
            return new ConnectionId("connection id 0x" + Long.toHexString(id) + " of " + listener.name(), id, channel,
                ConnectionState.REQUESTED, requestData);
        } catch (final RuntimeException | Error failure) {
            ConnectionFunctions.rdma_destroy_id(id);
            if (channel != 0) {
                ConnectionFunctions.rdma_destroy_event_channel(channel);
            }
            throw failure;
        }
    }

    /**
     * The state, as of the last call and the last fetched event.
     *
     * @return also of a closed id
     */
    public ConnectionState state() {
        synchronized (lock) {
            return state;
        }
    }

    /**
     * Binds to a local address: chooses the device, and the port that packets of this side come from.
     *
     * @param local an address of this machine; port 0 takes any that is free
     * @throws IllegalArgumentException if it is unresolved
     * @throws IllegalStateException    if this is closed, or bound already
     * @throws VerbsException           with the errno of rdma_bind_addr(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_bind_addr.3.html">rdma_bind_addr(3)</a>
     */
    public void bind(final InetSocketAddress local) {
        SocketAddress.require("local address (local)", local);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment address = SocketAddress.allocate(local, arena);
            step("rdma_bind_addr", "bind", EnumSet.of(ConnectionState.IDLE), ConnectionState.BOUND,
                id -> ConnectionFunctions.rdma_bind_addr(id, address.address()), "no device may have " + local.getAddress());
        }
    }

    /**
     * Sets the traffic class of the packets of this side: the type of service of RFC 2474, with the DSCP in the upper 6 bits. The
     * kernel takes it when the route is resolved; later it changes nothing.
     *
     * @param trafficClass 0 to 255
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException    if this is closed, or connecting
     * @throws VerbsException           with the errno of rdma_set_option(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_set_option.3.html">rdma_set_option(3)</a>
     */
    public void trafficClass(final int trafficClass) {
        setOption("traffic class", RdmaCm.OPTION_TOS, trafficClass, MAX_TRAFFIC_CLASS);
    }

    /**
     * Sets the time after which the device repeats a request that is not acknowledged: 4.096 us times 2 to the power of this.
     *
     * @param exponent 0 to 31; 0 waits without end
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException    if this is closed, or connecting
     * @throws VerbsException           with the errno of rdma_set_option(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_set_option.3.html">rdma_set_option(3)</a>
     */
    public void localAckTimeout(final int exponent) {
        setOption("local ACK time-out", RdmaCm.OPTION_ACK_TIMEOUT, exponent, MAX_ACK_TIMEOUT);
    }

    private void setOption(final String what, final int option, final int value, final int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(what + ": " + value + " is not within 0 to " + most);
        }
        final long id = enter();
        try (Arena arena = Arena.ofConfined()) {
            synchronized (lock) {
                require("set the " + what, WITH_OPTIONS);
                final MemorySegment octet = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) value);
                EventChannel.check("rdma_set_option",
                    ConnectionFunctions.rdma_set_option(id, RdmaCm.OPTION_ID, option, octet.address(), Byte.BYTES), "");
            }
        } finally {
            exit();
        }
    }

    /**
     * Begins to resolve the address of the other side, which chooses the device. The event is ADDR_RESOLVED or ADDR_ERROR.
     *
     * @param remote    where the other side listens
     * @param timeoutMs maximum time in milliseconds; 0 leaves no time, negative is no limit
     * @throws IllegalArgumentException if it is unresolved
     * @throws IllegalStateException    if this is closed, or further already
     * @throws VerbsException           with the errno of rdma_resolve_addr(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_resolve_addr.3.html">rdma_resolve_addr(3)</a>
     */
    public void resolveAddress(final InetSocketAddress remote, final int timeoutMs) {
        SocketAddress.require("remote address (remote)", remote);
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment address = SocketAddress.allocate(remote, arena);
            step("rdma_resolve_addr", "resolve an address", BEFORE_ADDRESS, ConnectionState.RESOLVING_ADDRESS,
                id -> ConnectionFunctions.rdma_resolve_addr(id, 0, address.address(), limit(timeoutMs)), "");
        }
    }

    /**
     * Begins to resolve the route to the other side. The event is ROUTE_RESOLVED or ROUTE_ERROR.
     *
     * @param timeoutMs maximum time in milliseconds; 0 leaves no time, negative is no limit
     * @throws IllegalStateException if this is closed, or its address is not resolved, or it is further already
     * @throws VerbsException        with the errno of rdma_resolve_route(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_resolve_route.3.html">rdma_resolve_route(3)</a>
     */
    public void resolveRoute(final int timeoutMs) {
        step("rdma_resolve_route", "resolve a route", EnumSet.of(ConnectionState.ADDRESS_RESOLVED),
            ConnectionState.RESOLVING_ROUTE, id -> ConnectionFunctions.rdma_resolve_route(id, limit(timeoutMs)), "");
    }

    private static int limit(final int timeoutMs) {
        return timeoutMs < 0 ? Integer.MAX_VALUE : timeoutMs;
    }

    /**
     * Creates the queue pair of the connection; receives can be posted to it from now on.
     *
     * @param domain     of the same device
     * @param attributes completion queues, of the same device, and sizes; copied
     * @return to be closed before this id, the domain and the completion queues
     * @throws IllegalStateException    if this is closed, has a queue pair, or has no device yet; or a completion queue is
     *     counted for another queue pair, see {@link QueuePairAttributes#completionBudget(boolean)}
     * @throws IllegalArgumentException if a part is of another device
     * @throws VerbsException           with the errno of rdma_create_qp(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_create_qp.3.html">rdma_create_qp(3)</a>
     */
    public QueuePair createQueuePair(final ProtectionDomain domain, final QueuePairAttributes attributes) {
        Objects.requireNonNull(domain, "the domain is null");
        Objects.requireNonNull(attributes, "the attributes are null");
        final long id = enter();
        try {
            synchronized (lock) {
                require("create a queue pair", WITH_DEVICE);
                if (queuePair != null) {
                    throw new IllegalStateException(name() + " has a queue pair already: " + queuePair.name());
                }
                queuePair = QueuePair.create(this, id, domain, attributes);
                return queuePair;
            }
        } finally {
            exit();
        }
    }

    /** Destroys the queue pair, which is closed and keeps this id open. */
    void destroyQueuePair() {
        synchronized (lock) {
            ConnectionFunctions.rdma_destroy_qp(addressOrZero());
            queuePair = null;
        }
    }

    /**
     * Asks the other side for the connection. The event is ESTABLISHED, or REJECTED, UNREACHABLE or CONNECT_ERROR.
     *
     * @param parameters of the connection; copied
     * @throws IllegalStateException if this is closed, its route is not resolved, or it has no queue pair
     * @throws VerbsException        with the errno of rdma_connect(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_connect.3.html">rdma_connect(3)</a>
     */
    public void connect(final ConnectionParameters parameters) {
        Objects.requireNonNull(parameters, "the parameters are null");
        begin("rdma_connect", "connect", ConnectionState.ROUTE_RESOLVED, ConnectionState.CONNECTING, parameters,
            CARRIED_WITH_REQUEST);
    }

    /**
     * Accepts the other side's request. The event is ESTABLISHED, or an error.
     *
     * @param parameters of the connection; copied
     * @throws IllegalStateException if this is closed, is not a request of the other side, or has no queue pair
     * @throws VerbsException        with the errno of rdma_accept(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_accept.3.html">rdma_accept(3)</a>
     */
    public void accept(final ConnectionParameters parameters) {
        Objects.requireNonNull(parameters, "the parameters are null");
        begin("rdma_accept", "accept", ConnectionState.REQUESTED, ConnectionState.ACCEPTING, parameters,
            CARRIED_WITH_ACCEPTANCE);
    }

    private void begin(final String function, final String what, final ConnectionState from, final ConnectionState to,
        final ConnectionParameters parameters, final int carriedBytes) {
        final int lengthBytes = parameters.privateData().length;
        final String remedy = lengthBytes <= carriedBytes ? withdrawn(from) :
            lengthBytes + " bytes of private data may be too many: InfiniBand and RoCE carry " + carriedBytes +
                " here; send more as a message";
        try (Arena arena = Arena.ofConfined()) {
            step(function, what, EnumSet.of(from), to, id -> {
                if (queuePair == null) {
                    throw new IllegalStateException(name() + " has no queue pair: call createQueuePair first");
                }
                final long struct = parameters.allocate(arena, queuePair.hasSharedReceives()).address();
                return to == ConnectionState.CONNECTING ? ConnectionFunctions.rdma_connect(id, struct) :
                    ConnectionFunctions.rdma_accept(id, struct);
            }, remedy);
        }
    }

    /** Why the answer to a request may fail. */
    private static String withdrawn(final ConnectionState from) {
        return from == ConnectionState.REQUESTED ?
            "the other side may have closed its end before this answer: close this id, and take the next request" : "";
    }

    /**
     * Rejects the other side's request. This id can only be closed then.
     *
     * @param data private data for the other side, at most 148 bytes; empty for none
     * @throws IllegalArgumentException if there is too much
     * @throws IllegalStateException    if this is closed, or is not a request of the other side
     * @throws VerbsException           with the errno of rdma_reject(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_reject.3.html">rdma_reject(3)</a>
     */
    public void reject(final byte[] data) {
        Objects.requireNonNull(data, "the data are null: an empty array sends none");
        final byte[] sent = ConnectionParameters.requirePrivateData(data);
        if (sent.length > MAX_REJECT_BYTES) {
            throw new IllegalArgumentException(
                "private data of " + sent.length + " bytes; a rejection carries at most " + MAX_REJECT_BYTES);
        }
        try (Arena arena = Arena.ofConfined()) {
            final long address = sent.length == 0 ? 0 : arena.allocateFrom(ValueLayout.JAVA_BYTE, sent).address();
            step("rdma_reject", "reject", EnumSet.of(ConnectionState.REQUESTED), ConnectionState.REJECTED,
                id -> ConnectionFunctions.rdma_reject(id, address, (byte) sent.length),
                withdrawn(ConnectionState.REQUESTED));
        }
    }

    /**
     * Disconnects: the queue pair goes into the error state, and its outstanding requests complete with flush errors. The event
     * is DISCONNECTED, unless the other side was first. Does nothing on a connection that this side has disconnected.
     *
     * <p>Post no receive later, nor meanwhile by another thread: Soft-RoCE accepts it and never completes it.
     *
     * @throws IllegalStateException if this is closed, or not connected
     * @throws VerbsException        with the errno of rdma_disconnect(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_disconnect.3.html">rdma_disconnect(3)</a>
     */
    public void disconnect() {
        final long id = enter();
        try {
            synchronized (lock) {
                switch (state) {
                    case ESTABLISHED, REMOTE_DISCONNECTED -> {
                        EventChannel.check("rdma_disconnect", ConnectionFunctions.rdma_disconnect(id), "");
                        state = state == ConnectionState.ESTABLISHED ? ConnectionState.DISCONNECTING :
                            ConnectionState.DISCONNECTED;
                    }
                    case DISCONNECTING, DISCONNECTED -> {
                        // This side has disconnected already.
                    }
                    default -> throw inWrongState("disconnect");
                }
            }
        } finally {
            exit();
        }
    }

    /**
     * Waits for the next event, which is acknowledged already.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the event, or empty if there was none in time
     * @throws IllegalStateException    if this is closed, now or while it waits
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws VerbsException           with the errno of rdma_get_cm_event(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html">rdma_get_cm_event(3)</a>
     */
    public Optional<ConnectionEvent> nextEvent(final int timeoutMs) {
        return awaitNext(eventFd, timeoutMs, eventTake);
    }

    private Optional<ConnectionEvent> takeEvent() {
        synchronized (lock) {
            final long address = EventChannel.take(channel);
            if (address == 0) {
                return Optional.empty();
            }
            final ConnectionEvent event;
            try {
                event = ConnectionEvent.at(address);
            } finally {
                ConnectionFunctions.rdma_ack_cm_event(address);
            }
            state = state.after(event.type());
            return Optional.of(event);
        }
    }

    /**
     * The descriptor that is readable when there is an event; for epoll(7) and the like. It is non-blocking and must stay so.
     *
     * @return the descriptor, valid until this is closed
     */
    public int eventFd() {
        return eventFd;
    }

    /**
     * The private data of the other side's request; those of its answer are in the ESTABLISHED or REJECTED event.
     *
     * @return a new array; empty if there are none, or this side made the request
     */
    public byte[] privateData() {
        return requestData.clone();
    }

    /**
     * The device that the address has chosen.
     *
     * @return lives as long as the process
     * @throws IllegalStateException if this is closed, or there is no device yet
     */
    public VerbsContext context() {
        final long id = enter();
        try {
            final long context = Memory.longAt(id + RdmaCm.ID_VERBS_OFFSET);
            if (context == 0) {
                throw new IllegalStateException(name() + " has no device: it is " + state() +
                    ", and bound to no address of a device ('rdma link' lists them)");
            }
            return VerbsAccess.context(context);
        } finally {
            exit();
        }
    }

    /**
     * The local address.
     *
     * @return empty while there is none
     * @throws IllegalStateException if this is closed
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_local_addr.3.html">rdma_get_local_addr(3)</a>
     */
    public Optional<InetSocketAddress> localAddress() {
        return address(RdmaCm.ID_SOURCE_OFFSET);
    }

    /**
     * The address of the other side.
     *
     * @return empty while there is none
     * @throws IllegalStateException if this is closed
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_peer_addr.3.html">rdma_get_peer_addr(3)</a>
     */
    public Optional<InetSocketAddress> remoteAddress() {
        return address(RdmaCm.ID_DESTINATION_OFFSET);
    }

    private Optional<InetSocketAddress> address(final int offset) {
        final long id = enter();
        try {
            return Optional.ofNullable(SocketAddress.at(id + offset));
        } finally {
            exit();
        }
    }

    private void step(final String function, final String what, final Set<ConnectionState> from, final ConnectionState to,
        final LongToIntFunction call, final String remedy) {
        final long id = enter();
        try {
            synchronized (lock) {
                require(what, from);
                EventChannel.check(function, call.applyAsInt(id), remedy);
                state = to;
            }
        } finally {
            exit();
        }
    }

    private void require(final String what, final Set<ConnectionState> allowed) {
        if (!allowed.contains(state)) {
            throw inWrongState(what);
        }
    }

    private IllegalStateException inWrongState(final String what) {
        return new IllegalStateException(name() + " is " + state + " and cannot " + what);
    }

    @Override
    protected void destroy(final long lastAddress) {
        if (state() == ConnectionState.REQUESTED) {
            // The other side gets an answer now and not after its time-out.
            ConnectionFunctions.rdma_reject(lastAddress, 0, (byte) 0);
        }
        EventChannel.destroy(lastAddress, channel);
    }
}
