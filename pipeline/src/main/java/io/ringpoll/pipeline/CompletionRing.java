package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.util.Util;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The ring of slots between the poller and threaded handlers, ordered by one Disruptor sequence and filled in place.
 * <pre>
 *          gating sequence               cursor             gating sequence + capacity
 *   ---------------|---------------------|------------------|------------->
 *      free again  |  published          |  claimable       |  not free yet
 * </pre>
 *
 * <p>Claims and publications belong to the polling thread. A claim has no state: free slots after the cursor remain free until
 * they are published, so the next claim returns the slots that the last poll did not fill. A claim ends at the end of the slab,
 * because the provider writes contiguous records.
 *
 * <p>The Disruptor's {@code SingleProducerSequencer} is not used: when its {@code next} rereads the gating sequences, it sets the
 * cursor to the end of the last claim, which would publish claimed slots that have not been filled.
 */
final class CompletionRing extends CompletionRingPositions implements PipelineRing {
    private static final Sequence[] NO_SEQUENCES = {};

    long p20;
    long p21;
    long p22;
    long p23;
    long p24;
    long p25;
    long p26;
    long p27;

    private final UnsafeBuffer slab;
    private final long timestampsAddress;
    private final QueueRuns queueRuns;
    private final int capacity;
    private final int mask;
    private final Sequence cursor = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final FaultMark faults;

    /** Set before the poller starts, as is the next field. */
    private Sequence[] gatingSequences = NO_SEQUENCES;
    private WaitStrategy[] signalledWaits = {};

    /** Set once, by any thread, when a handler has halted. */
    private volatile boolean halted;

    CompletionRing(final CompletionSlab slab) {
        this(slab.buffer(), slab.timestampsAddress(), slab.capacity(), slab.queueRuns(), slab.faults());
    }

    /** Creates a ring over the caller's memory; the capacity is a power of two. */
    CompletionRing(final UnsafeBuffer slots, final int capacity) {
        this(slots, 0, capacity, new QueueRuns(capacity), new FaultMark(capacity));
    }

    private CompletionRing(
        final UnsafeBuffer slots, final long timestampsAddress, final int capacity, final QueueRuns queueRuns,
        final FaultMark faults) {
        this.slab = slots;
        this.timestampsAddress = timestampsAddress;
        this.queueRuns = queueRuns;
        this.faults = faults;
        this.capacity = capacity;
        this.mask = capacity - 1;
    }

    /**
     * Sets the gating sequences; before the poller starts.
     *
     * @param last  sequences of the handlers of the last stages: those of earlier stages are never behind them
     * @param waits wait strategies to signal at each publication
     */
    void gate(final List<Sequence> last, final List<WaitStrategy> waits) {
        gatingSequences = last.toArray(NO_SEQUENCES);
        signalledWaits = waits.toArray(new WaitStrategy[0]);
    }

    int capacity() {
        return capacity;
    }

    @Override
    public Sequence cursor() {
        return cursor;
    }

    @Override
    public long minimumGatingSequence(final long last) {
        return Util.getMinimumSequence(gatingSequences, last);
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
        final long last = published;
        final int untilEnd = capacity - ((int) (last + 1) & mask);
        final int wanted = Math.min(limit, untilEnd);
        if (last + wanted > gating + capacity) {
            gating = Util.getMinimumSequence(gatingSequences, last);
        }
        return halted ? HALTED : (int) Math.min(wanted, gating + capacity - last);
    }

    @Override
    public int claimedOffset() {
        return CompletionSlab.offset(published + 1, mask);
    }

    @Override
    public void publish(final int count, final int queueIndex) {
        if (queueIndex != lastQueue) {
            queueRuns.begin(published + 1, queueIndex);
            lastQueue = queueIndex;
        }
        published += count;
        cursor.set(published);
        final WaitStrategy[] waits = signalledWaits;
        for (int i = 0; i < waits.length; i++) {
            waits[i].signalAllWhenBlocking();
        }
    }

    @Override
    public void publishFault(final int queueIndex) {
        faults.mark(published + 1);
        publish(1, queueIndex);
    }
}
