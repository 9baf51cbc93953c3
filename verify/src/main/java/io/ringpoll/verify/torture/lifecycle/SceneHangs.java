package io.ringpoll.verify.torture.lifecycle;

import java.util.Map;

/** Thrown if a call of an operator does not return: the scene cannot be ended. */
final class SceneHangs extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SceneHangs(final Thread operator) {
        super(operator.getName() + " does not end");
    }

    /** The stacks of all threads. */
    static String dump() {
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
