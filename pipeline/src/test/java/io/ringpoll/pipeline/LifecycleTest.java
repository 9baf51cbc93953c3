package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LifecycleTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int NO_SUCH_CPU = 4000;

    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder all = new Recorder();

    @Test
    void shouldNotStartAtAllWhenAHandlersThreadCannotBePinned() {
        assertNothingIsLeftOf(
            Pipeline.builder().name("unpinnable").onAll(all).onReceive(all, options -> options.cpu(NO_SUCH_CPU)).queue(queue),
            "thread unpinnable-receive did not start: cannot pin the thread to CPU " + NO_SUCH_CPU);
    }

    @Test
    void shouldNotStartAtAllWhenThePollersThreadCannotBePinned() {
        assertNothingIsLeftOf(
            Pipeline.builder().name("unpinnable").onAll(all).pollerCpu(NO_SUCH_CPU).queue(queue),
            "thread unpinnable-poller did not start: cannot pin the thread to CPU " + NO_SUCH_CPU);
    }

    @Test
    void shouldNotStartAtAllWhenAHandlerThrowsBeforeItsFirstCompletion() {
        final CompletionHandler unwilling = new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                throw new IllegalStateException("no disk to write to");
            }
        };
        assertNothingIsLeftOf(
            Pipeline.builder().name("unwilling").onAll(unwilling).queue(queue),
            "thread unwilling-all did not start: no disk to write to");
    }

    @Test
    void shouldTimeOutWhenAHandlersOnStartDoesNotReturn() {
        final CountDownLatch never = new CountDownLatch(1);
        final CompletionHandler stuck = new Recorder() {
            @Override
            public void onStart(final SlotControl slots) throws InterruptedException {
                never.await();
            }
        };
        final PipelineStartException late = assertThrows(
            PipelineStartException.class,
            () -> Pipeline.builder().name("stuck").onAll(stuck).queue(queue).startTimeoutNs(TimeUnit.MILLISECONDS.toNanos(50))
                .start());
        // On a busy machine the poller has not started either.
        assertTrue(late.getMessage().matches("threads (stuck-poller, )?stuck-all(, stuck-poller)? did not start within 50 ms"),
            late::getMessage);
        try (Pipeline other = Pipeline.builder().name("other").onAll(all).queue(queue).start()) {
            assertSame(PipelineState.RUNNING, other.state(), "it can have the queue");
        }
        never.countDown();
    }

    @Test
    void shouldPinItsThreads() {
        final List<Integer> cpus = new ArrayList<>();
        final CompletionHandler reporting = new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                cpus.add(ThreadAffinity.get().cardinality());
            }
        };
        Pipeline.builder().onAll(reporting, options -> options.cpu(0)).pollerCpu(0).queue(queue).start().close();
        assertEquals(List.of(1), cpus);
    }

    @Test
    void shouldLeaveCompletionsInTheQueuesWhilePaused() throws InterruptedException {
        try (Pipeline pipeline = Pipeline.builder().onAll(all).queue(queue).start()) {
            assertTrue(pipeline.pause(BOUND_NS));
            assertTrue(pipeline.pause(BOUND_NS));
            add(100);
            Thread.sleep(5);
            assertEquals(100, queue.size());
            assertTrue(pipeline.resume(BOUND_NS));
            assertTrue(pipeline.resume(BOUND_NS));
            all.awaitSize(100);
        }
    }

    @Test
    void shouldReportADrainWhenAllEarlierCompletionsHaveBeenHandled() {
        try (Pipeline pipeline = Pipeline.builder().ringSize(64).onAll(all).queue(queue).start()) {
            for (int round = 1; round <= 20; round++) {
                add(200);
                final PipelineReport report = pipeline.drain(BOUND_NS);
                assertTrue(report.inTime());
                assertEquals(200 * round, all.size());
                assertEquals(200L * round, report.handled());
            }
        }
    }

    @Test
    void shouldReportADrainThatTimesOut() {
        final CountDownLatch release = new CountDownLatch(1);
        try (Pipeline pipeline = Pipeline.builder()
                .onAll((wc, sequence, endOfBatch) -> release.await(10, TimeUnit.SECONDS)).queue(queue).start()) {
            add(10);
            while (pipeline.pollerCounters().completions() < 10) {
                Thread.yield();
            }
            final PipelineReport report = pipeline.drain(TimeUnit.MILLISECONDS.toNanos(20));
            assertFalse(report.inTime());
            assertEquals(10, report.unhandled());
            release.countDown();
        }
    }

    @Test
    void shouldCloseOnceAndReturnTheSameReportToAllCallers() throws Exception {
        final Pipeline pipeline = Pipeline.builder().onAll(all).queue(queue).start();
        add(1000);
        final List<CompletableFuture<PipelineReport>> reports = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            reports.add(CompletableFuture.supplyAsync(() -> pipeline.close(BOUND_NS)));
        }
        final PipelineReport first = reports.getFirst().get();
        for (final CompletableFuture<PipelineReport> report : reports) {
            assertSame(first, report.get());
        }
        assertEquals(new PipelineReport(1000, 1000, 0, 0, true), first);
        assertTrue(pipeline.slab().isFreed());
        assertFalse(pipeline.pollerThread().isAlive());
    }

    @Test
    void shouldCountAndPassOnUndeliveredCompletionsOnStop() {
        final List<Long> left = new ArrayList<>();
        final Pipeline pipeline = Pipeline.builder()
            .onAll(all).onUndelivered(completion -> left.add(completion.workRequestId())).queue(queue).start();
        assertTrue(pipeline.pause(BOUND_NS));
        add(150);
        final PipelineReport report = pipeline.stop(BOUND_NS);
        assertEquals(150, report.inQueues());
        assertEquals(150, left.size());
        assertEquals(0, report.polled());
    }

    @Test
    void shouldNotPollARemovedQueueOnStop() throws TimeoutException {
        final Pipeline pipeline = Pipeline.builder().onAll(all).queue(queue).start();
        pipeline.removeQueue(queue);
        add(3);
        assertEquals(0, pipeline.stop(BOUND_NS).inQueues());
        assertEquals(3, queue.size());
    }

    @Test
    void shouldNotPollAFailedQueueOnStop() {
        final CompletionQueue failing = new CompletionQueue() {
            private boolean failed;

            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                if (failed) {
                    throw new AssertionError("polled after its failure");
                }
                failed = true;
                return -1;
            }

            @Override
            public String name() {
                return "failing";
            }
        };
        final Pipeline pipeline = Pipeline.builder().onAll(all).queue(failing).start();
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        assertEquals(0, pipeline.stop(BOUND_NS).inQueues());
    }

    @Test
    void shouldCloseFromAHandler() throws InterruptedException {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final CountDownLatch started = new CountDownLatch(1);
        final Pipeline pipeline = Pipeline.builder()
            .onAll((wc, sequence, endOfBatch) -> {
                started.await();
                self.get().close();
            })
            .queue(queue)
            .start();
        self.set(pipeline);
        add(1);
        started.countDown();
        while (pipeline.pollerThread().isAlive() || pipeline.handlerThreads().getFirst().isAlive()) {
            Thread.sleep(1);
        }
        assertEquals(1, pipeline.close(BOUND_NS).handled());
    }

    @Test
    void shouldNotWaitForItselfWhenAHandlerDrains() throws InterruptedException {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final AtomicReference<PipelineReport> drained = new AtomicReference<>();
        final CountDownLatch ready = new CountDownLatch(1);
        try (Pipeline pipeline = Pipeline.builder()
                .onAll((wc, sequence, endOfBatch) -> {
                    ready.await();
                    drained.set(self.get().drain(BOUND_NS));
                })
                .onAll(all)
                .queue(queue)
                .start()) {
            self.set(pipeline);
            add(1);
            ready.countDown();
            all.awaitSize(1);
            while (drained.get() == null) {
                Thread.sleep(1);
            }
            assertTrue(drained.get().inTime());
        }
    }

    @Test
    void shouldReportTheRemainderWhenAHandlerDoesNotReturnInTime() {
        final CountDownLatch release = new CountDownLatch(1);
        final Pipeline pipeline = Pipeline.builder()
            .onAll((wc, sequence, endOfBatch) -> release.await()).queue(queue).start();
        add(5);
        while (pipeline.pollerCounters().completions() < 5) {
            Thread.yield();
        }
        final long beganNs = System.nanoTime();
        final PipelineReport report = pipeline.close(TimeUnit.MILLISECONDS.toNanos(100));
        assertTrue(System.nanoTime() - beganNs < BOUND_NS);
        assertEquals(new PipelineReport(5, 0, 0, 0, false), report);
        assertFalse(pipeline.slab().isFreed(), "the handler still reads it");
        release.countDown();
        while (!pipeline.slab().isFreed()) {
            Thread.yield();
        }
    }

    @Test
    void shouldAddAndRemoveQueuesWhileRunning() throws Exception {
        final Set<Long> ids = ConcurrentHashMap.newKeySet();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(256).onAll((wc, sequence, endOfBatch) -> ids.add(wc.workRequestId())).start()) {
            for (int i = 0; i < 300; i++) {
                final ScriptedQueue passing = new ScriptedQueue("queue " + i);
                pipeline.addQueue(passing);
                passing.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
                while (passing.size() > 0) {
                    Thread.yield();
                }
                pipeline.removeQueue(passing);
                passing.add(1000 + i, WcStatus.SUCCESS, WcOpcode.SEND);
            }
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        assertEquals(300, ids.size());
        assertTrue(ids.stream().allMatch(id -> id < 300));
    }

    @Test
    void shouldLeakNoThreadsOverManyPipelines() {
        final Set<Thread> before = Thread.getAllStackTraces().keySet();
        for (int i = 0; i < 200; i++) {
            try (Pipeline pipeline =
                    Pipeline.builder().ringSize(64).onAll(all).queue(new SyntheticQueue("queue", 100)).start()) {
                assertTrue(Files.exists(pipeline.countersFile()));
            }
        }
        assertEquals(200 * 100, all.size());
        final Set<Thread> after = Thread.getAllStackTraces().keySet();
        assertTrue(after.stream().filter(thread -> !before.contains(thread)).noneMatch(
            thread -> thread.getName().startsWith("ringpoll-")), after.toString());
    }

    private void add(final int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }

    private void assertNothingIsLeftOf(final PipelineBuilder description, final String message) {
        add(1);
        final PipelineStartException refused = assertThrows(PipelineStartException.class, description::start);
        assertTrue(refused.getMessage().startsWith(message), refused.getMessage());
        assertFalse(refused.getMessage().contains("\n"), refused.getMessage());
        assertEquals(1, queue.size());
        for (final Thread thread : Thread.getAllStackTraces().keySet()) {
            assertFalse(thread.getName().startsWith("un"), thread + " is left running");
        }
        try (Pipeline other = Pipeline.builder().name("other").onAll(all).queue(queue).start()) {
            assertSame(PipelineState.RUNNING, other.state(), "it can have the queue");
        }
    }
}
