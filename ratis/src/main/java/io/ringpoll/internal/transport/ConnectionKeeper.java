package io.ringpoll.internal.transport;

import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.os.DescriptorPoll;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.RpmaException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;

/**
 * Owns the lifecycle of a node's connections on a thread of its own: accepts requests of peers, processes connection events, and
 * closes connections. Other threads submit commands.
 *
 * <p>The end of a connection, in order: disconnect, the peer's disconnect or a time-out, removal of the queue from the poller's
 * round, release of the memory and the queue pair.
 * <pre>
 *   CONNECTING --established--&gt; ESTABLISHED --drop, or the peer's disconnect--&gt; DISCONNECTING --peer, or time-out--.
 *       |                                                                                                     +--&gt; ENDED
 *       `--drop, rejection, or time-out--&gt; FAILED ------------------------------------------------------------'
 * </pre>
 *
 * <p>The states DISCONNECTING and FAILED last until the poller has removed the queue.
 */
final class ConnectionKeeper {
    private static final int TICK_MS = 100;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long GRACE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Node node;
    private final DescriptorPoll descriptors = new DescriptorPoll();
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final Map<Link, Kept> links = new IdentityHashMap<>();
    private final Thread thread;
    private Endpoint endpoint;
    /** The reason for which connections are no longer accepted; null until the node closes. */
    private volatile IOException closing;
    private volatile boolean stopped;

    /** The state of a connection; the transitions are in {@link Kept}. */
    private enum State {
        /** Waits for its event until the deadline. */
        CONNECTING,
        /** Until the deadline, the peer must prove the secret if there is one. */
        ESTABLISHED,
        /** Was established, and is disconnected by this side; waits for the peer's disconnect until the deadline. */
        DISCONNECTING,
        /** Was never established; is released at once, or at the deadline. */
        FAILED,
        /** Released. */
        ENDED
    }

    /** A connection with its state. */
    private static final class Kept {
        private final Link link;
        private State state = State.CONNECTING;
        /** Of the current state. */
        private long deadlineNs;

        private Kept(final Link link) {
            this.link = link;
        }

        /** Returns false if this side has ended the connection before. */
        private boolean establish() {
            if (state != State.CONNECTING) {
                return false;
            }
            state = State.ESTABLISHED;
            return true;
        }

        /** Returns false if it leaves already. */
        private boolean leave() {
            switch (state) {
                case CONNECTING -> state = State.FAILED;
                case ESTABLISHED -> state = State.DISCONNECTING;
                case DISCONNECTING, FAILED, ENDED -> {
                    return false;
                }
            }
            return true;
        }

        private void end() {
            state = State.ENDED;
        }

        private boolean wasEstablished() {
            return state == State.ESTABLISHED || state == State.DISCONNECTING;
        }

        private boolean isOverdue(final long nowNs) {
            return nowNs - deadlineNs >= 0;
        }
    }

    ConnectionKeeper(final Node node) {
        this.node = node;
        thread = Thread.ofPlatform().daemon().name(node.config().name() + "-connections").unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    boolean isCurrentThread() {
        return Thread.currentThread() == thread;
    }

    /** Starts to accept requests of peers. */
    void listen(final Endpoint listening) {
        execute(() -> {
            endpoint = listening;
            descriptors.add(listening.fd(), this::accept);
        });
    }

    /** Takes ownership of a connection that this side has requested. */
    void keep(final Link link) {
        execute(() -> add(link));
    }

    /** Ends a connection; any thread, idempotent. */
    void drop(final Link link) {
        execute(() -> disconnect(link));
    }

    /** Releases its resources before the thread has started. */
    void abandon() {
        descriptors.close();
    }

    /** Ends all connections and the thread, regardless of interrupts; returns false if they have not ended in time. */
    boolean close() {
        execute(() -> {
            closeEndpoint();
            closing = new IOException("this node is closed");
            new ArrayList<>(links.keySet()).forEach(link -> link.fail(closing));
        });
        Uninterruptibles.joinUninterruptibly(thread, node.config().closeTimeoutMs(), TimeUnit.MILLISECONDS);
        if (thread.isAlive()) {
            stopped = true;
            node.warn("its connections have not ended");
            return false;
        }
        descriptors.close();
        return true;
    }

    private void execute(final Runnable command) {
        commands.add(command);
        descriptors.wakeUp();
    }

    private void run() {
        // A closed node creates no more connections; those it has created are passed to this thread.
        while (!stopped && (closing == null || !node.hasNoLinks())) {
            try {
                descriptors.await(links.isEmpty() ? TICK_MS : TICK_MS / 2);
                for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                    command.run();
                }
                closeOverdue();
            } catch (final RuntimeException | Error e) {
                // Without this thread, no connection of the node would be opened or closed again.
                node.warn("an event of a connection could not be processed", e);
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private void accept() {
        try (ConnectionConfig config = node.connectionConfig()) {
            final Optional<ConnectionRequest> some = endpoint.nextRequest(config, 0);
            if (some.isPresent()) {
                accept(some.get());
            }
        } catch (final ProtocolException | RpmaException | IllegalStateException e) {
            // Closing an unaccepted request rejects it. A peer that no longer waits is detected by a failed call.
            node.warnRarely(Count.CONNECTIONS_REJECTED, "rejected a peer, or the peer has disconnected: " + e.getMessage());
        }
    }

    private void accept(final ConnectionRequest asked) throws ProtocolException {
        try (ConnectionRequest request = asked) {
            final String address = request.remoteAddress().map(InetAddress::getHostAddress).orElse("an unknown address");
            if (!node.config().access().allowed().allows(request.remoteAddress())) {
                throw new ProtocolException("a request from " + address + ", which raft.rdma.server.allowed does not contain");
            }
            final Hello hello = Hello.of(request.privateData());
            add(node.attach(hello.description() + " at " + address, request, Handshake.accepting(node.config(), hello), hello));
        }
    }

    private void add(final Link link) {
        final Kept kept = new Kept(link);
        kept.deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(node.config().connectTimeoutMs()) + GRACE_NS;
        links.put(link, kept);
        node.poll(link);
        descriptors.add(link.connection().eventFd(), () -> onEvent(kept));
        if (closing != null) {
            // Created while the node was closing.
            link.fail(closing);
        }
        if (!link.isOpen()) {
            disconnect(link);
        }
    }

    private void onEvent(final Kept kept) {
        final Optional<ConnectionEvent> some = kept.link.connection().nextEvent(0);
        if (some.isEmpty()) {
            return;
        }
        if (some.get() == ConnectionEvent.ESTABLISHED) {
            onEstablished(kept);
            return;
        }
        kept.link.fail(kept.wasEstablished() ? new IOException("the connection is " + some.get()) :
            new ConnectException("the connection is " + some.get()));
        // The peer has left or never was there: there is no event to wait for.
        startDisconnect(kept);
        finish(kept);
    }

    private void onEstablished(final Kept kept) {
        if (!kept.establish()) {
            return;
        }
        node.counters().increment(Count.CONNECTIONS_OPENED);
        kept.link.peer().onEstablished();
        final Link link = kept.link;
        try {
            if (link.isOutbound()) {
                link.greet(Hello.of(link.connection().privateData()));
            }
            kept.deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(node.config().connectTimeoutMs());
            link.established().complete(link);
        } catch (final IOException e) {
            link.fail(e);
        } catch (final RpmaException | IllegalStateException e) {
            link.fail(new IOException("cannot send to " + link.name(), e));
        }
    }

    private void disconnect(final Link link) {
        final Kept kept = links.get(link);
        if (kept != null && startDisconnect(kept) && kept.state == State.FAILED) {
            finish(kept);
        }
    }

    /** Returns false if it has been disconnected before. */
    private boolean startDisconnect(final Kept kept) {
        if (!kept.leave()) {
            return false;
        }
        kept.deadlineNs = System.nanoTime() + GRACE_NS;
        try {
            kept.link.connection().disconnect();
        } catch (final RuntimeException e) {
            // Not connected, or no longer: there is no disconnect to send.
            kept.deadlineNs = System.nanoTime();
        }
        return true;
    }

    private void closeOverdue() {
        final long nowNs = System.nanoTime();
        for (final Kept kept : List.copyOf(links.values())) {
            kept.link.expire(nowNs);
            if (kept.state == State.ESTABLISHED) {
                kept.link.checkPeer(nowNs);
                kept.link.tryReturnCredits();
                if (kept.isOverdue(nowNs)) {
                    kept.link.checkProof();
                }
            } else if (kept.isOverdue(nowNs)) {
                kept.link.fail(new ConnectException("the connection was not established in time"));
                startDisconnect(kept);
                finish(kept);
            }
        }
    }

    private void finish(final Kept kept) {
        if (kept.state == State.ENDED) {
            return;
        }
        final Link link = kept.link;
        final Connection connection = link.connection();
        try {
            node.stopPolling(link);
        } catch (final TimeoutException e) {
            // The poller still polls the queue: retry at the next tick.
            kept.deadlineNs = System.nanoTime();
            return;
        }
        descriptors.remove(connection.eventFd());
        links.remove(link);
        final boolean wasEstablished = kept.wasEstablished();
        kept.end();
        try {
            connection.close();
        } finally {
            // A failed call has released the queue pair, too: the place is free, and the device no longer uses the memory.
            if (wasEstablished) {
                link.peer().add(Figure.CONNECTIONS, -1);
                node.counters().increment(Count.CONNECTIONS_CLOSED);
            }
            node.detach(link);
        }
    }

    private void closeEndpoint() {
        if (endpoint != null) {
            descriptors.remove(endpoint.fd());
            endpoint.close();
            endpoint = null;
        }
    }
}
