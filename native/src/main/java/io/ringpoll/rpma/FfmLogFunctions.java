package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@link LogFunctions} by plain downcalls. */
final class FfmLogFunctions implements LogFunctions {
    private static final NativeLibrary LIBRPMA = Libraries.current().rpma();
    private static final MethodHandle rpma_err_2str$mh = LIBRPMA.plain("rpma_err_2str",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_log_set_threshold$mh = LIBRPMA.plain("rpma_log_set_threshold",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle rpma_log_get_threshold$mh = LIBRPMA.plain("rpma_log_get_threshold",
        FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_log_set_function$mh = LIBRPMA.plain("rpma_log_set_function",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

    @Override
    public long rpma_err_2str(final int result) {
        try {
            return (long) rpma_err_2str$mh.invokeExact(result);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_log_set_threshold(final int threshold, final int level) {
        try {
            return (int) rpma_log_set_threshold$mh.invokeExact(threshold, level);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_log_get_threshold(final int threshold, final long level) {
        try {
            return (int) rpma_log_get_threshold$mh.invokeExact(threshold, level);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_log_set_function(final long logFunction) {
        try {
            return (int) rpma_log_set_function$mh.invokeExact(logFunction);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
