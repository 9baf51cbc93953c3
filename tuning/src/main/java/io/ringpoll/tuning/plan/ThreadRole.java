package io.ringpoll.tuning.plan;

import java.util.Objects;

/**
 * A thread that wants a CPU: its name and what it does.
 *
 * @param name the name by which the plan, the options and the pipeline's builder know it
 * @param kind what it does
 */
public record ThreadRole(String name, Kind kind) {
    /** What a thread does, most important first. */
    public enum Kind {
        /** Polls completion queues: everything waits for it. */
        POLLER,
        /** Handles the completions of one path: cache lines travel between it and the poller. */
        HANDLER,
        /** Posts work or consumes results: the user's own. */
        APPLICATION
    }

    /** Checks that both are there. */
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
