package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.poller.ScriptedQueue;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waits of handlers' threads: always woken when needed, and at rest even after an interrupt. */
@Timeout(60)
class WaitTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    @TempDir
    private Path folder;
    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder first = new Recorder();
    private final Recorder last = new Recorder();

    @Test
    void shouldParkLongEnoughInTestsToExposeALostSignal() {
        assertTrue(Long.getLong("ringpoll.park.bound.ns", 0) >= TimeUnit.MINUTES.toNanos(1),
            "tests run with the system property ringpoll.park.bound.ns");
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldWakeEachStageForEachCompletionAndForTheEnd(final WaitMode wait) throws InterruptedException {
        final Pipeline pipeline = Pipeline.builder().ringSize(64)
            .onAll(first, options -> options.waitStrategy(wait)).then(last, options -> options.waitStrategy(wait))
            .queue(queue).start();
        for (int i = 1; i <= 20; i++) {
            // Until all threads rest again.
            Thread.sleep(3);
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
            last.awaitSize(i);
        }
        Thread.sleep(3);
        assertEquals(new PipelineReport(20, 20, 0, 0, true), pipeline.stop(BOUND_NS));
    }

    @ParameterizedTest
    @EnumSource(value = WaitMode.class, names = {"SLEEP", "BLOCK"})
    void shouldRestAfterAHandlerHasRestoredTheInterruptFlag(final WaitMode wait) throws InterruptedException {
        try (Pipeline pipeline = Pipeline.builder().ringSize(64)
                .idleStrategy(new BackoffIdleStrategy())
                .onAll(HandlerThatIsInterrupted::handle, options -> options.waitStrategy(wait))
                .then(last, options -> options.waitStrategy(wait)).queue(queue).start()) {
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            last.awaitSize(1);
            awaitNotInterrupted(pipeline.handlerThreads().getFirst());
        }
    }

    @Test
    void shouldRestOnThePollingThreadAfterAHandlerHasRestoredTheInterruptFlag() throws InterruptedException {
        try (Pipeline pipeline = Pipeline.builder().ringSize(64).runToCompletion()
                .idleStrategy(new BackoffIdleStrategy())
                .onAll(HandlerThatIsInterrupted::handle).onAll(last).queue(queue).start()) {
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            last.awaitSize(1);
            awaitNotInterrupted(pipeline.pollerThread());
        }
    }

    @Test
    void shouldAcceptNamesOfAnyLength() {
        final String name = "n".repeat(300);
        try (Pipeline pipeline = Pipeline.builder().name(name).countersFolder(folder).onAll(first).queue(queue).start()) {
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            final CountersSnapshot counters = CountersSnapshot.read(pipeline.countersFile());
            assertEquals("n".repeat(200), counters.name());
            assertTrue(counters.counters().stream().anyMatch(counter -> counter.type() == CounterType.HANDLED &&
                counter.value() == 1 && counter.label().startsWith(name) && name.startsWith(counter.owner())));
            assertEquals(name + "-poller", pipeline.pollerThread().getName());
        }
    }

    /** While the flag is set, a park returns immediately and the thread spins. */
    private static void awaitNotInterrupted(final Thread thread) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (thread.isInterrupted()) {
            assertTrue(System.nanoTime() - deadlineNs < 0, thread + " never rests");
            Thread.sleep(1);
        }
    }

    /** A handler that was interrupted in a call and restored the interrupt flag, as is good practice. */
    private static final class HandlerThatIsInterrupted {
        private HandlerThatIsInterrupted() {
        }

        static void handle(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            Thread.currentThread().interrupt();
        }
    }
}
