package io.ringpoll.bench.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that hand-offs allocate nothing for a completion: a garbage collection in a turn would stop all threads. */
@Timeout(120)
class HandOffAllocationTest {
    private static final long WARM_UP = 200_000;
    private static final long COMPLETIONS = 500_000;
    /** Limit for a completion: some kilobytes in all, which the JVM allocates when it compiles or links late. */
    private static final double NOTHING_BYTES = 0.02;
    /** Limit with Aeron's driver, which allocates about 100 bytes in a duty cycle, once for a window of completions. */
    private static final double DRIVER_BYTES = 0.4;
    private static final int RING_SIZE = 1024;
    private static final int BATCH = 32;
    private static final int SMALLEST_OBJECT_BYTES = 16;

    /**
     * All hand-offs except the queue of the JDK, whose lock allocates a node for each waiting thread, and Aeron: its driver
     * allocates in each duty cycle, and the producer invokes it as long as the window is full, for instance because the consumer
     * gets no CPU.
     */
    static List<String> withoutGarbage() {
        final List<String> labels = new ArrayList<>(List.of(RingpollHandOff.NAME));
        HandOffs.allCopying().stream().map(HandOff::label)
            .filter(label -> !label.startsWith(HandOffs.ARRAY_BLOCKING_QUEUE) && !label.startsWith("aeron")).forEach(labels::add);
        return labels;
    }

    static List<BiFunction<Job, Work, CopyingHandOff>> overAeron() {
        return List.of(AeronHandOff::new, AeronBatchHandOff::new);
    }

    @ParameterizedTest
    @MethodSource("withoutGarbage")
    void shouldAllocateNothingForACompletion(final String label) throws TimeoutException {
        final double bytes = allocatedBytes(label);
        assertTrue(bytes < NOTHING_BYTES, label + " allocates " + bytes + " bytes");
    }

    /** One thread puts and takes in turns, so the producer invokes the driver once for each window. */
    @ParameterizedTest
    @MethodSource("overAeron")
    void shouldAllocateNothingForACompletionOverAeronBesideItsDriver(final BiFunction<Job, Work, CopyingHandOff> factory)
        throws InterruptedException {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (SyntheticSource source = openSource()) {
            final Job job = job(source);
            final CopyingHandOff handOff = factory.apply(job, Work.of(job));
            try {
                final UnsafeBuffer records = new UnsafeBuffer(ByteBuffer.allocateDirect(BATCH * IbvWc.SIZE_BYTES));
                handOver(handOff, records, WARM_UP);
                final long before = threads.getCurrentThreadAllocatedBytes();
                handOver(handOff, records, COMPLETIONS);
                final double bytes = (threads.getCurrentThreadAllocatedBytes() - before) / (double) COMPLETIONS;
                assertTrue(bytes < DRIVER_BYTES, bytes + " bytes");
            } finally {
                handOff.release();
            }
        }
    }

    private static void handOver(final CopyingHandOff handOff, final UnsafeBuffer records, final long completions)
        throws InterruptedException {
        for (long done = 0; done < completions; done += BATCH) {
            handOff.put(records.addressOffset(), BATCH);
            int taken = 0;
            while (taken < BATCH) {
                taken += handOff.take();
            }
        }
    }

    @Test
    void shouldCountTheObjectForEachCompletionInTheQueueOfTheJdk() throws TimeoutException {
        final double bytes = allocatedBytes(HandOffs.ARRAY_BLOCKING_QUEUE);
        assertTrue(bytes >= SMALLEST_OBJECT_BYTES, bytes + " bytes");
    }

    @Test
    void shouldReportTheBytesOfNativeThreadsAsUnknown() throws TimeoutException {
        assertEquals(AllocationWatch.UNKNOWN, allocatedBytes(CHandOff.NAME));
    }

    private static double allocatedBytes(final String label) throws TimeoutException {
        try (SyntheticSource source = openSource()) {
            final HandOff.Running running = HandOffs.of(label).start(job(source));
            source.start(SyntheticProgram.of(Mixes.usual(), Schedule.saturation()));
            await(running, WARM_UP);
            final AllocationWatch watch = new AllocationWatch();
            watch.start();
            final long first = running.handled();
            await(running, first + COMPLETIONS);
            final double bytes = watch.stop(running.handled() - first);
            source.stop();
            assertTrue(running.stop().isSound(true));
            return bytes;
        }
    }

    private static SyntheticSource openSource() {
        Device.choose(DeviceKind.LOOPBACK);
        final SyntheticSource source = SyntheticSource.open();
        source.stop();
        return source;
    }

    private static Job job(final SyntheticSource source) {
        return new Job(
            source.queue(), source.context(), 1, RING_SIZE, BATCH, WaitMode.YIELD, HotCpus.unpinned(), 0, 0, 0);
    }

    private static void await(final HandOff.Running running, final long handled) throws TimeoutException {
        Timing.await(() -> running.handled() >= handled, System.nanoTime() + TimeUnit.SECONDS.toNanos(60), "completions");
    }
}
