package io.ringpoll.bench.handoff;

import io.ringpoll.verbs.IbvWc;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.ManyToOneRingBuffer;

/** The many-to-one ring of Agrona, with one producer: the 48 bytes of each completion are copied into it and read in batches. */
final class ManyToOneHandOff extends CopyingHandOff {
    private final ManyToOneRingBuffer ring;
    private final MessageHandler handler =
        (type, buffer, index, length) -> work.onCompletion(buffer.getLong(index + IbvWc.WR_ID_OFFSET));

    ManyToOneHandOff(final Job job) {
        super(job);
        ring = new ManyToOneRingBuffer(MessageRings.memory(job.ringSize()));
    }

    @Override
    protected void put(final UnsafeBuffer records, final int count) {
        for (int i = 0; i < count; i++) {
            while (!ring.write(MessageRings.MESSAGE_TYPE, records, i * IbvWc.SIZE_BYTES, IbvWc.SIZE_BYTES)) {
                producerIdle.idle();
            }
        }
    }

    @Override
    protected int take() {
        return ring.read(handler, MessageRings.READ_LIMIT);
    }
}
