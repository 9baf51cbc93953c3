package io.ringpoll.testing;

import io.ringpoll.rpma.RpmaLog;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** Collects the records of a logger instead of printing them. */
public final class LogCapture extends Handler implements AutoCloseable {
    private final Logger logger;
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private final SimpleFormatter formatter = new SimpleFormatter();

    /** Starts to collect the log of librpma. */
    public LogCapture() {
        this(RpmaLog.LOGGER_NAME);
    }

    /** Starts to collect the records of a logger. */
    public LogCapture(final String name) {
        logger = Logger.getLogger(name);
        logger.addHandler(this);
        logger.setUseParentHandlers(false);
        logger.setLevel(Level.ALL);
    }

    /** Waits for a message. */
    public boolean await(final Predicate<String> wanted) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(50)) {
            if (messages().stream().anyMatch(wanted)) {
                return true;
            }
            Thread.sleep(1);
        }
        return false;
    }

    /** The collected records, with level and text. */
    public List<String> messages() {
        return records.stream().map(record -> record.getLevel() + " " + formatter.formatMessage(record)).toList();
    }

    /** The exceptions that were logged with a record, in order. */
    public List<Throwable> exceptions() {
        return records.stream().map(LogRecord::getThrown).filter(Objects::nonNull).toList();
    }

    /** The threads that logged. */
    public List<Long> threads() {
        return records.stream().map(LogRecord::getLongThreadID).distinct().toList();
    }

    @Override
    public void publish(final LogRecord record) {
        records.add(record);
    }

    @Override
    public void flush() {
        // nothing is held back
    }

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
        logger.setLevel(null);
    }
}
