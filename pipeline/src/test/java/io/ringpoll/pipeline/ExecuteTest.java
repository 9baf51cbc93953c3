package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks on the polling thread: their order and thread, in each state, and that none is lost. */
@Timeout(60)
class ExecuteTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int PENDING = 1024;

    private final CompletionHandler ignore = (wc, sequence, endOfBatch) -> { };

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldExecuteTheTasksOfEachThreadInOrderOnThePollingThread(final boolean inPlace) throws InterruptedException {
        final int threads = 3;
        final int tasks = 20_000;
        final long[] last = new long[threads];
        final AtomicLong wrong = new AtomicLong();
        final CountDownLatch done = new CountDownLatch(threads);
        final PipelineBuilder description = Pipeline.builder().onAll(ignore);
        try (Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start()) {
            for (int i = 0; i < threads; i++) {
                final int number = i;
                Thread.ofPlatform().start(() -> {
                    for (long task = 1; task <= tasks; task++) {
                        final long own = task;
                        while (!pipeline.execute(() -> {
                            if (Thread.currentThread() != pipeline.pollerThread() || last[number] != own - 1) {
                                wrong.incrementAndGet();
                            }
                            last[number] = own;
                            if (own == tasks) {
                                done.countDown();
                            }
                        })) {
                            Thread.yield();
                        }
                    }
                });
            }
            done.await();
        }
        assertEquals(0, wrong.get());
    }

    @Test
    void shouldWakeAPollerThatSleeps() throws InterruptedException {
        final long tenMinutesNs = TimeUnit.MINUTES.toNanos(10);
        try (Pipeline pipeline = Pipeline.builder().idleStrategy(new EventDrivenIdle(0, tenMinutesNs)).onAll(ignore).start()) {
            for (int i = 0; i < 200; i++) {
                final CountDownLatch executed = new CountDownLatch(1);
                assertTrue(pipeline.execute(executed::countDown));
                executed.await();
            }
        }
    }

    @Test
    void shouldRecordTheExceptionOfATaskAndContinue() throws InterruptedException {
        final CountDownLatch executed = new CountDownLatch(1);
        try (Pipeline pipeline = Pipeline.builder().onAll(ignore).start()) {
            assertTrue(pipeline.execute(() -> {
                throw new AssertionError("provoked by a task");
            }));
            assertTrue(pipeline.execute(executed::countDown));
            executed.await();
            assertEquals(PipelineState.RUNNING, pipeline.state());
            final List<String> errors = new ArrayList<>();
            pipeline.readErrors(errors::add);
            assertEquals(1, errors.size());
            assertTrue(errors.getFirst().contains("provoked by a task"), errors::toString);
        }
    }

    @Test
    void shouldRefuseATaskWhileTooManyArePending() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch leave = new CountDownLatch(1);
        final AtomicLong executed = new AtomicLong();
        final ScriptedQueue queue = new ScriptedQueue("queue");
        try (Pipeline pipeline = Pipeline.builder().onAll(ignore).start()) {
            assertTrue(pipeline.execute(() -> {
                entered.countDown();
                await(leave);
            }));
            entered.await();
            int accepted = 0;
            while (pipeline.execute(executed::incrementAndGet)) {
                accepted++;
            }
            assertEquals(PENDING, accepted);
            // There are places left for commands.
            pipeline.addQueue(queue);
            leave.countDown();
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(PENDING, executed.get());
            assertTrue(pipeline.execute(executed::incrementAndGet));
        }
        assertEquals(PENDING + 1, executed.get());
    }

    @Test
    void shouldPollBetweenATaskAndTheOneThatItSubmits() {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final AtomicLong rounds = new AtomicLong();
        final Runnable again = new Runnable() {
            @Override
            public void run() {
                rounds.incrementAndGet();
                assertTrue(self.get().execute(this));
            }
        };
        final Recorder all = new Recorder();
        try (Pipeline pipeline = Pipeline.builder().runToCompletion().onAll(all).queue(queue).start()) {
            self.set(pipeline);
            assertTrue(pipeline.execute(again));
            for (int i = 0; i < 10; i++) {
                queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
            }
            all.awaitSize(10);
            while (rounds.get() < 1000) {
                Thread.onSpinWait();
            }
            assertTrue(pipeline.close(BOUND_NS).inTime());
        }
    }

    @Test
    void shouldExecuteTasksInOrderWithChangesOfTheQueues() throws TimeoutException {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        final AtomicLong executed = new AtomicLong();
        try (Pipeline pipeline = Pipeline.builder().onAll(ignore).queue(queue).start()) {
            for (int i = 1; i <= 100; i++) {
                assertTrue(pipeline.execute(executed::incrementAndGet));
                pipeline.removeQueue(queue);
                assertEquals(i, executed.get());
                pipeline.addQueue(queue);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldExecuteTasksOfAPausedAndOfAHaltedPipeline(final boolean inPlace) throws InterruptedException {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        final PipelineBuilder description = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            throw new IllegalStateException("provoked");
        }, options -> options.failurePolicy(FailurePolicy.HALT)).queue(queue);
        final Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start();
        assertTrue(pipeline.pause(BOUND_NS));
        awaitExecution(pipeline);
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        assertTrue(pipeline.resume(BOUND_NS));
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.onSpinWait();
        }
        awaitExecution(pipeline);
        pipeline.close(BOUND_NS);
        assertEquals("no task can be executed: the poller has ended",
            assertThrows(RejectedExecutionException.class, () -> pipeline.execute(() -> { })).getMessage());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldExecuteEachAcceptedTaskAlsoAtTheEnd(final boolean inPlace) throws InterruptedException {
        for (int round = 0; round < 30; round++) {
            final PipelineBuilder description = Pipeline.builder().withoutCountersFile().onAll(ignore);
            final Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start();
            final AtomicLong accepted = new AtomicLong();
            final AtomicLong executed = new AtomicLong();
            final AtomicLong elsewhere = new AtomicLong();
            final CountDownLatch submitting = new CountDownLatch(2);
            final List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        while (true) {
                            if (pipeline.execute(() -> {
                                executed.incrementAndGet();
                                elsewhere.addAndGet(Thread.currentThread() == pipeline.pollerThread() ? 0 : 1);
                            })) {
                                accepted.incrementAndGet();
                            }
                            submitting.countDown();
                        }
                    } catch (final RejectedExecutionException ended) {
                        assertTrue(ended.getMessage().startsWith("no task can be executed: the poller "), ended::getMessage);
                    }
                }));
            }
            submitting.await();
            assertTrue(pipeline.stop(BOUND_NS).inTime());
            for (final Thread thread : threads) {
                thread.join();
            }
            assertEquals(accepted.get(), executed.get());
            assertEquals(0, elsewhere.get());
        }
    }

    @Test
    void shouldNotAllocateForAPreparedTask() {
        final AtomicLong executed = new AtomicLong();
        final Runnable prepared = executed::incrementAndGet;
        try (Pipeline pipeline = Pipeline.builder().withoutCountersFile().runToCompletion().onAll(ignore).start()) {
            long least = Long.MAX_VALUE;
            // The JVM allocates a little when it compiles.
            for (int round = 0; round < 10 && least > 0; round++) {
                final long before = allocated(pipeline);
                final long target = executed.get() + 100_000;
                for (int i = 0; i < 100_000; i++) {
                    while (!pipeline.execute(prepared)) {
                        Thread.onSpinWait();
                    }
                }
                while (executed.get() < target) {
                    Thread.onSpinWait();
                }
                least = Math.min(least, allocated(pipeline) - before);
            }
            assertEquals(0, least);
        }
    }

    @Test
    void shouldLetATaskCloseThePipeline() throws InterruptedException {
        final Pipeline pipeline = Pipeline.builder().onAll(ignore).start();
        assertTrue(pipeline.execute(() -> assertFalse(pipeline.close(BOUND_NS).inTime())));
        pipeline.pollerThread().join();
        assertTrue(pipeline.close(BOUND_NS).inTime());
        final List<String> errors = new ArrayList<>();
        pipeline.readErrors(errors::add);
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldNotWaitForHandlersWhenATaskDrains() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch drained = new CountDownLatch(1);
        final AtomicReference<PipelineReport> report = new AtomicReference<>();
        final CompletionHandler waiting = (wc, sequence, endOfBatch) -> {
            entered.countDown();
            drained.await();
        };
        try (Pipeline pipeline = Pipeline.builder().onAll(waiting).queue(new SyntheticQueue("queue", 1)).start()) {
            entered.await();
            assertTrue(pipeline.execute(() -> {
                report.set(pipeline.drain(TimeUnit.MINUTES.toNanos(5)));
                drained.countDown();
            }));
            drained.await();
            assertEquals(new PipelineReport(1, 0, 0, PipelineReport.UNKNOWN, false), report.get());
        }
    }

    private static void awaitExecution(final Pipeline pipeline) throws InterruptedException {
        final CountDownLatch executed = new CountDownLatch(1);
        assertTrue(pipeline.execute(executed::countDown));
        executed.await();
    }

    private static long allocated(final Pipeline pipeline) {
        return THREADS.getThreadAllocatedBytes(pipeline.pollerThread().threadId()) + THREADS.getCurrentThreadAllocatedBytes();
    }

    private static void await(final CountDownLatch latch) {
        try {
            latch.await();
        } catch (final InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
