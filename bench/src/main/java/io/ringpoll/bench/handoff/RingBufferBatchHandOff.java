package io.ringpoll.bench.handoff;

import io.ringpoll.completion.IbvWc;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.ringbuffer.RingBuffer;

/**
 * The one-to-one ring of Agrona with one message for all completions of a poll: as {@link RingBufferHandOff}, but the cost of a
 * message is shared. The natural batching of Agrona's and Aeron's design, by the program instead of the library.
 *
 * @see <a href="https://github.com/aeron-io/aeron/wiki/Design-Principles">Aeron: design principles</a>
 */
final class RingBufferBatchHandOff extends CopyingHandOff {
    private final RingBuffer ring;
    private final long memory;
    private final int mostInAMessage;
    private final MessageHandler handler;

    RingBufferBatchHandOff(final Job job, final Work work) {
        super(job, work);
        ring = MessageRings.oneToOne(job.ringSize());
        memory = ring.buffer().addressOffset();
        mostInAMessage = ring.maxMsgLength() / NeededFields.SIZE_BYTES;
        handler = (type, buffer, index, length) ->
            NeededFields.handle(buffer.addressOffset() + index, length / NeededFields.SIZE_BYTES, work);
    }

    @Override
    protected void put(final long records, final int count) {
        int done = 0;
        while (done < count) {
            final int some = Math.min(count - done, mostInAMessage);
            final int index = ring.tryClaim(MessageRings.MESSAGE_TYPE, some * NeededFields.SIZE_BYTES);
            if (index < 0) {
                producerIdle.idle();
            } else {
                NeededFields.copy(records + done * (long) IbvWc.SIZE_BYTES, memory + index, some);
                ring.commit(index);
                done += some;
            }
        }
    }

    @Override
    protected int take() {
        final long before = work.completions();
        ring.read(handler, TAKE_LIMIT);
        return (int) (work.completions() - before);
    }
}
