package io.ringpoll.bench.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.bench.measure.Timing;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.pipeline.CompletionBatch;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.CompletionKind;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the completions that each alternative hands over: a wrong or reordered completion would be faster, and worthless. */
@Timeout(60)
class CopyingHandOffTest {
    private static final long COMPLETIONS = 100_000;
    /** Each queue wraps around more than a thousand times. */
    private static final int RING_SIZE = 64;
    /** Not a divisor of the ring: ranges and messages cross its end. */
    private static final int BATCH = 24;
    private static final int LOOKS_AT_A_FULL_QUEUE = 20;

    private SyntheticSource source;

    static List<HandOff> copying() {
        return HandOffs.allCopying();
    }

    @BeforeEach
    void open() {
        Device.choose(DeviceKind.LOOPBACK);
        source = SyntheticSource.open();
    }

    @AfterEach
    void close() {
        source.close();
    }

    @ParameterizedTest
    @MethodSource("copying")
    void shouldHandOverEachCompletionOnceInOrderWithItsFields(final HandOff handOff) throws TimeoutException {
        for (final WaitMode wait : List.of(WaitMode.YIELD, WaitMode.BUSY_SPIN, WaitMode.BLOCK)) {
            final Checking work = new Checking(new CountDownLatch(0));
            source.stop();
            final HandOff.Running running = HandOffs.start(handOff, job(BATCH, wait), work);
            final long completions = wait == WaitMode.YIELD ? COMPLETIONS : COMPLETIONS / 10;
            source.start(program(completions));
            Timing.await(() -> running.handled() >= completions, deadline(), handOff.label());
            work.assertSound(running.stop(), completions);
        }
    }

    @ParameterizedTest
    @MethodSource("copying")
    void shouldWaitWhileItsQueueIsFullAndLoseNothing(final HandOff handOff) throws TimeoutException {
        final CountDownLatch mayHandle = new CountDownLatch(1);
        final Checking work = new Checking(mayHandle);
        source.stop();
        final HandOff.Running running = HandOffs.start(handOff, job(BATCH, WaitMode.YIELD), work);
        source.start(program(COMPLETIONS));
        final long[] last = {0, 0};
        // The producer has polled a batch that it cannot put into the queue.
        Timing.await(() -> {
            final long polled = running.polled();
            last[1] = polled == last[0] && source.given() > polled ? last[1] + 1 : 0;
            last[0] = polled;
            return last[1] >= LOOKS_AT_A_FULL_QUEUE;
        }, deadline(), handOff.label() + " has a full queue");
        assertTrue(running.polled() < COMPLETIONS, "its queue is bounded");
        mayHandle.countDown();
        Timing.await(() -> running.handled() >= COMPLETIONS, deadline(), handOff.label());
        work.assertSound(running.stop(), COMPLETIONS);
    }

    @ParameterizedTest
    @MethodSource("copying")
    void shouldHandOverSingleCompletionsAndBatchesOfTheWholeRing(final HandOff handOff) throws TimeoutException {
        for (final int batch : List.of(1, RING_SIZE)) {
            final Checking work = new Checking(new CountDownLatch(0));
            source.stop();
            final HandOff.Running running = HandOffs.start(handOff, job(batch, WaitMode.YIELD), work);
            source.start(program(COMPLETIONS / 10));
            Timing.await(() -> running.handled() >= COMPLETIONS / 10, deadline(), handOff.label());
            work.assertSound(running.stop(), COMPLETIONS / 10);
        }
    }

    @ParameterizedTest
    @MethodSource("copying")
    void shouldEndWithoutAnyCompletion(final HandOff handOff) {
        source.stop();
        for (final WaitMode wait : WaitMode.values()) {
            final Checking work = new Checking(new CountDownLatch(0));
            work.assertSound(HandOffs.start(handOff, job(BATCH, wait), work).stop(), 0);
        }
    }

    private Job job(final int batch, final WaitMode wait) {
        return new Job(source.queue(), source.context(), 1, RING_SIZE, batch, wait, HotCpus.unpinned(), 0, 0, 0);
    }

    private static SyntheticProgram program(final long completions) {
        return SyntheticProgram.of(Mixes.usual(), Schedule.saturation()).limitedTo(completions);
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    }

    /** Expects the completions of the program, in their order. */
    private static final class Checking extends Work {
        private final List<CompletionKind> pattern = Mixes.usual().pattern();
        private final CountDownLatch mayHandle;
        private long sum;
        private String wrong = "";

        Checking(final CountDownLatch mayHandle) {
            this.mayHandle = mayHandle;
        }

        @Override
        public void onBatchStart() {
            // Only jobs with a stall begin batches.
        }

        @Override
        public void onCopy(final long workRequestId, final long statusAndOpcode) {
            await();
            final CompletionKind expected = pattern.get((int) (completions % pattern.size()));
            final int status = (int) statusAndOpcode;
            final int opcode = (int) (statusAndOpcode >>> Integer.SIZE);
            // The opcode of a failed completion is not valid.
            if (wrong.isEmpty() && (workRequestId != completions || status != expected.status() ||
                status == WcStatus.SUCCESS && opcode != expected.opcode())) {
                wrong = "completion " + completions + " has wr_id " + workRequestId + ", status " + status + ", opcode " + opcode;
            }
            onCompletion(workRequestId);
        }

        private void await() {
            try {
                mayHandle.await();
            } catch (final InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void onCompletion(final long workRequestId) {
            completions++;
            sum += workRequestId;
        }

        @Override
        public void onBatch(final CompletionBatch batch) {
            throw new UnsupportedOperationException("the alternatives have no batches of ringpoll");
        }

        @Override
        public long sum() {
            return sum;
        }

        @Override
        public Histogram latencyNs() {
            return new Histogram(3);
        }

        private void assertSound(final Outcome outcome, final long expected) {
            assertEquals("", outcome.fault());
            assertEquals("", wrong);
            assertEquals(expected, outcome.handled());
            assertEquals(expected, outcome.polled());
            assertTrue(outcome.isSound(true), outcome.toString());
        }
    }
}
