package io.ringpoll.internal.verbs;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * A debug check: finds threads that post to one queue in turn.
 *
 * <p>The first post of another thread is permitted, because a queue may be handed over: the thread that connects posts first,
 * then the polling thread. When one of the earlier threads posts again, it shares the queue with the latest one.
 */
public final class PostingThreads {
    /** Name of the system property that switches the check on when it is {@code true}. */
    public static final String PROPERTY = "ringpoll.posts.checks";

    /** Constant for the compiler: without the check, posts contain nothing of it. */
    public static final boolean CHECKED = Boolean.getBoolean(PROPERTY);

    private final String queue;
    /** Threads that have handed the queue over; guarded by this, as is the next field. */
    private final Set<Thread> former = Collections.newSetFromMap(new WeakHashMap<>());
    private Thread latest;

    private PostingThreads(final String queue) {
        this.queue = queue;
    }

    /**
     * Creates the check of a queue.
     *
     * @param queue its name in the exception
     * @return null if posts are not checked
     */
    public static PostingThreads of(final String queue) {
        return CHECKED ? new PostingThreads(queue) : null;
    }

    /**
     * Checks a post of the calling thread.
     *
     * @param threads of the queue, or null if they are not checked
     * @throws IllegalStateException if the thread has handed the queue over before
     */
    public static void check(final PostingThreads threads) {
        if (CHECKED && threads != null) {
            threads.onPost();
        }
    }

    private synchronized void onPost() {
        final Thread thread = Thread.currentThread();
        if (thread != latest) {
            if (former.contains(thread)) {
                throw new IllegalStateException("two threads post to the " + queue + " in turn: " + name(thread) + " and " +
                    name(latest) + "; one of them should post, for instance the polling thread in a task of Pipeline.execute");
            }
            if (latest != null) {
                former.add(latest);
            }
            latest = thread;
        }
    }

    private static String name(final Thread thread) {
        return thread.getName().isEmpty() ? "thread " + thread.threadId() : thread.getName();
    }
}
