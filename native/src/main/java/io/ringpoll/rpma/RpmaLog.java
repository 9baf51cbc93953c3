package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;

/**
 * Destination and threshold of librpma's log. Thread-safe.
 *
 * <p>Messages go to the {@link System.Logger} named {@value #LOGGER_NAME}, on a thread of their own, never from within a call
 * into librpma. Of equal warnings and errors, the 1st, 2nd, 4th, 8th one and so on is logged, with the count, which begins anew
 * after a minute without the message.
 *
 * <p>With the system property {@value #DESTINATION_PROPERTY} set to {@code librpma} they go to the default destinations of
 * librpma, syslog(3) and standard error; the binding does not know the reason of a refused post then, and even a full queue is
 * reported as an {@link RpmaException}.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_log_set_function.3.html">rpma_log_set_function(3)</a>
 */
public final class RpmaLog {
    /** Name of the logger that gets librpma's messages. */
    public static final String LOGGER_NAME = "io.ringpoll.librpma";
    /** System property; {@code librpma} leaves the log to librpma's own function. */
    public static final String DESTINATION_PROPERTY = "ringpoll.librpma.log";

    static final int THRESHOLD = 0;
    static final int THRESHOLD_AUX = 1;

    private static LogLevel wanted = LogLevel.WARNING;

    private RpmaLog() {
    }

    /**
     * Sets the level up to which messages are logged; {@link LogLevel#WARNING} at the start.
     *
     * <p>librpma itself is never set below {@link LogLevel#ERROR}, since the binding reads the reason of a provider failure from
     * its error messages; messages above the requested level are dropped. The counts of equal messages begin anew.
     *
     * @param level the highest that is logged
     * @throws RpmaException as in rpma_log_set_threshold(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_log_set_threshold.3.html">rpma_log_set_threshold(3)</a>
     */
    public static synchronized void threshold(final LogLevel level) {
        Loading.require();
        if (LogSink.isInstalled()) {
            LogSink.level(level);
        }
        final int least = LogSink.isInstalled() ? LogLevel.ERROR.value() : LogLevel.DISABLED.value();
        RpmaException.check("rpma_log_set_threshold",
            Librpma.LOG.rpma_log_set_threshold(THRESHOLD, Math.max(level.value(), least)));
        wanted = level;
    }

    /**
     * The level up to which messages are logged.
     *
     * @return the latest {@link #threshold(LogLevel)}
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_log_set_threshold.3.html">rpma_log_set_threshold(3)</a>
     */
    public static synchronized LogLevel threshold() {
        Loading.require();
        return wanted;
    }

    /**
     * Sets the level up to which librpma's own log function writes to standard error; of no effect while the log goes to
     * {@link System.Logger}.
     *
     * @param level the highest that is written
     * @throws RpmaException as in rpma_log_set_threshold(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_log_set_threshold.3.html">rpma_log_set_threshold(3)</a>
     */
    public static void auxiliaryThreshold(final LogLevel level) {
        Loading.require();
        RpmaException.check("rpma_log_set_threshold", Librpma.LOG.rpma_log_set_threshold(THRESHOLD_AUX, level.value()));
    }

    /**
     * The level up to which librpma's own log function writes to standard error.
     *
     * @return librpma's auxiliary threshold
     * @throws RpmaException as in rpma_log_get_threshold(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_log_set_threshold.3.html">rpma_log_set_threshold(3)</a>
     */
    public static LogLevel auxiliaryThreshold() {
        Loading.require();
        final CallState state = CallState.current();
        RpmaException.check("rpma_log_get_threshold", Librpma.LOG.rpma_log_get_threshold(THRESHOLD_AUX, state.scratch()));
        return LogLevel.of(state.intAt(0));
    }
}
