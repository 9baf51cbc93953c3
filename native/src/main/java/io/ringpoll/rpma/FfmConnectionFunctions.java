package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** {@link ConnectionFunctions} by plain downcalls. */
final class FfmConnectionFunctions implements ConnectionFunctions {
    private static final NativeLibrary LIBRPMA = Libraries.current().rpma();
    private static final MethodHandle rpma_conn_get_event_fd$mh = LIBRPMA.plain("rpma_conn_get_event_fd",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_next_event$mh = LIBRPMA.capturing("rpma_conn_next_event",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_utils_conn_event_2str$mh = LIBRPMA.plain("rpma_utils_conn_event_2str",
        FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
    private static final MethodHandle rpma_conn_get_private_data$mh = LIBRPMA.plain("rpma_conn_get_private_data",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_apply_remote_peer_cfg$mh = LIBRPMA.plain("rpma_conn_apply_remote_peer_cfg",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_get_qp_num$mh = LIBRPMA.plain("rpma_conn_get_qp_num",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_get_cq$mh = LIBRPMA.plain("rpma_conn_get_cq",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_get_rcq$mh = LIBRPMA.plain("rpma_conn_get_rcq",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_disconnect$mh = LIBRPMA.capturing("rpma_conn_disconnect",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_conn_delete$mh = LIBRPMA.capturing("rpma_conn_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_conn_req_new$mh = LIBRPMA.capturing("rpma_conn_req_new",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_req_delete$mh = LIBRPMA.capturing("rpma_conn_req_delete",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_conn_req_connect$mh = LIBRPMA.capturing("rpma_conn_req_connect",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_ep_listen$mh = LIBRPMA.capturing("rpma_ep_listen",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_ep_shutdown$mh = LIBRPMA.capturing("rpma_ep_shutdown",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rpma_ep_get_fd$mh = LIBRPMA.plain("rpma_ep_get_fd",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_ep_next_conn_req$mh = LIBRPMA.capturing("rpma_ep_next_conn_req",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rpma_conn_req_get_private_data$mh = LIBRPMA.plain("rpma_conn_req_get_private_data",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    @Override
    public int rpma_conn_get_event_fd(final long connection, final long fdPointer) {
        try {
            return (int) rpma_conn_get_event_fd$mh.invokeExact(connection, fdPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_next_event(final long connection, final long event) {
        try {
            return (int) rpma_conn_next_event$mh.invokeExact(CallState.current().errnoSegment(), connection, event);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long rpma_utils_conn_event_2str(final int connEvent) {
        try {
            return (long) rpma_utils_conn_event_2str$mh.invokeExact(connEvent);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_get_private_data(final long connection, final long pdata) {
        try {
            return (int) rpma_conn_get_private_data$mh.invokeExact(connection, pdata);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_apply_remote_peer_cfg(final long connection, final long peerConfig) {
        try {
            return (int) rpma_conn_apply_remote_peer_cfg$mh.invokeExact(connection, peerConfig);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_get_qp_num(final long connection, final long qpNum) {
        try {
            return (int) rpma_conn_get_qp_num$mh.invokeExact(connection, qpNum);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_get_cq(final long connection, final long cqPointer) {
        try {
            return (int) rpma_conn_get_cq$mh.invokeExact(connection, cqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_get_rcq(final long connection, final long rcqPointer) {
        try {
            return (int) rpma_conn_get_rcq$mh.invokeExact(connection, rcqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_disconnect(final long connection) {
        try {
            return (int) rpma_conn_disconnect$mh.invokeExact(CallState.current().errnoSegment(), connection);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_delete(final long connPointer) {
        try {
            return (int) rpma_conn_delete$mh.invokeExact(CallState.current().errnoSegment(), connPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_req_new(final long peer, final long address, final long port, final long config,
        final long reqPointer) {
        try {
            return (int) rpma_conn_req_new$mh.invokeExact(CallState.current().errnoSegment(), peer, address, port, config,
             reqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_req_delete(final long reqPointer) {
        try {
            return (int) rpma_conn_req_delete$mh.invokeExact(CallState.current().errnoSegment(), reqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_req_connect(final long reqPointer, final long pdata, final long connPointer) {
        try {
            return (int) rpma_conn_req_connect$mh.invokeExact(CallState.current().errnoSegment(), reqPointer, pdata,
             connPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_ep_listen(final long peer, final long address, final long port, final long epPointer) {
        try {
            return (int) rpma_ep_listen$mh.invokeExact(CallState.current().errnoSegment(), peer, address, port, epPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_ep_shutdown(final long epPointer) {
        try {
            return (int) rpma_ep_shutdown$mh.invokeExact(CallState.current().errnoSegment(), epPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_ep_get_fd(final long ep, final long fdPointer) {
        try {
            return (int) rpma_ep_get_fd$mh.invokeExact(ep, fdPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_ep_next_conn_req(final long ep, final long config, final long reqPointer) {
        try {
            return (int) rpma_ep_next_conn_req$mh.invokeExact(CallState.current().errnoSegment(), ep, config, reqPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int rpma_conn_req_get_private_data(final long request, final long pdata) {
        try {
            return (int) rpma_conn_req_get_private_data$mh.invokeExact(request, pdata);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
