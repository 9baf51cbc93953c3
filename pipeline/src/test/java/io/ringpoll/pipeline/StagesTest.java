package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class StagesTest {
    private static final int COUNT = 60_000;

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldDeliverToAStageOnlyAfterTheStageBefore(final WaitMode wait) {
        final AtomicLong journaled = new AtomicLong(-1);
        final AtomicLong tooEarly = new AtomicLong();
        final AtomicLong acknowledged = new AtomicLong();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(512)
                .onAll((wc, sequence, endOfBatch) -> journaled.set(wc.workRequestId()), options -> options.waitStrategy(wait))
                .then(
                    (wc, sequence, endOfBatch) -> {
                        if (wc.workRequestId() > journaled.get()) {
                            tooEarly.incrementAndGet();
                        }
                        acknowledged.incrementAndGet();
                    },
                    options -> options.waitStrategy(wait))
                .queue(new SyntheticQueue("queue", COUNT))
                .start()) {
            assertTrue(pipeline.drain(TimeUnit.SECONDS.toNanos(50)).inTime());
        }
        assertEquals(COUNT, acknowledged.get());
        assertEquals(0, tooEarly.get());
    }

    @Test
    void shouldWaitForAllPredecessorsOfAStage() {
        final AtomicLong first = new AtomicLong(-1);
        final AtomicLong second = new AtomicLong(-1);
        final AtomicLong tooEarly = new AtomicLong();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(256)
                .onAll((wc, sequence, endOfBatch) -> first.set(sequence), options -> options.name("first"))
                .onAll((wc, sequence, endOfBatch) -> second.set(sequence), options -> options.name("second"))
                .onAll(
                    (wc, sequence, endOfBatch) -> {
                        if (sequence > Math.min(first.get(), second.get())) {
                            tooEarly.incrementAndGet();
                        }
                    },
                    options -> options.name("last").after("first", "second"))
                .queue(new SyntheticQueue("queue", COUNT))
                .start()) {
            assertTrue(pipeline.drain(TimeUnit.SECONDS.toNanos(50)).inTime());
        }
        assertEquals(0, tooEarly.get());
    }

    @Test
    void shouldDeliverAllCompletionsOfAPathToEachOfItsHandlers() {
        final Recorder one = new Recorder();
        final Recorder other = new Recorder();
        final Recorder everything = new Recorder();
        try (Pipeline pipeline = Pipeline.builder()
                .onReceive(one)
                .onReceive(other)
                .onAll(everything)
                .queue(new SyntheticQueue("queue", 300))
                .start()) {
            assertTrue(pipeline.drain(TimeUnit.SECONDS.toNanos(50)).inTime());
        }
        assertEquals(100, one.size());
        assertEquals(one.ids, other.ids);
        assertTrue(one.ids.stream().allMatch(id -> SyntheticQueue.path(id) == CompletionPath.RECEIVE));
        assertEquals(300, everything.size());
    }

    @Test
    void shouldAttributeAStallToTheFirstStageWhenTheSecondOnlyWaitsForIt() throws InterruptedException {
        final CountDownLatch release = new CountDownLatch(1);
        final ScriptedQueue queue = new ScriptedQueue("queue");
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(16)
                .batchLimit(16)
                .onAll((wc, sequence, endOfBatch) -> release.await(50, TimeUnit.SECONDS), options -> options.name("slow"))
                .then((wc, sequence, endOfBatch) -> { }, options -> options.name("waiting"))
                .queue(queue)
                .start()) {
            for (int i = 0; i < 50; i++) {
                queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
            }
            while (pipeline.causedStallNs("slow") < TimeUnit.MILLISECONDS.toNanos(5)) {
                Thread.sleep(1);
            }
            assertEquals(0, pipeline.causedStallNs("waiting"));
            release.countDown();
        }
    }

    @Test
    void shouldEndAStageBehindAHaltedOneWithinTheCloseTimeOut() {
        final Recorder second = new Recorder();
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (int i = 0; i < 10; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        final Pipeline pipeline = Pipeline.builder()
            .onAll(new DyingAt(4), options -> options.failurePolicy(FailurePolicy.HALT))
            .then(second)
            .queue(queue)
            .start();
        while (pipeline.failure() == null) {
            Thread.yield();
        }
        final PipelineReport report = pipeline.close(TimeUnit.SECONDS.toNanos(50));
        assertTrue(report.inTime(), report.toString());
        assertEquals(5, second.size());
        assertEquals(report.polled() - 5, report.unhandled());
    }

    /** Throws at one work request. */
    private record DyingAt(long workRequestId) implements CompletionHandler {
        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            if (completion.workRequestId() == workRequestId) {
                throw new IllegalStateException("provoked");
            }
        }
    }
}
