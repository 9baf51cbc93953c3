package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.poller.ScriptedQueue;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Handlers that halt, wait for each other, or are slow, while the pipeline is drained and stopped. */
@Timeout(60)
class HaltTest {
    /** Longer than the tests' time limit: a wait that uses it up is a failure. */
    private static final long BOUND_NS = TimeUnit.MINUTES.toNanos(5);

    @TempDir
    private Path folder;
    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder first = new Recorder();
    private final Recorder last = new Recorder();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldEndLaterStagesWhenOneHaltsDuringTheStop(final WaitMode wait) throws Exception {
        final Consumer<HandlerOptions> waiting = options -> options.waitStrategy(wait);
        final Pipeline pipeline = Pipeline.builder().ringSize(64)
            .onAll(dyingAt(5), options -> options.waitStrategy(wait).failurePolicy(FailurePolicy.HALT).maxBatch(1))
            .then(first, waiting)
            .then(last, waiting)
            .queue(queue).start();
        add(10);
        assertTrue(entered.await(20, TimeUnit.SECONDS));
        final CompletableFuture<PipelineReport> stopping = CompletableFuture.supplyAsync(() -> pipeline.stop(BOUND_NS));
        // The last slot has been set for all stages before the first of them halts.
        pipeline.pollerThread().join();
        release.countDown();
        assertEquals(new PipelineReport(10, 6, 0, 0, true), stopping.get());
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L, 5L), first.ids);
        assertEquals(first.ids, last.ids);
        assertTrue(pipeline.handlerThreads().stream().noneMatch(Thread::isAlive));
        assertTrue(pipeline.slab().isFreed());
    }

    @Test
    void shouldEndAStageTwoBehindOneThatHaltedBeforeTheStop() throws InterruptedException {
        release.countDown();
        final Pipeline pipeline = Pipeline.builder().ringSize(64)
            .onAll(dyingAt(5), options -> options.failurePolicy(FailurePolicy.HALT).maxBatch(1))
            .then(first).then(last).queue(queue).start();
        add(10);
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.sleep(1);
        }
        assertTrue(pipeline.stop(BOUND_NS).inTime());
        assertEquals(6, last.size());
    }

    @Test
    void shouldHandleTheLastSlotThatWasPublishedBeforeTheStop() throws Exception {
        final Pipeline pipeline = Pipeline.builder().ringSize(64)
            .onAll((wc, sequence, endOfBatch) -> {
                entered.countDown();
                release.await();
                first.onCompletion(wc, sequence, endOfBatch);
            }, options -> options.maxBatch(1)).then(last, options -> options.maxBatch(1)).queue(queue).start();
        add(10);
        while (pipeline.occupancy() < 10) {
            Thread.sleep(1);
        }
        final CompletableFuture<PipelineReport> stopping = CompletableFuture.supplyAsync(() -> pipeline.stop(BOUND_NS));
        pipeline.pollerThread().join();
        release.countDown();
        assertEquals(new PipelineReport(10, 10, 0, 0, true), stopping.get());
        assertEquals(10, first.size());
        assertEquals(10, last.size());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndADrainWhenAHandlerHalts(final boolean runsToCompletion) throws Exception {
        final PipelineBuilder description = Pipeline.builder().ringSize(64)
            .onAll(dyingAt(5), options -> options.failurePolicy(FailurePolicy.HALT)).onAll(first).queue(queue);
        final Pipeline pipeline = runsToCompletion ? description.runToCompletion().start() : description.start();
        add(1000);
        assertTrue(entered.await(20, TimeUnit.SECONDS));
        final CompletableFuture<PipelineReport> draining = CompletableFuture.supplyAsync(() -> pipeline.drain(BOUND_NS));
        Thread.sleep(20);
        assertFalse(draining.isDone());
        release.countDown();
        assertFalse(draining.get().inTime());
        assertFalse(pipeline.drain(BOUND_NS).inTime());
        pipeline.stop(BOUND_NS);
    }

    @Test
    void shouldNotWaitForTheStagesBehindTheHandlerThatDrains() throws InterruptedException {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final AtomicReference<PipelineReport> drained = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder().ringSize(64)
                .onAll((wc, sequence, endOfBatch) -> {
                    release.await();
                    drained.set(self.get().drain(BOUND_NS));
                })
                .then(first).then(last).onAll(new Recorder(), options -> options.name("parallel")).queue(queue).start()) {
            self.set(pipeline);
            add(1);
            release.countDown();
            last.awaitSize(1);
            assertTrue(drained.get().inTime());
            assertEquals(1, drained.get().unhandled());
        }
    }

    @Test
    void shouldNotWaitForARoundThatTheDrainingHandlerBlocks() throws InterruptedException {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final AtomicReference<PipelineReport> drained = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder().ringSize(16)
                .onAll((wc, sequence, endOfBatch) -> {
                    first.onCompletion(wc, sequence, endOfBatch);
                    if (sequence == 0) {
                        release.await();
                        drained.set(self.get().drain(BOUND_NS));
                    }
                }).then(last).queue(queue).start()) {
            self.set(pipeline);
            add(100);
            release.countDown();
            last.awaitSize(100);
            assertFalse(drained.get().inTime());
        }
    }

    @Test
    void shouldNotDeadlockWhenTwoHandlersDrain() throws InterruptedException {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final CountDownLatch both = new CountDownLatch(2);
        final CompletionHandler draining = (wc, sequence, endOfBatch) -> {
            release.await();
            both.countDown();
            both.await();
            self.get().drain(BOUND_NS);
        };
        try (Pipeline pipeline = Pipeline.builder().ringSize(64)
                .onAll(draining).onAll(draining).then(last).queue(queue).start()) {
            self.set(pipeline);
            add(1);
            release.countDown();
            last.awaitSize(1);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCountTheBatchInWhichAHandlerHalts(final Mode mode) throws InterruptedException {
        final Consumer<HandlerOptions> haltsOnFailure = options -> options.failurePolicy(FailurePolicy.HALT);
        for (int i = 0; i < 20; i++) {
            // Two of three are accepted.
            queue.add(i, WcStatus.SUCCESS, i % 3 == 0 ? WcOpcode.SEND : WcOpcode.RECV);
        }
        final PipelineBuilder description = Pipeline.builder().name("p").countersFolder(folder)
            .ringSize(64).batchLimit(32).queue(queue);
        if (mode == Mode.BATCH) {
            description.onReceiveBatch(batch -> {
                throw new IllegalStateException("provoked");
            }, haltsOnFailure);
        } else {
            description.onReceive((wc, sequence, endOfBatch) -> {
                if (wc.workRequestId() == 13) {
                    throw new IllegalStateException("provoked");
                }
            }, haltsOnFailure);
        }
        description.onAll(first);
        final Pipeline pipeline = mode == Mode.IN_PLACE ? description.runToCompletion().start() : description.start();
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.sleep(1);
        }
        first.awaitSize(20);
        final CountersSnapshot counters = CountersSnapshot.read(pipeline.countersFile());
        // A batch that throws counts as a whole, up to its last completion: the first has 16 slots, a quarter of the ring.
        assertEquals(mode == Mode.BATCH ? 15 : 14, counters.value(CounterType.HANDLER_POSITION, "p-receive"));
        assertEquals(mode == Mode.BATCH ? 10 : 9, counters.value(CounterType.HANDLED, "p-receive"));
        assertEquals(1, counters.value(CounterType.HANDLER_EXCEPTIONS, "p-receive"));
        pipeline.stop(BOUND_NS);
    }

    /** The way in which completions are delivered. */
    enum Mode {
        SINGLE, BATCH, IN_PLACE
    }

    private CompletionHandler dyingAt(final long id) {
        return (wc, sequence, endOfBatch) -> {
            if (wc.workRequestId() == id) {
                entered.countDown();
                release.await();
                throw new IllegalStateException("provoked");
            }
        };
    }

    private void add(final int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }
}
