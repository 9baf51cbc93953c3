package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.os.Wakeup;
import java.lang.foreign.Arena;

/** The daemon thread that passes librpma's messages from the sink's ring to {@link System.Logger}. */
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

    private LogDrain(final LogSinkFunctions sink) {
        this.sink = sink;
    }

    static void start(final LogSinkFunctions sink) {
        final LogDrain drain = new LogDrain(sink);
        final Thread thread = new Thread(drain, "ringpoll-librpma-log");
        thread.setDaemon(true);
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(drain::drain, "ringpoll-librpma-log-end"));
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
            final LogLevel level = LogLevel.of(Memory.intAt(record));
            final String function = Memory.stringAt(record + FUNCTION_OFFSET);
            logger.log(level.systemLevel(), "{0} [{1}, {2}:{3}]", Memory.stringAt(record + TEXT_OFFSET), function,
                Memory.stringAt(record + FILE_OFFSET), Integer.toString(Memory.intAt(record + LINE_OFFSET)));
        }
        final long lost = sink.ringpoll_log_lost();
        if (lost != lostBefore) {
            logger.log(System.Logger.Level.WARNING, "{0} messages of librpma were lost: they arrived too fast",
                Long.toString(lost - lostBefore));
            lostBefore = lost;
        }
    }
}
