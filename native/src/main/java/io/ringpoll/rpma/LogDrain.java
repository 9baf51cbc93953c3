package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.os.Wakeup;
import java.lang.foreign.Arena;

/**
 * The daemon thread that passes librpma's messages from the sink's ring to {@link System.Logger}. Of equal warnings and errors it
 * passes on the 1st, 2nd, 4th, 8th and so on, with the count: a peer can cause any number of them.
 */
final class LogDrain implements Runnable {
    private static final int LINE_OFFSET = 4;
    private static final int FILE_OFFSET = 8;
    private static final int FUNCTION_OFFSET = FILE_OFFSET + 32;
    private static final int TEXT_OFFSET = FUNCTION_OFFSET + 64;
    private static final int RECORD_BYTES = TEXT_OFFSET + 512;

    private final System.Logger logger = System.getLogger(RpmaLog.LOGGER_NAME);
    private final LogSinkFunctions sink;
    private final long record = Arena.global().allocate(RECORD_BYTES, Integer.BYTES).address();
    private final Wakeup wait = Wakeup.take();
    private long lostBefore;
    /** Of the thread; replaced by any. */
    private volatile RepeatedMessages repeated = new RepeatedMessages();

    private LogDrain(final LogSinkFunctions sink) {
        this.sink = sink;
    }

    static LogDrain start(final LogSinkFunctions sink) {
        final LogDrain drain = new LogDrain(sink);
        final Thread thread = new Thread(drain, "ringpoll-librpma-log");
        thread.setDaemon(true);
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(drain::drain, "ringpoll-librpma-log-end"));
        return drain;
    }

    /** Counts all messages anew; any thread. */
    void countAnew() {
        repeated = new RepeatedMessages();
    }

    @Override
    public void run() {
        final int fd = sink.ringpoll_log_fd();
        while (true) {
            sink.ringpoll_log_arm();
            try {
                drain();
            } catch (final RuntimeException | Error failure) {
                // A log handler's failure is its own: the next message may fare better, and nobody else would pass it on.
                final Thread self = Thread.currentThread();
                self.getUncaughtExceptionHandler().uncaughtException(self, failure);
            }
            wait.await(fd, -1);
        }
    }

    private synchronized void drain() {
        while (sink.ringpoll_log_next(record) != 0) {
            final System.Logger.Level level = LogLevel.of(Memory.intAt(record)).systemLevel();
            final String message = Memory.stringAt(record + TEXT_OFFSET) + " [" + Memory.stringAt(record + FUNCTION_OFFSET) +
                ", " + Memory.stringAt(record + FILE_OFFSET) + ":" + Memory.intAt(record + LINE_OFFSET) + "]";
            // Messages of lower levels report each operation: all of them are logged.
            final boolean isFailure = level.compareTo(System.Logger.Level.WARNING) >= 0;
            final long times = isFailure ? repeated.timesToLog(message, System.nanoTime()) : 1;
            if (times > 0) {
                logger.log(level, "{0}{1}", message, times == 1 ? "" : " (" + times + " times)");
            }
        }
        final long lost = sink.ringpoll_log_lost();
        if (lost != lostBefore) {
            logger.log(System.Logger.Level.WARNING, "{0} messages of librpma were lost: they arrived too fast",
                Long.toString(lost - lostBefore));
            lostBefore = lost;
        }
    }
}
