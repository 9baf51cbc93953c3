package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@link MemoryFunctions} by plain downcalls. */
final class FfmMemoryFunctions implements MemoryFunctions {
    private static final NativeLibrary LIBRPMA = Libraries.current().rpma();
    private static final MethodHandle rpma_mr_reg$mh = LIBRPMA.capturing("rpma_mr_reg",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_mr_dereg$mh = LIBRPMA.capturing("rpma_mr_dereg",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_mr_get_descriptor$mh = LIBRPMA.plain("rpma_mr_get_descriptor",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_mr_remote_from_descriptor$mh = LIBRPMA.plain("rpma_mr_remote_from_descriptor",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_mr_get_descriptor_size$mh = LIBRPMA.plain("rpma_mr_get_descriptor_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_mr_get_ptr$mh = LIBRPMA.plain("rpma_mr_get_ptr",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_mr_get_size$mh = LIBRPMA.plain("rpma_mr_get_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_mr_remote_get_size$mh = LIBRPMA.plain("rpma_mr_remote_get_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_mr_remote_get_flush_type$mh = LIBRPMA.plain("rpma_mr_remote_get_flush_type",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_mr_remote_delete$mh = LIBRPMA.plain("rpma_mr_remote_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_mr_advise$mh = LIBRPMA.capturing("rpma_mr_advise",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));

    @Override
    public int rpma_mr_reg(final long peer, final long pointer, final long size, final int usage, final long mrPointer) {
        try {
            return (int) rpma_mr_reg$mh.invokeExact(CallState.current().errnoSegment(), peer, pointer, size, usage, mrPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_dereg(final long mrPointer) {
        try {
            return (int) rpma_mr_dereg$mh.invokeExact(CallState.current().errnoSegment(), mrPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_get_descriptor(final long region, final long descriptor) {
        try {
            return (int) rpma_mr_get_descriptor$mh.invokeExact(region, descriptor);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_remote_from_descriptor(final long descriptor, final long descriptorSize, final long mrPointer) {
        try {
            return (int) rpma_mr_remote_from_descriptor$mh.invokeExact(descriptor, descriptorSize, mrPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_get_descriptor_size(final long region, final long descriptorSize) {
        try {
            return (int) rpma_mr_get_descriptor_size$mh.invokeExact(region, descriptorSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_get_ptr(final long region, final long pointer) {
        try {
            return (int) rpma_mr_get_ptr$mh.invokeExact(region, pointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_get_size(final long region, final long size) {
        try {
            return (int) rpma_mr_get_size$mh.invokeExact(region, size);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_remote_get_size(final long region, final long size) {
        try {
            return (int) rpma_mr_remote_get_size$mh.invokeExact(region, size);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_remote_get_flush_type(final long region, final long flushType) {
        try {
            return (int) rpma_mr_remote_get_flush_type$mh.invokeExact(region, flushType);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_remote_delete(final long mrPointer) {
        try {
            return (int) rpma_mr_remote_delete$mh.invokeExact(mrPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_mr_advise(final long region, final long offset, final long lengthBytes, final int advice,
        final int flags) {
        try {
            return (int) rpma_mr_advise$mh.invokeExact(CallState.current().errnoSegment(), region, offset, lengthBytes,
             advice, flags);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
