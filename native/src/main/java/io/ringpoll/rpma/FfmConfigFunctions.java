package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@link ConfigFunctions} by plain downcalls. */
final class FfmConfigFunctions implements ConfigFunctions {
    private static final NativeLibrary LIBRPMA = Libraries.current().rpma();
    private static final MethodHandle rpma_peer_cfg_new$mh = LIBRPMA.plain("rpma_peer_cfg_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_peer_cfg_delete$mh = LIBRPMA.plain("rpma_peer_cfg_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_peer_cfg_set_direct_write_to_pmem$mh =
        LIBRPMA.plain("rpma_peer_cfg_set_direct_write_to_pmem",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_BOOLEAN));
    private static final MethodHandle rpma_peer_cfg_get_direct_write_to_pmem$mh =
        LIBRPMA.plain("rpma_peer_cfg_get_direct_write_to_pmem",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_peer_cfg_get_descriptor$mh = LIBRPMA.plain("rpma_peer_cfg_get_descriptor",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_peer_cfg_get_descriptor_size$mh = LIBRPMA.plain("rpma_peer_cfg_get_descriptor_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_peer_cfg_from_descriptor$mh = LIBRPMA.plain("rpma_peer_cfg_from_descriptor",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_new$mh = LIBRPMA.plain("rpma_conn_cfg_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_delete$mh = LIBRPMA.plain("rpma_conn_cfg_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_set_timeout$mh = LIBRPMA.plain("rpma_conn_cfg_set_timeout",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_conn_cfg_get_timeout$mh = LIBRPMA.plain("rpma_conn_cfg_get_timeout",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_set_cq_size$mh = LIBRPMA.plain("rpma_conn_cfg_set_cq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_conn_cfg_get_compl_channel$mh = LIBRPMA.plain("rpma_conn_cfg_get_compl_channel",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_set_compl_channel$mh = LIBRPMA.plain("rpma_conn_cfg_set_compl_channel",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_BOOLEAN));
    private static final MethodHandle rpma_conn_cfg_get_cq_size$mh = LIBRPMA.plain("rpma_conn_cfg_get_cq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_set_rcq_size$mh = LIBRPMA.plain("rpma_conn_cfg_set_rcq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_conn_cfg_get_rcq_size$mh = LIBRPMA.plain("rpma_conn_cfg_get_rcq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_set_sq_size$mh = LIBRPMA.plain("rpma_conn_cfg_set_sq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_conn_cfg_get_sq_size$mh = LIBRPMA.plain("rpma_conn_cfg_get_sq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_set_rq_size$mh = LIBRPMA.plain("rpma_conn_cfg_set_rq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_conn_cfg_get_rq_size$mh = LIBRPMA.plain("rpma_conn_cfg_get_rq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_set_srq$mh = LIBRPMA.plain("rpma_conn_cfg_set_srq",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_cfg_get_srq$mh = LIBRPMA.plain("rpma_conn_cfg_get_srq",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_srq_cfg_new$mh = LIBRPMA.plain("rpma_srq_cfg_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_srq_cfg_delete$mh = LIBRPMA.plain("rpma_srq_cfg_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_srq_cfg_set_rq_size$mh = LIBRPMA.plain("rpma_srq_cfg_set_rq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_srq_cfg_get_rq_size$mh = LIBRPMA.plain("rpma_srq_cfg_get_rq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_srq_cfg_set_rcq_size$mh = LIBRPMA.plain("rpma_srq_cfg_set_rcq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_srq_cfg_get_rcq_size$mh = LIBRPMA.plain("rpma_srq_cfg_get_rcq_size",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    @Override
    public int rpma_peer_cfg_new(final long pcfgPointer) {
        try {
            return (int) rpma_peer_cfg_new$mh.invokeExact(pcfgPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_cfg_delete(final long pcfgPointer) {
        try {
            return (int) rpma_peer_cfg_delete$mh.invokeExact(pcfgPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_cfg_set_direct_write_to_pmem(final long peerConfig, final boolean supported) {
        try {
            return (int) rpma_peer_cfg_set_direct_write_to_pmem$mh.invokeExact(peerConfig, supported);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_cfg_get_direct_write_to_pmem(final long peerConfig, final long supported) {
        try {
            return (int) rpma_peer_cfg_get_direct_write_to_pmem$mh.invokeExact(peerConfig, supported);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_cfg_get_descriptor(final long peerConfig, final long descriptor) {
        try {
            return (int) rpma_peer_cfg_get_descriptor$mh.invokeExact(peerConfig, descriptor);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_cfg_get_descriptor_size(final long peerConfig, final long descriptorSize) {
        try {
            return (int) rpma_peer_cfg_get_descriptor_size$mh.invokeExact(peerConfig, descriptorSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_peer_cfg_from_descriptor(final long descriptor, final long descriptorSize, final long pcfgPointer) {
        try {
            return (int) rpma_peer_cfg_from_descriptor$mh.invokeExact(descriptor, descriptorSize, pcfgPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_new(final long cfgPointer) {
        try {
            return (int) rpma_conn_cfg_new$mh.invokeExact(cfgPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_delete(final long cfgPointer) {
        try {
            return (int) rpma_conn_cfg_delete$mh.invokeExact(cfgPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_set_timeout(final long config, final int timeoutMs) {
        try {
            return (int) rpma_conn_cfg_set_timeout$mh.invokeExact(config, timeoutMs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_get_timeout(final long config, final long timeoutMs) {
        try {
            return (int) rpma_conn_cfg_get_timeout$mh.invokeExact(config, timeoutMs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_set_cq_size(final long config, final int cqSize) {
        try {
            return (int) rpma_conn_cfg_set_cq_size$mh.invokeExact(config, cqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_get_compl_channel(final long config, final long shared) {
        try {
            return (int) rpma_conn_cfg_get_compl_channel$mh.invokeExact(config, shared);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_set_compl_channel(final long config, final boolean shared) {
        try {
            return (int) rpma_conn_cfg_set_compl_channel$mh.invokeExact(config, shared);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_get_cq_size(final long config, final long cqSize) {
        try {
            return (int) rpma_conn_cfg_get_cq_size$mh.invokeExact(config, cqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_set_rcq_size(final long config, final int rcqSize) {
        try {
            return (int) rpma_conn_cfg_set_rcq_size$mh.invokeExact(config, rcqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_get_rcq_size(final long config, final long rcqSize) {
        try {
            return (int) rpma_conn_cfg_get_rcq_size$mh.invokeExact(config, rcqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_set_sq_size(final long config, final int sqSize) {
        try {
            return (int) rpma_conn_cfg_set_sq_size$mh.invokeExact(config, sqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_get_sq_size(final long config, final long sqSize) {
        try {
            return (int) rpma_conn_cfg_get_sq_size$mh.invokeExact(config, sqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_set_rq_size(final long config, final int rqSize) {
        try {
            return (int) rpma_conn_cfg_set_rq_size$mh.invokeExact(config, rqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_get_rq_size(final long config, final long rqSize) {
        try {
            return (int) rpma_conn_cfg_get_rq_size$mh.invokeExact(config, rqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_set_srq(final long config, final long sharedQueue) {
        try {
            return (int) rpma_conn_cfg_set_srq$mh.invokeExact(config, sharedQueue);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_cfg_get_srq(final long config, final long srqPointer) {
        try {
            return (int) rpma_conn_cfg_get_srq$mh.invokeExact(config, srqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_cfg_new(final long cfgPointer) {
        try {
            return (int) rpma_srq_cfg_new$mh.invokeExact(cfgPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_cfg_delete(final long cfgPointer) {
        try {
            return (int) rpma_srq_cfg_delete$mh.invokeExact(cfgPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_cfg_set_rq_size(final long config, final int rqSize) {
        try {
            return (int) rpma_srq_cfg_set_rq_size$mh.invokeExact(config, rqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_cfg_get_rq_size(final long config, final long rqSize) {
        try {
            return (int) rpma_srq_cfg_get_rq_size$mh.invokeExact(config, rqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_cfg_set_rcq_size(final long config, final int rcqSize) {
        try {
            return (int) rpma_srq_cfg_set_rcq_size$mh.invokeExact(config, rcqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_srq_cfg_get_rcq_size(final long config, final long rcqSize) {
        try {
            return (int) rpma_srq_cfg_get_rcq_size$mh.invokeExact(config, rcqSize);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
