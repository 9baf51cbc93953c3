package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@link CompletionFunctions} by downcalls: critical where they only look, plain where they wait. */
final class FfmCompletionFunctions implements CompletionFunctions {
    private static final NativeLibrary LIBRPMA = Libraries.current().rpma();
    private static final MethodHandle rpma_conn_get_compl_fd$mh = LIBRPMA.plain("rpma_conn_get_compl_fd",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_wait$mh = LIBRPMA.plain("rpma_conn_wait",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_cq_get_fd$mh = LIBRPMA.plain("rpma_cq_get_fd",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_cq_wait$mh = LIBRPMA.plain("rpma_cq_wait",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_cq_get_wc$mh = LIBRPMA.critical("rpma_cq_get_wc",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_cq_get_completion$mh = LIBRPMA.critical("rpma_cq_get_completion",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    @Override
    public int rpma_conn_get_compl_fd(final long connection, final long fdPointer) {
        try {
            return (int) rpma_conn_get_compl_fd$mh.invokeExact(connection, fdPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_wait(final long connection, final int flags, final long cq, final long isReceiveCq) {
        try {
            return (int) rpma_conn_wait$mh.invokeExact(connection, flags, cq, isReceiveCq);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_cq_get_fd(final long cq, final long fdPointer) {
        try {
            return (int) rpma_cq_get_fd$mh.invokeExact(cq, fdPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_cq_wait(final long cq) {
        try {
            return (int) rpma_cq_wait$mh.invokeExact(cq);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_cq_get_wc(final int turn, final long cq, final int numEntries, final long wcs, final long numEntriesGot) {
        try {
            return (int) rpma_cq_get_wc$mh.invokeExact(turn, cq, numEntries, wcs, numEntriesGot);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_cq_get_completion(final int turn, final long cq, final long completion) {
        try {
            return (int) rpma_cq_get_completion$mh.invokeExact(turn, cq, completion);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
