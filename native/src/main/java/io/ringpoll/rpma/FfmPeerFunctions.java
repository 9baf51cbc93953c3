package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@link PeerFunctions} by plain downcalls. */
final class FfmPeerFunctions implements PeerFunctions {
    private static final NativeLibrary LIBRPMA = Libraries.current().rpma();
    private static final MethodHandle rpma_utils_get_ibv_context$mh = LIBRPMA.capturing("rpma_utils_get_ibv_context",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_utils_ibv_context_is_odp_capable$mh =
        LIBRPMA.capturing("rpma_utils_ibv_context_is_odp_capable",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_peer_new$mh = LIBRPMA.capturing("rpma_peer_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_peer_delete$mh = LIBRPMA.capturing("rpma_peer_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_srq_new$mh = LIBRPMA.capturing("rpma_srq_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_srq_delete$mh = LIBRPMA.capturing("rpma_srq_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_srq_get_rcq$mh = LIBRPMA.plain("rpma_srq_get_rcq",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    @Override
    public int rpma_utils_get_ibv_context(final long address, final int type, final long ibvCtxPointer) {
        try {
            return (int) rpma_utils_get_ibv_context$mh.invokeExact(CallState.current().errnoSegment(), address, type,
             ibvCtxPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_utils_ibv_context_is_odp_capable(final long ibvCtx, final long isOdpCapable) {
        try {
            return (int) rpma_utils_ibv_context_is_odp_capable$mh.invokeExact(CallState.current().errnoSegment(), ibvCtx,
             isOdpCapable);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_new(final long ibvCtx, final long peerPointer) {
        try {
            return (int) rpma_peer_new$mh.invokeExact(CallState.current().errnoSegment(), ibvCtx, peerPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_delete(final long peerPointer) {
        try {
            return (int) rpma_peer_delete$mh.invokeExact(CallState.current().errnoSegment(), peerPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_new(final long peer, final long config, final long srqPointer) {
        try {
            return (int) rpma_srq_new$mh.invokeExact(CallState.current().errnoSegment(), peer, config, srqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_delete(final long srqPointer) {
        try {
            return (int) rpma_srq_delete$mh.invokeExact(CallState.current().errnoSegment(), srqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_get_rcq(final long sharedQueue, final long rcqPointer) {
        try {
            return (int) rpma_srq_get_rcq$mh.invokeExact(sharedQueue, rcqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
