package io.ringpoll.connections;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceException;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.PipelineGroup;
import java.net.ConnectException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.agrona.concurrent.Agent;

/**
 * A set of message connections: accepts and requests them, polls them on one or several threads, and ends them.
 *
 * <p>A set has a thread for connection events, and polling threads, or agents of the program ({@link
 * ConnectionSetBuilder#asAgent()}), that run the {@link ConnectionListener}. Each connection gets
 * registered buffers and receives before it is established, credits that keep a message from finding no receive, and one end,
 * for every reason: its last completions are handled, its poller forgets it, its queue pair is closed, {@link
 * ConnectionListener#onDisconnected} is called, and its memory serves the next connection.
 * <pre>{@code
 * try (ConnectionSet server = ConnectionSet.builder().listener(listener).start()) {
 *     server.listen(7480);
 *     server.awaitClose();
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class ConnectionSet implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ConnectionSet.class.getName());
    /** The device has the time-out for the address, and again for the route. */
    private static final int RESOLUTIONS = 2;

    // Copies: the program may go on to change the builder.
    private final String name;
    private final String address;
    private final ConnectionListener listener;
    private final long connectTimeoutNs;
    private final long acceptTimeoutNs;
    private final long keepaliveNs;
    private final ConnectionSizes sizes;
    private final MessageLayout layout;
    private final Hello hello;
    private final RcPeer peer;
    private final ConnectionPollers pollers;
    private final PipelineGroup pipelines;
    /** Empty if there are polling threads. */
    private final List<Agent> agents;
    private final ConnectionEvents events;
    private final AtomicLong rejectedRequests = new AtomicLong();
    private final ListenerFailures failures;
    private final Admission admission;
    private final ConnectionPlaces places;
    private final SetEnd end;

    ConnectionSet(final ConnectionSetBuilder config) {
        name = config.name;
        address = config.address;
        listener = config.listener;
        connectTimeoutNs = config.connectTimeoutNs;
        acceptTimeoutNs = config.acceptTimeoutNs;
        keepaliveNs = config.keepaliveNs;
        sizes = config.sizes();
        layout = MessageLayout.of(sizes);
        failures = new ListenerFailures(name, config.errorHandler);
        admission = new Admission(config.minMessageBytes, config.acceptFilter, failures);
        hello = new Hello(sizes.window(), sizes.maxMessageBytes(), config.privateData);
        events = new ConnectionEvents(this, config.threads.apply(name + "-events"));
        peer = openPeer(config);
        places = new ConnectionPlaces(this, peer, sizes.buffers(), config.maxConnections);
        pollers = new ConnectionPollers(
            IntStream.range(0, config.pollers).mapToObj(i -> newPoller(config, i)).toList());
        pipelines = startPipelines(config);
        end = new SetEnd(this, events, pipelines, failures, config.threads.apply(name + "-closer"));
        agents = pollers.agents(this);
        start(config.shutdownTimeoutNs);
    }

    private void start(final long shutdownTimeoutNs) {
        try {
            events.start();
            if (shutdownTimeoutNs > 0) {
                end.beginAtShutdown(shutdownTimeoutNs);
            }
        } catch (final RuntimeException | Error failure) {
            // There may be no thread for the events: nothing waits for it.
            releaseAfter(failure, () -> end.begin(SetEnd.DEFAULT_CLOSE_NS));
            throw failure;
        }
    }

    private RcPeer openPeer(final ConnectionSetBuilder config) {
        RcPeer device = null;
        try {
            device = config.openDevice(this::localAddress);
            sizes.requireWithin(device);
            if (config.sharedQueues) {
                sizes.requireShareable(device, config.maxConnections);
            }
            return device;
        } catch (final RuntimeException | Error failure) {
            releaseAfter(failure, () -> events.stop(SetEnd.ADOPTION_NS));
            if (device != null) {
                releaseAfter(failure, device::close);
            }
            throw failure;
        }
    }

    private PipelineGroup startPipelines(final ConnectionSetBuilder config) {
        PipelineGroup started = null;
        try {
            pollers.openQueues(poller -> newSharedQueue(poller, config.maxConnections));
            started = PipelineGroup.start(config.pollers, index -> describe(config, index));
            pollers.begin(started.pipelines());
            pollers.watchQueues(peer.context());
            return started;
        } catch (final RuntimeException | Error failure) {
            if (started != null) {
                releaseAfter(failure, started::close);
            }
            releaseAfter(failure, () -> events.stop(SetEnd.ADOPTION_NS));
            releaseAfter(failure, pollers::closeQueues);
            releaseAfter(failure, places::releaseMemory);
            throw failure;
        }
    }

    /** Releases a part of a set whose start has failed. The exception of that neither replaces the first nor ends the release. */
    private static void releaseAfter(final Throwable failure, final Runnable release) {
        try {
            release.run();
        } catch (final RuntimeException | Error further) {
            failure.addSuppressed(further);
        }
    }

    private ConnectionPoller newPoller(final ConnectionSetBuilder config, final int index) {
        return config.sharedQueues ? new SharedQueuePoller(this, index) : new QueuePerConnectionPoller(this, index);
    }

    private SharedQueue newSharedQueue(final int poller, final int maxConnections) {
        return new SharedQueue(peer.newQueue("shared CQ " + poller + " of " + name, sizes.sharedQueueSize(maxConnections))
            .orElseThrow(), sizes.completionQueueSize());
    }

    private PipelineBuilder describe(final ConnectionSetBuilder config, final int index) {
        final PipelineBuilder description = config.newPipeline(index);
        return (config.asAgent ? description.asAgent() : description).runToCompletion().shutdownTimeoutNs(0)
            .onUndelivered(pollers.get(index)::onUndelivered)
            .onAll(pollers.get(index), options -> options.idleTimeoutNs(config.idleTimeoutNs));
    }

    private String localAddress() {
        return address != null ? address : Device.current().address().host();
    }

    /**
     * Creates a builder.
     *
     * @return a builder with defaults for everything but the listener
     * @throws DeviceException if the JVM lacks a flag; the message names it
     */
    public static ConnectionSetBuilder builder() {
        Pipeline.builder();
        return new ConnectionSetBuilder();
    }

    /**
     * Listens on the address of the set, or of its device.
     *
     * @param port 1 to 65535, or 0 for any free port
     * @return the port
     * @throws RdmaException         if the address or port cannot be used, for instance EADDRINUSE
     * @throws IllegalStateException if the set is closed
     */
    public int listen(final int port) {
        return listen(localAddress(), port);
    }

    /**
     * Listens for connections; may be called several times.
     *
     * @param host address of this machine, on the device of the set
     * @param port 1 to 65535, or 0 for any free port
     * @return the port
     * @throws RdmaException         if the address or port cannot be used, for instance EADDRINUSE
     * @throws IllegalStateException if the set is closed
     */
    public int listen(final String host, final int port) {
        requireOpen();
        places.begin();
        try {
            final RcListener listener = peer.listen(host, port);
            boolean passed = false;
            try {
                final int taken = port == 0 ? listener.port() : port;
                passed = events.listen(listener);
                if (!passed) {
                    throw new IllegalStateException(closeDescription());
                }
                return taken;
            } finally {
                if (!passed) {
                    listener.close();
                }
            }
        } finally {
            places.onEnded();
        }
    }

    /**
     * Connects with the default time-out.
     *
     * @param host address of the peer
     * @param port of the peer
     * @return as {@link #connect(String, int, long)}
     * @throws ConnectException as {@link #connect(String, int, long)}
     */
    public MessageConnection connect(final String host, final int port) throws ConnectException {
        return connect(host, port, connectTimeoutNs);
    }

    /**
     * Connects to a peer and waits until {@link ConnectionListener#onConnected} has returned. Not in a callback; a thread that
     * invokes agents of the set makes their duty cycles meanwhile.
     *
     * <p>The memory of the connection is allocated and registered before the time-out begins, because nothing can interrupt
     * that; the memory of an ended connection needs no registration. The resolver of the system, which looks up a host that
     * is a name, has time-outs of its own.
     *
     * @param host      address of the peer
     * @param port      of the peer
     * @param timeoutNs time-out of all that follows the registration, in nanoseconds; 0 or less does not wait, which suffices
     *                  for no peer
     * @return the connection
     * @throws ConnectException         if the peer does not answer in time or rejects the request, or the set is closed
     * @throws IllegalStateException    if the set was closed before or has its maximum of connections, if the shared completion
     *                                  queues of all polling threads have failed, or in a callback, a task or the accept filter
     * @throws WaitInterruptedException if the thread is interrupted
     */
    public MessageConnection connect(final String host, final int port, final long timeoutNs) throws ConnectException {
        requireOpen();
        if (end.isInCallback()) {
            throw new IllegalStateException("a callback cannot wait for a connection: connect on another thread");
        }
        final ConnectionPlaces.Place place = takePlace(host, port);
        final Deadline deadline = Deadline.after(timeoutNs);
        final MessageConnection connection = request(host, port, place, deadline);
        events.watch(connection, deadline.leftNs());
        if (pollers.areInvoked()) {
            pollers.makeOwnWorkUntil(connection.established()::isDone, deadline);
        }
        try {
            return connection.established().get(deadline.leftNs(), TimeUnit.NANOSECONDS);
        } catch (final InterruptedException interrupted) {
            connection.requestEnd(DisconnectReason.CLOSED, "the connect was interrupted");
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("connecting to " + host + ":" + port);
        } catch (final ExecutionException failed) {
            throw failed(host, port, failed.getCause());
        } catch (final TimeoutException late) {
            connection.requestEnd(DisconnectReason.CLOSED, "not established in time");
            throw failed(host, port, new TimeoutException(
                "not established within " + deadline.timeout() + connection.poller().lateness()));
        }
    }

    private ConnectionPlaces.Place takePlace(final String host, final int port) throws ConnectException {
        try {
            return places.take();
        } catch (final RdmaException failed) {
            throw failed(host, port, failed);
        }
    }

    private MessageConnection request(
        final String host, final int port, final ConnectionPlaces.Place place, final Deadline deadline) throws ConnectException {
        // In this order: the request is closed before its memory is given back.
        try (place; RcRequest request = peer.request(host, port,
            pollers.leastLoaded().config(sizes.config(resolutionMs(deadline.leftNs()))))) {
            return connect(request, place, null);
        } catch (final RdmaException failed) {
            throw failed(host, port, failed);
        }
    }

    /** Time-out of one step of the resolution, so that all steps are within a time. */
    static int resolutionMs(final long leftNs) {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(leftNs) / RESOLUTIONS, 1, Integer.MAX_VALUE);
    }

    private ConnectException failed(final String host, final int port, final Throwable cause) {
        final boolean namesLimit = Device.current().kind() == DeviceKind.LOOPBACK && !isClosed();
        final ConnectException exception = new ConnectException("cannot connect to " + host + ":" + port +
            (cause.getMessage() == null ? "" : ": " + cause.getMessage()) +
            (namesLimit ? "; the loopback device connects processes of one user on one machine" : ""));
        exception.initCause(cause);
        return exception;
    }

    /**
     * Number of connections, including those that are being established or ended.
     *
     * @return a snapshot
     */
    public int connections() {
        return places.connections();
    }

    /**
     * Number of requests without a connection: rejected for too many connections, by the filter, or because the peer is not of
     * this protocol or does not suffice; or accepted and not established in {@link ConnectionSetBuilder#acceptTimeoutNs}. The
     * first, second, fourth one and so on are logged with their reasons.
     *
     * @return requests so far
     */
    public long rejectedRequests() {
        return rejectedRequests.get();
    }

    /**
     * Number of exceptions that the listener and tasks have thrown.
     *
     * @return exceptions so far
     */
    public long listenerExceptions() {
        return failures.count();
    }

    /**
     * The pipelines of the polling threads, for monitoring. They take no queues but those of the connections, and are closed with
     * the set. When one of them is closed before or halts, the set closes itself within about a second: the connections of this
     * pipeline end with {@link DisconnectReason#FAILED}, the others in order. The thread that closes such a pipeline delivers the
     * messages that are left in its queues.
     *
     * @return by index
     */
    public List<Pipeline> pipelines() {
        return pipelines.pipelines();
    }

    /**
     * The pollers as agents, see {@link ConnectionSetBuilder#asAgent()}. The close of an agent closes the whole set, as {@link
     * #close()} does, on the calling thread.
     *
     * @return one for each poller, by index; always the same
     * @throws IllegalStateException if the set has polling threads
     */
    public List<Agent> agents() {
        if (agents.isEmpty()) {
            throw new IllegalStateException(
                name + " has polling threads: asAgent() of its builder makes the pollers agents");
        }
        return agents;
    }

    /**
     * Whether the close has begun, by a call, at JVM shutdown, or because a pipeline has ended.
     *
     * @return false until then
     */
    public boolean isClosed() {
        return end.hasBegun();
    }

    /**
     * Waits until the set is closed, by another thread or at JVM shutdown. A thread that invokes agents of the set makes their
     * duty cycles meanwhile.
     *
     * @throws WaitInterruptedException if the thread is interrupted
     * @throws IllegalStateException    in a callback, a task or the accept filter, for which the close would wait
     */
    public void awaitClose() {
        end.await();
    }

    /** Closes with a time-out of 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(SetEnd.DEFAULT_CLOSE_NS);
    }

    /**
     * Accepts no more connections, closes all, calls {@link ConnectionListener#onDisconnected} for each, ends the threads and
     * releases the memory. Claims and retained messages remain valid until they are given back. A call by a callback or the
     * accept filter starts the close on another thread and returns. Idempotent: further calls wait for the first one. A close
     * that has not released everything in time is continued by a daemon thread, until a callback that does not return has
     * returned. An interrupt does not end the wait, and the interrupt flag is restored.
     *
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less begins the close, as with the time-out of {@link
     *                  #close()}, and does not wait. At the time-out the polling threads end, and connections that have not ended
     *                  in order end without. If all callbacks have returned in time, the release of the rest may take two seconds
     *                  longer
     * @return true if everything has been released, by any call; false if it has not in time, for instance because a
     *     callback does not return: its thread and the memory of its connections remain until then
     */
    public boolean close(final long timeoutNs) {
        return end.begin(timeoutNs);
    }

    /** Closes the set if a pipeline has ended before it; event thread. */
    void closeIfUnpolled() {
        final ConnectionPoller ended = pollers.ended();
        if (ended != null) {
            end.beginBecause(ended.pipelineEnd());
        }
    }

    /** Makes a connection from a request, if there is a place for it; the peer's hello is null if this side has requested it. */
    MessageConnection make(final RcRequest request, final Hello peers) {
        try (ConnectionPlaces.Place place = places.take()) {
            return connect(request, place, peers);
        }
    }

    private MessageConnection connect(final RcRequest request, final ConnectionPlaces.Place place, final Hello peers) {
        final ConnectionPoller poller = pollers.of(request);
        final ExpectedConnection expected = poller.expect(request);
        place.usePoller(poller);
        boolean made = false;
        try {
            place.buffers().postReceives(request, ExpectedConnection.beginOf(expected));
            final MessageConnection result = make(request.connect(hello.encode()), place, peers, poller, expected);
            made = true;
            return result;
        } finally {
            if (!made) {
                poller.forget(expected);
            }
        }
    }

    private MessageConnection make(final RcConnection connection, final ConnectionPlaces.Place place, final Hello peers,
        final ConnectionPoller poller, final ExpectedConnection expected) {
        boolean made = false;
        try {
            final MessageConnection result = new MessageConnection(
                poller, connection, place.buffers(), layout, sizes.operations(), expected, listener);
            if (peers != null) {
                result.greet(hello, peers);
            }
            poller.connections().incrementAndGet();
            made = true;
            return result;
        } finally {
            final MessageBuffers taken = place.pass();
            if (!made) {
                // The device may use the memory until the queue pair is closed.
                events.discard(connection, () -> poller.whenDrained(() -> places.leave(taken)));
            }
        }
    }

    /** Describes why no connection can be made: the close, also that by the end of the JVM or of a pipeline. */
    String closeDescription() {
        return end.description();
    }

    private void requireOpen() {
        if (isClosed()) {
            throw new IllegalStateException(closeDescription());
        }
        final ConnectionPoller ended = pollers.ended();
        if (ended != null) {
            throw new IllegalStateException(name + " is closing: " + ended.pipelineEnd());
        }
    }

    ConnectionPollers pollers() {
        return pollers;
    }

    RcConfig connectionConfig() {
        return pollers.leastLoaded().config(
            sizes.config(Math.clamp(TimeUnit.NANOSECONDS.toMillis(acceptTimeoutNs), 1, Integer.MAX_VALUE)));
    }

    String name() {
        return name;
    }

    ConnectionListener listener() {
        return listener;
    }

    ConnectionSizes sizes() {
        return sizes;
    }

    long acceptTimeoutNs() {
        return acceptTimeoutNs;
    }

    long keepaliveNs() {
        return keepaliveNs;
    }

    Hello hello() {
        return hello;
    }

    Admission admission() {
        return admission;
    }

    ConnectionEvents events() {
        return events;
    }

    /** The queue pair of a connection is closed, and its place is free. */
    void onReleased(final MessageConnection connection) {
        connection.poller().connections().decrementAndGet();
        places.leave();
    }

    ConnectionPlaces places() {
        return places;
    }

    SetEnd end() {
        return end;
    }

    void onRejected(final Exception reason) {
        final long times = rejectedRequests.incrementAndGet();
        // Peers repeat requests at will: the 1st, 2nd, 4th one and so on.
        LOG.log(Long.bitCount(times) == 1 ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
            "{0}: rejected a request ({1} so far): {2}", name, times, reason.getMessage());
    }

    void onListenerException(final Throwable failure) {
        failures.onListenerException(failure);
    }

    /** An exception on the thread of connection events. */
    void onDefect(final Throwable failure) {
        failures.logFirst("a connection event has failed", failure);
    }
}
