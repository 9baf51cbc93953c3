package io.ringpoll.completion;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.ffm.NativeLibrary;
import io.ringpoll.internal.ffm.PointerCall;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** {@link VerbsFunctions} by downcalls: polling is critical, everything else plain. */
final class FfmVerbsFunctions implements VerbsFunctions {
    static final VerbsFunctions VERBS = new FfmVerbsFunctions();

    private static final NativeLibrary LIBIBVERBS = Libraries.current().ibverbs();
    private static final PointerCall POLL_CQ =
        new PointerCall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle ibv_poll_cq$mh = POLL_CQ.handle();
    private static final MethodHandle ibv_req_notify_cq$mh =
        NativeLibrary.plainPointer(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle ibv_create_comp_channel$mh =
        LIBIBVERBS.capturing("ibv_create_comp_channel", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ibv_destroy_comp_channel$mh =
        LIBIBVERBS.plain("ibv_destroy_comp_channel", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle ibv_create_cq$mh = LIBIBVERBS.capturing("ibv_create_cq",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle ibv_destroy_cq$mh =
        LIBIBVERBS.plain("ibv_destroy_cq", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle ibv_get_cq_event$mh =
        LIBIBVERBS.plain("ibv_get_cq_event", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ibv_get_cq_event_errno$mh =
        LIBIBVERBS.capturing("ibv_get_cq_event", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ibv_ack_cq_events$mh =
        LIBIBVERBS.plain("ibv_ack_cq_events", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT));
    private static final MethodHandle ibv_get_async_event$mh =
        LIBIBVERBS.capturing("ibv_get_async_event", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ibv_ack_async_event$mh =
        LIBIBVERBS.plain("ibv_ack_async_event", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle ibv_event_type_str$mh =
        LIBIBVERBS.plain("ibv_event_type_str", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

    private FfmVerbsFunctions() {
    }

    @Override
    public MemorySegment pollCqOf(final long context) {
        return POLL_CQ.function(Memory.longAt(context + IbvContext.POLL_CQ_OFFSET));
    }

    @Override
    public int ibv_poll_cq(final int turn, final MemorySegment pollCq, final long cq, final int numEntries, final long wcs) {
        try {
            return (int) ibv_poll_cq$mh.invokeExact(turn, pollCq, cq, numEntries, wcs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ibv_req_notify_cq(final MemorySegment reqNotifyCq, final long cq, final int solicitedOnly) {
        try {
            return (int) ibv_req_notify_cq$mh.invokeExact(reqNotifyCq, cq, solicitedOnly);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long ibv_create_comp_channel(final long context) {
        try {
            return (long) ibv_create_comp_channel$mh.invokeExact(CallState.current().errnoSegment(), context);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ibv_destroy_comp_channel(final long channel) {
        try {
            return (int) ibv_destroy_comp_channel$mh.invokeExact(channel);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long ibv_create_cq(final long context, final int cqe, final long cqContext, final long channel, final int compVector) {
        try {
            return (long) ibv_create_cq$mh.invokeExact(CallState.current().errnoSegment(), context, cqe, cqContext,
                channel, compVector);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ibv_destroy_cq(final long cq) {
        try {
            return (int) ibv_destroy_cq$mh.invokeExact(cq);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ibv_get_cq_event(final long channel, final long cqPointer, final long contextPointer) {
        try {
            return (int) ibv_get_cq_event$mh.invokeExact(channel, cqPointer, contextPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ibv_get_cq_event_errno(final long channel, final long cqPointer, final long contextPointer) {
        try {
            return (int) ibv_get_cq_event_errno$mh.invokeExact(
                CallState.current().errnoSegment(), channel, cqPointer, contextPointer);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public void ibv_ack_cq_events(final long cq, final int events) {
        try {
            ibv_ack_cq_events$mh.invokeExact(cq, events);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int ibv_get_async_event(final long context, final long event) {
        try {
            return (int) ibv_get_async_event$mh.invokeExact(CallState.current().errnoSegment(), context, event);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public void ibv_ack_async_event(final long event) {
        try {
            ibv_ack_async_event$mh.invokeExact(event);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long ibv_event_type_str(final int eventType) {
        try {
            return (long) ibv_event_type_str$mh.invokeExact(eventType);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
