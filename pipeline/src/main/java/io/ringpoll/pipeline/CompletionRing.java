package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.util.Util;
import io.ringpoll.poller.SlotRing;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The ring that the poller fills in place: slots of the slab, ordered by one Disruptor sequence.
 *
 * <pre>
 *          handlers' sequences          cursor             capacity behind the slowest handler
 *   ---------------|---------------------|------------------|------------->
 *      free again  |  published          |  claimable       |  not free yet
 * </pre>
 *
 * <p>Claims and publications belong to the polling thread. A claim needs no record: free slots behind the cursor stay free until
 * they are published, so what one poll leaves of a claim is found again by the next. It stops at the end of the slab, since the
 * provider writes records side by side.
 *
 * <p>The Disruptor's own {@code SingleProducerSequencer} is not used: when its {@code next} rereads the handlers' sequences it
 * moves the cursor to the end of the last claim, which would publish slots of a claim that is still held open.
 */
final class CompletionRing implements SlotRing {
    private static final Sequence[] NO_SEQUENCES = {};

    private final UnsafeBuffer slab;
    private final int capacity;
    private final int mask;
    private final Sequence cursor = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);

    /** Set before the poller starts. */
    private Sequence[] gatingSequences = NO_SEQUENCES;
    private WaitStrategy[] blockingWaits = {};

    /** Set once, by any thread, when a handler has ended for good. */
    private volatile boolean halted;

    /** The cursor's value, and the slowest handler's as last seen; polling thread only. */
    private long published = Sequencer.INITIAL_CURSOR_VALUE;
    private long gating = Sequencer.INITIAL_CURSOR_VALUE;

    CompletionRing(final CompletionSlab slab) {
        this.slab = slab.buffer();
        this.capacity = slab.capacity();
        this.mask = slab.mask();
    }

    /**
     * Names those who must pass a slot before it is free again; before the poller starts.
     *
     * @param sequences of the handlers
     * @param waits     that must be signalled at each publication because someone sleeps in them
     */
    void gate(final Sequence[] sequences, final WaitStrategy[] waits) {
        gatingSequences = sequences.clone();
        blockingWaits = waits.clone();
    }

    /** The last published sequence; any thread may read it. */
    Sequence cursor() {
        return cursor;
    }

    /** How many published slots some handler has not passed yet; any thread, a moment's value. */
    long occupancy() {
        final long last = cursor.get();
        return last - Util.getMinimumSequence(gatingSequences, last);
    }

    /** From now on no slot can be claimed: a handler will never pass what is there. Any thread. */
    void halt() {
        halted = true;
    }

    @Override
    public UnsafeBuffer slab() {
        return slab;
    }

    @Override
    public int claim(final int limit) {
        final int untilEnd = capacity - ((int) (published + 1) & mask);
        final int wanted = Math.min(limit, untilEnd);
        if (published + wanted > gating + capacity) {
            gating = Util.getMinimumSequence(gatingSequences, published);
        }
        return halted ? 0 : (int) Math.min(wanted, gating + capacity - published);
    }

    @Override
    public int claimedOffset() {
        return CompletionSlab.offset(published + 1, mask);
    }

    @Override
    public void publish(final int count) {
        published += count;
        cursor.set(published);
        final WaitStrategy[] waits = blockingWaits;
        for (int i = 0; i < waits.length; i++) {
            waits[i].signalAllWhenBlocking();
        }
    }
}
