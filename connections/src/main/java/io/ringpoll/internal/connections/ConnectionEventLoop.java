package io.ringpoll.internal.connections;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.connections.KeptConnection.Phase;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.UnknownEventException;
import io.ringpoll.os.DescriptorPoll;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps the connections of a protocol on a thread of its own: accepts requests of peers, handles connection events, ends phases
 * at their deadlines, and closes queue pairs. Other threads submit commands.
 * <pre>
 *   CONNECTING --established--&gt; ESTABLISHED --&gt; ENDING --disconnect--&gt; DISCONNECTING --release--&gt; RELEASED
 *     |  |                         ^   `-----------------disconnect------^  ^                       ^
 *     |  `--&gt; ENDING --established-'                                        |                       |
 *     `----------------------------------disconnect-------------------------'---------release-------'
 * </pre>
 *
 * <p>A connection that was not established is ENDING if the peer may use it already. A protocol extends this class: it decides
 * about requests, and what ends a phase. Its methods are called on the thread.
 *
 * @param <C> the protocol's class of connections
 */
public abstract class ConnectionEventLoop<C> {
    private static final int TICK_MS = 50;
    private static final int IDLE_TICK_MS = 1000;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final DescriptorPoll descriptors = new DescriptorPoll();
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final Map<C, KeptConnection<C>> connections = new IdentityHashMap<>();
    private final List<RcListener> listeners = new ArrayList<>();
    /** Listeners that the thread has not taken yet. Guarded by its own lock, as is the following. */
    private final List<RcListener> added = new ArrayList<>();
    private boolean refusesListeners;
    private final Thread thread;
    private volatile boolean stopped;

    /**
     * Creates the thread.
     *
     * @param threadName its name
     */
    protected ConnectionEventLoop(final String threadName) {
        this(Thread.ofPlatform().daemon().name(threadName).factory());
    }

    /**
     * Creates the thread by a factory.
     *
     * @param threads returns a thread that has not been started
     */
    @SuppressWarnings("this-escape")
    protected ConnectionEventLoop(final ThreadFactory threads) {
        thread = threads.newThread(this::run);
    }

    /** Starts the thread. */
    public final void start() {
        thread.start();
    }

    /**
     * Whether the thread is the calling one.
     *
     * @return false on all other threads
     */
    public final boolean isCurrentThread() {
        return Thread.currentThread() == thread;
    }

    /**
     * Accepts requests of peers.
     *
     * @param listener closed by {@link #closeListeners}, or at the end of the thread
     * @return false if one of these was before: the listener remains the caller's
     */
    public final boolean listen(final RcListener listener) {
        synchronized (added) {
            if (refusesListeners) {
                return false;
            }
            added.add(listener);
        }
        execute(this::takeListeners);
        return true;
    }

    private void takeListeners() {
        final List<RcListener> taken;
        synchronized (added) {
            taken = List.copyOf(added);
            added.clear();
        }
        listeners.addAll(taken);
        taken.forEach(listener -> descriptors.add(listener.eventFd(), () -> accept(listener)));
    }

    /**
     * Ends the thread, started or not, whatever it keeps.
     *
     * @param timeoutNs to wait for its end, in nanoseconds
     * @return false if it has not ended in time
     */
    public final boolean stop(final long timeoutNs) {
        stopped = true;
        descriptors.wakeUp();
        return join(timeoutNs);
    }

    /**
     * Waits for the end of the thread, regardless of interrupts.
     *
     * @param timeoutNs in nanoseconds
     * @return false if it has not ended in time
     */
    protected final boolean join(final long timeoutNs) {
        if (!Deadline.after(timeoutNs).join(thread)) {
            return false;
        }
        if (thread.getState() == Thread.State.NEW) {
            closeListeners();
        }
        descriptors.close();
        return true;
    }

    /**
     * What the thread does now, for a message.
     *
     * @return its stack; empty if it has ended
     */
    protected final StackTraceElement[] stack() {
        return thread.getStackTrace();
    }

    /**
     * Executes a command on the thread; any thread.
     *
     * @param command a failure is passed to {@link #onDefect}
     */
    protected final void execute(final Runnable command) {
        commands.add(command);
        descriptors.wakeUp();
    }

    private void run() {
        while (!stopped && !isComplete()) {
            try {
                descriptors.await(isTimed() ? TICK_MS : IDLE_TICK_MS);
                for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
                    command.run();
                }
                if (isTimed()) {
                    tick();
                }
                onRound();
            } catch (final RuntimeException | Error failure) {
                // Without this thread, no connection would begin or end again. The cause may last.
                onDefect(failure);
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        closeListeners();
    }

    private void tick() {
        final long nowNs = System.nanoTime();
        for (final KeptConnection<C> kept : all()) {
            if (kept.isReleasing()) {
                release(kept);
                continue;
            }
            onTick(kept, nowNs);
            if (kept.phase() != Phase.ESTABLISHED && kept.isOverdue(nowNs)) {
                onDeadline(kept);
            }
        }
    }

    private void accept(final RcListener listener) {
        // The close of an unaccepted request rejects it.
        try (RcRequest request = listener.nextRequest(connectionConfig(), 0).orElse(null)) {
            if (request != null) {
                offer(request);
            }
        } catch (final RdmaException | IllegalStateException | IllegalArgumentException failed) {
            // A peer that no longer waits.
            onRejected(failed);
        }
    }

    /** Before the close of the request: when the peer learns that it was rejected, it has been counted. */
    private void offer(final RcRequest request) {
        try {
            onRequest(request);
        } catch (final IOException | RdmaException | IllegalStateException | IllegalArgumentException rejected) {
            onRejected(rejected);
        }
    }

    /**
     * Keeps a connection that has been requested or accepted.
     *
     * @param owner      the connection of the protocol
     * @param connection its queue pair, closed by {@link #release}
     * @param timeoutNs  to be established, in nanoseconds
     * @return the connection in its first phase
     */
    protected final KeptConnection<C> keep(final C owner, final RcConnection connection, final long timeoutNs) {
        final KeptConnection<C> kept = new KeptConnection<>(owner, connection, timeoutNs);
        connections.put(owner, kept);
        descriptors.add(connection.eventFd(), () -> readEvent(kept));
        return kept;
    }

    /**
     * Finds a kept connection.
     *
     * @param owner the connection of the protocol
     * @return null if it has been released, or never kept
     */
    protected final KeptConnection<C> kept(final C owner) {
        return connections.get(owner);
    }

    /**
     * The connections that are kept now.
     *
     * @return a copy
     */
    protected final List<KeptConnection<C>> all() {
        return List.copyOf(connections.values());
    }

    /**
     * Whether no connection is kept.
     *
     * @return false from {@link #keep} to {@link #release}
     */
    protected final boolean isEmpty() {
        return connections.isEmpty();
    }

    /**
     * Handles the event of a connection that waits to be handled, if there is one. An unknown event, such as that of a changed
     * address of the device, goes to {@link #onDefect}, with the library's text: it says nothing about the connection.
     *
     * @param kept the connection
     */
    protected final void readEvent(final KeptConnection<C> kept) {
        final RcEvent event;
        try {
            event = kept.connection().nextEvent(0).orElse(null);
        } catch (final UnknownEventException other) {
            onDefect(other);
            return;
        } catch (final RdmaException failed) {
            onEventFailure(kept, failed);
            return;
        }
        if (event != null && event != RcEvent.ESTABLISHED) {
            onLost(kept, event);
        } else if (event != null && kept.isAwaited()) {
            onEstablished(kept);
        }
    }

    /**
     * Disconnects from the peer.
     *
     * @param kept      the connection, which begins the phase {@link Phase#DISCONNECTING}
     * @param timeoutNs of the phase, in nanoseconds
     * @return false if it is not connected: there will be no event
     */
    protected final boolean disconnect(final KeptConnection<C> kept, final long timeoutNs) {
        kept.enter(Phase.DISCONNECTING, timeoutNs);
        return kept.disconnect();
    }

    /**
     * Closes the queue pair of a connection that is not polled, disconnected or not; {@link #onReleased} follows. Idempotent.
     * While the queue pair is still used, for instance by a post that has not returned, it stays in the phase {@link
     * Phase#DISCONNECTING} and is closed at a later tick: the device could still write to its memory.
     *
     * @param kept the connection
     */
    protected final void release(final KeptConnection<C> kept) {
        if (kept.phase() == Phase.RELEASED) {
            return;
        }
        kept.disconnect();
        if (kept.beginRelease()) {
            descriptors.remove(kept.connection().eventFd());
        }
        RdmaException failed = null;
        try {
            kept.connection().close();
        } catch (final IllegalStateException used) {
            if (kept.isFirstRetry()) {
                onDefect(used);
            }
            return;
        } catch (final RdmaException lost) {
            // The queue pair is released, too: its place is free, and the device no longer uses its memory.
            failed = lost;
        }
        kept.enter(Phase.RELEASED, 0);
        connections.remove(kept.owner());
        onReleased(kept);
        if (failed != null) {
            throw failed;
        }
    }

    /**
     * Accepts no more requests, and takes no more listeners. Each listener is closed, also if the close of another one fails: its
     * port would stay in use. The end of the thread closes those again whose close has failed.
     */
    protected final void closeListeners() {
        synchronized (added) {
            refusesListeners = true;
            listeners.addAll(added);
            added.clear();
        }
        final List<RcListener> open = List.copyOf(listeners);
        listeners.clear();
        for (final RcListener listener : open) {
            try {
                descriptors.remove(listener.eventFd());
                listener.close();
            } catch (final RuntimeException | Error failure) {
                listeners.add(listener);
                onDefect(failure);
            }
        }
    }

    /**
     * Whether connections have deadlines or other duties, so that the thread must wake up often.
     *
     * @return by default, whether there is one that is not in the phase {@link Phase#ESTABLISHED}
     */
    protected boolean isTimed() {
        for (final KeptConnection<C> kept : connections.values()) {
            if (kept.phase() != Phase.ESTABLISHED) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the thread has nothing to do any more, and ends.
     *
     * @return by default, false until {@link #stop}
     */
    protected boolean isComplete() {
        return false;
    }

    /** Called at least once a second. */
    protected void onRound() {
        // Nothing to do for the connections together.
    }

    /**
     * Called about every 50 ms for each connection, while {@link #isTimed}.
     *
     * @param kept  the connection
     * @param nowNs the time
     */
    protected void onTick(final KeptConnection<C> kept, final long nowNs) {
        // Nothing but the deadline.
    }

    /**
     * The configuration for the next accepted connection.
     *
     * @return its sizes
     */
    protected abstract RcConfig connectionConfig();

    /**
     * Accepts a request and keeps its connection, or leaves it, or throws an exception, which rejects it.
     *
     * @param request closed after the call
     * @throws IOException if the peer violates the protocol
     */
    protected abstract void onRequest(RcRequest request) throws IOException;

    /**
     * A request was rejected, or its peer no longer waits.
     *
     * @param reason the exception
     */
    protected abstract void onRejected(Exception reason);

    /**
     * The connection is established; it begins the phase {@link Phase#ESTABLISHED} here, unless the peer is refused.
     *
     * @param kept in the phase {@link Phase#CONNECTING}, or {@link Phase#ENDING} before it was established
     */
    protected abstract void onEstablished(KeptConnection<C> kept);

    /**
     * The peer has left, or was never there.
     *
     * @param kept  the connection, in any phase
     * @param event one of an end
     */
    protected abstract void onLost(KeptConnection<C> kept, RcEvent event);

    /**
     * The events of a connection cannot be read.
     *
     * @param kept   the connection, in any phase
     * @param failed the failure
     */
    protected abstract void onEventFailure(KeptConnection<C> kept, RdmaException failed);

    /**
     * A phase has not ended in time.
     *
     * @param kept in a phase other than {@link Phase#ESTABLISHED}; called again at the next tick if it has the same deadline
     */
    protected abstract void onDeadline(KeptConnection<C> kept);

    /**
     * The queue pair is closed.
     *
     * @param kept the connection, for the last time
     */
    protected abstract void onReleased(KeptConnection<C> kept);

    /**
     * An exception that belongs to no connection, or is not expected.
     *
     * @param failure the exception
     */
    protected abstract void onDefect(Throwable failure);
}
