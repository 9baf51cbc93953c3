package io.ringpoll.verify.torture.supervised;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Collects the violations of a scene; any thread. */
public final class Violations {
    private static final int MOST = 50;

    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    /** Creates an empty collection. */
    public Violations() {
    }

    /**
     * Adds a violation; further equal ones have no effect.
     *
     * @param line describes it
     */
    public void add(final String line) {
        if (lines.size() < MOST && !lines.contains(line)) {
            lines.add(line);
        }
    }

    /**
     * Adds a violation unless a condition holds.
     *
     * @param holds     the condition
     * @param otherwise describes the violation
     */
    public void expect(final boolean holds, final String otherwise) {
        if (!holds) {
            add(otherwise);
        }
    }

    /**
     * Adds an undocumented exception, with its origin.
     *
     * @param where  the call that has thrown
     * @param thrown the exception
     */
    public void unexpected(final String where, final Throwable thrown) {
        final StringBuilder line = new StringBuilder(where + " threw " + thrown);
        int frames = 0;
        for (final StackTraceElement frame : thrown.getStackTrace()) {
            if (frames++ < 8) {
                line.append(" at ").append(frame);
            }
        }
        if (thrown.getCause() != null && thrown.getCause() != thrown) {
            line.append(" caused by ").append(thrown.getCause());
        }
        add(line.toString());
    }

    /**
     * Whether there are none.
     *
     * @return false after the first violation
     */
    public boolean isEmpty() {
        return lines.isEmpty();
    }

    /**
     * The violations.
     *
     * @return a copy, in order
     */
    public List<String> lines() {
        return List.copyOf(lines);
    }
}
