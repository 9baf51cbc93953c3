package io.ringpoll.verify.torture.lifecycle;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Collects the violations of a scene; any thread. */
final class Violations {
    private static final int MOST = 50;

    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    void add(final String line) {
        if (lines.size() < MOST && !lines.contains(line)) {
            lines.add(line);
        }
    }

    void expect(final boolean holds, final String otherwise) {
        if (!holds) {
            add(otherwise);
        }
    }

    /** An undocumented exception, with its origin. */
    void unexpected(final String where, final Throwable thrown) {
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

    boolean isEmpty() {
        return lines.isEmpty();
    }

    List<String> lines() {
        return List.copyOf(lines);
    }
}
