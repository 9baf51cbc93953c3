package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.util.Util;
import java.util.List;
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
    private final int capacity;
    private final int mask;
    private final Sequence cursor = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final FaultMark faults = new FaultMark();

    /** Set before the poller starts, as the next two. */
    private Sequence[] gatingSequences = NO_SEQUENCES;
    private WaitStrategy[] signalledWaits = {};
    private CompletionProcessor[] processors = {};

    /** Set once, by any thread, when a handler has ended for good. */
    private volatile boolean halted;

    CompletionRing(final CompletionSlab slab) {
        this(slab.buffer(), slab.capacity());
    }

    /** A ring over memory of the caller's; the capacity is a power of two. */
    CompletionRing(final UnsafeBuffer slots, final int capacity) {
        this.slab = slots;
        this.capacity = capacity;
        this.mask = capacity - 1;
    }

    /**
     * Names those who must pass a slot before it is free again; before the poller starts.
     *
     * @param last   sequences of the handlers that no other waits for: those before them are further on anyway
     * @param waits  that must be signalled at each publication because someone sleeps in them
     * @param stages all handlers, in an order in which each stands behind those it waits for
     */
    void gate(final List<Sequence> last, final List<WaitStrategy> waits, final List<CompletionProcessor> stages) {
        gatingSequences = last.toArray(NO_SEQUENCES);
        signalledWaits = waits.toArray(new WaitStrategy[0]);
        processors = stages.toArray(new CompletionProcessor[0]);
    }

    int capacity() {
        return capacity;
    }

    /** Where the handlers find the queue faults. */
    FaultMark faults() {
        return faults;
    }

    @Override
    public Sequence cursor() {
        return cursor;
    }

    @Override
    public long passedOf(final long last) {
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
    public void publish(final int count) {
        published += count;
        cursor.set(published);
        final WaitStrategy[] waits = signalledWaits;
        for (int i = 0; i < waits.length; i++) {
            waits[i].signalAllWhenBlocking();
        }
    }

    @Override
    public void publishFault() {
        faults.set(published + 1);
        publish(1);
    }

    @Override
    public void onHeldBack(final long elapsedNs) {
        final CompletionProcessor slowest = slowestProcessor();
        if (elapsedNs == 0) {
            slowest.counters().heldBackStalls.incrementRelease();
        } else {
            slowest.counters().heldBackNs.getAndAddRelease(elapsedNs);
        }
    }

    @Override
    public String slowest() {
        return slowestProcessor().spec().roleName();
    }

    /** Of those that have come least far the foremost stage: the ones behind it only wait for it. */
    private CompletionProcessor slowestProcessor() {
        CompletionProcessor slowest = processors[0];
        long least = slowest.passed().get();
        for (int i = 1; i < processors.length; i++) {
            final long passed = processors[i].passed().get();
            if (passed < least) {
                least = passed;
                slowest = processors[i];
            }
        }
        return slowest;
    }
}
