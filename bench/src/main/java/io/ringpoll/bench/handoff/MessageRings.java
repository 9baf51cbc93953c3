package io.ringpoll.bench.handoff;

import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.ManyToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RecordDescriptor;
import org.agrona.concurrent.ringbuffer.RingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

/** The rings of Agrona in off-heap memory, each with room for at least as many completions as ringpoll's ring has slots. */
final class MessageRings {
    static final int MESSAGE_TYPE = 1;

    private static final int CACHE_LINE_BYTES = 64;

    private MessageRings() {
    }

    /** A ring for one producer. */
    static RingBuffer oneToOne(final int slots) {
        return new OneToOneRingBuffer(memory(slots));
    }

    /** A ring for any number of producers. */
    static RingBuffer manyToOne(final int slots) {
        return new ManyToOneRingBuffer(memory(slots));
    }

    private static UnsafeBuffer memory(final int slots) {
        final int record = BitUtil.align(NeededFields.SIZE_BYTES + RecordDescriptor.HEADER_LENGTH, RecordDescriptor.ALIGNMENT);
        final int bytes = BitUtil.findNextPositivePowerOfTwo(Math.max(OneToOneRingBuffer.MIN_CAPACITY, slots * record));
        return new UnsafeBuffer(
            BufferUtil.allocateDirectAligned(bytes + RingBufferDescriptor.TRAILER_LENGTH, CACHE_LINE_BYTES));
    }
}
