package io.ringpoll.completion;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * The functions of libringpoll for extended completion queues and device clocks, by the names and parameters of
 * {@code ringpoll_cq_ex.h}; pointers are addresses. Polling is critical, everything else plain. Only where libringpoll was built
 * for this architecture, which {@link DeviceClock} checks.
 */
final class TimestampFunctions {
    private static final NativeLibrary LIBRINGPOLL = Libraries.current().ringpoll().orElseThrow();
    private static final MethodHandle ringpoll_create_cq_ex$mh = LIBRINGPOLL.capturing("ringpoll_create_cq_ex",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle ringpoll_poll_cq_ex$mh = LIBRINGPOLL.critical("ringpoll_poll_cq_ex",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ringpoll_query_clock$mh = LIBRINGPOLL.plain("ringpoll_query_clock",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ringpoll_read_clocks$mh = LIBRINGPOLL.plain("ringpoll_read_clocks",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    private TimestampFunctions() {
    }

    /** Returns 0 on failure, with errno in the {@link CallState}. */
    static long ringpoll_create_cq_ex(final long context, final int cqe, final long channel, final int compVector) {
        try {
            return (long) ringpoll_create_cq_ex$mh.invokeExact(CallState.current().errnoSegment(), context, cqe, channel,
                compVector);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int ringpoll_poll_cq_ex(
        final int turn, final long cq, final int numEntries, final long wcs, final long first, final long ticks) {
        try {
            return (int) ringpoll_poll_cq_ex$mh.invokeExact(turn, cq, numEntries, wcs, first, ticks);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int ringpoll_query_clock(final long context, final long frequencyKhz, final long mask) {
        try {
            return (int) ringpoll_query_clock$mh.invokeExact(context, frequencyKhz, mask);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int ringpoll_read_clocks(final long context, final long clocks) {
        try {
            return (int) ringpoll_read_clocks$mh.invokeExact(context, clocks);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
