package io.ringpoll.internal.tuning.plan;

import java.util.Objects;

/**
 * The name and kind of a thread to place.
 *
 * @param name as used by the plan, the options and the pipeline's builder
 * @param kind of the thread
 */
public record ThreadRole(String name, Kind kind) {
    /** The kind of a thread, in descending importance. */
    public enum Kind {
        /** Polls completion queues; all other threads depend on it. */
        POLLER,
        /** Handles the completions of one path; shares cache lines with the poller. */
        HANDLER,
        /** Posts work requests or consumes results: a thread of the application. */
        APPLICATION
    }

    /** Checks that both are set. */
    public ThreadRole {
        Objects.requireNonNull(kind, "kind");
        if (name == null || !name.matches("[A-Za-z][A-Za-z0-9_.-]{0,63}")) {
            throw new IllegalArgumentException("thread name '" + name + "': a letter, then letters, digits, '-', '_' or '.'");
        }
    }

    /**
     * A thread that polls completion queues.
     *
     * @param name its name
     * @return the role
     */
    public static ThreadRole poller(final String name) {
        return new ThreadRole(name, Kind.POLLER);
    }

    /**
     * A thread that handles completions.
     *
     * @param name its name
     * @return the role
     */
    public static ThreadRole handler(final String name) {
        return new ThreadRole(name, Kind.HANDLER);
    }

    /**
     * A thread of the user's own.
     *
     * @param name its name
     * @return the role
     */
    public static ThreadRole application(final String name) {
        return new ThreadRole(name, Kind.APPLICATION);
    }
}
