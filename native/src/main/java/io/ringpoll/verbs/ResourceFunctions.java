package io.ringpoll.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * The functions of libibverbs for protection domains, memory regions and shared receive queues, by plain downcalls. Pointers are
 * addresses; where C sets errno it is in {@link CallState#errno()}.
 */
final class ResourceFunctions {
    private static final NativeLibrary LIBIBVERBS = Libraries.current().ibverbs();
    private static final MethodHandle ibv_alloc_pd$mh =
        LIBIBVERBS.capturing("ibv_alloc_pd", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ibv_dealloc_pd$mh =
        LIBIBVERBS.plain("ibv_dealloc_pd", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle ibv_reg_mr$mh = LIBIBVERBS.capturing("ibv_reg_mr",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle ibv_reg_mr_iova2$mh = LIBIBVERBS.capturing("ibv_reg_mr_iova2",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle ibv_dereg_mr$mh =
        LIBIBVERBS.plain("ibv_dereg_mr", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle ibv_create_srq$mh =
        LIBIBVERBS.capturing("ibv_create_srq", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ibv_destroy_srq$mh =
        LIBIBVERBS.plain("ibv_destroy_srq", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

    private ResourceFunctions() {
    }

    static long ibv_alloc_pd(final long context) {
        try {
            return (long) ibv_alloc_pd$mh.invokeExact(CallState.current().errnoSegment(), context);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int ibv_dealloc_pd(final long pd) {
        try {
            return (int) ibv_dealloc_pd$mh.invokeExact(pd);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long ibv_reg_mr(final long pd, final long address, final long lengthBytes, final int access) {
        try {
            return (long) ibv_reg_mr$mh.invokeExact(CallState.current().errnoSegment(), pd, address, lengthBytes, access);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long ibv_reg_mr_iova2(
        final long pd, final long address, final long lengthBytes, final long iova, final int access) {
        try {
            return (long) ibv_reg_mr_iova2$mh.invokeExact(CallState.current().errnoSegment(), pd, address, lengthBytes, iova,
                access);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int ibv_dereg_mr(final long mr) {
        try {
            return (int) ibv_dereg_mr$mh.invokeExact(mr);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long ibv_create_srq(final long pd, final long initAttr) {
        try {
            return (long) ibv_create_srq$mh.invokeExact(CallState.current().errnoSegment(), pd, initAttr);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int ibv_destroy_srq(final long srq) {
        try {
            return (int) ibv_destroy_srq$mh.invokeExact(srq);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
