package io.ringpoll.bench.baseline;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.NativeLibrary;
import io.ringpoll.internal.ffm.PointerCall;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * One operation and its poll by two critical calls from Java into the device, with a prepared request and without a check: the
 * lowest cost of a binding that makes a call for each. Used by one thread, in a loop of bounded length.
 */
public final class BareCalls {
    /** {@code struct baseline_verbs_calls}. */
    static final MemoryLayout LAYOUT = MemoryLayout.sequenceLayout(7, JAVA_LONG);

    private static final int STATUS_OFFSET = Long.BYTES;
    private static final PointerCall POSTS = new PointerCall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final PointerCall POLLS = new PointerCall(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG));
    private static final MethodHandle POST_SEND = POSTS.handle();
    private static final MethodHandle POLL_CQ = POLLS.handle();

    private final MemorySegment postFunction;
    private final long qp;
    private final long request;
    private final MemorySegment workRequestId;
    private final long bad;
    private final MemorySegment pollFunction;
    private final long cq;
    private final long wc;
    private final MemorySegment status;

    BareCalls(final MemorySegment calls) {
        postFunction = POSTS.function(calls.getAtIndex(JAVA_LONG, 0));
        qp = calls.getAtIndex(JAVA_LONG, 1);
        request = calls.getAtIndex(JAVA_LONG, 2);
        workRequestId = segment(request, Long.BYTES);
        bad = calls.getAtIndex(JAVA_LONG, 3);
        pollFunction = POLLS.function(calls.getAtIndex(JAVA_LONG, 4));
        cq = calls.getAtIndex(JAVA_LONG, 5);
        wc = calls.getAtIndex(JAVA_LONG, 6);
        status = segment(wc + STATUS_OFFSET, Integer.BYTES);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment segment(final long address, final long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /**
     * Posts one operation at a time, and polls until it has completed.
     *
     * @param count number of operations
     * @return the elapsed nanoseconds
     * @throws IllegalStateException if one failed
     */
    public long run(final int count) {
        final long startNs = System.nanoTime();
        // Each call has a turn of its own, so that some are plain calls, which poll for safepoints.
        int turn = 0;
        for (int i = 0; i < count; i++) {
            workRequestId.set(JAVA_LONG, 0, i);
            int polled = post(turn++) == 0 ? 0 : -1;
            while (polled == 0) {
                polled = poll(turn++);
            }
            if (polled < 0 || status.get(JAVA_INT, 0) != 0) {
                throw new IllegalStateException("a bare operation failed");
            }
        }
        return System.nanoTime() - startNs;
    }

    private int post(final int turn) {
        try {
            return (int) POST_SEND.invokeExact(turn, postFunction, qp, request, bad);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    private int poll(final int turn) {
        try {
            return (int) POLL_CQ.invokeExact(turn, pollFunction, cq, 1, wc);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
