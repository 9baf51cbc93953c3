package io.ringpoll.internal.poller;

import io.ringpoll.internal.os.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * A bounded queue of commands and users' tasks from other threads to the polling thread, and the lifecycle phase of the poller.
 *
 * <p>Any thread submits commands and tasks. The polling thread executes them between duty cycles, in the order of submission; an
 * empty queue costs it one load and no lock. A command is executed directly if the polling thread itself submits it, or if no
 * thread runs the poller. In the latter case the lock guards the poller's state; the polling thread acquires it once when it
 * starts and twice when it ends. A task is never executed directly, and each accepted one is executed.
 */
final class CommandQueue {
    static final int CAPACITY = 2048;
    /** Tasks are refused if so many tasks and commands are pending: the other places are for commands. */
    static final int TASK_CAPACITY = 1024;

    private static final Runnable NO_WAKE_UP = () -> { };

    /** Of {@link PollerCommand}s and tasks. */
    private final ManyToOneConcurrentArrayQueue<Runnable> queue = new ManyToOneConcurrentArrayQueue<>(CAPACITY);
    private final Object lock = new Object();
    private volatile Runnable wakeUp = NO_WAKE_UP;
    /** Set before the poller starts. */
    private ErrorHandler taskErrors = error -> { };
    /** Set before the poller starts. */
    private Runnable beforeDirect = () -> { };
    /** NEW, RUNNING, STOPPING or ENDED; written under the lock. */
    private volatile PollerState phase = PollerState.NEW;
    /** The polling thread while it runs, otherwise null; guarded by the lock. */
    private Thread owner;
    /** Whether the poller is ending; guarded by the lock. */
    private boolean refusesTasks;

    /** Sets the action that ends the poller's sleep; before the poller starts. */
    void onWakeUp(final Runnable action) {
        wakeUp = action;
    }

    /** Sets the receiver of exceptions of tasks; before the poller starts. */
    void onTaskError(final ErrorHandler handler) {
        taskErrors = handler;
    }

    /** Sets an action of the polling thread before each command that it submits and executes itself; before the poller starts. */
    void beforeDirect(final Runnable action) {
        beforeDirect = action;
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
     * @param command  executed in the order of submission
     * @param deadline for a free place in the queue
     * @throws TimeoutException if the queue stays full because the poller makes no duty cycle
     */
    void submit(final PollerCommand command, final Deadline deadline) throws TimeoutException {
        submit(command, deadline, false);
    }

    /**
     * Submits a command unless the poller is stopping or has ended.
     *
     * @param command  as for {@link #submit}
     * @param deadline as for {@link #submit}
     * @throws TimeoutException      as {@link #submit}
     * @throws IllegalStateException if the poller is stopping or has ended, before the call or during its wait
     */
    void submitBeforeStop(final PollerCommand command, final Deadline deadline) throws TimeoutException {
        submit(command, deadline, true);
    }

    /**
     * Submits a task; any thread, which does not wait.
     *
     * @param task executed on the polling thread, also if that thread submits it
     * @return true if it will be executed; false if {@link #TASK_CAPACITY} are pending
     * @throws RejectedExecutionException if the poller is stopping or has ended
     */
    boolean execute(final Runnable task) {
        // Under the lock: after the poller's end nobody would execute the task.
        synchronized (lock) {
            if (refusesTasks || phase == PollerState.STOPPING) {
                final PollerState end = phase == PollerState.STOPPING ? phase : PollerState.ENDED;
                throw new RejectedExecutionException("no task can be executed: the poller " + end.predicate());
            }
            if (queue.size() >= TASK_CAPACITY || !queue.offer(task)) {
                return false;
            }
        }
        wakeUp.run();
        return true;
    }

    /** Whether a command or task can be executed; a snapshot. */
    boolean hasPending() {
        return queue.peek() != null;
    }

    /** Executes the commands and tasks that are pending now, but none that these submit; polling thread only. */
    void executePending() {
        for (int left = queue.size(); left > 0; left--) {
            final Runnable next = queue.poll();
            if (next instanceof final PollerCommand command) {
                command.execute();
            } else if (next != null) {
                execute(next, taskErrors);
            }
        }
    }

    private static void execute(final Runnable task, final ErrorHandler errors) {
        try {
            task.run();
        } catch (final Throwable failure) {
            errors.onError(failure);
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

    /** Makes the given thread the polling thread instead of another one, which is between two duty cycles. */
    void onHandOver(final Thread pollingThread) {
        synchronized (lock) {
            if (owner != null) {
                owner = pollingThread;
            }
        }
    }

    /**
     * Executes the pending tasks, then the pending commands; later commands are executed by the submitting threads, later tasks
     * refused. Polling thread only.
     */
    void onClose() {
        synchronized (lock) {
            refusesTasks = true;
        }
        final List<PollerCommand> left = new ArrayList<>();
        // Not under the lock, which the tasks' own calls may need.
        for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
            if (next instanceof final PollerCommand command) {
                left.add(command);
            } else {
                execute(next, taskErrors);
            }
        }
        synchronized (lock) {
            owner = null;
            phase = PollerState.ENDED;
            left.forEach(PollerCommand::execute);
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

    private void submit(final PollerCommand command, final Deadline deadline, final boolean beforeStop) throws TimeoutException {
        if (!deadline.await(() -> offer(command, beforeStop))) {
            throw new TimeoutException(
                "the poller executed no command for " + deadline.timeout() + " and " + CAPACITY + " are pending");
        }
    }

    private boolean offer(final PollerCommand command, final boolean beforeStop) {
        synchronized (lock) {
            if (beforeStop && (phase == PollerState.STOPPING || phase == PollerState.ENDED)) {
                throw new IllegalStateException("the poller " + phase.predicate());
            }
            if (owner == null || owner == Thread.currentThread()) {
                if (owner != null) {
                    beforeDirect.run();
                }
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
