package io.ringpoll.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@code ibv_post_send}, {@code ibv_post_recv} and {@code ibv_post_srq_recv}: inline in C, they go through the function pointers
 * of the context, by critical downcalls here. Chains of more than {@value #CRITICAL_LIMIT_BYTES} bytes or
 * {@value #CRITICAL_LIMIT_REQUESTS} requests are posted by a plain downcall, since a device that copies within the call would
 * delay the JVM's safepoints for that long.
 */
final class PostFunctions {
    static final int CRITICAL_LIMIT_BYTES = 64 * 1024;
    static final int CRITICAL_LIMIT_REQUESTS = 64;

    private static final MethodHandle post$mh =
        NativeLibrary.criticalPointer(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    private PostFunctions() {
    }

    /** The function at an offset of the context of a queue. */
    static MemorySegment of(final long queue, final int offset) {
        return MemorySegment.ofAddress(Memory.longAt(Memory.longAt(queue + IbvWr.CONTEXT_OFFSET) + offset));
    }

    /**
     * Posts a chain of requests.
     *
     * @param turn     of the call
     * @param function one of the three
     * @param queue    address of the queue pair or shared receive queue
     * @param request  address of the first request
     * @param bad      where the address of the first refused request is stored
     * @return 0 or an errno value
     */
    static int post(final int turn, final MemorySegment function, final long queue, final long request, final long bad) {
        try {
            return (int) post$mh.invokeExact(turn, function, queue, request, bad);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    /** The turn of a call, which is a plain one for a long chain. */
    static int turn(final int turn, final long lengthBytes, final int count) {
        return lengthBytes > CRITICAL_LIMIT_BYTES || count > CRITICAL_LIMIT_REQUESTS ? CallTurn.PLAIN : turn;
    }
}
