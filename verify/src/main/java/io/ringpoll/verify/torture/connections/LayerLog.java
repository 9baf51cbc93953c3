package io.ringpoll.verify.torture.connections;

import io.ringpoll.verify.torture.supervised.Violations;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Takes the log of the sets instead of the console: exceptions of the scene's own callbacks are expected, defects of the
 * thread of connection events are violations. Any thread logs.
 */
final class LayerLog extends Handler implements AutoCloseable {
    /** Retained, because the JVM retains no handlers otherwise. */
    private static final Logger SETS = Logger.getLogger("io.ringpoll.connections");

    private final Violations violations;

    LayerLog(final Violations violations) {
        this.violations = violations;
        SETS.setUseParentHandlers(false);
        SETS.setLevel(Level.WARNING);
        SETS.addHandler(this);
    }

    @Override
    public void publish(final LogRecord record) {
        final Throwable thrown = record.getThrown();
        if (thrown != null && !SetUnderTest.isPlanned(thrown)) {
            violations.unexpected(record.getMessage(), thrown);
        }
    }

    @Override
    public void flush() {
        // Nothing is buffered.
    }

    @Override
    public void close() {
        SETS.removeHandler(this);
        SETS.setUseParentHandlers(true);
    }
}
