package io.ringpoll.connections;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * The tasks of a polling thread.
 *
 * <p>Any thread adds tasks. Those of the life cycle are never refused; those of users are bounded and allocate nothing.
 */
final class TaskQueue {
    private static final int MAX_USER_TASKS = 1024;

    private final ErrorHandler errorHandler;
    private final ConcurrentLinkedQueue<Runnable> lifeCycle = new ConcurrentLinkedQueue<>();
    private final ManyToOneConcurrentArrayQueue<Runnable> users = new ManyToOneConcurrentArrayQueue<>(MAX_USER_TASKS);
    /** Number of threads in {@link #offer}. */
    private final AtomicInteger offering = new AtomicInteger();

    TaskQueue(final ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
    }

    void add(final Runnable task) {
        lifeCycle.add(task);
    }

    /** Adds a task of a user if a condition holds; false if it does not, or too many tasks wait. */
    boolean offer(final Runnable task, final BooleanSupplier isOpen) {
        // First: threads that try again and again after the close are not waited for.
        if (!isOpen.getAsBoolean()) {
            return false;
        }
        offering.incrementAndGet();
        try {
            return isOpen.getAsBoolean() && users.offer(task);
        } finally {
            offering.decrementAndGet();
        }
    }

    /** Whether a task of a user may still be added, for which the condition was true before. */
    boolean isOffering() {
        return offering.get() > 0;
    }

    /** Number of tasks of the life cycle; counts them. */
    int waiting() {
        return lifeCycle.size();
    }

    boolean isEmpty() {
        return lifeCycle.isEmpty() && users.isEmpty();
    }

    /** Executes the tasks; those of users only if they have been added before the call. Polling thread. */
    void run() {
        int left = users.size();
        for (Runnable task = lifeCycle.poll(); task != null; task = lifeCycle.poll()) {
            run(task);
        }
        for (Runnable task; left > 0 && (task = users.poll()) != null; left--) {
            run(task);
        }
    }

    private void run(final Runnable task) {
        try {
            task.run();
        } catch (final Throwable failure) {
            errorHandler.onError(failure);
        }
    }
}
