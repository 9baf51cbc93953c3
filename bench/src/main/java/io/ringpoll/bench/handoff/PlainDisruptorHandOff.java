package io.ringpoll.bench.handoff;

import com.lmax.disruptor.BatchEventProcessor;
import com.lmax.disruptor.BatchEventProcessorBuilder;
import com.lmax.disruptor.BlockingWaitStrategy;
import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.SleepingWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.YieldingWaitStrategy;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.verbs.IbvWc;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;

/** The Disruptor with events on the heap: the fields are copied into the events, and each batch is published as one range. */
final class PlainDisruptorHandOff extends CopyingHandOff {
    private static final long END_PARK_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final RingBuffer<CompletionRecord> ring;
    private final BatchEventProcessor<CompletionRecord> processor;

    PlainDisruptorHandOff(final Job job) {
        super(job);
        ring = RingBuffer.createSingleProducer(CompletionRecord::new, job.ringSize(), waitStrategy(job.waitStrategy()));
        processor = new BatchEventProcessorBuilder().build(
            ring, ring.newBarrier(), (record, sequence, endOfBatch) -> work.onCompletion(record.workRequestId()));
        ring.addGatingSequences(processor.getSequence());
    }

    @Override
    protected void put(final UnsafeBuffer records, final int count) {
        final long last = ring.next(count);
        final long first = last - count + 1;
        for (int i = 0; i < count; i++) {
            ring.get(first + i).copyFrom(records, i * IbvWc.SIZE_BYTES);
        }
        ring.publish(first, last);
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
