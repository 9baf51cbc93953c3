package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Collects the warnings of a class, which are not printed in tests. */
public final class Warnings implements AutoCloseable {
    private static final int WARN = 30;

    private final Logger logger;
    private final Field level;
    private final int levelBefore;
    private final PrintStream errorBefore = System.err;
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();

    public Warnings(final Class<?> type) throws ReflectiveOperationException {
        logger = LoggerFactory.getLogger(type);
        level = logger.getClass().getDeclaredField("currentLogLevel");
        level.setAccessible(true);
        levelBefore = level.getInt(logger);
        System.setErr(new PrintStream(text, true, StandardCharsets.UTF_8));
        level.setInt(logger, WARN);
    }

    /** Waits for a warning that contains a text. */
    public void await(final String part) throws InterruptedException {
        Nodes.await("the warning '" + part + "'", () -> contains(part));
        assertTrue(logger.isWarnEnabled());
    }

    /** Whether there has been a warning that contains a text. */
    public boolean contains(final String part) {
        return text.toString(StandardCharsets.UTF_8).contains(part);
    }

    /** Number of occurrences of a text. */
    public int times(final String part) {
        return text.toString(StandardCharsets.UTF_8).split(Pattern.quote(part), -1).length - 1;
    }

    @Override
    public void close() throws IllegalAccessException {
        level.setInt(logger, levelBefore);
        System.setErr(errorBefore);
    }
}
