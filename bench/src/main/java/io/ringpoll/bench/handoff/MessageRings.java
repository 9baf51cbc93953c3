package io.ringpoll.bench.handoff;

import io.ringpoll.verbs.IbvWc;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.RecordDescriptor;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

/** Common parts of the hand-offs by Agrona's rings. */
final class MessageRings {
    static final int MESSAGE_TYPE = 1;
    static final int READ_LIMIT = 256;

    private static final int CACHE_LINE_BYTES = 64;

    private MessageRings() {
    }

    /** Memory for at least as many completions as a ring has slots. */
    static UnsafeBuffer memory(final int slots) {
        final int record = BitUtil.align(IbvWc.SIZE_BYTES + RecordDescriptor.HEADER_LENGTH, RecordDescriptor.ALIGNMENT);
        final int bytes = BitUtil.findNextPositivePowerOfTwo(slots * record) + RingBufferDescriptor.TRAILER_LENGTH;
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(bytes, CACHE_LINE_BYTES));
    }
}
