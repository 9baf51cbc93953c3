package io.ringpoll.rpma;

import io.ringpoll.internal.device.DeviceLibraries;
import io.ringpoll.internal.ffm.Memory;

/**
 * The C function that receives librpma's messages, and its record of the calling thread's errors.
 *
 * <p>librpma logs from within critical downcalls, where an upcall would crash the JVM; so the function is C, stores messages in
 * memory, and {@link LogDrain} forwards them from its own thread. The message of a failed post contains the reason that librpma's
 * result lacks, so the binding reads errno from it: without the sink a full queue could not be distinguished from a fault.
 * Thread-safe.
 */
final class LogSink {
    /** librpma sets the function by one compare-and-swap, which may fail without a reason. */
    private static final int MAX_TRIES = 1000;

    private static volatile LogSinkFunctions functions;
    private static volatile LogDrain drain;

    private LogSink() {
    }

    static void install(final DeviceLibraries libraries) {
        if (libraries.ringpoll().isEmpty() || "librpma".equals(System.getProperty(RpmaLog.DESTINATION_PROPERTY))) {
            return;
        }
        final long function = libraries.ringpoll().get().find("ringpoll_log").orElseThrow().address();
        functions = new FfmLogSinkFunctions();
        int result = RpmaError.AGAIN;
        for (int i = 0; i < MAX_TRIES && result == RpmaError.AGAIN; i++) {
            result = Librpma.LOG.rpma_log_set_function(function);
        }
        RpmaException.check("rpma_log_set_function", result);
        drain = LogDrain.start(functions);
    }

    /** Whether messages go to {@link System.Logger}; else librpma's own function has them. */
    static boolean isInstalled() {
        return functions != null;
    }

    static void level(final LogLevel level) {
        functions.ringpoll_log_set_level(level.value());
        drain.countAnew();
    }

    /** The errno value in this thread's latest error message; 0 if there was none. */
    static int errorErrno() {
        return functions == null ? 0 : functions.ringpoll_error_errno();
    }

    /** This thread's latest error message, which is forgotten then; empty if there was none. */
    static String takeErrorText() {
        if (functions == null) {
            return "";
        }
        final String text = Memory.stringAt(functions.ringpoll_error_text());
        functions.ringpoll_error_clear();
        return text;
    }

    /**
     * Clears this thread's latest error message, so that the next one belongs to the next call. A caller that treats a negative
     * result as an ordinary value must clear its message.
     */
    static void clearError() {
        if (functions != null) {
            functions.ringpoll_error_clear();
        }
    }
}
