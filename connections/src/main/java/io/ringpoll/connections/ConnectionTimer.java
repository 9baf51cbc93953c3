package io.ringpoll.connections;

import java.util.concurrent.TimeUnit;

/**
 * A task that the polling thread of a connection executes once after a delay, for instance a heartbeat, the time-out of an
 * answer, or a flush: prepared once by {@link MessageConnection#newTimer}, and scheduled again and again without allocation.
 *
 * <p>Belongs to the polling thread of its connection: the methods are refused on other threads, which call {@link
 * MessageConnection#execute}. The task runs between two rounds of polls, never within a callback, and not before its time. It is
 * late by the callbacks and tasks under way, by a few rounds of polls, and by a park of the idle strategy; an event-driven poller
 * is woken up to a millisecond late. A paused pipeline executes timers, too. Nothing is polled while a task runs, so it must not
 * block.
 *
 * <p>A connection that ends or is closed has no timers: no task starts after that.
 */
public final class ConnectionTimer {
    /** No place: it is not scheduled. */
    static final int NONE = -1;
    /** A longer one would be taken for a time in the past. */
    private static final long LONGEST_NS = TimeUnit.DAYS.toNanos(36_500);

    private final MessageConnection connection;
    private final Runnable task;
    /** Polling thread, as the next: those of {@link ConnectionTimers}. */
    long dueNs;
    int place = NONE;
    /** The scheduled timers of the connection before and after this one; the end of the connection removes them all. */
    private ConnectionTimer previous;
    private ConnectionTimer next;

    ConnectionTimer(final MessageConnection connection, final Runnable task) {
        this.connection = connection;
        this.task = task;
    }

    /**
     * Schedules the task for one execution, instead of an earlier call that has not led to one yet. The task may schedule its
     * timer again.
     *
     * @param delayNs time from now in nanoseconds; 0 or less executes the task after this callback or task has returned; at most
     *     100 years
     * @return true if it will be executed, unless the connection ends before; false if the connection is not connected
     * @throws IllegalStateException before the end of the set on another thread than the polling thread
     */
    public boolean schedule(final long delayNs) {
        connection.requireOwner();
        if (!connection.isConnected()) {
            return false;
        }
        connection.poller().timers().schedule(this, System.nanoTime() + Math.clamp(delayNs, 0, LONGEST_NS));
        return true;
    }

    /**
     * Cancels the scheduled execution.
     *
     * @return true if the task will not be executed; false if it was not scheduled
     * @throws IllegalStateException before the end of the set on another thread than the polling thread
     */
    public boolean cancel() {
        final boolean wasScheduled = isScheduled();
        if (wasScheduled) {
            connection.poller().timers().remove(this);
        }
        return wasScheduled;
    }

    /**
     * Whether the task is to be executed.
     *
     * @return false before {@link #schedule}, in the task itself and afterwards
     * @throws IllegalStateException before the end of the set on another thread than the polling thread
     */
    public boolean isScheduled() {
        connection.requireOwner();
        return place != NONE;
    }

    /** Adds this timer to the scheduled ones of its connection. */
    void link() {
        next = connection.scheduled;
        if (next != null) {
            next.previous = this;
        }
        connection.scheduled = this;
    }

    /** Removes this timer from the scheduled ones of its connection. */
    void unlink() {
        if (previous == null) {
            connection.scheduled = next;
        } else {
            previous.next = next;
        }
        if (next != null) {
            next.previous = previous;
        }
        previous = null;
        next = null;
    }

    /** Executes the task, if the connection has not begun to end; polling thread. */
    void run() {
        if (connection.isConnected()) {
            try {
                task.run();
            } catch (final Throwable failure) {
                connection.poller().onListenerException(failure);
            }
        }
    }
}
