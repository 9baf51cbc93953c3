package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The ring between a poller and handlers on the same thread: a publication returns when all handlers have returned.
 *
 * <p>All slots are free at each claim, so the ring is never full, and a few batches of slots suffice: they stay in the L1 cache.
 * Belongs to the polling thread, except {@link #cursor()}, {@link #gatingSequence()}, {@link #minimumGatingSequence} and
 * {@link #halt()}.
 */
final class RunToCompletionRing implements PipelineRing {
    private final UnsafeBuffer slab;
    private final long timestampsAddress;
    private final FaultMark faults;
    private final int capacity;
    private final int mask;
    private final InPlaceHandler[] handlers;
    private final Sequence cursor = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final Sequence passed = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    /** The cursor's value. */
    private long published = Sequencer.INITIAL_CURSOR_VALUE;

    private volatile boolean halted;

    RunToCompletionRing(final CompletionSlab slab, final List<InPlaceHandler> handlers) {
        this.slab = slab.buffer();
        this.timestampsAddress = slab.timestampsAddress();
        this.faults = slab.faults();
        this.capacity = slab.capacity();
        this.mask = slab.mask();
        this.handlers = handlers.toArray(new InPlaceHandler[0]);
    }

    @Override
    public Sequence cursor() {
        return cursor;
    }

    /** The last sequence that all handlers have passed. */
    Sequence gatingSequence() {
        return passed;
    }

    @Override
    public long minimumGatingSequence(final long last) {
        return Math.min(passed.get(), last);
    }

    @Override
    public void halt() {
        halted = true;
    }

    @Override
    public boolean isHalted() {
        return halted;
    }

    @Override
    public UnsafeBuffer slab() {
        return slab;
    }

    @Override
    public long timestampsAddress() {
        return timestampsAddress;
    }

    @Override
    public int claim(final int limit) {
        return halted ? HALTED : Math.min(limit, capacity - ((int) (published + 1) & mask));
    }

    @Override
    public int claimedOffset() {
        return CompletionSlab.offset(published + 1, mask);
    }

    @Override
    public void publish(final int count, final int queueIndex) {
        final long first = published + 1;
        final long last = published + count;
        published = last;
        cursor.set(last);
        long passedByAll = last;
        for (final InPlaceHandler handler : handlers) {
            passedByAll = Math.min(passedByAll, handler.handle(first, last, queueIndex));
        }
        passed.set(passedByAll);
    }

    @Override
    public void publishFault(final int queueIndex) {
        faults.mark(published + 1);
        publish(1, queueIndex);
    }
}
