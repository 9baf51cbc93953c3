package io.ringpoll.bench.handoff;

import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.ringpoll.completion.IbvWc;
import org.agrona.MutableDirectBuffer;

/**
 * Aeron IPC with a message for each completion, as its documentation recommends for the highest performance: an exclusive
 * publication, messages written in place by {@code tryClaim}, an image polled for many fragments at once.
 *
 * @see <a href="https://aeron.io/docs/cookbook-content/aeron-try-claim">Aeron cookbook: avoid buffer copies when sending</a>
 * @see AeronIpc
 */
final class AeronHandOff extends CopyingHandOff {
    private final AeronIpc ipc;
    private final ExclusivePublication publication;
    private final Image image;
    private final BufferClaim claim = new BufferClaim();
    private final FragmentHandler handler;

    AeronHandOff(final Job job, final Work work) {
        super(job, work);
        ipc = AeronIpc.open(job.ringSize());
        publication = ipc.publication();
        image = ipc.image();
        handler = (buffer, offset, length, header) -> work.onCopy(buffer.getLong(offset + NeededFields.WORK_REQUEST_ID_OFFSET),
            buffer.getLong(offset + NeededFields.STATUS_AND_OPCODE_OFFSET));
    }

    @Override
    protected void put(final long records, final int count) {
        for (int i = 0; i < count; i++) {
            final long record = records + i * (long) IbvWc.SIZE_BYTES;
            long position = publication.tryClaim(NeededFields.SIZE_BYTES, claim);
            while (position < 0) {
                ipc.onRefused(position);
                producerIdle.idle();
                position = publication.tryClaim(NeededFields.SIZE_BYTES, claim);
            }
            final MutableDirectBuffer buffer = claim.buffer();
            final int offset = claim.offset();
            buffer.putLong(offset + NeededFields.WORK_REQUEST_ID_OFFSET, NeededFields.workRequestId(record));
            buffer.putLong(offset + NeededFields.STATUS_AND_OPCODE_OFFSET, NeededFields.statusAndOpcode(record));
            claim.commit();
        }
    }

    @Override
    protected int take() {
        return image.poll(handler, TAKE_LIMIT);
    }

    @Override
    protected void release() {
        ipc.close();
    }
}
