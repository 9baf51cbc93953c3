package io.ringpoll.connections;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceException;
import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.pipeline.PipelineState;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaException;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * A set of message connections: accepts and requests them, polls them on one or several threads, and ends them.
 *
 * <p>A set has a thread for connection events, and polling threads that run the {@link ConnectionListener}. Each connection gets
 * registered buffers and receives before it is established, credits that keep a message from finding no receive, and one end,
 * whatever the reason: its last completions are handled, its queue leaves the poller, its queue pair is closed, {@link
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
    private static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long ADOPTION_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int PAUSE_MS = 1;

    private final ConnectionSetBuilder config;
    private final ConnectionSizes sizes;
    private final Hello hello;
    private final Peer peer;
    private final ConnectionPoller[] pollers;
    private final PipelineGroup pipelines;
    private final ConnectionEvents events;
    private final Thread shutdownHook;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicLong rejectedRequests = new AtomicLong();
    private final AtomicLong listenerExceptions = new AtomicLong();
    private volatile boolean releasedAll;

    /** Guarded by itself, as are the count of connections and the release of memory. */
    private final ArrayDeque<MessageBuffers> spareMemory = new ArrayDeque<>();
    private int connections;
    /** Number of buffers in use, including those of ended connections with retained messages. */
    private int lent;
    private volatile boolean memoryReleased;

    ConnectionSet(final ConnectionSetBuilder config) {
        this.config = config;
        sizes = config.sizes();
        hello = new Hello(sizes.window(), sizes.maxMessageBytes(), config.privateData);
        events = new ConnectionEvents(this, config.name + "-events");
        peer = openPeer();
        pollers = IntStream.range(0, config.pollers)
            .mapToObj(i -> new ConnectionPoller(this)).toArray(ConnectionPoller[]::new);
        shutdownHook = new Thread(() -> close(config.shutdownTimeoutNs), config.name + "-shutdown");
        pipelines = startPipelines();
        events.start();
        if (config.shutdownTimeoutNs > 0) {
            addShutdownHook();
        }
    }

    private Peer openPeer() {
        boolean opened = false;
        try {
            final Peer device = config.peer != null ? config.peer : Peer.ofLocal(localAddress(config));
            opened = true;
            return device;
        } finally {
            if (!opened) {
                events.stop(0);
            }
        }
    }

    private void addShutdownHook() {
        try {
            Runtime.getRuntime().addShutdownHook(shutdownHook);
        } catch (final IllegalStateException shuttingDown) {
            close();
            throw shuttingDown;
        }
    }

    private PipelineGroup startPipelines() {
        PipelineGroup started = null;
        boolean complete = false;
        try {
            started = PipelineGroup.start(pollers.length, this::describe);
            for (int i = 0; i < pollers.length; i++) {
                pollers[i].begin(started.pipelines().get(i));
            }
            complete = true;
            return started;
        } finally {
            if (!complete) {
                if (started != null) {
                    started.close();
                }
                events.stop(0);
                releaseMemory();
            }
        }
    }

    private PipelineBuilder describe(final int index) {
        return config.newPipeline(index).runToCompletion().shutdownTimeout(0).onAll(pollers[index]);
    }

    private static String localAddress(final ConnectionSetBuilder config) {
        return config.address != null ? config.address : Device.current().address().host();
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
     * @throws RpmaException         as {@link Peer#listen}
     * @throws IllegalStateException if the set is closed, or it has a peer and no address
     */
    public int listen(final int port) {
        return listen(localAddress(config), port);
    }

    /**
     * Listens for connections; may be called several times.
     *
     * @param host address of this machine, on the device of the set
     * @param port 1 to 65535, or 0 for any free port
     * @return the port
     * @throws RpmaException         as {@link Peer#listen}
     * @throws IllegalStateException if the set is closed
     */
    public int listen(final String host, final int port) {
        requireOpen();
        final Endpoint endpoint = peer.listen(host, Integer.toString(port));
        final int taken = port == 0 ? endpoint.port() : port;
        events.listen(endpoint);
        return taken;
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
        return connect(host, port, config.connectTimeoutNs);
    }

    /**
     * Connects to a peer and waits until {@link ConnectionListener#onConnected} has returned. Not on a polling thread.
     *
     * @param host      address of the peer
     * @param port      of the peer
     * @param timeoutNs in nanoseconds, at least 1 ms
     * @return the connection
     * @throws ConnectException         if the peer does not answer in time or rejects the request
     * @throws IllegalStateException    if the set is closed or has its maximum of connections, or on a polling thread
     * @throws WaitInterruptedException if the thread is interrupted
     */
    public MessageConnection connect(final String host, final int port, final long timeoutNs) throws ConnectException {
        requireOpen();
        for (final ConnectionPoller poller : pollers) {
            if (poller.isPollingThread()) {
                throw new IllegalStateException("a polling thread cannot wait for a connection: connect on another thread");
            }
        }
        final long deadlineNs = System.nanoTime() + timeoutNs;
        final MessageConnection connection;
        final int timeoutMs = (int) Math.min(Integer.MAX_VALUE, Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNs)));
        try (ConnectionConfig queues = sizes.newConfig(timeoutMs);
            ConnectionRequest request = peer.request(host, Integer.toString(port), queues)) {
            connection = make(request, null);
        } catch (final RpmaException failed) {
            throw failed(host, port, failed);
        }
        events.watch(connection, timeoutNs);
        try {
            return connection.established().get(Math.max(1, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (final InterruptedException interrupted) {
            connection.requestEnd(DisconnectReason.CLOSED, "the connect was interrupted");
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("connecting to " + host + ":" + port);
        } catch (final ExecutionException failed) {
            throw failed(host, port, failed.getCause());
        } catch (final TimeoutException late) {
            connection.requestEnd(DisconnectReason.CLOSED, "not established in time");
            throw failed(host, port, late);
        }
    }

    private static ConnectException failed(final String host, final int port, final Throwable cause) {
        final ConnectException exception = new ConnectException("cannot connect to " + host + ":" + port +
            (cause.getMessage() == null ? "" : ": " + cause.getMessage()));
        exception.initCause(cause);
        return exception;
    }

    /**
     * Number of connections, including those that are being established or ended.
     *
     * @return a snapshot
     */
    public int connections() {
        synchronized (spareMemory) {
            return connections;
        }
    }

    /**
     * Number of rejected requests: too many connections, or a peer that is not of this protocol.
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
        return listenerExceptions.get();
    }

    /**
     * The pipelines of the polling threads, for monitoring. They are closed with the set.
     *
     * @return by index
     */
    public List<Pipeline> pipelines() {
        return pipelines.pipelines();
    }

    /**
     * Whether the close has begun.
     *
     * @return false until then
     */
    public boolean isClosed() {
        return closing.get();
    }

    /**
     * Waits until the set is closed, by another thread or at JVM shutdown.
     *
     * @throws WaitInterruptedException if the thread is interrupted
     */
    public void awaitClose() {
        try {
            closed.await();
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new WaitInterruptedException("waiting for the close of " + config.name);
        }
    }

    /** Closes with a time-out of 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_NS);
    }

    /**
     * Accepts no more connections, closes all, calls {@link ConnectionListener#onDisconnected} for each, ends the threads and
     * releases the memory. A call by a callback starts the close on another thread and returns. Idempotent: further calls wait
     * for the first one.
     *
     * @param timeoutNs time-out of the whole call, in nanoseconds
     * @return true if everything has been released; false if a callback does not return: its thread and the memory of its
     *     connections remain
     */
    public boolean close(final long timeoutNs) {
        final boolean first = closing.compareAndSet(false, true);
        for (final ConnectionPoller poller : pollers) {
            if (poller.isPollingThread()) {
                if (first) {
                    Thread.ofPlatform().daemon().name(config.name + "-closer").start(() -> end(timeoutNs));
                }
                return false;
            }
        }
        if (first) {
            end(timeoutNs);
        } else {
            await(timeoutNs);
        }
        return releasedAll;
    }

    private void await(final long timeoutNs) {
        boolean interrupted = false;
        final long deadlineNs = System.nanoTime() + timeoutNs;
        while (closed.getCount() > 0 && deadlineNs - System.nanoTime() > 0) {
            try {
                closed.await(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (final InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void end(final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        try {
            events.endAll();
            awaitNoConnections(deadlineNs);
            pipelines.close(Math.max(0, deadlineNs - System.nanoTime()));
            boolean polling = false;
            for (final ConnectionPoller poller : pollers) {
                polling |= poller.isAlive();
            }
            if (!polling) {
                adopt();
            }
            final boolean stopped = events.stop(ADOPTION_NS);
            releasedAll = !polling && stopped && connections() == 0;
            if (releasedAll) {
                releaseMemory();
            } else {
                LOG.log(System.Logger.Level.WARNING, "{0}: a callback does not return; {1} connections are not released",
                    config.name, connections());
            }
        } finally {
            try {
                Runtime.getRuntime().removeShutdownHook(shutdownHook);
            } catch (final IllegalStateException shuttingDown) {
                // The hook runs, or will return immediately.
            }
            closed.countDown();
        }
    }

    /** Does what the polling threads have not done before their end. */
    private void adopt() {
        final long deadlineNs = System.nanoTime() + ADOPTION_NS;
        if (connections() > 0) {
            events.abandonAll();
        }
        do {
            for (final ConnectionPoller poller : pollers) {
                poller.adopt();
            }
        } while (!pause(deadlineNs, connections() == 0));
        for (final ConnectionPoller poller : pollers) {
            poller.adopt();
        }
    }

    private void awaitNoConnections(final long deadlineNs) {
        while (!pause(deadlineNs, connections() == 0)) {
            if (pipelines.state() != PipelineState.RUNNING) {
                return;
            }
        }
    }

    /** Returns true if the wait is over. */
    private static boolean pause(final long deadlineNs, final boolean isOver) {
        if (isOver || deadlineNs - System.nanoTime() <= 0) {
            return true;
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MS));
        return false;
    }

    /** Makes a connection from a request, for which there is a place; the peer's hello is null if this side has requested it. */
    MessageConnection make(final ConnectionRequest request, final Hello peers) {
        final MessageBuffers memory = takeMemory();
        boolean made = false;
        try {
            memory.postReceives(request);
            final MessageConnection connection = connect(request, memory);
            if (peers != null) {
                connection.greet(hello, peers);
            }
            made = true;
            return connection;
        } finally {
            if (!made) {
                leave();
                giveMemoryBack(memory);
            }
        }
    }

    private MessageConnection connect(final ConnectionRequest request, final MessageBuffers memory) {
        final Connection connection = request.connect(hello.encode());
        try {
            final ConnectionPoller poller = leastLoaded();
            final MessageConnection made = new MessageConnection(poller, connection, memory, sizes, config.listener);
            poller.connections().incrementAndGet();
            return made;
        } catch (final RuntimeException | Error failure) {
            connection.close();
            throw failure;
        }
    }

    private ConnectionPoller leastLoaded() {
        ConnectionPoller least = pollers[0];
        for (final ConnectionPoller poller : pollers) {
            if (poller.connections().get() < least.connections().get()) {
                least = poller;
            }
        }
        return least;
    }

    private MessageBuffers takeMemory() {
        synchronized (spareMemory) {
            if (isClosed() || connections == config.maxConnections) {
                throw new IllegalStateException(isClosed() ? config.name + " is closed" :
                    config.name + " has its maximum of " + connections + " connections");
            }
            connections++;
            lent++;
            if (!spareMemory.isEmpty()) {
                return spareMemory.pollLast();
            }
        }
        boolean allocated = false;
        try {
            final MessageBuffers memory = new MessageBuffers(peer, sizes);
            allocated = true;
            return memory;
        } finally {
            if (!allocated) {
                synchronized (spareMemory) {
                    connections--;
                    lent--;
                }
            }
        }
    }

    void giveMemoryBack(final MessageBuffers memory) {
        synchronized (spareMemory) {
            lent--;
            spareMemory.addLast(memory);
        }
        if (memoryReleased) {
            releaseMemory();
        }
    }

    /** Releases all memory that is not in use, and then the device. */
    private void releaseMemory() {
        synchronized (spareMemory) {
            memoryReleased = true;
            spareMemory.forEach(MessageBuffers::release);
            spareMemory.clear();
            if (lent == 0 && config.peer == null) {
                peer.close();
            }
        }
    }

    private void leave() {
        synchronized (spareMemory) {
            connections--;
        }
    }

    private void requireOpen() {
        if (isClosed()) {
            throw new IllegalStateException(config.name + " is closed");
        }
    }

    /** Schedules the tasks that a pipeline has refused because too many of others were pending. */
    void scheduleTasks() {
        for (final ConnectionPoller poller : pollers) {
            poller.schedule();
        }
    }

    ConnectionConfig newConnectionConfig() {
        return sizes.newConfig((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(config.acceptTimeoutNs)));
    }

    ConnectionSetBuilder config() {
        return config;
    }

    Hello hello() {
        return hello;
    }

    ConnectionEvents events() {
        return events;
    }

    /** The queue pair of a connection is closed, and its place is free. */
    void onReleased(final MessageConnection connection) {
        connection.poller().connections().decrementAndGet();
        leave();
    }

    void onRejected(final Exception reason) {
        rejectedRequests.incrementAndGet();
        LOG.log(System.Logger.Level.DEBUG, "{0}: a request was rejected: {1}", config.name, reason.getMessage());
    }

    void onListenerException(final Throwable failure) {
        listenerExceptions.incrementAndGet();
        if (config.errorHandler == null) {
            LOG.log(System.Logger.Level.WARNING, config.name + ": a callback has thrown", failure);
            return;
        }
        try {
            config.errorHandler.onError(failure);
        } catch (final Throwable again) {
            LOG.log(System.Logger.Level.WARNING, config.name + ": the error handler has thrown", again);
        }
    }

    /** An exception on the thread of connection events. */
    void onDefect(final Throwable failure) {
        LOG.log(System.Logger.Level.WARNING, config.name + ": a connection event has failed", failure);
    }
}
