package io.ringpoll.internal.verbs;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The {@link CountedQueue} of a queue. The binding's classes register theirs, so that it is no public method of them. Thread-
 * safe.
 */
public final class CountedQueues {
    private static final Map<Class<?>, Function<Object, CountedQueue>> BY_CLASS = new ConcurrentHashMap<>();

    private CountedQueues() {
    }

    /**
     * Registers a class of queues, when it is initialized.
     *
     * @param queues  the class
     * @param counted returns the poll of one of its queues
     * @param <Q>     its type
     */
    public static <Q> void register(final Class<Q> queues, final Function<Q, CountedQueue> counted) {
        BY_CLASS.put(queues, queue -> counted.apply(queues.cast(queue)));
    }

    /**
     * The poll of a queue.
     *
     * @param queue any {@link io.ringpoll.completion.CompletionQueue}
     * @return an instance for one thread; null if the queue updates its budget itself
     */
    public static CountedQueue of(final Object queue) {
        if (queue instanceof final CountedQueue counted) {
            return counted;
        }
        final Function<Object, CountedQueue> counted = BY_CLASS.get(queue.getClass());
        return counted == null ? null : counted.apply(queue);
    }
}
