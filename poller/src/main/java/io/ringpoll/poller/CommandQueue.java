package io.ringpoll.poller;

import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * The bounded queue by which other threads reach the poller between two duty cycles, and the poller's life: its thread, its end.
 *
 * <p>Any thread submits; the polling thread takes with one load a duty cycle while there is nothing, and never with a lock.
 * A command of the polling thread itself, for a handler that runs on it, is executed at once. While no thread runs the poller, a
 * command is executed at once by the thread that submits it: what it changes is then guarded by the lock, which the poller takes
 * once when it starts and once when it ends.
 */
final class CommandQueue {
    static final int CAPACITY = 256;

    private static final Runnable NO_WAKE_UP = () -> { };

    private final ManyToOneConcurrentArrayQueue<PollerCommand> queue = new ManyToOneConcurrentArrayQueue<>(CAPACITY);
    private final Object lock = new Object();
    private volatile Runnable wakeUp = NO_WAKE_UP;
    /** One of NEW, RUNNING, STOPPING and ENDED; written under the lock. */
    private volatile PollerState phase = PollerState.NEW;
    /** The polling thread between its start and its end, else null; guarded by the lock. */
    private Thread owner;

    /** Sets what ends the poller's sleep; before the poller starts. */
    void wakeUpBy(final Runnable action) {
        wakeUp = action;
    }

    /**
     * The phase of the poller's life; any thread.
     *
     * @return NEW, RUNNING, STOPPING or ENDED
     */
    PollerState phase() {
        return phase;
    }

    /** Announces the end of the poller, which sleeps no more; any thread. */
    void stop() {
        synchronized (lock) {
            if (phase != PollerState.ENDED) {
                phase = PollerState.STOPPING;
            }
        }
        wakeUp.run();
    }

    /** Whether the poller must not go to sleep now; polling thread only. */
    boolean isWakeUpDue() {
        return phase == PollerState.STOPPING || hasPending();
    }

    /**
     * Hands a command over; any thread. A command that is queued already is not queued again.
     *
     * @param command    executed in the order of submission
     * @param deadlineNs by {@link System#nanoTime()}, for room in the queue
     * @throws TimeoutException if the queue stays full: the poller makes no duty cycle
     */
    void submit(final PollerCommand command, final long deadlineNs) throws TimeoutException {
        submit(command, deadlineNs, false);
    }

    /**
     * Hands a command over as {@link #submit} does, unless the poller has been stopped or has ended.
     *
     * @param command    as for {@link #submit}
     * @param deadlineNs as for {@link #submit}
     * @throws TimeoutException      as {@link #submit}
     * @throws IllegalStateException if the poller is stopping or has ended, now or while this waits for room
     */
    void submitBeforeStop(final PollerCommand command, final long deadlineNs) throws TimeoutException {
        submit(command, deadlineNs, true);
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

    /**
     * From here on commands are those of the given polling thread.
     *
     * @throws IllegalStateException if the poller has started before, or has ended
     */
    void onStart(final Thread pollingThread) {
        synchronized (lock) {
            if (owner != null || phase == PollerState.ENDED) {
                throw new IllegalStateException("the poller " + phase.predicate());
            }
            owner = pollingThread;
            if (phase == PollerState.NEW) {
                phase = PollerState.RUNNING;
            }
        }
    }

    /** Executes what is left; from here on commands are executed by those who submit them. Polling thread only. */
    void onClose() {
        synchronized (lock) {
            owner = null;
            phase = PollerState.ENDED;
            executePending();
        }
    }

    /** Whether the calling thread is the one that runs the poller. */
    boolean isPollingThread() {
        synchronized (lock) {
            return owner == Thread.currentThread();
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

    private void submit(final PollerCommand command, final long deadlineNs, final boolean beforeStop) throws TimeoutException {
        try (BoundedWait wait = new BoundedWait(deadlineNs)) {
            while (!offer(command, beforeStop)) {
                if (wait.isOver()) {
                    throw new TimeoutException(
                        "the poller took no command for " + wait.boundMs() + " ms and " + CAPACITY + " are waiting");
                }
                wait.park();
            }
        }
    }

    private boolean offer(final PollerCommand command, final boolean beforeStop) {
        synchronized (lock) {
            if (beforeStop && (phase == PollerState.STOPPING || phase == PollerState.ENDED)) {
                throw new IllegalStateException("the poller " + phase.predicate());
            }
            if (owner == null || owner == Thread.currentThread()) {
                command.execute();
                return true;
            }
            if (!command.queued && !queue.offer(command)) {
                return false;
            }
            command.queued = true;
        }
        wakeUp.run();
        return true;
    }
}
