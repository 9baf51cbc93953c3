package io.ringpoll.bench.handoff;

import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.ringpoll.completion.IbvWc;

/**
 * Aeron IPC with one message for all completions of a poll: as {@link AeronHandOff}, but the header of 32 bytes and the claim are
 * shared, as in {@link RingBufferBatchHandOff}.
 *
 * @see <a href="https://aeron.io/docs/cookbook-content/aeron-try-claim">Aeron cookbook: avoid buffer copies when sending</a>
 * @see <a href="https://github.com/aeron-io/aeron/wiki/Design-Principles">Aeron: design principles</a>
 */
final class AeronBatchHandOff extends CopyingHandOff {
    private final AeronIpc ipc;
    private final ExclusivePublication publication;
    private final Image image;
    private final int mostInAMessage;
    private final BufferClaim claim = new BufferClaim();
    private final FragmentHandler handler;

    AeronBatchHandOff(final Job job, final Work work) {
        super(job, work);
        ipc = AeronIpc.open(job.ringSize());
        publication = ipc.publication();
        image = ipc.image();
        mostInAMessage = publication.maxPayloadLength() / NeededFields.SIZE_BYTES;
        handler = (buffer, offset, length, header) ->
            NeededFields.handle(buffer.addressOffset() + offset, length / NeededFields.SIZE_BYTES, work);
    }

    @Override
    protected void put(final long records, final int count) {
        int done = 0;
        while (done < count) {
            final int some = Math.min(count - done, mostInAMessage);
            final long position = publication.tryClaim(some * NeededFields.SIZE_BYTES, claim);
            if (position < 0) {
                ipc.onRefused(position);
                producerIdle.idle();
            } else {
                NeededFields.copy(
                    records + done * (long) IbvWc.SIZE_BYTES, claim.buffer().addressOffset() + claim.offset(), some);
                claim.commit();
                done += some;
            }
        }
    }

    @Override
    protected int take() {
        final long before = work.completions();
        image.poll(handler, TAKE_LIMIT);
        return (int) (work.completions() - before);
    }

    @Override
    protected void release() {
        ipc.close();
    }
}
