package io.ringpoll.bench.handoff;

import io.ringpoll.completion.IbvWc;
import java.util.function.IntFunction;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.ringbuffer.RingBuffer;

/**
 * A ring of Agrona with a message for each completion, which is written in place: {@code tryClaim} and {@code commit}, which its
 * documentation offers for zero copy. The consumer reads in batches.
 *
 * @see <a href="https://www.javadoc.io/doc/org.agrona/agrona/latest/org/agrona/concurrent/ringbuffer/RingBuffer.html">
 *     RingBuffer: tryClaim, commit, read with a limit</a>
 */
final class RingBufferHandOff extends CopyingHandOff {
    private final RingBuffer ring;
    private final AtomicBuffer memory;
    private final MessageHandler handler;

    RingBufferHandOff(final Job job, final Work work, final IntFunction<RingBuffer> rings) {
        super(job, work);
        ring = rings.apply(job.ringSize());
        memory = ring.buffer();
        handler = (type, buffer, index, length) -> work.onCopy(buffer.getLong(index + NeededFields.WORK_REQUEST_ID_OFFSET),
            buffer.getLong(index + NeededFields.STATUS_AND_OPCODE_OFFSET));
    }

    @Override
    protected void put(final long records, final int count) {
        for (int i = 0; i < count; i++) {
            final long record = records + i * (long) IbvWc.SIZE_BYTES;
            int index = ring.tryClaim(MessageRings.MESSAGE_TYPE, NeededFields.SIZE_BYTES);
            while (index < 0) {
                producerIdle.idle();
                index = ring.tryClaim(MessageRings.MESSAGE_TYPE, NeededFields.SIZE_BYTES);
            }
            memory.putLong(index + NeededFields.WORK_REQUEST_ID_OFFSET, NeededFields.workRequestId(record));
            memory.putLong(index + NeededFields.STATUS_AND_OPCODE_OFFSET, NeededFields.statusAndOpcode(record));
            ring.commit(index);
        }
    }

    @Override
    protected int take() {
        return ring.read(handler, TAKE_LIMIT);
    }
}
