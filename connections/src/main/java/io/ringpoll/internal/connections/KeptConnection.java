package io.ringpoll.internal.connections;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.rc.RcConnection;

/**
 * A connection with its phase, and the deadline of the phase. Belongs to the thread of its {@link ConnectionEventLoop}, which
 * shows the transitions.
 *
 * @param <C> its protocol's class of connections
 */
public final class KeptConnection<C> {
    private final C owner;
    private final RcConnection connection;
    private Phase phase = Phase.CONNECTING;
    private long deadlineNs;
    private boolean established;
    private boolean disconnected;
    private boolean releasing;
    private boolean retried;

    /** The phase of a connection. */
    public enum Phase {
        /** Waits for the event that it is established. */
        CONNECTING,
        /** Was established; its protocol decides what it has to do until the deadline. */
        ESTABLISHED,
        /** This side ends it, and is not disconnected yet: last messages are exchanged. */
        ENDING,
        /** This side has disconnected; waits for the peer, or for the last completions. */
        DISCONNECTING,
        /** The queue pair is closed. */
        RELEASED
    }

    KeptConnection(final C owner, final RcConnection connection, final long timeoutNs) {
        this.owner = owner;
        this.connection = connection;
        enter(Phase.CONNECTING, timeoutNs);
    }

    /**
     * Begins a phase, or sets its deadline again.
     *
     * @param next      phase
     * @param timeoutNs until its deadline; 0 or less for a deadline that is over
     */
    public void enter(final Phase next, final long timeoutNs) {
        phase = next;
        established |= next == Phase.ESTABLISHED;
        deadlineNs = Deadline.after(timeoutNs).atNs();
    }

    /**
     * The connection of the protocol.
     *
     * @return never null
     */
    public C owner() {
        return owner;
    }

    /**
     * The phase.
     *
     * @return the current one
     */
    public Phase phase() {
        return phase;
    }

    /**
     * Whether it has been established, also if it is not any more.
     *
     * @return true from the phase {@link Phase#ESTABLISHED} on
     */
    public boolean wasEstablished() {
        return established;
    }

    /**
     * Whether the deadline of the phase is over.
     *
     * @param nowNs on the clock of {@link System#nanoTime()}
     * @return true from the deadline on
     */
    public boolean isOverdue(final long nowNs) {
        return nowNs - deadlineNs >= 0;
    }

    /** Whether the event that it is established still counts. */
    boolean isAwaited() {
        return phase == Phase.CONNECTING || phase == Phase.ENDING && !established;
    }

    /** Begins the close of the queue pair, which may take several attempts; true if this is the first one. */
    boolean beginRelease() {
        final boolean first = !releasing;
        releasing = true;
        enter(Phase.DISCONNECTING, 0);
        return first;
    }

    /** Whether the queue pair is to be closed, or is closed. */
    boolean isReleasing() {
        return releasing;
    }

    /** True at the first call. */
    boolean isFirstRetry() {
        final boolean first = !retried;
        retried = true;
        return first;
    }

    RcConnection connection() {
        return connection;
    }

    /** Sends a disconnect, once; false if there was none to send. */
    boolean disconnect() {
        if (disconnected) {
            return false;
        }
        disconnected = true;
        try {
            connection.disconnect();
            return true;
        } catch (final RuntimeException gone) {
            // Not connected, or no longer.
            return false;
        }
    }
}
