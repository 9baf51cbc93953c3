package io.ringpoll.ratis.transport;

import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.ratis.transport.TransportCounters.Count;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.agrona.collections.Int2ObjectHashMap;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's or a client's place on the network: one device, one shared receive queue, one poller and its handlers for all
 * connections in both directions; the poller may be other nodes', too.
 *
 * <pre>
 *   connections' CQs, the receive CQ -&gt; poller -&gt; ring -&gt; receive path     decodes, passes on
 *                                                    |-&gt; send/write path  gives buffers back
 *                                                    `-&gt; error path       ends connections
 * </pre>
 *
 * <p>For any thread.
 */
public final class Node implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Node.class);

    /** Each waits some seconds for whoever runs on the poller's thread. */
    private static final int LEAVE_ATTEMPTS = 3;

    private final NodeConfig config;
    private final Peer peer;
    private final RequestHandler requests;
    private final TransportCounters counters;
    private final SharedReceiveQueue receiveQueue;
    private final ReceiveBuffers receives;
    private final RegionPool advertised;
    private final RegionPool landing;
    private final ArrayDeque<LocalMemoryRegion> sendMemory = new ArrayDeque<>();
    private final ConnectionKeeper keeper;
    private final NodePaths paths = new NodePaths(this);
    private final NodePoller poller;

    /** Held while a connection is made and entered: a message that comes before waits for it. */
    private final Object attaching = new Object();
    private volatile Int2ObjectHashMap<Link> byNumber = new Int2ObjectHashMap<>();
    private volatile Int2ObjectHashMap<Link> byQueuePair = new Int2ObjectHashMap<>();
    private int nextNumber = 1;
    private boolean closed;

    /**
     * Opens a node and starts its threads.
     *
     * @param config   sizes and times
     * @param peer     the device; closed with the node, but not if the node does not open
     * @param requests answers what peers ask
     * @param counters counted into
     * @throws RuntimeException if there is no poller or no memory for it
     */
    public Node(final NodeConfig config, final Peer peer, final RequestHandler requests, final TransportCounters counters) {
        this.config = config;
        this.peer = peer;
        this.requests = requests;
        this.counters = counters;
        final int mostReceives = config.maxConnections() * config.receivesPerConnection();
        try (SharedReceiveQueueConfig sizes = SharedReceiveQueueConfig.create()) {
            sizes.rqSize(mostReceives).rcqSize(mostReceives);
            receiveQueue = peer.sharedReceiveQueue(sizes);
        }
        receives = new ReceiveBuffers(peer, receiveQueue, config.bufferBytes());
        advertised = new RegionPool(peer, MemoryUsage.READ_SOURCE, config.cachedRegionBytes());
        landing = new RegionPool(peer, MemoryUsage.READ_DESTINATION, config.cachedRegionBytes());
        keeper = openKeeper();
        poller = openPoller();
        startKeeper();
    }

    private ConnectionKeeper openKeeper() {
        try {
            return new ConnectionKeeper(this);
        } catch (final RuntimeException | Error failure) {
            receiveQueue.close();
            throw failure;
        }
    }

    private NodePoller openPoller() {
        NodePoller opened = null;
        boolean polls = false;
        try {
            opened = NodePoller.of(config);
            opened.add(receiveQueue.receiveCompletionQueue().orElseThrow(), paths);
            polls = true;
            return opened;
        } finally {
            if (!polls) {
                giveUp(opened);
            }
        }
    }

    private void startKeeper() {
        boolean started = false;
        try {
            keeper.start();
            started = true;
        } finally {
            if (!started) {
                giveUp(poller);
            }
        }
    }

    /** Frees what this node has taken before it failed to open; its poller may be null. */
    private void giveUp(final NodePoller opened) {
        keeper.abandon();
        if (opened == null || leave(opened)) {
            receiveQueue.close();
            receives.close();
        }
    }

    /**
     * Listens for peers.
     *
     * @param address of this machine
     * @param port    to listen on
     * @throws IOException if it cannot
     */
    public void listen(final String address, final int port) throws IOException {
        final ConnectionConfig connectionConfig = connectionConfig();
        boolean listening = false;
        try {
            keeper.listen(peer.listen(address, Integer.toString(port)), connectionConfig);
            listening = true;
        } catch (final WaitInterruptedException e) {
            throw new InterruptedIOException("interrupted while looking up " + address);
        } catch (final RpmaException e) {
            throw new IOException("cannot listen on " + address + ":" + port + ": " + e.getMessage(), e);
        } finally {
            if (!listening) {
                connectionConfig.close();
            }
        }
    }

    /**
     * Connects to a peer and waits until the connection is there, or its time has passed.
     *
     * @param address of the peer
     * @param port    it listens on
     * @param name    for people
     * @return the connection
     * @throws IOException a {@link ConnectException} if nobody answers or the peer refuses
     */
    public Link connect(final String address, final int port, final String name) throws IOException {
        requireOpen();
        if (keeper.isCurrentThread()) {
            throw new IllegalStateException("the thread that hears of connections cannot wait for one");
        }
        final Link link;
        try (ConnectionConfig connectionConfig = connectionConfig().timeoutMs(config.connectTimeoutMs());
            ConnectionRequest request = peer.request(address, Integer.toString(port), connectionConfig)) {
            link = attach(name, request, null);
        } catch (final WaitInterruptedException e) {
            throw interrupted(name);
        } catch (final RpmaException | IllegalStateException e) {
            counters.increment(Count.CONNECTS_FAILED);
            throw withCause(new ConnectException("cannot connect to " + name + " at " + address + ":" + port), e);
        }
        keeper.keep(link);
        try {
            return link.established().get(config.connectTimeoutMs(), TimeUnit.MILLISECONDS);
        } catch (final InterruptedException e) {
            link.fail(new IOException("nobody waits for the connection any more"));
            Thread.currentThread().interrupt();
            throw interrupted(name);
        } catch (final ExecutionException | TimeoutException e) {
            counters.increment(Count.CONNECTS_FAILED);
            link.fail(new ConnectException("no answer in " + config.connectTimeoutMs() + " ms"));
            throw withCause(new ConnectException("cannot connect to " + name + " at " + address + ":" + port), e);
        }
    }

    private static InterruptedIOException interrupted(final String name) {
        return new InterruptedIOException("interrupted while connecting to " + name);
    }

    /**
     * Makes a connection, and enters it before anything that comes through it is looked at.
     *
     * @param hello of the peer who asked for it; null if this side did, and hears it later
     */
    Link attach(final String name, final ConnectionRequest request, final Hello hello) {
        synchronized (attaching) {
            final int connections = byNumber.size() + 1;
            if (closed || connections > config.maxConnections()) {
                throw new IllegalStateException(closed ? config.name() + " is closed" :
                    "there are " + config.maxConnections() + " connections already (raft.rdma.connections.max)");
            }
            receives.ensure(connections * config.receivesPerConnection());
            final Connection connection = request.connect(config.hello().bytes());
            final int buffers = config.receivesPerConnection() + NodeConfig.CONTROL_FRAMES;
            final LocalMemoryRegion memory = sendMemory.isEmpty() ?
                peer.allocate((long) buffers * config.bufferBytes(), MemoryUsage.SEND) : sendMemory.pollLast();
            final int number = nextNumber++ & 0xFF_FFFF;
            final Link link =
                new Link(this, number, name, connection, new SendBuffers(memory, config.bufferBytes(), buffers));
            if (hello != null) {
                // Before a first request is answered, which takes credits.
                link.greet(hello);
            } else {
                link.outbound();
            }
            byNumber = with(byNumber, number, link);
            byQueuePair = with(byQueuePair, connection.queuePairNumber(), link);
            return link;
        }
    }

    /** Forgets a connection that has been closed, and takes its memory back. */
    void detach(final Link link) {
        synchronized (attaching) {
            byQueuePair = without(byQueuePair, link.connection().queuePairNumber(), link);
            byNumber = without(byNumber, link.number(), link);
            sendMemory.addLast(link.buffers().region());
        }
        link.rendezvous().close();
    }

    private static Int2ObjectHashMap<Link> with(final Int2ObjectHashMap<Link> links, final int key, final Link link) {
        final Int2ObjectHashMap<Link> more = new Int2ObjectHashMap<>(links);
        more.put(key, link);
        return more;
    }

    private static Int2ObjectHashMap<Link> without(final Int2ObjectHashMap<Link> links, final int key, final Link link) {
        final Int2ObjectHashMap<Link> fewer = new Int2ObjectHashMap<>(links);
        if (fewer.get(key) == link) {
            fewer.remove(key);
        }
        return fewer;
    }

    private ConnectionConfig connectionConfig() {
        // A send for every buffer, a read for every long message that is being fetched, and room for the disconnect.
        final int requestsAtOnce = config.receivesPerConnection() + NodeConfig.CONTROL_FRAMES + Rendezvous.MAX_LANDINGS + 2;
        return ConnectionConfig.create().sharedReceiveQueue(receiveQueue).sqSize(requestsAtOnce).cqSize(requestsAtOnce);
    }

    /** The connection of a queue pair, or null if it has ended. */
    Link linkOfQueuePair(final int queuePairNumber) {
        final Link link = byQueuePair.get(queuePairNumber);
        if (link != null) {
            return link;
        }
        synchronized (attaching) {
            return byQueuePair.get(queuePairNumber);
        }
    }

    /** The connection of a number, or null if it has ended. */
    Link link(final int number) {
        return byNumber.get(number);
    }

    boolean hasNoLinks() {
        return byNumber.isEmpty();
    }

    /** Writes a message into memory that a peer is to read. */
    RegionPool.Lease advertised(final MessageLite message, final int lengthBytes) throws IOException {
        final RegionPool.Lease lease = advertised.take(lengthBytes);
        boolean written = false;
        try {
            final CodedOutputStream out = CodedOutputStream.newInstance(lease.buffer(lengthBytes));
            message.writeTo(out);
            out.flush();
            written = true;
            return lease;
        } finally {
            if (!written) {
                lease.release();
            }
        }
    }

    /** The memory that messages of peers are read into. */
    RegionPool landing() {
        return landing;
    }

    /** Polls a connection's queue from now on. */
    void poll(final Link link) {
        link.queueIndex(poller.add(link.connection().completionQueue(), paths));
    }

    /** Polls a connection's queue no more; to be called again if the poller has not let go of it in time. */
    void pollNoMore(final Link link) throws TimeoutException {
        poller.remove(link.queueIndex());
    }

    /** Ends the connection of a queue that has failed; all of them if it is the one they share. */
    void onQueueFault(final int queueIndex, final String what) {
        warn(what);
        final List<Link> links = new ArrayList<>();
        // Not by an iterator: the map has one for all threads.
        byNumber.forEachInt((number, link) -> links.add(link));
        final List<Link> subjects = links.stream().filter(link -> link.queueIndex() == queueIndex).toList();
        (subjects.isEmpty() ? links : subjects).forEach(link -> link.fail(new IOException(what)));
    }

    NodeConfig config() {
        return config;
    }

    TransportCounters counters() {
        return counters;
    }

    RequestHandler requests() {
        return requests;
    }

    ReceiveBuffers receives() {
        return receives;
    }

    NodePoller poller() {
        return poller;
    }

    ConnectionKeeper keeper() {
        return keeper;
    }

    /** A connection has ended for the engine; what is left of it is the keeper's. */
    void onEnd(final Link link, final IOException reason) {
        LOG.debug("{}: {} ends", config.name(), link, reason);
        keeper.drop(link);
    }

    void warn(final String what) {
        LOG.warn("{}: {}", config.name(), what);
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
     * Ends all connections and threads, and frees all memory; again does nothing. Called by what is chained to a reply, or to the
     * lack of one, it returns at once, and a thread of its own does so.
     */
    @Override
    public void close() {
        synchronized (attaching) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (poller.isCurrentThread() || keeper.isCurrentThread()) {
            Thread.ofPlatform().daemon().name(config.name() + "-closer").start(this::end);
        } else {
            end();
        }
    }

    /** Waits for handlers and for the keeper, and so is not for their threads. */
    private void end() {
        if (!keeper.close() || !leave(poller)) {
            return;
        }
        try {
            receiveQueue.close();
            receives.close();
            sendMemory.forEach(LocalMemoryRegion::close);
            advertised.close();
            landing.close();
            peer.close();
        } catch (final RpmaException | IllegalStateException e) {
            warn("not all could be freed: " + e.getMessage());
        }
    }

    /** Whether nothing of this node is polled or handled any more, so that it can be freed. */
    private boolean leave(final NodePoller left) {
        for (int attempt = 1; ; attempt++) {
            try {
                left.leave(paths);
                return true;
            } catch (final TimeoutException e) {
                if (attempt == LEAVE_ATTEMPTS) {
                    warn("its memory is not freed: " + e.getMessage());
                    return false;
                }
            }
        }
    }
}
