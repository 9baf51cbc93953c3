package io.ringpoll.internal.transport;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.connections.BufferPool;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcResource;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.os.Errno;
import io.ringpoll.os.WaitInterruptedException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The network endpoint of a server or client: one device, and one poller with its handlers for all connections in both
 * directions. The poller may be shared with other nodes.
 * <pre>
 *   connections' CQs -&gt; poller -&gt; ring -&gt; receive path     decodes, dispatches
 *                                    |-&gt; send/write path  releases buffers
 *                                    `-&gt; error path       ends connections
 * </pre>
 *
 * <p>Thread-safe.
 */
public final class Node implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Node.class);

    private final NodeConfig config;
    private final RcPeer peer;
    private final RequestHandler requests;
    private final TransportCounters counters;
    private final BufferPool memory;
    private final RegionPool advertised;
    private final RegionPool landing;
    private final RegionPool streamMemory;
    private final Admission admission;
    private final Slots slots;
    private final LongMessageThreads longMessages;
    private final ConnectionKeeper keeper;
    private final NodePoller poller;
    /** Of the constructor, then of the closing thread. */
    private final ResourceStack resources;

    /** Held while a connection is created, and during the begin of the close. */
    private final Object attaching = new Object();
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final PendingConnects pending;
    private final AtomicLong unsent = new AtomicLong();
    private final AtomicLong defects = new AtomicLong();
    /** 64 bits: no link ever gets the number of another one. They order the links, and choose none for a frame. */
    private long nextNumber = 1;
    private boolean closed;

    /**
     * Opens a node and starts its threads.
     *
     * @param config   of the node
     * @param peer     the device; closed with the node, also if the node fails to open
     * @param requests serves the peers' requests
     * @param counters to update
     * @throws RuntimeException if the poller cannot start or memory is exhausted
     */
    public Node(final NodeConfig config, final RcPeer peer, final RequestHandler requests, final TransportCounters counters) {
        this(config, peer, requests, counters, new ResourceStack(
            failure -> LOG.warn("{}: a resource could not be released: {}", config.name(), failure.toString())));
    }

    /** As above, with an empty stack of resources. */
    Node(final NodeConfig config, final RcPeer peer, final RequestHandler requests, final TransportCounters counters,
        final ResourceStack resources) {
        this.config = config;
        this.peer = peer;
        this.requests = requests;
        this.counters = counters;
        this.resources = resources;
        pending = new PendingConnects(config.pendingConnectMs());
        try {
            resources.push(peer);
            admission = new Admission(config.bounds());
            slots = new Slots(config);
            memory = new BufferPool(peer, config.buffers());
            resources.push(memory::release);
            longMessages = new LongMessageThreads(config.name());
            advertised = newPool(0, RcUsage.READ_SOURCE);
            landing = newPool(0, RcUsage.READ_DESTINATION);
            streamMemory = newPool(StreamPacket.TRAILER_BYTES, RcUsage.READ_SOURCE, RcUsage.READ_DESTINATION);
            // Above the pools, because they are users of them.
            resources.pushUser(this::endLongMessages);
            poller = NodePoller.of(this);
            resources.pushUser(this::leavePoller);
            keeper = new ConnectionKeeper(this);
            resources.pushUser(keeper::close);
            keeper.start();
        } catch (final RuntimeException | Error failure) {
            resources.endAfter(failure);
            throw failure;
        }
    }

    private RegionPool newPool(final int trailerBytes, final RcUsage... usages) {
        final RegionPool pool = new RegionPool(peer, longMessages, config.cachedRegionBytes(), trailerBytes, usages);
        resources.push(pool);
        return pool;
    }

    /**
     * Listens for peers.
     *
     * @param address of this machine
     * @param port    to listen on
     * @throws IOException if it cannot; a {@link BindException} if the port is in use
     */
    public void listen(final String address, final int port) throws IOException {
        try {
            listen(peer.listen(address, port));
        } catch (final WaitInterruptedException e) {
            throw new InterruptedIOException("interrupted while looking up " + address);
        } catch (final RdmaException | IllegalStateException e) {
            final String failed = "cannot listen on " + address + ":" + port + ": ";
            if (e instanceof final RdmaException refused && refused.errno() == Errno.EADDRINUSE) {
                throw (IOException) new BindException(failed + "the port is in use").initCause(e);
            }
            throw new IOException(failed + e.getMessage(), e);
        }
    }

    /** The keeper closes what it has got before the close begins. */
    private void listen(final RcListener listener) throws AlreadyClosedException {
        synchronized (attaching) {
            if (!closed && keeper.listen(listener)) {
                return;
            }
        }
        listener.close();
        throw new AlreadyClosedException(config.name() + " is closed");
    }

    /**
     * Connects to a peer and waits until the connection is established or the time-out has elapsed. The time-out and an interrupt
     * end the wait only: the next call for the peer continues it, unless {@link NodeConfig#pendingConnectMs} have elapsed before.
     *
     * @param address of the peer
     * @param port    of the peer
     * @param name    of the peer, for messages
     * @return the connection
     * @throws IOException a {@link ConnectException} if the peer does not respond or rejects the connection
     */
    public Link connect(final String address, final int port, final String name) throws IOException {
        requireOpen();
        if (keeper.isCurrentThread() || isHandlerThread()) {
            throw new IllegalStateException("the threads of handlers and connection events cannot wait for a connection");
        }
        final String target = name + " at " + address + ":" + port;
        final Link continued = pending.take(target);
        final Link link = continued != null ? continued : request(address, port, name);
        try {
            return link.established().get(config.connectTimeoutMs(), TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            pending.keep(target, link);
            Thread.currentThread().interrupt();
            throw interrupted(name);
        } catch (final TimeoutException e) {
            counters.increment(Count.CONNECTS_FAILED);
            pending.keep(target, link);
            throw notConnected(target, new ConnectException("no reply within " + config.connectTimeoutMs() + " ms"));
        } catch (final ExecutionException e) {
            counters.increment(Count.CONNECTS_FAILED);
            throw notConnected(target, e);
        }
    }

    /** Requests a connection, which is not established yet. */
    private Link request(final String address, final int port, final String name) throws IOException {
        final Link link;
        try (RcRequest request = peer.request(address, port, config.connectionConfig())) {
            link = attach(name, request, Handshake.requesting(config), null);
        } catch (final WaitInterruptedException e) {
            throw interrupted(name);
        } catch (final RdmaException | IllegalStateException e) {
            counters.increment(Count.CONNECTS_FAILED);
            throw notConnected(name + " at " + address + ":" + port, e);
        }
        keeper.keep(link);
        return link;
    }

    private static ConnectException notConnected(final String target, final Exception cause) {
        return withCause(
            new ConnectException("cannot connect to " + target + ": " + Failures.unwrap(cause).getMessage()), cause);
    }

    private static InterruptedIOException interrupted(final String name) {
        return new InterruptedIOException("interrupted while connecting to " + name);
    }

    /**
     * Creates a connection, and registers it before its first completion is processed. One whose peer must prove the secret gets
     * its slot with the proof, but is not created if there is none now.
     *
     * @param handshake of this side
     * @param hello     of the requesting peer; null if this side requests, and receives it later
     */
    Link attach(final String name, final RcRequest request, final Handshake handshake, final Hello hello) {
        final PeerRole role = hello == null ? PeerRole.SERVER : hello.role();
        final boolean isProven = handshake.expected() == null;
        final IOException death = poller.death();
        if (death != null) {
            throw new IllegalStateException(config.name() + " serves no connection: " + death.getMessage(), death);
        }
        synchronized (attaching) {
            if (closed || !(isProven ? slots.take(role) : slots.hasRoom(role))) {
                throw new IllegalStateException(closed ? config.name() + " is closed" : slots.shortage());
            }
            MessageBuffers buffers = null;
            RcConnection connection = null;
            try {
                buffers = memory.take();
                buffers.postReceives(request, WorkRequestId.UNTAGGED);
                connection = request.connect(handshake.hello().bytes());
                final Link link = new Link(this, nextNumber++, name, connection, handshake, buffers, countersOf(name, hello));
                if (hello != null) {
                    // Before the first request is served, because its reply needs credits.
                    link.greeted(hello);
                } else {
                    link.requestedHere();
                }
                links.add(link);
                return link;
            } catch (final RuntimeException | Error failure) {
                if (isProven) {
                    slots.release(role);
                }
                if (buffers != null) {
                    abandon(connection == null ? request : connection, buffers);
                }
                throw failure;
            }
        }
    }

    /** Closes the queue pair of a connection that could not be created, or lets the keeper do it when it is not used any more. */
    private void abandon(final RcResource queuePair, final MessageBuffers buffers) {
        if (!hasClosed(queuePair, buffers)) {
            keeper.closeLater(() -> hasClosed(queuePair, buffers));
        }
    }

    /** Closes a queue pair, then gives its memory back; returns false if it is still used, and the device may write to it. */
    private boolean hasClosed(final RcResource queuePair, final MessageBuffers buffers) {
        try {
            queuePair.close();
        } catch (final IllegalStateException used) {
            return false;
        } catch (final RdmaException lost) {
            // It is released nevertheless.
            LOG.warn("{}: the end of a connection that could not be created: {}", config.name(), lost.toString());
        }
        memory.giveBack(buffers);
        return true;
    }

    private PeerCounters countersOf(final String requested, final Hello hello) {
        if (hello == null) {
            return counters.peer(requested);
        }
        return counters.peer(hello.role() == PeerRole.SERVER ? hello.name() : TransportCounters.CLIENTS);
    }

    /** Unregisters a closed connection and releases its memory. */
    void detach(final Link link) {
        links.remove(link);
        memory.giveBack(link.memory());
        if (link.hasSlot()) {
            slots.release(link.role());
        }
        link.rendezvous().close();
    }

    /** The connection with a number, counted from 1; null if it has ended. */
    Link link(final long number) {
        return links.stream().filter(link -> link.number() == number).findAny().orElse(null);
    }

    boolean hasNoLinks() {
        return links.isEmpty();
    }

    /** Number of connections that are not released, with those of unproven peers. */
    int links() {
        return links.size();
    }

    /** Length of the memory in which a peer reads a long reply. */
    int replyBytes(final int lengthBytes) {
        return advertised.capacityFor(lengthBytes);
    }

    /** Copies a message to memory that a peer will read. */
    RegionPool.Lease advertised(final MessageLite message, final int lengthBytes) throws IOException {
        assert lengthBytes <= LongMessageThreads.INLINE_BYTES || StreamPacket.isRegistered(message) || !isHandlerThread() :
            "a long message on a handler's thread";
        if (message instanceof final StreamPacket packet) {
            return advertised(packet);
        }
        final RegionPool.Lease lease = advertised.take(lengthBytes);
        try {
            final CodedOutputStream out = CodedOutputStream.newInstance(lease.buffer(lengthBytes));
            message.writeTo(out);
            out.checkNoSpaceLeft();
            return lease;
        } catch (final IOException | RuntimeException | Error failure) {
            lease.release();
            throw failure;
        }
    }

    /** The memory of a received packet as it is, or a copy of the data of another one. */
    private RegionPool.Lease advertised(final StreamPacket packet) throws IOException {
        if (packet.lease() != null) {
            packet.lease().retain();
            return packet.lease();
        }
        final RegionPool.Lease lease = streamMemory.take(packet.getSerializedSize());
        try {
            packet.writeTo(lease.buffer(packet.getSerializedSize()));
            return lease;
        } catch (final IOException | RuntimeException | Error failure) {
            lease.release();
            throw failure;
        }
    }

    /** The memory of packets of streams, into which they are read and from which they are forwarded. */
    RegionPool streamMemory() {
        return streamMemory;
    }

    /** The device. */
    RcPeer peer() {
        return peer;
    }

    /** The memory into which messages of peers are read. */
    RegionPool landing() {
        return landing;
    }

    /** Connects that continue without a caller. */
    PendingConnects pendingConnects() {
        return pending;
    }

    /** The bounds for all connections together. */
    Admission admission() {
        return admission;
    }

    /** The connections that peers have taken. */
    Slots slots() {
        return slots;
    }

    /** Starts to poll a connection's queue; the connection ends if there is no thread for it. */
    void poll(final Link link) {
        try {
            poller.add(link.polled(), link);
        } catch (final IllegalStateException e) {
            link.fail(new IOException("the queue of " + link.name() + " cannot be polled: " + e.getMessage(), e));
        }
        // It has not been there yet when the others have ended.
        final IOException death = poller.death();
        if (death != null) {
            link.fail(death);
        }
    }

    /** Stops polling a connection's queue, if it is polled; call again if the poller did not remove it in time. */
    void stopPolling(final Link link) throws TimeoutException {
        poller.remove(link.polled());
    }

    /** Ends all connections. */
    void endAll(final IOException reason) {
        links.forEach(link -> link.fail(reason));
    }

    NodeConfig config() {
        return config;
    }

    TransportCounters counters() {
        return counters;
    }

    LongMessageThreads longMessages() {
        return longMessages;
    }

    /**
     * Whether the calling thread runs handlers, of this node or of another one on the same poller. It must not wait.
     *
     * @return false for all other threads
     */
    public boolean isHandlerThread() {
        return poller.isCurrentThread();
    }

    /**
     * Whether the calling thread runs handlers of nodes that share a poller: it cannot wait for a node that would share it.
     *
     * @return false for all other threads
     */
    public static boolean isSharedHandlerThread() {
        return NodePoller.isSharedThread();
    }

    RequestHandler requests() {
        return requests;
    }

    NodePoller poller() {
        return poller;
    }

    ConnectionKeeper keeper() {
        return keeper;
    }

    /** Called when a connection has ended for the engine; the keeper releases it. */
    void onEnd(final Link link, final IOException reason) {
        LOG.debug("{}: {} ends", config.name(), link, reason);
        keeper.drop(link);
    }

    /** Counts an event that a peer can repeat at will, and logs its 1st, 2nd, 4th occurrence and so on. */
    void warnRarely(final Count event, final String message) {
        counters.increment(event);
        final long times = counters.value(event);
        if (Long.bitCount(times) == 1) {
            LOG.warn("{}: {} ({}: {})", config.name(), message, event, times);
        }
    }

    /** Logs the end of a connection that this side has not closed: the 1st, 2nd, 4th one of the peer and so on. */
    void lost(final Link link, final IOException reason) {
        final long times = link.peer().onLost();
        if (Long.bitCount(times) == 1) {
            LOG.warn("{}: {} is lost: {} ({} times)", config.name(), link.name(), reason.getMessage(), times);
        }
    }

    /** Logs that there is a connection again after a loss that was logged. */
    void regained(final Link link) {
        if (Long.bitCount(link.peer().onRegained()) == 1) {
            LOG.warn("{}: {} is connected again", config.name(), link.name());
        }
    }

    void warn(final String message, final Throwable failure) {
        LOG.warn("{}: {}", config.name(), message, failure);
    }

    void warn(final String message) {
        LOG.warn("{}: {}", config.name(), message);
    }

    /** Logs an exception that a peer may be able to repeat at will, with its stack: the 1st, 2nd, 4th one and so on. */
    void defect(final String message, final Throwable failure) {
        final long times = defects.incrementAndGet();
        if (Long.bitCount(times) == 1) {
            LOG.warn("{}: {} ({} times)", config.name(), message, times, failure);
        }
    }

    /** Called when a message could not be sent for a reason that does not end its connection; logs the 1st, 2nd, 4th time. */
    void unsent(final IOException reason) {
        counters.increment(Count.MESSAGES_UNSENT);
        if (Long.bitCount(unsent.incrementAndGet()) == 1) {
            LOG.warn("{}: {} ({} unsent)", config.name(), reason.getMessage(), unsent.get());
        }
    }

    private void requireOpen() throws IOException {
        synchronized (attaching) {
            if (closed) {
                throw new AlreadyClosedException(config.name() + " is closed");
            }
        }
    }

    private static ConnectException withCause(final ConnectException exception, final Exception cause) {
        exception.initCause(Failures.unwrap(cause));
        return exception;
    }

    /**
     * Ends all connections and threads and releases all memory; idempotent. A call on one of this node's threads starts the close
     * on another thread and returns.
     */
    @Override
    public void close() {
        synchronized (attaching) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (poller.isCurrentThread() || keeper.isCurrentThread() || longMessages.isCurrentThread()) {
            Thread.ofPlatform().daemon().name(config.name() + "-closer").start(resources::end);
        } else {
            // Waits for the handlers and the keeper.
            resources.end();
        }
    }

    private boolean endLongMessages() {
        if (longMessages.close(config.closeTimeoutMs())) {
            return true;
        }
        warn("its memory is not released: a long message is still being processed");
        return false;
    }

    /** Removes this node from its poller; returns true if no handler uses the node any more, so that it can be released. */
    private boolean leavePoller() {
        try {
            poller.leave(this, TimeUnit.MILLISECONDS.toNanos(config.closeTimeoutMs()));
            return true;
        } catch (final TimeoutException e) {
            warn("its memory is not released: " + e.getMessage());
            return false;
        }
    }
}
