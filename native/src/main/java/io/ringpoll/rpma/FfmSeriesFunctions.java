package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@link SeriesFunctions} by critical downcalls: the callers bound the length of a series. Initialized by {@link
 * SeriesFunctions#find()} alone, where the libraries have all of the functions.
 */
final class FfmSeriesFunctions implements SeriesFunctions {
    private static final NativeLibrary LIBRINGPOLL = Libraries.current().ringpoll().orElseThrow();
    private static final MethodHandle ringpoll_poll_series$mh = LIBRINGPOLL.critical("ringpoll_poll_series",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle ringpoll_recv_series$mh = LIBRINGPOLL.critical("ringpoll_recv_series",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final long RPMA_CQ_GET_WC = address("rpma_cq_get_wc");
    private static final long RPMA_RECV = address("rpma_recv");

    private static long address(final String function) {
        return Libraries.current().rpma().find(function).map(MemorySegment::address).orElseThrow();
    }

    @Override
    public long ringpoll_poll_series(
        final int turn, final long round, final int first, final int count, final long wc, final int numEntries) {
        try {
            return (long) ringpoll_poll_series$mh.invokeExact(turn, round, first, count, wc, numEntries);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long ringpoll_recv_series(final int turn, final long conn, final long dst, final long offset, final long lengthBytes,
        final long opContext, final int count) {
        try {
            return (long) ringpoll_recv_series$mh.invokeExact(turn, RPMA_RECV, conn, dst, offset, lengthBytes, opContext, count);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long rpma_cq_get_wc() {
        return RPMA_CQ_GET_WC;
    }
}
