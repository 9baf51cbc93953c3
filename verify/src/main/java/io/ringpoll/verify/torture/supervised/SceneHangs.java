package io.ringpoll.verify.torture.supervised;

import java.util.Map;

/** Thrown if a scene cannot be ended, for instance because a call of an operator does not return. */
public final class SceneHangs extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A scene that hangs.
     *
     * @param what has not happened in time
     */
    public SceneHangs(final String what) {
        super(what);
    }

    /**
     * The stacks of all threads.
     *
     * @return many lines
     */
    public static String dump() {
        final StringBuilder text = new StringBuilder();
        for (final Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
            text.append('"').append(entry.getKey().getName()).append("\" ").append(entry.getKey().getState()).append('\n');
            for (final StackTraceElement frame : entry.getValue()) {
                text.append("    at ").append(frame).append('\n');
            }
        }
        return text.toString();
    }
}
