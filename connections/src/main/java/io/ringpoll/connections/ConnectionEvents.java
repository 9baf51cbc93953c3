package io.ringpoll.connections;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.connections.ConnectionEventLoop;
import io.ringpoll.internal.connections.KeptConnection;
import io.ringpoll.internal.connections.KeptConnection.Phase;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcRequest;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Owns the connections of a set on the event thread: accepts and watches them, and ends them together with their polling threads.
 * <pre>{@code
 *   event thread                            polling thread
 *   CONNECTING     -- established ------->  starts to poll, onConnected
 *   ENDING         -- established ------->  starts to poll; accepted by this side and then closed
 *   ESTABLISHED
 *   ENDING         -- any reason -------->  posts nothing more; goodbye if closed here
 *   DISCONNECTING  <- goodbye has arrived - or nothing to wait for; disconnects
 *                  <- last completion ----  stops to poll
 *   RELEASED       -- queue pair closed ->  onDisconnected, memory
 * }</pre>
 * A phase that the polling thread or the peer does not end in time is ended by its deadline. The polling thread may be in a long
 * callback meanwhile: the time for a goodbye begins when it has been posted, and the queue is polled until it is empty before it
 * leaves the poller.
 */
final class ConnectionEvents extends ConnectionEventLoop<MessageConnection> {
    private static final System.Logger LOG = System.getLogger(ConnectionEvents.class.getName());
    private static final long GOODBYE_NS = TimeUnit.SECONDS.toNanos(1);
    /** Maximum time for which a goodbye waits for the polling thread, which may be in a long callback. */
    private static final long BUSY_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long FLUSH_NS = TimeUnit.MILLISECONDS.toNanos(500);
    /** Period of the checks for silent connections and changed counts: shorter than that of rounds without events. */
    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ConnectionSet set;
    /** Queue pairs whose close was refused, of the thread of events. */
    private final List<Discarded> discarded = new ArrayList<>();
    /** Whether a connection that waits for the start of an agent has been logged. */
    private boolean warned;
    private long checkedNs = System.nanoTime();

    ConnectionEvents(final ConnectionSet set, final ThreadFactory threads) {
        super(threads);
        this.set = set;
    }

    /** A queue pair without a connection, and the task after its close. */
    private record Discarded(RcConnection connection, Runnable onClosed) {
    }

    /**
     * Closes a queue pair for which no connection was made; again and again as long as it is in use. Any thread.
     *
     * @param onClosed called once, by this thread or that of events
     */
    void discard(final RcConnection connection, final Runnable onClosed) {
        final Discarded unused = new Discarded(connection, onClosed);
        if (!isEnded(unused)) {
            execute(() -> discarded.add(unused));
        }
    }

    private boolean isEnded(final Discarded unused) {
        try {
            unused.connection().close();
        } catch (final IllegalStateException used) {
            return false;
        } catch (final RdmaException lost) {
            // The queue pair is released nevertheless.
            onDefect(lost);
        }
        unused.onClosed().run();
        return true;
    }

    /** Takes a connection that is being established. */
    void watch(final MessageConnection connection, final long timeoutNs) {
        execute(() -> begin(connection, timeoutNs));
    }

    /** Ends a connection for its reason. */
    void end(final MessageConnection connection) {
        execute(() -> {
            final KeptConnection<MessageConnection> kept = kept(connection);
            if (kept != null) {
                end(kept);
            }
        });
    }

    /** The goodbye has been posted. */
    void onGoodbye(final MessageConnection connection) {
        execute(() -> {
            final KeptConnection<MessageConnection> kept = kept(connection);
            if (kept != null && kept.phase() == Phase.ENDING) {
                kept.enter(Phase.ENDING, GOODBYE_NS);
            }
        });
    }

    /** Disconnects: nothing is to be sent any more. */
    void disconnect(final MessageConnection connection) {
        execute(() -> {
            final KeptConnection<MessageConnection> kept = kept(connection);
            if (kept != null && kept.phase() == Phase.ENDING) {
                disconnect(kept, FLUSH_NS);
            }
        });
    }

    /** Closes a connection that is not polled. */
    void release(final MessageConnection connection) {
        execute(() -> {
            final KeptConnection<MessageConnection> kept = kept(connection);
            if (kept != null) {
                release(kept);
            }
        });
    }

    /** Accepts no more, and ends all connections. */
    void endAll() {
        execute(() -> {
            closeListeners();
            all().forEach(kept -> {
                kept.owner().close();
                if (kept.wasEstablished()) {
                    endConnect(kept);
                }
            });
        });
    }

    /** Ends all connections without waiting for polling threads, which have ended. */
    void abandonAll() {
        execute(() -> {
            closeListeners();
            all().forEach(kept -> {
                kept.owner().close();
                kept.enter(Phase.DISCONNECTING, 0);
            });
        });
    }

    /** Ends the connections of pipelines that have ended; event thread. */
    void failUnpolled() {
        for (final KeptConnection<MessageConnection> kept : all()) {
            final ConnectionPoller poller = kept.owner().poller();
            if (!poller.isRunning()) {
                kept.owner().requestEnd(DisconnectReason.FAILED, poller.pipelineEnd());
            }
        }
    }

    private void begin(final MessageConnection connection, final long timeoutNs) {
        final KeptConnection<MessageConnection> kept = keep(connection, connection.connection(), timeoutNs);
        if (connection.endReason() != null) {
            end(kept);
        } else if (set.isClosed()) {
            connection.close();
        }
    }

    private void end(final KeptConnection<MessageConnection> kept) {
        if (kept.phase() == Phase.CONNECTING && !isBeingEstablished(kept)) {
            // It is not polled yet.
            release(kept);
        } else if (kept.phase() == Phase.ESTABLISHED) {
            kept.enter(Phase.ENDING, isClosedHere(kept) ? BUSY_NS : GOODBYE_NS);
            kept.owner().poller().execute(kept.owner()::stop);
            if (set.isClosed()) {
                endConnect(kept);
            }
        }
    }

    /** Ends the connect that waits for the polling thread, which may be in a long callback or have ended. */
    private void endConnect(final KeptConnection<MessageConnection> kept) {
        kept.owner().established().completeExceptionally(new ConnectException(set.closeDescription()));
    }

    /**
     * Whether the peer of a connection that is closed here may use it already, and so gets a goodbye: this side has accepted it,
     * which the peer learns first, or the event that it is established waits to be handled.
     */
    private boolean isBeingEstablished(final KeptConnection<MessageConnection> kept) {
        if (!isClosedHere(kept)) {
            return false;
        }
        if (kept.owner().isGreeted()) {
            kept.enter(Phase.ENDING, GOODBYE_NS);
        }
        readEvent(kept);
        return kept.phase() != Phase.CONNECTING;
    }

    private static boolean isClosedHere(final KeptConnection<MessageConnection> kept) {
        return kept.owner().endReason() == DisconnectReason.CLOSED;
    }

    private static boolean isClosedBeforeEstablished(final KeptConnection<MessageConnection> kept) {
        return kept.phase() == Phase.ENDING && !kept.wasEstablished();
    }

    @Override
    protected void onRound() {
        set.pollers().schedule();
        set.closeIfUnpolled();
        final long nowNs = System.nanoTime();
        if (nowNs - checkedNs >= CHECK_NS) {
            checkedNs = nowNs;
            set.pollers().publishCounts();
            checkSilences(nowNs);
        }
        discarded.removeIf(this::isEnded);
    }

    private void checkSilences(final long nowNs) {
        if (set.keepaliveNs() > 0) {
            for (final KeptConnection<MessageConnection> kept : all()) {
                if (kept.phase() == Phase.ESTABLISHED) {
                    kept.owner().keepalive.check(nowNs, set.keepaliveNs());
                }
            }
        }
    }

    @Override
    protected RcConfig connectionConfig() {
        return set.connectionConfig();
    }

    @Override
    protected void onRequest(final RcRequest request) throws ProtocolViolation {
        final MessageConnection connection = set.make(
            request, set.admission().require(request, Hello.decode(request.privateData())));
        final String lateness = connection.poller().lateness();
        if (!lateness.isEmpty() && !warned) {
            warned = true;
            LOG.log(System.Logger.Level.WARNING, "{0}: an accepted connection waits{1}", set.name(), lateness);
        }
        begin(connection, set.acceptTimeoutNs());
    }

    @Override
    protected void onRejected(final Exception reason) {
        set.onRejected(reason);
    }

    @Override
    protected void onEstablished(final KeptConnection<MessageConnection> kept) {
        final MessageConnection connection = kept.owner();
        if (connection.endReason() != null && !isClosedHere(kept)) {
            // Too late: the listener knows nothing of it.
            end(kept);
            return;
        }
        try {
            if (!connection.isGreeted()) {
                connection.greet(
                    set.hello(), set.admission().require(Hello.decode(connection.connection().privateData())));
            }
            kept.enter(Phase.ESTABLISHED, 0);
            connection.poller().execute(connection::start);
            if (connection.endReason() != null) {
                end(kept);
            }
        } catch (final ProtocolViolation violation) {
            connection.requestEnd(DisconnectReason.PROTOCOL_VIOLATION, violation.getMessage());
        }
    }

    @Override
    protected void onLost(final KeptConnection<MessageConnection> kept, final RcEvent event) {
        kept.owner().requestEnd(DisconnectReason.PEER_LOST, "connection event " + event +
            switch (event) {
                case REJECTED -> ": nobody listens there, or the server has refused the request";
                case CLOSED -> ": the peer has disconnected without a goodbye";
                default -> "";
            });
        if (isClosedBeforeEstablished(kept)) {
            release(kept);
        } else if (kept.phase() == Phase.ENDING) {
            // Nothing reaches the peer any more, nor does the goodbye under way.
            disconnect(kept, FLUSH_NS);
        }
    }

    @Override
    protected void onEventFailure(final KeptConnection<MessageConnection> kept, final RdmaException failed) {
        kept.owner().requestEnd(DisconnectReason.FAILED, failed.getMessage());
    }

    @Override
    protected void onDeadline(final KeptConnection<MessageConnection> kept) {
        final MessageConnection connection = kept.owner();
        if (kept.phase() == Phase.CONNECTING) {
            if (connection.isGreeted()) {
                set.onRejected(new TimeoutException(connection + " was accepted, but not established in time"));
            }
            connection.requestEnd(DisconnectReason.PEER_LOST, "not established in time");
        } else if (isClosedBeforeEstablished(kept)) {
            release(kept);
        } else if (kept.phase() == Phase.ENDING) {
            disconnect(kept, FLUSH_NS);
        } else if (kept.phase() == Phase.DISCONNECTING) {
            // Not all devices flush all receives. Once: the polling thread may be in a long callback, and keeps all its tasks.
            kept.enter(Phase.DISCONNECTING, Long.MAX_VALUE);
            connection.poller().execute(connection::retireAfterLastPoll);
        }
    }

    @Override
    protected void onReleased(final KeptConnection<MessageConnection> kept) {
        final MessageConnection connection = kept.owner();
        final ConnectionPoller poller = connection.poller();
        final ConnectException failure = new ConnectException(set.isClosed() && isClosedHere(kept) ?
            set.closeDescription() : connection.endReason() + " " + connection.disconnectDetail());
        if (set.isClosed()) {
            // Nobody can use the place: a connect need not wait for it.
            connection.established().completeExceptionally(failure);
        }
        poller.whenDrained(() -> {
            set.onReleased(connection);
            connection.established().completeExceptionally(failure);
        });
        poller.execute(connection::ended);
    }

    @Override
    protected void onDefect(final Throwable failure) {
        set.onDefect(failure);
    }
}
