package io.ringpoll.connections;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.ErrorHandler;

/**
 * Counts the exceptions of the callbacks and tasks of a set, and passes them to the user's error handler. Without one, the first
 * of each kind is logged with its stack: kinds differ by class and place.
 *
 * <p>Thread-safe; never throws.
 */
final class ListenerFailures {
    /** Maximum number of logged kinds. */
    private static final int KINDS = 64;

    private static final System.Logger LOG = System.getLogger(ConnectionSet.class.getName());

    private final String name;
    private final ErrorHandler user;
    private final AtomicLong count = new AtomicLong();
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** The user's error handler may be null. */
    ListenerFailures(final String name, final ErrorHandler user) {
        this.name = name;
        this.user = user;
    }

    /** Number of exceptions of callbacks and tasks. */
    long count() {
        return count.get();
    }

    /** Handles the exception of a callback or task. */
    void onListenerException(final Throwable failure) {
        count.incrementAndGet();
        if (user == null) {
            logFirst("a callback has thrown", failure);
            return;
        }
        try {
            user.onError(failure);
        } catch (final Throwable again) {
            logFirst("the error handler has thrown", again);
        }
    }

    /** Logs an exception with its stack if none of its kind has been logged. */
    void logFirst(final String event, final Throwable failure) {
        try {
            if (logged.size() < KINDS && logged.add(event + kind(failure))) {
                LOG.log(System.Logger.Level.WARNING,
                    name + ": " + event + "; more of this kind are only counted", failure);
            }
        } catch (final Throwable unprintable) {
            // It has been counted.
            return;
        }
    }

    private static String kind(final Throwable failure) {
        final StackTraceElement[] stack = failure.getStackTrace();
        return failure.getClass().getName() + (stack.length == 0 ? "" : " at " + stack[0]);
    }
}
