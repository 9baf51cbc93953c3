package io.ringpoll.internal.transport;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.connections.ConnectionEventLoop;
import io.ringpoll.internal.connections.KeptConnection;
import io.ringpoll.internal.connections.KeptConnection.Phase;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.internal.transport.TransportCounters.Count;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * Owns the connections of a node on the event thread: accepts requests of peers, and ends connections that fail. Other threads
 * submit commands.
 *
 * <p>The end of a connection, in order: disconnect, the peer's disconnect or a time-out, removal of the queue from the poller's
 * round, release of the memory and the queue pair. In the phase ESTABLISHED, the peer must prove the secret before the deadline,
 * if there is a secret; the oldest connection without a proof ends if there are too many. There is no phase ENDING: a connection
 * disconnects immediately. A connection that was never established does not wait for its peer.
 */
final class ConnectionKeeper extends ConnectionEventLoop<Link> {
    private static final long GRACE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Node node;
    /** The reason for which connections are no longer accepted; null until the node closes. */
    private volatile IOException closing;
    /** Each closes a queue pair without a connection, and returns false to be called again; event thread. */
    private final List<BooleanSupplier> unclosed = new ArrayList<>();

    ConnectionKeeper(final Node node) {
        super(node.config().name() + "-connections");
        this.node = node;
    }

    /** Takes ownership of a connection that this side has requested. */
    void keep(final Link link) {
        execute(() -> begin(link));
    }

    /** Ends a connection; any thread, idempotent. */
    void drop(final Link link) {
        execute(() -> {
            final KeptConnection<Link> kept = kept(link);
            if (kept != null && leave(kept) && !kept.wasEstablished()) {
                finish(kept);
            }
        });
    }

    /** Closes a queue pair that is still used, at a later tick. The close returns whether it is the last one. */
    void closeLater(final BooleanSupplier close) {
        execute(() -> unclosed.add(close));
    }

    /** Ends all connections and the thread, regardless of interrupts; returns false if they have not ended in time. */
    boolean close() {
        execute(() -> {
            closing = new IOException("this node is closed");
            closeListeners();
            all().forEach(kept -> kept.owner().fail(closing));
        });
        if (join(TimeUnit.MILLISECONDS.toNanos(node.config().closeTimeoutMs()))) {
            return true;
        }
        final TimeoutException late = new TimeoutException("the thread of the connections is here:");
        late.setStackTrace(stack());
        stop(0);
        node.warn("its connections have not ended", late);
        return false;
    }

    private void begin(final Link link) {
        final long timeoutNs =
            link.isOutbound() ? TimeUnit.MILLISECONDS.toNanos(node.config().pendingConnectMs()) : connectTimeoutNs();
        keep(link, link.connection(), timeoutNs + GRACE_NS);
        node.poll(link);
        if (closing != null) {
            // Created while the node was closing.
            link.fail(closing);
        }
        if (!link.isOpen()) {
            drop(link);
        }
    }

    private long connectTimeoutNs() {
        return TimeUnit.MILLISECONDS.toNanos(node.config().connectTimeoutMs());
    }

    /** Disconnects; returns false if it leaves already. */
    private boolean leave(final KeptConnection<Link> kept) {
        if (kept.phase() != Phase.CONNECTING && kept.phase() != Phase.ESTABLISHED) {
            return false;
        }
        if (!disconnect(kept, GRACE_NS)) {
            kept.enter(Phase.DISCONNECTING, 0);
        }
        return true;
    }

    private void finish(final KeptConnection<Link> kept) {
        try {
            node.stopPolling(kept.owner());
        } catch (final TimeoutException e) {
            // The poller still polls the queue: retry at the next tick.
            kept.enter(Phase.DISCONNECTING, 0);
            return;
        }
        release(kept);
    }

    /** A closed node creates no more connections; those it has created are passed to this thread. */
    @Override
    protected boolean isComplete() {
        return closing != null && node.hasNoLinks() && unclosed.isEmpty();
    }

    @Override
    protected boolean isTimed() {
        return !isEmpty() || !unclosed.isEmpty();
    }

    @Override
    protected void onRound() {
        node.pendingConnects().endAbandoned(System.nanoTime());
        for (final Iterator<BooleanSupplier> each = unclosed.iterator(); each.hasNext();) {
            if (each.next().getAsBoolean()) {
                // At once: this close is not repeated if the next one throws. Its buffers would be given back twice.
                each.remove();
            }
        }
    }

    @Override
    protected void onTick(final KeptConnection<Link> kept, final long nowNs) {
        final Link link = kept.owner();
        link.expire(nowNs);
        if (kept.phase() == Phase.ESTABLISHED) {
            link.checkPeer(nowNs);
            link.tryReturnCredits();
            if (kept.isOverdue(nowNs)) {
                link.checkProof();
            }
        }
    }

    @Override
    protected void onDeadline(final KeptConnection<Link> kept) {
        kept.owner().fail(new ConnectException("the connection was not established in time"));
        leave(kept);
        finish(kept);
    }

    @Override
    protected RcConfig connectionConfig() {
        return node.config().connectionConfig();
    }

    @Override
    protected void onRequest(final RcRequest request) throws ProtocolException {
        final String address = request.remoteAddress().map(InetAddress::getHostAddress).orElse("an unknown address");
        if (!node.config().access().allowed().allows(request.remoteAddress())) {
            throw new ProtocolException("a request from " + address + ", which raft.rdma.server.allowed does not contain");
        }
        final Hello hello = Hello.of(request.privateData());
        final Handshake handshake = Handshake.accepting(node.config(), hello);
        if (handshake.expected() != null) {
            endOldestUnproven();
        }
        begin(node.attach(hello.description() + " at " + address, request, handshake, hello));
    }

    /**
     * Ends the oldest connection without a proof if there are too many of them, so that silent peers keep no others out. The
     * number of ended connections whose queues are still in the poller's round is bounded, too.
     */
    private void endOldestUnproven() {
        int open = 0;
        int unreleased = 0;
        KeptConnection<Link> oldest = null;
        KeptConnection<Link> oldestEnded = null;
        for (final KeptConnection<Link> kept : all()) {
            final Link link = kept.owner();
            if (!link.hasSlot()) {
                unreleased++;
                if (link.isOpen()) {
                    open++;
                    oldest = older(oldest, kept);
                } else {
                    oldestEnded = older(oldestEnded, kept);
                }
            }
        }
        if (unreleased < NodeConfig.UNPROVEN_CONNECTIONS) {
            return;
        }
        if (oldestEnded != null && isReleasedAtOnce(oldestEnded)) {
            unreleased--;
        }
        if (open >= NodeConfig.UNPROVEN_CONNECTIONS && oldest.owner().endUnproven() && isReleasedAtOnce(oldest)) {
            unreleased--;
        }
        if (unreleased >= 2 * NodeConfig.UNPROVEN_CONNECTIONS) {
            throw new IllegalStateException("there are " + unreleased + " connections without a proof of the secret");
        }
    }

    private static KeptConnection<Link> older(final KeptConnection<Link> one, final KeptConnection<Link> other) {
        return one == null || other.owner().number() < one.owner().number() ? other : one;
    }

    private boolean isReleasedAtOnce(final KeptConnection<Link> kept) {
        // It may be one that waits for the peer's disconnect already.
        leave(kept);
        finish(kept);
        return kept.phase() == Phase.RELEASED;
    }

    @Override
    protected void onRejected(final Exception reason) {
        node.warnRarely(Count.CONNECTIONS_REJECTED, "rejected a peer, or the peer has disconnected: " + reason.getMessage());
    }

    @Override
    protected void onEstablished(final KeptConnection<Link> kept) {
        kept.enter(Phase.ESTABLISHED, connectTimeoutNs());
        node.counters().increment(Count.CONNECTIONS_OPENED);
        final Link link = kept.owner();
        link.peer().onEstablished();
        node.regained(link);
        try {
            if (link.isOutbound()) {
                link.greet(Hello.of(link.connection().privateData()));
            }
            link.established().complete(link);
        } catch (final IOException e) {
            link.fail(e);
        } catch (final RdmaException | IllegalStateException e) {
            link.fail(new IOException("cannot send to " + link.name(), e));
        }
    }

    @Override
    protected void onLost(final KeptConnection<Link> kept, final RcEvent event) {
        final String reason = "the connection is " + event;
        if (kept.wasEstablished()) {
            kept.owner().lose(new IOException(reason), false);
        } else {
            kept.owner().fail(new ConnectException(reason));
        }
        // The peer has left or never was there: there is no event to wait for.
        leave(kept);
        finish(kept);
    }

    @Override
    protected void onEventFailure(final KeptConnection<Link> kept, final RdmaException failed) {
        kept.owner().fail(new IOException("cannot read the events of the connection", failed));
    }

    @Override
    protected void onReleased(final KeptConnection<Link> kept) {
        final Link link = kept.owner();
        if (kept.wasEstablished()) {
            link.peer().add(Figure.CONNECTIONS, -1);
            node.counters().increment(Count.CONNECTIONS_CLOSED);
        }
        node.detach(link);
    }

    @Override
    protected void onDefect(final Throwable failure) {
        node.warn("an event of a connection could not be processed", failure);
    }
}
