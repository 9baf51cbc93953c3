package io.ringpoll.internal.poller;

import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * A bounded queue of commands from other threads to the polling thread, and the lifecycle phase of the poller.
 *
 * <p>Any thread submits commands. The polling thread executes them between duty cycles; an empty queue costs it one load and no
 * lock. A command is executed directly if the polling thread itself submits it, or if no thread runs the poller. In the latter
 * case the lock guards the poller's state; the polling thread acquires it once when it starts and once when it ends.
 */
final class CommandQueue {
    static final int CAPACITY = 256;

    private static final Runnable NO_WAKE_UP = () -> { };

    private final ManyToOneConcurrentArrayQueue<PollerCommand> queue = new ManyToOneConcurrentArrayQueue<>(CAPACITY);
    private final Object lock = new Object();
    private volatile Runnable wakeUp = NO_WAKE_UP;
    /** NEW, RUNNING, STOPPING or ENDED; written under the lock. */
    private volatile PollerState phase = PollerState.NEW;
    /** The polling thread while it runs, otherwise null; guarded by the lock. */
    private Thread owner;

    /** Sets the action that ends the poller's sleep; before the poller starts. */
    void onWakeUp(final Runnable action) {
        wakeUp = action;
    }

    /**
     * The lifecycle phase of the poller; any thread.
     *
     * @return NEW, RUNNING, STOPPING or ENDED
     */
    PollerState phase() {
        return phase;
    }

    /** Requests the end of the poller, which no longer sleeps; any thread. */
    void stop() {
        synchronized (lock) {
            if (phase != PollerState.ENDED) {
                phase = PollerState.STOPPING;
            }
        }
        wakeUp.run();
    }

    /** Whether the poller must not sleep now; polling thread only. */
    boolean isWakeUpDue() {
        // Also if a command is being added, which cannot be executed yet.
        return phase == PollerState.STOPPING || !queue.isEmpty();
    }

    /**
     * Submits a command; any thread. A command that is already queued is not queued again.
     *
     * @param command    executed in the order of submission
     * @param deadlineNs for a free place in the queue, on the clock of {@link System#nanoTime()}
     * @throws TimeoutException if the queue stays full because the poller makes no duty cycle
     */
    void submit(final PollerCommand command, final long deadlineNs) throws TimeoutException {
        submit(command, deadlineNs, false);
    }

    /**
     * Submits a command unless the poller is stopping or has ended.
     *
     * @param command    as for {@link #submit}
     * @param deadlineNs as for {@link #submit}
     * @throws TimeoutException      as {@link #submit}
     * @throws IllegalStateException if the poller is stopping or has ended, before the call or during its wait
     */
    void submitBeforeStop(final PollerCommand command, final long deadlineNs) throws TimeoutException {
        submit(command, deadlineNs, true);
    }

    /** Whether a command can be executed; a snapshot. */
    boolean hasPending() {
        return queue.peek() != null;
    }

    /** Executes the pending commands; polling thread only. */
    void executePending() {
        PollerCommand command = queue.poll();
        while (command != null) {
            command.execute();
            command = queue.poll();
        }
    }

    /**
     * Makes the given thread the polling thread, which executes commands from now on.
     *
     * @throws IllegalStateException if the poller has been started before, or has ended
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

    /** Executes the pending commands; later commands are executed by the submitting threads. Polling thread only. */
    void onClose() {
        synchronized (lock) {
            owner = null;
            phase = PollerState.ENDED;
            executePending();
        }
    }

    /** Whether the calling thread is the polling thread. */
    boolean isPollingThread() {
        synchronized (lock) {
            return owner == Thread.currentThread();
        }
    }

    /**
     * Runs an action on the poller's state while no thread runs the poller; any thread.
     *
     * @throws IllegalStateException if the poller is running
     */
    void guarded(final Runnable action) {
        synchronized (lock) {
            if (owner != null) {
                throw new IllegalStateException("the poller is running");
            }
            action.run();
        }
    }

    private void submit(final PollerCommand command, final long deadlineNs, final boolean beforeStop) throws TimeoutException {
        try (BoundedWait wait = new BoundedWait(deadlineNs)) {
            while (!offer(command, beforeStop)) {
                if (wait.isOver()) {
                    throw new TimeoutException(
                        "the poller executed no command for " + wait.boundMs() + " ms and " + CAPACITY + " are pending");
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
