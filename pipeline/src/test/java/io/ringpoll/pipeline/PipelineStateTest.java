package io.ringpoll.pipeline;

import static io.ringpoll.pipeline.PipelineState.CLOSED;
import static io.ringpoll.pipeline.PipelineState.HALTED;
import static io.ringpoll.pipeline.PipelineState.RUNNING;
import static io.ringpoll.pipeline.PipelineState.STARTING;
import static io.ringpoll.pipeline.PipelineState.STOPPING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each public call in each state of a pipeline. */
@Timeout(60)
class PipelineStateTest {
    /** Longer than the tests' time limit: a wait that uses it up is a failure. */
    private static final long BOUND_NS = TimeUnit.MINUTES.toNanos(5);
    private static final long SHORT_NS = TimeUnit.SECONDS.toNanos(20);

    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder all = new Recorder();

    @Test
    void shouldPermitOnlyTheTransitionsOfTheTable() {
        final Map<PipelineState, Set<PipelineState>> table = new EnumMap<>(PipelineState.class);
        table.put(STARTING, EnumSet.of(RUNNING, HALTED, STOPPING));
        table.put(RUNNING, EnumSet.of(HALTED, STOPPING));
        table.put(HALTED, EnumSet.of(STOPPING));
        table.put(STOPPING, EnumSet.of(CLOSED));
        table.put(CLOSED, EnumSet.noneOf(PipelineState.class));
        for (final PipelineState from : PipelineState.values()) {
            for (final PipelineState to : PipelineState.values()) {
                assertEquals(table.get(from).contains(to), from.leadsTo(to), from + " to " + to);
            }
        }
        final LifeCycle lifeCycle = new LifeCycle();
        assertFalse(lifeCycle.advance(CLOSED));
        assertTrue(lifeCycle.advance(HALTED));
        assertFalse(lifeCycle.advance(RUNNING), "a handler has halted before all threads were ready");
        assertEquals(HALTED, lifeCycle.state());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDefineEachCallOfARunningPipeline(final boolean runsToCompletion) throws TimeoutException {
        final Pipeline pipeline = start(runsToCompletion, all);
        assertEquals(RUNNING, pipeline.state());
        final ScriptedQueue other = new ScriptedQueue("other");
        assertEquals(1, pipeline.addQueue(other));
        assertThrows(IllegalStateException.class, () -> pipeline.addQueue(other));
        pipeline.removeQueue(other);
        pipeline.removeQueue(other);
        assertTrue(pipeline.pause(SHORT_NS));
        assertEquals(RUNNING, pipeline.state());
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        assertTrue(pipeline.resume(SHORT_NS));
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        assertNull(pipeline.failure());
        assertTrue(pipeline.close(SHORT_NS).inTime());
        assertEquals(CLOSED, pipeline.state());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDefineEachCallOfAHaltedPipeline(final boolean runsToCompletion) throws TimeoutException {
        final Pipeline pipeline = halted(runsToCompletion);
        assertEquals(HALTED, pipeline.state());
        assertEquals("other cannot be added: pipeline ringpoll has halted",
            assertThrows(IllegalStateException.class, () -> pipeline.addQueue(new ScriptedQueue("other"))).getMessage());
        pipeline.reportQueueFault(queue, -5);
        assertTrue(pipeline.pause(SHORT_NS));
        assertFalse(pipeline.resume(BOUND_NS));
        assertFalse(pipeline.drain(BOUND_NS).inTime());
        pipeline.removeQueue(queue);
        queue.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        assertEquals(0, pipeline.stop(SHORT_NS).inQueues());
        assertEquals(1, queue.size(), "the queue has been removed");
    }

    @Test
    void shouldDefineEachCallOfAStoppingPipeline() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final Pipeline pipeline = start(false, (wc, sequence, endOfBatch) -> {
            entered.countDown();
            release.await();
        });
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        assertTrue(entered.await(20, TimeUnit.SECONDS));
        final CompletableFuture<PipelineReport> stopping = CompletableFuture.supplyAsync(() -> pipeline.stop(BOUND_NS));
        while (pipeline.state() != STOPPING || pipeline.pollerThread().isAlive()) {
            Thread.sleep(1);
        }
        assertEquals("other cannot be added: pipeline ringpoll is closed",
            assertThrows(IllegalStateException.class, () -> pipeline.addQueue(new ScriptedQueue("other"))).getMessage());
        pipeline.reportQueueFault(queue, -5);
        assertTrue(pipeline.pause(SHORT_NS));
        assertFalse(pipeline.resume(BOUND_NS));
        assertFalse(pipeline.drain(TimeUnit.MILLISECONDS.toNanos(1)).inTime());
        assertEquals(new PipelineReport(1, 0, 0, PipelineReport.UNKNOWN, false), pipeline.stop(1));
        assertEquals(new PipelineReport(1, 0, 0, PipelineReport.UNKNOWN, false), pipeline.close(0));
        assertEquals(STOPPING, pipeline.state());
        pipeline.removeQueue(queue);
        release.countDown();
        assertEquals(new PipelineReport(1, 1, 0, 0, true), stopping.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDefineEachCallOfAClosedPipeline(final boolean runsToCompletion) throws TimeoutException {
        final Pipeline pipeline = start(runsToCompletion, all);
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        final PipelineReport report = pipeline.close(SHORT_NS);
        assertEquals(CLOSED, pipeline.state());
        assertEquals("other cannot be added: pipeline ringpoll is closed",
            assertThrows(IllegalStateException.class, () -> pipeline.addQueue(new ScriptedQueue("other"))).getMessage());
        pipeline.reportQueueFault(queue, -5);
        assertTrue(pipeline.pause(SHORT_NS));
        assertFalse(pipeline.resume(BOUND_NS));
        assertSame(report, pipeline.drain(BOUND_NS));
        assertSame(report, pipeline.stop(BOUND_NS));
        assertSame(report, pipeline.close(0));
        pipeline.close();
        pipeline.removeQueue(queue);
        assertEquals(1, pipeline.pollerCounters().completions());
        assertEquals(0, pipeline.occupancy());
        assertEquals(0, pipeline.held());
        assertEquals(0, pipeline.handlerExceptions());
        assertEquals(0, pipeline.causedStallNs("ringpoll-all"));
        assertFalse(pipeline.pollerThread().isAlive());
        pipeline.readErrors(line -> {
            throw new AssertionError(line);
        });
        queue.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        assertEquals(1, queue.size());
    }

    @Test
    void shouldCloseAfterTheStartWhenClosedDuringTheStart() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            final AtomicReference<PipelineReport> first = new AtomicReference<>();
            final Pipeline pipeline = Pipeline.builder().withoutCountersFile().ringSize(16)
                .onAll((wc, sequence, endOfBatch) -> {
                    throw new IllegalStateException("provoked");
                }, options -> options.failurePolicy(FailurePolicy.HALT))
                .onFailure((self, threadName, failure) -> {
                    first.set(self.stop(0));
                    // On a thread outside the pipeline, without waiting.
                    CompletableFuture.runAsync(() -> self.stop(0));
                })
                .queue(new SyntheticQueue("queue", 10)).start();
            while (pipeline.state() != CLOSED || !pipeline.slab().isFreed()) {
                Thread.sleep(1);
            }
            pipeline.pollerThread().join();
            assertEquals(10, pipeline.stop(SHORT_NS).polled());
        }
    }

    @Test
    void shouldRefuseQueuesOnceACloseHasReturnedWhileAnotherThreadBeginsToClose() throws InterruptedException {
        for (int i = 0; i < 400; i++) {
            final Pipeline pipeline = Pipeline.builder().withoutCountersFile().ringSize(16)
                .idleStrategy(WaitMode.SLEEP.newIdleStrategy()).onAll(all).queue(new ScriptedQueue("first")).start();
            final AtomicBoolean closes = new AtomicBoolean();
            final Thread closer = Thread.ofPlatform().start(() -> {
                closes.set(true);
                pipeline.close(SHORT_NS);
            });
            while (!closes.get()) {
                Thread.onSpinWait();
            }
            final long closeNs = System.nanoTime() + i * 100;
            while (System.nanoTime() < closeNs) {
                Thread.onSpinWait();
            }
            pipeline.close(0);
            assertThrows(IllegalStateException.class, () -> pipeline.addQueue(queue), "attempt " + i);
            closer.join();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1})
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldNotWaitWithoutTime(final long timeoutNs) throws InterruptedException {
        final CountDownLatch release = new CountDownLatch(1);
        final Pipeline pipeline = start(false, (wc, sequence, endOfBatch) -> release.await());
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        while (pipeline.occupancy() == 0) {
            Thread.sleep(1);
        }
        pipeline.pause(timeoutNs);
        pipeline.resume(timeoutNs);
        assertFalse(pipeline.drain(timeoutNs).inTime());
        assertFalse(pipeline.stop(timeoutNs).inTime());
        assertFalse(pipeline.close(timeoutNs).inTime());
        release.countDown();
        while (!pipeline.slab().isFreed()) {
            Thread.sleep(1);
        }
        assertEquals(0, pipeline.occupancy(), "the polled completions are handled");
    }

    @Test
    void shouldAcceptTheLargestTimeOut() {
        for (int i = 0; i < 20; i++) {
            final Pipeline pipeline = Pipeline.builder().withoutCountersFile().startTimeoutNs(Long.MAX_VALUE)
                .onAll(all).queue(queue).start();
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
            assertTrue(pipeline.pause(Long.MAX_VALUE));
            assertTrue(pipeline.resume(Long.MAX_VALUE));
            assertTrue(pipeline.drain(Long.MAX_VALUE).inTime());
            assertEquals(new PipelineReport(1, 1, 0, 0, true), pipeline.close(Long.MAX_VALUE));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void shouldRejectAStartWithTimeOutZero(final long timeoutNs) {
        final CountDownLatch release = new CountDownLatch(1);
        final PipelineBuilder description = Pipeline.builder().name("hasty").withoutCountersFile().startTimeoutNs(timeoutNs)
            .onAll(new Recorder() {
                // Without it all threads could be ready before the first look.
                @Override
                public void onStart(final SlotControl slots) throws InterruptedException {
                    release.await();
                }
            }).queue(queue);
        final String message = assertThrows(PipelineStartException.class, description::start).getMessage();
        release.countDown();
        assertTrue(message.endsWith(" did not start within " + timeoutNs + " ns"), message);
    }

    @Test
    void shouldNotEndAWaitOnInterruptAndRestoreTheFlag() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final Pipeline pipeline = start(false, (wc, sequence, endOfBatch) -> {
            entered.countDown();
            release.await();
        });
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        assertTrue(entered.await(20, TimeUnit.SECONDS));
        final AtomicReference<PipelineReport> drained = new AtomicReference<>();
        final AtomicReference<PipelineReport> closed = new AtomicReference<>();
        final CountDownLatch keptInterrupts = new CountDownLatch(3);
        final Thread caller = new Thread(() -> {
            countInterrupt(keptInterrupts, () -> drained.set(pipeline.drain(BOUND_NS)));
            countInterrupt(keptInterrupts, () -> closed.set(pipeline.close(BOUND_NS)));
        });
        final Thread second = new Thread(() -> countInterrupt(keptInterrupts, () -> pipeline.stop(BOUND_NS)));
        caller.start();
        caller.interrupt();
        while (!isInDeadline(caller)) {
            Thread.sleep(1);
        }
        caller.interrupt();
        second.start();
        second.interrupt();
        caller.join(50);
        assertTrue(caller.isAlive());
        release.countDown();
        caller.join();
        second.join();
        assertTrue(drained.get() == null || drained.get().polled() == 1);
        assertEquals(0, keptInterrupts.getCount());
        assertTrue(pipeline.close(SHORT_NS).inTime());
    }

    @Test
    void shouldAcceptCallsOnVirtualThreads() throws InterruptedException {
        final AtomicReference<PipelineReport> closed = new AtomicReference<>();
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        Thread.ofVirtual().start(() -> {
            final Pipeline pipeline = start(false, all);
            assertTrue(pipeline.pause(SHORT_NS));
            assertTrue(pipeline.resume(SHORT_NS));
            assertTrue(pipeline.drain(SHORT_NS).inTime());
            closed.set(pipeline.close(SHORT_NS));
        }).join();
        assertEquals(new PipelineReport(1, 1, 0, 0, true), closed.get());
    }

    @Test
    void shouldRejectASecondStartOfABuilder() {
        final PipelineBuilder description = Pipeline.builder().onAll(all).queue(queue);
        description.start().close();
        assertEquals("pipeline ringpoll has been started: use a new builder for each pipeline",
            assertThrows(IllegalStateException.class, description::start).getMessage());
    }

    @Test
    void shouldStartFromACorrectedBuilder() {
        final PipelineBuilder description = Pipeline.builder().name(null).onFailure(null).onUndelivered(null)
            .pin(null).queue(queue);
        final String faults = assertThrows(IllegalArgumentException.class, description::start).getMessage();
        for (final String fault : new String[] {"the name is null", "the pinning is null", "the failure listener is null",
            "the consumer of undelivered completions is null"}) {
            assertTrue(faults.contains(fault), faults);
        }
        description.name("corrected").onFailure((pipeline, threadName, failure) -> { }).onUndelivered(completion -> { })
            .pin((candidates, taken) -> Map.of()).onAll(all).start().close();
    }

    private Pipeline start(final boolean runsToCompletion, final CompletionHandler handler) {
        final PipelineBuilder description = Pipeline.builder().ringSize(64).onAll(handler).queue(queue);
        return runsToCompletion ? description.runToCompletion().start() : description.start();
    }

    private Pipeline halted(final boolean runsToCompletion) {
        final PipelineBuilder description = Pipeline.builder().ringSize(64).onAll((wc, sequence, endOfBatch) -> {
            throw new IllegalStateException("provoked");
        }, options -> options.failurePolicy(FailurePolicy.HALT)).queue(queue);
        final Pipeline pipeline = runsToCompletion ? description.runToCompletion().start() : description.start();
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        while (pipeline.state() != HALTED) {
            Thread.yield();
        }
        return pipeline;
    }

    private static void countInterrupt(final CountDownLatch kept, final Runnable call) {
        Thread.currentThread().interrupt();
        call.run();
        if (Thread.interrupted()) {
            kept.countDown();
        }
    }

    private static boolean isInDeadline(final Thread thread) {
        for (final StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getClassName().equals(Deadline.class.getName())) {
                return true;
            }
        }
        return false;
    }
}
