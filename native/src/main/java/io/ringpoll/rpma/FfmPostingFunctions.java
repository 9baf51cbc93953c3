package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * {@link PostingFunctions} by critical downcalls: posting never waits. A message longer than {@value #CRITICAL_LIMIT_BYTES}
 * bytes is posted by a plain downcall, since a device that copies within the call would delay the JVM's safepoints for that
 * long. So is a receive before the connection, which is not on the hot path.
 */
final class FfmPostingFunctions implements PostingFunctions {
    /** Longest message that is posted by a critical downcall; copying so much takes some 10 us. */
    static final int CRITICAL_LIMIT_BYTES = 64 * 1024;

    private static final NativeLibrary LIBRPMA = Libraries.current().rpma();
    private static final MethodHandle rpma_conn_req_recv$mh = LIBRPMA.plain("rpma_conn_req_recv",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_srq_recv$mh = LIBRPMA.critical("rpma_srq_recv",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_read$mh = LIBRPMA.critical("rpma_read",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_write$mh = LIBRPMA.critical("rpma_write",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_write_with_imm$mh = LIBRPMA.critical("rpma_write_with_imm",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT,
            JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_atomic_write$mh = LIBRPMA.critical("rpma_atomic_write",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_flush$mh = LIBRPMA.critical("rpma_flush",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_send$mh = LIBRPMA.critical("rpma_send",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_send_with_imm$mh = LIBRPMA.critical("rpma_send_with_imm",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_recv$mh = LIBRPMA.critical("rpma_recv",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    @Override
    public int rpma_conn_req_recv(final long request, final long dst, final long offset, final long lengthBytes,
        final long opContext) {
        try {
            return (int) rpma_conn_req_recv$mh.invokeExact(request, dst, offset, lengthBytes, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_recv(final int turn, final long sharedQueue, final long dst, final long offset, final long lengthBytes,
        final long opContext) {
        try {
            return (int) rpma_srq_recv$mh.invokeExact(turn, sharedQueue, dst, offset, lengthBytes, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_read(final int turn, final long connection, final long dst, final long dstOffset, final long src,
        final long srcOffset, final long lengthBytes, final int flags, final long opContext) {
        try {
            return (int) rpma_read$mh.invokeExact(turn(turn, lengthBytes), connection, dst, dstOffset, src, srcOffset,
                lengthBytes, flags, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_write(final int turn, final long connection, final long dst, final long dstOffset, final long src,
        final long srcOffset, final long lengthBytes, final int flags, final long opContext) {
        try {
            return (int) rpma_write$mh.invokeExact(turn(turn, lengthBytes), connection, dst, dstOffset, src, srcOffset,
                lengthBytes, flags, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_write_with_imm(final int turn, final long connection, final long dst, final long dstOffset, final long src,
        final long srcOffset, final long lengthBytes, final int flags, final int immediate, final long opContext) {
        try {
            return (int) rpma_write_with_imm$mh.invokeExact(turn(turn, lengthBytes), connection, dst, dstOffset, src, srcOffset,
                lengthBytes, flags, immediate, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_atomic_write(final int turn, final long connection, final long dst, final long dstOffset, final long src,
        final int flags, final long opContext) {
        try {
            return (int) rpma_atomic_write$mh.invokeExact(turn, connection, dst, dstOffset, src, flags, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_flush(final int turn, final long connection, final long dst, final long dstOffset, final long lengthBytes,
        final int type, final int flags, final long opContext) {
        try {
            return (int) rpma_flush$mh.invokeExact(turn, connection, dst, dstOffset, lengthBytes, type, flags, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_send(final int turn, final long connection, final long src, final long offset, final long lengthBytes,
        final int flags, final long opContext) {
        try {
            return (int) rpma_send$mh.invokeExact(turn(turn, lengthBytes), connection, src, offset, lengthBytes, flags,
                opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_send_with_imm(final int turn, final long connection, final long src, final long offset,
        final long lengthBytes, final int flags, final int immediate, final long opContext) {
        try {
            return (int) rpma_send_with_imm$mh.invokeExact(turn(turn, lengthBytes), connection, src, offset, lengthBytes, flags,
                immediate, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_recv(final int turn, final long connection, final long dst, final long offset, final long lengthBytes,
        final long opContext) {
        try {
            return (int) rpma_recv$mh.invokeExact(turn, connection, dst, offset, lengthBytes, opContext);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    private static int turn(final int turn, final long lengthBytes) {
        return lengthBytes > CRITICAL_LIMIT_BYTES ? CallTurn.PLAIN : turn;
    }
}
