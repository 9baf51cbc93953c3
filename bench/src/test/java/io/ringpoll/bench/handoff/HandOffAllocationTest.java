package io.ringpoll.bench.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the memory that hand-offs allocate, which their figures depend on: a collection of garbage stops all threads. */
@Timeout(120)
class HandOffAllocationTest {
    private static final long WARM_UP = 200_000;
    private static final long COMPLETIONS = 500_000;
    /** A few kilobytes: the JVM allocates them when it compiles or links late. */
    private static final double NOTHING_BYTES = 0.02;
    /** The driver of Aeron allocates in its duty cycle, which runs once for each window, but nothing for a completion. */
    private static final double DRIVER_BYTES = 2;
    private static final int SMALLEST_OBJECT_BYTES = 16;

    /** All but the queue of the JDK: its lock allocates a node for each thread that waits. */
    static List<String> withoutGarbage() {
        final List<String> labels = new ArrayList<>(List.of(RingpollHandOff.NAME));
        HandOffs.allCopying().stream().map(HandOff::label).filter(label -> !label.startsWith(HandOffs.ARRAY_BLOCKING_QUEUE))
            .forEach(labels::add);
        return labels;
    }

    @ParameterizedTest
    @MethodSource("withoutGarbage")
    void shouldAllocateNothingForACompletion(final String label) throws TimeoutException {
        final double bytes = allocatedBytes(label);
        assertTrue(bytes < (label.startsWith("aeron") ? DRIVER_BYTES : NOTHING_BYTES), label + " allocates " + bytes + " bytes");
    }

    @Test
    void shouldMeasureTheObjectForEachCompletion() throws TimeoutException {
        final double bytes = allocatedBytes(HandOffs.ARRAY_BLOCKING_QUEUE);
        assertTrue(bytes >= SMALLEST_OBJECT_BYTES, bytes + " bytes");
    }

    @Test
    void shouldNotKnowTheBytesOfNativeThreads() throws TimeoutException {
        assertEquals(AllocationWatch.UNKNOWN, allocatedBytes(CHandOff.NAME));
    }

    private static double allocatedBytes(final String label) throws TimeoutException {
        Device.choose(DeviceKind.LOOPBACK);
        try (SyntheticSource source = SyntheticSource.open()) {
            source.stop();
            final HandOff.Running running = HandOffs.of(label).start(new Job(source.queue(), source.context(), 1, 1024, 32,
                WaitMode.YIELD, HotCpus.unpinned(), 0, 0, 0));
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

    private static void await(final HandOff.Running running, final long handled) throws TimeoutException {
        Timing.await(() -> running.handled() >= handled, System.nanoTime() + TimeUnit.SECONDS.toNanos(60), "completions");
    }
}
