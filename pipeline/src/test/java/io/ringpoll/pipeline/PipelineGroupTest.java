package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntFunction;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentInvoker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several pipelines, each with its poller, ring and share of the queues. */
@Timeout(60)
class PipelineGroupTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    @Test
    void shouldDeliverEachCompletionOnceInQueueOrderWithSeveralPollers() {
        final int count = 20_000;
        final int queues = 6;
        final List<BitSet> seen = new ArrayList<>();
        final List<AtomicBoolean> disordered = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            seen.add(new BitSet());
            disordered.add(new AtomicBoolean());
        }
        try (PipelineGroup group = PipelineGroup.start(2, i -> {
            final long[] next = new long[queues];
            return Pipeline.builder().name("shard-" + i).ringSize(256).onAll((wc, sequence, endOfBatch) -> {
                disordered.get(i).compareAndSet(false, next[wc.queueIndex()]++ != wc.workRequestId());
                seen.get(i).set(wc.queueIndex() * count + (int) wc.workRequestId());
            });
        })) {
            for (int i = 0; i < queues; i++) {
                group.addQueue(new SyntheticQueue("queue " + i, count));
            }
            assertTrue(group.drain(BOUND_NS).stream().allMatch(PipelineReport::inTime));
            for (int i = 0; i < 2; i++) {
                assertEquals(queues / 2, group.pipelines().get(i).poller().queues().size(), "a fair share");
                assertEquals(queues / 2 * count, seen.get(i).cardinality());
                assertEquals(false, disordered.get(i).get());
            }
            final List<PipelineReport> reports = group.close(BOUND_NS);
            assertTrue(reports.stream().allMatch(report -> report.inTime() && report.polled() == queues / 2 * count));
            assertEquals(reports, group.close(BOUND_NS));
        }
    }

    @Test
    void shouldContinueWithTheOtherPollersWhenAHandlerOfOneHalts() {
        try (PipelineGroup group = PipelineGroup.start(2, i -> Pipeline.builder().name("shard-" + i).onAll(
            (wc, sequence, endOfBatch) -> {
                if (i == 0) {
                    throw new IllegalStateException("provoked");
                }
            }, options -> options.failurePolicy(FailurePolicy.HALT)))) {
            final ScriptedQueue deadly = new ScriptedQueue("deadly");
            deadly.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            assertSame(group.pipelines().get(0), group.addQueue(deadly, queue -> 0));
            awaitFailure(group.pipelines().get(0));
            for (int i = 0; i < 3; i++) {
                assertSame(group.pipelines().get(1), group.addQueue(new SyntheticQueue("queue " + i, 1000)));
            }
            assertTrue(group.pipelines().get(1).drain(BOUND_NS).inTime());
            assertEquals(3000, group.pipelines().get(1).pollerCounters().completions());
        }
    }

    @Test
    void shouldRejectAQueueOfAnotherPollerUntilItIsRemoved() throws TimeoutException {
        final CompletionQueue queue = new SyntheticQueue("queue", 10);
        try (PipelineGroup group = PipelineGroup.start(
            2, i -> Pipeline.builder().name("shard-" + i).onAll((wc, sequence, endOfBatch) -> { }))) {
            group.addQueue(queue, added -> 0);
            assertThrows(IllegalStateException.class, () -> group.addQueue(queue, added -> 1));
            group.removeQueue(queue);
            assertSame(group.pipelines().get(1), group.addQueue(queue, added -> 1));
        }
    }

    /** A compiler takes a plain null for the position. */
    @Test
    void shouldAddAQueueWithoutAnAttachment() {
        try (PipelineGroup group = PipelineGroup.start(
            2, i -> Pipeline.builder().name("shard-" + i).onAll((wc, sequence, endOfBatch) -> { }))) {
            assertSame(group.pipelines().get(0), group.addQueue(new SyntheticQueue("first", 1), null));
            assertSame(group.pipelines().get(1), group.addQueue(new SyntheticQueue("second", 1), (Object) null));
        }
    }

    @Test
    void shouldLeaveNoneRunningWhenOneCannotStart() {
        final List<Thread> pollers = new ArrayList<>();
        final IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () ->
            PipelineGroup.start(2, i -> Pipeline.builder().name("same").onAll(new CompletionHandler() {
                    @Override
                    public void onStart(final SlotControl slots) {
                        pollers.add(Thread.currentThread());
                    }

                    @Override
                    public void onCompletion(
                        final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
                    }
                })));
        assertTrue(refused.getMessage().contains("named same"), refused::getMessage);
        assertNotNull(pollers.getFirst());
        assertTrue(pollers.stream().noneMatch(Thread::isAlive));
    }

    @Test
    void shouldAddAQueueOnAPollingThreadWhileAnotherThreadWaitsForThatPoller() throws Exception {
        final AtomicReference<PipelineGroup> self = new AtomicReference<>();
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final AtomicReference<Pipeline> added = new AtomicReference<>();
        final ScriptedQueue queue = new ScriptedQueue("queue");
        final ScriptedQueue removed = new ScriptedQueue("removed");
        try (PipelineGroup group = PipelineGroup.start(2, i -> Pipeline.builder().name("shard-" + i).runToCompletion().onAll(
            (wc, sequence, endOfBatch) -> {
                entered.countDown();
                release.await();
                added.set(self.get().addQueue(new ScriptedQueue("another"), ignored -> 0));
            }))) {
            self.set(group);
            group.addQueue(removed, ignored -> 0);
            group.addQueue(queue, ignored -> 0);
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            assertTrue(entered.await(20, TimeUnit.SECONDS));
            final FutureTask<Boolean> removal = new FutureTask<>(() -> group.removeQueue(removed, BOUND_NS));
            final Thread removing = new Thread(removal);
            removing.start();
            while (removing.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
            release.countDown();
            // Else the poller was held up until the removal gave up.
            assertTrue(removal.get());
            assertSame(group.pipelines().get(0), added.get());
            assertTrue(group.drain(BOUND_NS).stream().allMatch(PipelineReport::inTime));
        }
    }

    @Test
    void shouldAddQueuesToPollingPipelinesOnly() {
        final PipelineGroup group = PipelineGroup.start(
            2, i -> Pipeline.builder().name("shard-" + i).onAll((wc, sequence, endOfBatch) -> { }));
        assertEquals(PipelineState.RUNNING, group.state());
        group.pipelines().get(0).close();
        assertEquals(PipelineState.RUNNING, group.state());
        final ScriptedQueue queue = new ScriptedQueue("queue");
        assertThrows(IllegalStateException.class, () -> group.addQueue(queue, ignored -> 0));
        assertSame(group.pipelines().get(1), group.addQueue(queue));
        group.close();
        assertEquals(PipelineState.CLOSED, group.state());
        assertEquals("no pipeline of the group is polling: all have halted or been closed",
            assertThrows(IllegalStateException.class, () -> group.addQueue(new ScriptedQueue("late"))).getMessage());
        remove(group, queue);
        remove(group, queue);
        assertTrue(group.drain(BOUND_NS).stream().allMatch(PipelineReport::inTime));
    }

    @Test
    void shouldCloseAllPipelinesFromAHandler() throws InterruptedException {
        final AtomicReference<PipelineGroup> self = new AtomicReference<>();
        final CountDownLatch ready = new CountDownLatch(1);
        final AtomicReference<List<PipelineReport>> reports = new AtomicReference<>();
        final PipelineGroup group = PipelineGroup.start(3, i -> Pipeline.builder().name("shard-" + i).onAll(
            (wc, sequence, endOfBatch) -> {
                ready.await();
                reports.set(self.get().close(TimeUnit.MINUTES.toNanos(5)));
            }));
        self.set(group);
        final ScriptedQueue queue = new ScriptedQueue("queue");
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        group.addQueue(queue, ignored -> 1);
        ready.countDown();
        while (group.state() != PipelineState.CLOSED) {
            Thread.sleep(1);
        }
        assertTrue(group.close(BOUND_NS).stream().allMatch(PipelineReport::inTime));
        assertEquals(false, reports.get().get(1).inTime(), "the pipeline of the closing handler");
    }

    @Test
    void shouldCloseAllPipelinesFromHandlersOfSeveralPipelines() throws InterruptedException {
        for (final boolean runToCompletion : new boolean[] {false, true}) {
            final AtomicReference<PipelineGroup> self = new AtomicReference<>();
            final CyclicBarrier together = new CyclicBarrier(2);
            final PipelineGroup group = PipelineGroup.start(2, i -> {
                final PipelineBuilder builder = Pipeline.builder().name("shard-" + i).onAll((wc, sequence, endOfBatch) -> {
                    together.await();
                    self.get().close(TimeUnit.MINUTES.toNanos(5));
                });
                return runToCompletion ? builder.runToCompletion() : builder;
            });
            self.set(group);
            for (final Pipeline pipeline : group.pipelines()) {
                pipeline.addQueue(new SyntheticQueue("queue", 1));
            }
            final long begunNs = System.nanoTime();
            while (group.state() != PipelineState.CLOSED) {
                assertTrue(System.nanoTime() - begunNs < BOUND_NS, "the handlers wait for each other");
                Thread.sleep(1);
            }
            assertTrue(group.close(BOUND_NS).stream().allMatch(PipelineReport::inTime));
        }
    }

    @Test
    void shouldCloseAllPipelinesFromTheConsumerOfUndeliveredCompletions() throws InterruptedException {
        final AtomicReference<PipelineGroup> self = new AtomicReference<>();
        final PipelineGroup group = PipelineGroup.start(3, i -> Pipeline.builder().name("shard-" + i)
            .onAll((wc, sequence, endOfBatch) -> { })
            .onUndelivered(wc -> self.get().close(TimeUnit.MINUTES.toNanos(5))));
        self.set(group);
        final Pipeline last = group.pipelines().get(2);
        assertTrue(last.pause(BOUND_NS));
        last.addQueue(new SyntheticQueue("queue", 1));
        final Thread stopper = new Thread(() -> last.stop(BOUND_NS));
        stopper.setDaemon(true);
        stopper.start();
        stopper.join(TimeUnit.NANOSECONDS.toMillis(BOUND_NS));
        assertEquals(false, stopper.isAlive(), "the close waits for itself");
        assertTrue(group.close(BOUND_NS).stream().allMatch(PipelineReport::inTime));
    }

    @Test
    void shouldWaitForEachPipelineWhenTheCallerIsInterrupted() throws InterruptedException {
        final CountDownLatch release = new CountDownLatch(1);
        final PipelineGroup group = PipelineGroup.start(3, i -> Pipeline.builder().name("shard-" + i).onAll(
            (wc, sequence, endOfBatch) -> release.await()));
        for (final Pipeline pipeline : group.pipelines()) {
            pipeline.addQueue(new SyntheticQueue("queue", 1));
        }
        final AtomicReference<List<PipelineReport>> reports = new AtomicReference<>();
        final AtomicBoolean kept = new AtomicBoolean();
        final Thread closer = new Thread(() -> {
            reports.set(group.close(TimeUnit.MINUTES.toNanos(5)));
            kept.set(Thread.currentThread().isInterrupted());
        });
        closer.start();
        for (int i = 0; i < 10; i++) {
            closer.interrupt();
            closer.join(5);
        }
        release.countDown();
        closer.join();
        assertTrue(kept.get());
        assertTrue(reports.get().stream().allMatch(PipelineReport::inTime), reports.get()::toString);
    }

    @Test
    void shouldLeaveNoneRunningWhenADescriptionThrows() {
        final List<Pipeline> none = new ArrayList<>();
        final List<Thread> threads = new ArrayList<>();
        final IntFunction<PipelineBuilder> first = i -> Pipeline.builder().name("shard-" + i).onAll(new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                threads.add(Thread.currentThread());
            }
        });
        assertEquals("the description of pipeline 1 is null", assertThrows(IllegalArgumentException.class,
            () -> none.addAll(PipelineGroup.start(2, i -> i == 0 ? first.apply(i) : null).pipelines())).getMessage());
        assertThrows(StackOverflowError.class, () -> none.addAll(PipelineGroup.start(2, i -> {
            if (i == 0) {
                return first.apply(i);
            }
            throw new StackOverflowError("provoked");
        }).pipelines()));
        assertEquals(2, threads.size());
        assertTrue(threads.stream().noneMatch(Thread::isAlive));
        assertEquals(List.of(), none);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDrainAllAgentsOfTheClosingThread(final boolean runsToCompletion) {
        final int count = 10_000;
        final PipelineGroup group = PipelineGroup.start(3, i -> agent(i, runsToCompletion));
        for (int i = 0; i < 3; i++) {
            group.addQueue(new SyntheticQueue("queue " + i, count));
            final Agent agent = group.pipelines().get(i).agent();
            final AgentInvoker invoker = new AgentInvoker(Throwable::printStackTrace, null, agent);
            invoker.start();
            invoker.invoke();
        }
        final PipelineReport complete = new PipelineReport(count, count, 0, 0, true);
        assertEquals(List.of(complete, complete, complete), group.close(BOUND_NS));
    }

    @Test
    void shouldLeaveTimeToTheOtherAgentsOfTheClosingThreadIfAHandlerOfOneIsStuck() {
        final CountDownLatch release = new CountDownLatch(1);
        final PipelineGroup group = PipelineGroup.start(2, i -> Pipeline.builder().name("shard-" + i).asAgent().onAll(
            (wc, sequence, endOfBatch) -> {
                if (i == 0) {
                    release.await();
                }
            }));
        for (final Pipeline pipeline : group.pipelines()) {
            group.addQueue(new SyntheticQueue(pipeline.name(), 100));
            new AgentInvoker(Throwable::printStackTrace, null, pipeline.agent()).start();
        }
        final List<PipelineReport> reports = group.close(TimeUnit.SECONDS.toNanos(10));
        release.countDown();
        assertFalse(reports.getFirst().inTime());
        assertEquals(new PipelineReport(100, 100, 0, 0, true), reports.get(1));
    }

    @Test
    void shouldAddNoQueueToAnAgentThatHasBeenClosed() {
        try (PipelineGroup group = PipelineGroup.start(2, i -> agent(i, true))) {
            group.pipelines().getFirst().agent().onClose();
            assertSame(group.pipelines().get(1), group.addQueue(new ScriptedQueue("first")));
            assertSame(group.pipelines().get(1), group.addQueue(new ScriptedQueue("second")));
            group.pipelines().get(1).agent().onClose();
            assertThrows(IllegalStateException.class, () -> group.addQueue(new ScriptedQueue("third")));
        }
    }

    private static PipelineBuilder agent(final int i, final boolean runsToCompletion) {
        final PipelineBuilder description =
            Pipeline.builder().name("shard-" + i).asAgent().onAll((wc, sequence, endOfBatch) -> { });
        return runsToCompletion ? description.runToCompletion() : description;
    }

    private static void remove(final PipelineGroup group, final CompletionQueue queue) {
        try {
            group.removeQueue(queue);
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
    }

    private static void awaitFailure(final Pipeline pipeline) {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (pipeline.failure() == null) {
            assertTrue(System.nanoTime() < deadlineNs, "the handler did not halt");
            Thread.yield();
        }
    }
}
