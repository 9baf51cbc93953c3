package io.ringpoll.poller;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * The bounded queue by which other threads tell the poller what to do between two duty cycles.
 *
 * <p>Any thread submits; the polling thread takes with one load a duty cycle while there is nothing, and never with a lock.
 * What the polling thread itself submits, for a handler that runs on it, is executed at once. While no poller runs, a command is
 * executed at once by the thread that submits it: what it changes is then guarded by the lock, which the poller takes once when
 * it starts and once when it ends.
 */
final class CommandQueue {
    static final int CAPACITY = 256;

    private static final long PARK_NS = 50_000;
    private static final Runnable NO_WAKE_UP = () -> { };

    private final ManyToOneConcurrentArrayQueue<PollerCommand> queue = new ManyToOneConcurrentArrayQueue<>(CAPACITY);
    private final Object lock = new Object();
    private volatile Runnable wakeUp = NO_WAKE_UP;
    private volatile boolean stopping;
    /** The polling thread while it runs, else null; guarded by the lock. */
    private Thread owner;

    /** Sets what ends the poller's sleep; before the poller starts. */
    void wakeUpBy(final Runnable action) {
        wakeUp = action;
    }

    /** Lets the poller sleep no more, since it is to end; any thread. */
    void stopSleeping() {
        stopping = true;
        wakeUp.run();
    }

    /** Whether the poller must not go to sleep now; polling thread only. */
    boolean isWakeUpDue() {
        return stopping || hasPending();
    }

    /**
     * Hands a command over; any thread.
     *
     * @param command    executed once, in the order of submission
     * @param deadlineNs by {@link System#nanoTime()}, for room in the queue
     * @throws TimeoutException if the queue stays full: the poller makes no duty cycle
     */
    void submit(final PollerCommand command, final long deadlineNs) throws TimeoutException {
        final long startNs = System.nanoTime();
        while (!offer(command)) {
            if (System.nanoTime() - deadlineNs >= 0) {
                throw new TimeoutException("the poller took no command for " +
                    TimeUnit.NANOSECONDS.toMillis(deadlineNs - startNs) + " ms and " + CAPACITY + " are waiting");
            }
            LockSupport.parkNanos(PARK_NS);
        }
    }

    /** Whether a command waits for the poller; a moment's value. */
    boolean hasPending() {
        return !queue.isEmpty();
    }

    /** Executes what has come; polling thread only. */
    void executePending() {
        PollerCommand command = queue.poll();
        while (command != null) {
            command.execute();
            command = queue.poll();
        }
    }

    /** From here on commands are those of the given polling thread. */
    void onStart(final Thread pollingThread) {
        synchronized (lock) {
            owner = pollingThread;
        }
    }

    /** Executes what is left; from here on commands are executed by those who submit them. Polling thread only. */
    void onClose() {
        synchronized (lock) {
            owner = null;
            executePending();
        }
    }

    /**
     * Does something with what the poller owns; any thread.
     *
     * @throws IllegalStateException if the poller runs
     */
    void guarded(final Runnable action) {
        synchronized (lock) {
            if (owner != null) {
                throw new IllegalStateException("the poller runs");
            }
            action.run();
        }
    }

    private boolean offer(final PollerCommand command) {
        synchronized (lock) {
            if (owner == null || owner == Thread.currentThread()) {
                command.execute();
                return true;
            }
            if (!queue.offer(command)) {
                return false;
            }
        }
        wakeUp.run();
        return true;
    }
}
