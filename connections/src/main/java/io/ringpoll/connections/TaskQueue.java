package io.ringpoll.connections;

import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.WorkCompletions;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/**
 * Executes tasks on a polling thread: a queue in its round without completions of its own.
 *
 * <p>Any thread adds tasks. Those of the life cycle are never refused; those of users are bounded and allocate nothing.
 */
final class TaskQueue implements CompletionQueue {
    private static final int MAX_USER_TASKS = 1024;

    private final String name;
    private final ErrorHandler errorHandler;
    private final ConcurrentLinkedQueue<Runnable> lifeCycle = new ConcurrentLinkedQueue<>();
    private final ManyToOneConcurrentArrayQueue<Runnable> users = new ManyToOneConcurrentArrayQueue<>(MAX_USER_TASKS);

    TaskQueue(final String name, final ErrorHandler errorHandler) {
        this.name = name;
        this.errorHandler = errorHandler;
    }

    void add(final Runnable task) {
        lifeCycle.add(task);
    }

    boolean offer(final Runnable task) {
        return users.offer(task);
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        if (!lifeCycle.isEmpty() || !users.isEmpty()) {
            run();
        }
        return 0;
    }

    /** Executes the tasks that have been added before the call; polling thread. */
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

    @Override
    public String name() {
        return name;
    }
}
