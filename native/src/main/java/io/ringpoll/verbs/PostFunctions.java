package io.ringpoll.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.ffm.NativeLibrary;
import io.ringpoll.internal.ffm.PointerCall;
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

    private static final FunctionDescriptor POST = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final PointerCall POST_SEND = new PointerCall(POST);
    private static final PointerCall POST_RECV = new PointerCall(POST);
    private static final MethodHandle ibv_post_send$mh = POST_SEND.handle();
    private static final MethodHandle ibv_post_recv$mh = POST_RECV.handle();

    private PostFunctions() {
    }

    /** The {@code post_send} of a queue pair's device. */
    static MemorySegment sendOf(final long qp) {
        return POST_SEND.function(at(qp, IbvWr.POST_SEND_OFFSET));
    }

    /** The {@code post_recv} of a queue pair's device. */
    static MemorySegment receiveOf(final long qp) {
        return POST_RECV.function(at(qp, IbvWr.POST_RECV_OFFSET));
    }

    /** The {@code post_srq_recv} of a shared receive queue's device. */
    static MemorySegment sharedReceiveOf(final long srq) {
        return MemorySegment.ofAddress(at(srq, IbvWr.POST_SRQ_RECV_OFFSET));
    }

    private static long at(final long queue, final int offset) {
        return Memory.longAt(Memory.longAt(queue + IbvWr.CONTEXT_OFFSET) + offset);
    }

    /**
     * Posts a chain of requests to a send queue.
     *
     * @param turn     of the call
     * @param function of the queue pair's device
     * @param qp       address of the queue pair
     * @param request  address of the first request
     * @param bad      where the address of the first refused request is stored
     * @return 0 or an errno value
     */
    static int ibv_post_send(final int turn, final MemorySegment function, final long qp, final long request, final long bad) {
        try {
            return (int) ibv_post_send$mh.invokeExact(turn, function, qp, request, bad);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    /** The same to the receive queue of a queue pair, or to a shared one: by its own function. */
    static int ibv_post_recv(final int turn, final MemorySegment function, final long queue, final long request, final long bad) {
        try {
            return (int) ibv_post_recv$mh.invokeExact(turn, function, queue, request, bad);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    /** The turn of a call, which is a plain one for a long chain. */
    static int turn(final int turn, final long lengthBytes, final int count) {
        return lengthBytes > CRITICAL_LIMIT_BYTES || count > CRITICAL_LIMIT_REQUESTS ? CallTurn.PLAIN : turn;
    }
}
