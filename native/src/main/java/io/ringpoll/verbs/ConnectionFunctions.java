package io.ringpoll.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * The functions of librdmacm, by plain downcalls. Pointers are addresses; where C sets errno it is in
 * {@link CallState#errno()}.
 */
final class ConnectionFunctions {
    private static final NativeLibrary LIBRDMACM = Libraries.current().rdmacm();
    private static final MethodHandle rdma_get_devices$mh =
        LIBRDMACM.capturing("rdma_get_devices", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_free_devices$mh =
        LIBRDMACM.plain("rdma_free_devices", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle rdma_create_event_channel$mh =
        LIBRDMACM.capturing("rdma_create_event_channel", FunctionDescriptor.of(JAVA_LONG));
    private static final MethodHandle rdma_destroy_event_channel$mh =
        LIBRDMACM.plain("rdma_destroy_event_channel", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle rdma_create_id$mh = LIBRDMACM.capturing("rdma_create_id",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rdma_destroy_id$mh =
        LIBRDMACM.capturing("rdma_destroy_id", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rdma_migrate_id$mh =
        LIBRDMACM.capturing("rdma_migrate_id", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_bind_addr$mh =
        LIBRDMACM.capturing("rdma_bind_addr", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_resolve_addr$mh = LIBRDMACM.capturing("rdma_resolve_addr",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rdma_resolve_route$mh =
        LIBRDMACM.capturing("rdma_resolve_route", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rdma_set_option$mh = LIBRDMACM.capturing("rdma_set_option",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_create_qp$mh =
        LIBRDMACM.capturing("rdma_create_qp", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_destroy_qp$mh =
        LIBRDMACM.plain("rdma_destroy_qp", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle rdma_connect$mh =
        LIBRDMACM.capturing("rdma_connect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_accept$mh =
        LIBRDMACM.capturing("rdma_accept", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_reject$mh =
        LIBRDMACM.capturing("rdma_reject", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_BYTE));
    private static final MethodHandle rdma_disconnect$mh =
        LIBRDMACM.capturing("rdma_disconnect", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle rdma_listen$mh =
        LIBRDMACM.capturing("rdma_listen", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle rdma_get_src_port$mh =
        LIBRDMACM.plain("rdma_get_src_port", FunctionDescriptor.of(JAVA_SHORT, JAVA_LONG));
    private static final MethodHandle rdma_get_cm_event$mh =
        LIBRDMACM.capturing("rdma_get_cm_event", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle rdma_ack_cm_event$mh =
        LIBRDMACM.capturing("rdma_ack_cm_event", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

    private ConnectionFunctions() {
    }

    static long rdma_get_devices(final long count) {
        try {
            return (long) rdma_get_devices$mh.invokeExact(CallState.current().errnoSegment(), count);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void rdma_free_devices(final long list) {
        try {
            rdma_free_devices$mh.invokeExact(list);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long rdma_create_event_channel() {
        try {
            return (long) rdma_create_event_channel$mh.invokeExact(CallState.current().errnoSegment());
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void rdma_destroy_event_channel(final long channel) {
        try {
            rdma_destroy_event_channel$mh.invokeExact(channel);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_create_id(final long channel, final long idPointer, final long context, final int portSpace) {
        try {
            return (int) rdma_create_id$mh.invokeExact(CallState.current().errnoSegment(), channel, idPointer, context,
                portSpace);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_destroy_id(final long id) {
        try {
            return (int) rdma_destroy_id$mh.invokeExact(CallState.current().errnoSegment(), id);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_migrate_id(final long id, final long channel) {
        try {
            return (int) rdma_migrate_id$mh.invokeExact(CallState.current().errnoSegment(), id, channel);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_bind_addr(final long id, final long address) {
        try {
            return (int) rdma_bind_addr$mh.invokeExact(CallState.current().errnoSegment(), id, address);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_resolve_addr(final long id, final long source, final long destination, final int timeoutMs) {
        try {
            return (int) rdma_resolve_addr$mh.invokeExact(CallState.current().errnoSegment(), id, source, destination,
                timeoutMs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_resolve_route(final long id, final int timeoutMs) {
        try {
            return (int) rdma_resolve_route$mh.invokeExact(CallState.current().errnoSegment(), id, timeoutMs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_set_option(final long id, final int level, final int option, final long value, final long lengthBytes) {
        try {
            return (int) rdma_set_option$mh.invokeExact(CallState.current().errnoSegment(), id, level, option, value,
                lengthBytes);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_create_qp(final long id, final long pd, final long initAttr) {
        try {
            return (int) rdma_create_qp$mh.invokeExact(CallState.current().errnoSegment(), id, pd, initAttr);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void rdma_destroy_qp(final long id) {
        try {
            rdma_destroy_qp$mh.invokeExact(id);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_connect(final long id, final long parameters) {
        try {
            return (int) rdma_connect$mh.invokeExact(CallState.current().errnoSegment(), id, parameters);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_accept(final long id, final long parameters) {
        try {
            return (int) rdma_accept$mh.invokeExact(CallState.current().errnoSegment(), id, parameters);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_reject(final long id, final long privateData, final byte lengthBytes) {
        try {
            return (int) rdma_reject$mh.invokeExact(CallState.current().errnoSegment(), id, privateData, lengthBytes);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_disconnect(final long id) {
        try {
            return (int) rdma_disconnect$mh.invokeExact(CallState.current().errnoSegment(), id);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_listen(final long id, final int backlog) {
        try {
            return (int) rdma_listen$mh.invokeExact(CallState.current().errnoSegment(), id, backlog);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    /** In network byte order. */
    static short rdma_get_src_port(final long id) {
        try {
            return (short) rdma_get_src_port$mh.invokeExact(id);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_get_cm_event(final long channel, final long eventPointer) {
        try {
            return (int) rdma_get_cm_event$mh.invokeExact(CallState.current().errnoSegment(), channel, eventPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int rdma_ack_cm_event(final long event) {
        try {
            return (int) rdma_ack_cm_event$mh.invokeExact(CallState.current().errnoSegment(), event);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
