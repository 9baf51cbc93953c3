package io.ringpoll.bench.micro;

import io.ringpoll.bench.handoff.Mixes;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.poller.CompletionPoller;
import io.ringpoll.internal.poller.PollerCounterSet;
import io.ringpoll.internal.poller.SlotRing;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The duty cycle of the poller with all its counters, and a bare claim, poll and publish as the baseline: on one
 * thread, into a ring with slots that are free again immediately.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = ForkOptions.FORKS, jvmArgsAppend = {ForkOptions.HEAP, ForkOptions.MAX_HEAP, ForkOptions.PRE_TOUCH})
public class CountersBenchmark {
    private static final int CYCLES = 100_000;
    private static final int BATCH = 32;
    private static final int SLOTS = 8192;
    private static final int CACHE_LINE_BYTES = 64;
    private static final int COUNTERS_BYTES = 128 * 1024;

    /** Completions per poll; 0: the queue is empty. */
    @Param({"0", "1", "32"})
    public int batch;

    private final FreeRing ring = new FreeRing();
    private SyntheticSource source;
    private RpmaCompletionQueue queue;
    private CountedQueue counted;
    private CompletionPoller poller;

    /** Created by JMH. */
    public CountersBenchmark() {
    }

    /** Starts the queue. */
    @Setup
    public void setUp() {
        Device.choose(DeviceKind.LOOPBACK);
        source = SyntheticSource.open();
        queue = source.queue();
        counted = CountedQueues.of(queue);
        final CountersManager counters = new CountersManager(new UnsafeBuffer(ByteBuffer.allocateDirect(4 * COUNTERS_BYTES)),
            new UnsafeBuffer(ByteBuffer.allocateDirect(COUNTERS_BYTES)));
        poller = new CompletionPoller("benchmark", ring, batch == 0 ? BATCH : batch, new PollerCounterSet(counters, "benchmark"));
        poller.queues().add(queue);
        poller.onStart();
        if (batch == 0) {
            source.stop();
        } else {
            source.start(SyntheticProgram.of(Mixes.usual(), Schedule.saturation()));
        }
    }

    /** Closes all resources. */
    @TearDown
    public void tearDown() {
        poller.onClose();
        source.close();
    }

    /**
     * The unchanged poller, which may poll a full queue several times in a duty cycle: as many completions as a full batch for
     * each cycle.
     *
     * @return completions
     */
    @Benchmark
    @OperationsPerInvocation(CYCLES)
    public long dutyCycle() {
        long completions = 0;
        if (batch == 0) {
            for (int i = 0; i < CYCLES; i++) {
                completions += poller.doWork();
            }
        } else {
            while (completions < CYCLES * (long) batch) {
                completions += poller.doWork();
            }
        }
        return completions;
    }

    /**
     * A poller without counters.
     *
     * @return completions
     */
    @Benchmark
    @OperationsPerInvocation(CYCLES)
    public long bare() {
        final int limit = batch == 0 ? BATCH : batch;
        final long slab = ring.slab().addressOffset();
        long completions = 0;
        for (int i = 0; i < CYCLES; i++) {
            final int got = counted.pollUncounted(slab + ring.claimedOffset(), ring.claim(limit));
            if (got > 0) {
                ring.publish(got, 0);
                completions += got;
            }
        }
        return completions;
    }

    /** A ring without consumers. */
    private static final class FreeRing implements SlotRing {
        private final UnsafeBuffer slab =
            new UnsafeBuffer(BufferUtil.allocateDirectAligned(SLOTS * IbvWc.SIZE_BYTES, CACHE_LINE_BYTES));
        private int next;

        @Override
        public UnsafeBuffer slab() {
            return slab;
        }

        @Override
        public boolean isHalted() {
            return false;
        }

        @Override
        public long lastPublished() {
            return next - 1;
        }

        @Override
        public boolean isPassed(final long sequence) {
            return true;
        }

        @Override
        public int claim(final int limit) {
            return Math.min(limit, SLOTS - next);
        }

        @Override
        public int claimedOffset() {
            return next * IbvWc.SIZE_BYTES;
        }

        @Override
        public void publish(final int count, final int queueIndex) {
            next = next + count & SLOTS - 1;
        }
    }
}
