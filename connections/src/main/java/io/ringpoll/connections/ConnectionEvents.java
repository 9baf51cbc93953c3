package io.ringpoll.connections;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.os.DescriptorPoll;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.RpmaException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * The thread that watches the connection events of a set, and ends connections. Other threads submit commands.
 * <pre>{@code
 *   event thread                          polling thread
 *   CONNECTING  -- established -------->  starts to poll, onConnected
 *   CLOSING     -- established -------->  starts to poll; accepted by this side and then closed
 *   CONNECTED
 *   ENDING      -- any reason --------->  posts nothing more; goodbye if closed here
 *   FLUSHING    <- goodbye has arrived -  or nothing to wait for; disconnects
 *               <- last completion -----  stops to poll
 *   RELEASED    -- queue pair closed -->  onDisconnected, memory
 * }</pre>
 * A phase that the polling thread or the peer does not end in time is ended by its deadline. The polling thread may be in a long
 * callback meanwhile: the time for a goodbye begins when it has been posted, and the queue is polled until it is empty before it
 * leaves the poller.
 */
final class ConnectionEvents {
    private static final int TICK_MS = 50;
    private static final int IDLE_TICK_MS = 1000;
    private static final long GOODBYE_NS = TimeUnit.SECONDS.toNanos(1);
    /** Maximum time for which a goodbye waits for the polling thread, which may be in a long callback. */
    private static final long BUSY_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long FLUSH_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final ConnectionSet set;
    private final DescriptorPoll descriptors = new DescriptorPoll();
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final Map<MessageConnection, Watch> watches = new IdentityHashMap<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final Thread thread;
    private volatile boolean stopped;

    private enum Phase {
        CONNECTING, CLOSING, CONNECTED, ENDING, FLUSHING, RELEASED
    }

    /** A connection; event thread only. */
    private static final class Watch {
        private final MessageConnection connection;
        private Phase phase = Phase.CONNECTING;
        private boolean disconnected;
        private long deadlineNs;

        private Watch(final MessageConnection connection) {
            this.connection = connection;
        }
    }

    ConnectionEvents(final ConnectionSet set, final String name) {
        this.set = set;
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    boolean isCurrentThread() {
        return Thread.currentThread() == thread;
    }

    void listen(final Endpoint endpoint) {
        execute(() -> {
            endpoints.add(endpoint);
            descriptors.add(endpoint.fd(), () -> accept(endpoint));
        });
    }

    /** Takes a connection that is being established. */
    void watch(final MessageConnection connection, final long timeoutNs) {
        execute(() -> add(connection, timeoutNs));
    }

    /** Ends a connection for its reason. */
    void end(final MessageConnection connection) {
        execute(() -> onEnd(watches.get(connection)));
    }

    /** The goodbye has been posted. */
    void onGoodbye(final MessageConnection connection) {
        execute(() -> {
            final Watch watch = watches.get(connection);
            if (watch != null && watch.phase == Phase.ENDING) {
                watch.deadlineNs = System.nanoTime() + GOODBYE_NS;
            }
        });
    }

    /** Disconnects: nothing is to be sent any more. */
    void disconnect(final MessageConnection connection) {
        execute(() -> onDisconnect(watches.get(connection)));
    }

    /** Closes a connection that is not polled. */
    void release(final MessageConnection connection) {
        execute(() -> onRelease(watches.get(connection)));
    }

    /** Accepts no more, and ends all connections. */
    void endAll() {
        execute(() -> {
            closeEndpoints();
            List.copyOf(watches.keySet()).forEach(MessageConnection::close);
        });
    }

    /** Ends all connections without waiting for polling threads, which have ended. */
    void abandonAll() {
        execute(() -> {
            closeEndpoints();
            List.copyOf(watches.values()).forEach(watch -> {
                watch.connection.close();
                watch.phase = Phase.FLUSHING;
                watch.deadlineNs = System.nanoTime();
            });
        });
    }

    /** Ends the connections of pipelines that have ended; event thread. */
    void failUnpolled() {
        for (final MessageConnection connection : List.copyOf(watches.keySet())) {
            if (!connection.poller().isRunning()) {
                connection.requestEnd(DisconnectReason.FAILED, connection.poller().pipelineEnd());
            }
        }
    }

    /** Ends the thread; false if it has not ended in time. */
    boolean stop(final Deadline deadline) {
        stopped = true;
        descriptors.wakeUp();
        if (!deadline.join(thread)) {
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
        while (!stopped) {
            try {
                descriptors.await(isTimed() ? TICK_MS : IDLE_TICK_MS);
                for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                    command.run();
                }
                onTick();
                set.scheduleTasks();
                set.closeIfUnpolled();
            } catch (final RuntimeException | Error failure) {
                set.onDefect(failure);
            }
        }
        closeEndpoints();
    }

    private boolean isTimed() {
        for (final Watch watch : watches.values()) {
            if (watch.phase != Phase.CONNECTED) {
                return true;
            }
        }
        return false;
    }

    private void accept(final Endpoint endpoint) {
        try (ConnectionConfig config = set.newConnectionConfig()) {
            endpoint.nextRequest(config, 0).ifPresent(this::accept);
        } catch (final RpmaException | IllegalStateException failed) {
            // A peer that no longer waits.
            set.onRejected(failed);
        }
    }

    private void accept(final ConnectionRequest received) {
        // The close of an unaccepted request rejects it.
        try (ConnectionRequest request = received) {
            try {
                final Hello hello = Hello.decode(request.privateData());
                add(set.make(request, hello), set.config().acceptTimeoutNs);
            } catch (final ProtocolViolation | RpmaException | IllegalStateException | IllegalArgumentException refused) {
                set.onRejected(refused);
            }
        }
    }

    private void add(final MessageConnection connection, final long timeoutNs) {
        final Watch watch = new Watch(connection);
        watch.deadlineNs = Deadline.after(timeoutNs).atNs();
        watches.put(connection, watch);
        descriptors.add(connection.connection().eventFd(), () -> onEvent(watch));
        if (connection.endReason() != null) {
            onEnd(watch);
        } else if (set.isClosed()) {
            connection.close();
        }
    }

    private void onEvent(final Watch watch) {
        final MessageConnection connection = watch.connection;
        final ConnectionEvent event;
        try {
            final Optional<ConnectionEvent> some = connection.connection().nextEvent(0);
            if (some.isEmpty()) {
                return;
            }
            event = some.get();
        } catch (final RpmaException failed) {
            connection.requestEnd(DisconnectReason.FAILED, failed.getMessage());
            return;
        }
        if (event == ConnectionEvent.ESTABLISHED) {
            if (watch.phase == Phase.CONNECTING || watch.phase == Phase.CLOSING) {
                onEstablished(watch);
            }
            return;
        }
        connection.requestEnd(DisconnectReason.PEER_LOST, "connection event " + event);
        if (watch.phase == Phase.CLOSING) {
            onRelease(watch);
        }
    }

    private void onEstablished(final Watch watch) {
        final MessageConnection connection = watch.connection;
        try {
            if (!connection.isGreeted()) {
                connection.greet(set.hello(), Hello.decode(connection.connection().privateData()));
            }
            final boolean isClosing = watch.phase == Phase.CLOSING;
            watch.phase = Phase.CONNECTED;
            connection.poller().execute(connection::start);
            if (isClosing) {
                onEnd(watch);
            }
        } catch (final ProtocolViolation violation) {
            connection.requestEnd(DisconnectReason.PROTOCOL_VIOLATION, violation.getMessage());
        }
    }

    private void onEnd(final Watch watch) {
        if (watch == null) {
            return;
        }
        if (watch.phase == Phase.CONNECTING && !isBeingEstablished(watch)) {
            // It is not polled yet.
            onRelease(watch);
        } else if (watch.phase == Phase.CONNECTED) {
            watch.phase = Phase.ENDING;
            final boolean isClosed = watch.connection.endReason() == DisconnectReason.CLOSED;
            watch.deadlineNs = System.nanoTime() + (isClosed ? BUSY_NS : GOODBYE_NS);
            watch.connection.poller().execute(watch.connection::stop);
        }
    }

    /**
     * Whether the peer of a connection that is closed here may use it already, and so gets a goodbye: this side has accepted it,
     * which the peer learns first, or the event that it is established waits to be handled.
     */
    private boolean isBeingEstablished(final Watch watch) {
        if (watch.connection.endReason() != DisconnectReason.CLOSED) {
            return false;
        }
        if (watch.connection.isGreeted()) {
            watch.phase = Phase.CLOSING;
            watch.deadlineNs = System.nanoTime() + GOODBYE_NS;
        }
        onEvent(watch);
        return watch.phase != Phase.CONNECTING;
    }

    private void onDisconnect(final Watch watch) {
        if (watch != null && watch.phase == Phase.ENDING) {
            watch.phase = Phase.FLUSHING;
            watch.deadlineNs = System.nanoTime() + FLUSH_NS;
            sendDisconnect(watch);
        }
    }

    private static void sendDisconnect(final Watch watch) {
        if (!watch.disconnected) {
            watch.disconnected = true;
            try {
                watch.connection.connection().disconnect();
            } catch (final RuntimeException gone) {
                // Not connected, or no longer: there is no disconnect to send.
            }
        }
    }

    private void onRelease(final Watch watch) {
        if (watch == null || watch.phase == Phase.RELEASED) {
            return;
        }
        final MessageConnection connection = watch.connection;
        sendDisconnect(watch);
        watch.phase = Phase.RELEASED;
        watches.remove(connection);
        descriptors.remove(connection.connection().eventFd());
        connection.connection().close();
        set.onReleased(connection);
        connection.established().completeExceptionally(
            new ConnectException(connection.endReason() + " " + connection.disconnectDetail()));
        connection.poller().execute(connection::ended);
    }

    private void onTick() {
        if (!isTimed()) {
            return;
        }
        final long nowNs = System.nanoTime();
        for (final Watch watch : List.copyOf(watches.values())) {
            if (watch.phase != Phase.CONNECTED && nowNs - watch.deadlineNs >= 0) {
                onDeadline(watch, nowNs);
            }
        }
    }

    private void onDeadline(final Watch watch, final long nowNs) {
        switch (watch.phase) {
            case CONNECTING -> watch.connection.requestEnd(DisconnectReason.PEER_LOST, "not established in time");
            case ENDING -> onDisconnect(watch);
            case CLOSING -> onRelease(watch);
            case FLUSHING -> {
                // Not all devices flush all receives. The polling thread may be in a long callback: ask again later.
                watch.deadlineNs = nowNs + FLUSH_NS;
                watch.connection.poller().execute(watch.connection::retireAfterLastPoll);
            }
            default -> {
                // Without a deadline.
            }
        }
    }

    private void closeEndpoints() {
        for (final Endpoint endpoint : endpoints) {
            descriptors.remove(endpoint.fd());
            endpoint.close();
        }
        endpoints.clear();
    }
}
