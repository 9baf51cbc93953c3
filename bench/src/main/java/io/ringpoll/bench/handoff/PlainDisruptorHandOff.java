package io.ringpoll.bench.handoff;

import com.lmax.disruptor.BatchEventProcessor;
import com.lmax.disruptor.BatchEventProcessorBuilder;
import com.lmax.disruptor.BlockingWaitStrategy;
import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.InsufficientCapacityException;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.SleepingWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.YieldingWaitStrategy;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.pipeline.WaitMode;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The Disruptor, tuned as in its user guide: one producer, preallocated events, a wait strategy for the available CPUs. The
 * completions of a poll are claimed and published as one range. The producer claims by {@code tryNext(n)} and has its own wait
 * for a full ring, because {@code next(n)} would park.
 *
 * @see <a href="https://lmax-exchange.github.io/disruptor/user-guide/index.html#_tuning_options">user guide: tuning options</a>
 * @see <a href="https://lmax-exchange.github.io/disruptor/javadoc/com.lmax.disruptor/com/lmax/disruptor/RingBuffer.html">
 *     RingBuffer: next(n), tryNext(n), publish(lo, hi)</a>
 */
final class PlainDisruptorHandOff extends CopyingHandOff {
    private static final long END_PARK_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final RingBuffer<CompletionEvent> ring;
    private final BatchEventProcessor<CompletionEvent> processor;

    PlainDisruptorHandOff(final Job job, final Work work) {
        super(job, work);
        ring = RingBuffer.createSingleProducer(CompletionEvent::new, job.ringSize(), waitStrategy(job.waitStrategy()));
        processor = new BatchEventProcessorBuilder().build(
            ring, ring.newBarrier(), (event, sequence, endOfBatch) -> event.handle(work));
        ring.addGatingSequences(processor.getSequence());
    }

    @Override
    protected void put(final long records, final int count) {
        final long last = claim(count);
        final long first = last - count + 1;
        for (int i = 0; i < count; i++) {
            ring.get(first + i).copyFrom(records + i * (long) IbvWc.SIZE_BYTES);
        }
        ring.publish(first, last);
    }

    /** Asks for room first: tryNext reports a full ring by an exception, which costs microseconds unless it is compiled away. */
    private long claim(final int count) {
        while (true) {
            if (ring.hasAvailableCapacity(count)) {
                try {
                    return ring.tryNext(count);
                } catch (final InsufficientCapacityException full) {
                    // Not with one producer; the next attempt asks again.
                }
            }
            producerIdle.idle();
        }
    }

    @Override
    protected void consume() {
        processor.run();
    }

    @Override
    protected void endConsumer() {
        final long last = ring.getCursor();
        while (processor.getSequence().get() < last && processor.isRunning()) {
            LockSupport.parkNanos(END_PARK_NS);
        }
        processor.halt();
    }

    @Override
    protected int take() {
        throw new UnsupportedOperationException("the event processor polls");
    }

    @Override
    public long handled() {
        return processor.getSequence().get() + 1;
    }

    private static WaitStrategy waitStrategy(final WaitMode wait) {
        return switch (wait) {
            case BUSY_SPIN -> new BusySpinWaitStrategy();
            case YIELD -> new YieldingWaitStrategy();
            case SLEEP -> new SleepingWaitStrategy();
            case BLOCK -> new BlockingWaitStrategy();
        };
    }
}
