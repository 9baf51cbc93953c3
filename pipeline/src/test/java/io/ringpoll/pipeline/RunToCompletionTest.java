package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.BusySpinWaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers that run on the polling thread. */
@Timeout(60)
class RunToCompletionTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    /** An action of a handler on its pipeline. */
    private interface Action {
        void on(Pipeline pipeline) throws Exception;
    }

    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder all = new Recorder();
    private final AtomicReference<Pipeline> self = new AtomicReference<>();
    private final CountDownLatch started = new CountDownLatch(1);

    @Test
    void shouldDeliverEachCompletionOnceToItsPathInOrder() {
        final int count = 3_000;
        final Recorder sendWrite = new Recorder();
        final Recorder receive = new Recorder();
        final Recorder error = new Recorder();
        final List<Long> batched = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            switch (i % 3) {
                case 0 -> queue.add(i, WcStatus.SUCCESS, WcOpcode.RDMA_READ);
                case 1 -> queue.add(i, WcStatus.SUCCESS, WcOpcode.RECV_RDMA_WITH_IMM);
                default -> queue.add(i, WcStatus.WR_FLUSH_ERR, WcOpcode.RECV);
            }
        }
        try (Pipeline pipeline = Pipeline.builder().runToCompletion().ringSize(32).batchLimit(32)
                .onSendWrite(sendWrite).onReceive(receive).onError(error)
                .onAllBatch(batch -> {
                    for (int i = 0; i < batch.size(); i++) {
                        batched.add(batch.completion(i).workRequestId());
                    }
                }).queue(queue).start()) {
            final PipelineReport report = pipeline.drain(BOUND_NS);
            assertTrue(report.inTime());
            assertEquals(count, report.handled());
            assertEquals(0, pipeline.occupancy());
            assertEquals(count, pipeline.pollerCounters().completions());
            assertEquals(count / 3, pipeline.pollerCounters().errors());
        }
        assertEquals(every(3, 0, count), sendWrite.ids);
        assertEquals(every(3, 1, count), receive.ids);
        assertEquals(every(3, 2, count), error.ids);
        assertEquals(every(1, 0, count), batched);
    }

    @Test
    void shouldRunAllCallbacksOnThePollingThread() {
        final List<Thread> threads = new CopyOnWriteArrayList<>();
        final CompletionHandler handler = new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                threads.add(Thread.currentThread());
            }

            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                threads.add(Thread.currentThread());
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                threads.add(Thread.currentThread());
            }

            @Override
            public void onShutdown() {
                threads.add(Thread.currentThread());
            }
        };
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND).failWith(-7);
        final Pipeline pipeline = Pipeline.builder().runToCompletion().onAll(handler).queue(queue).start();
        assertEquals(List.of(), pipeline.handlerThreads());
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        assertTrue(pipeline.close(BOUND_NS).inTime());
        assertEquals(List.of(pipeline.pollerThread(), pipeline.pollerThread(), pipeline.pollerThread(), pipeline.pollerThread()),
            threads);
        assertTrue(pipeline.slab().isFreed());
    }

    @Test
    void shouldRejectOptionsOfHandlerThreads() {
        final PipelineBuilder description = Pipeline.builder().name("p").runToCompletion()
            .onAll(all, options -> options.cpu(1).waitStrategy(WaitMode.YIELD).maxBatch(4).maxHeld(2))
            .then(all, options -> options.name("stage"))
            .onReceive(all, options -> options.name("own").after("p-all").waitStrategy(new BusySpinWaitStrategy()));
        final String onPoller = ", but runs to completion on the poller's thread: ";
        assertEquals(
            String.join("\n",
                "handler p-all has a CPU" + onPoller + "set pollerCpu",
                "handler p-all has a wait" + onPoller + "set idleStrategy",
                "handler p-all has a maxBatch" + onPoller + "set the pipeline's batchLimit",
                "handler p-all holds slots" + onPoller + "copy completions that outlive the call",
                "handler stage follows another" + onPoller + "handlers run there in the order of their description",
                "handler own follows another" + onPoller + "handlers run there in the order of their description",
                "handler own has a wait" + onPoller + "set idleStrategy"),
            assertThrows(IllegalArgumentException.class, description::start).getMessage());
    }

    @Test
    void shouldEndStartedHandlersWhenOneCannotStart() {
        final List<String> ended = new CopyOnWriteArrayList<>();
        final CompletionHandler willing = new Recorder() {
            @Override
            public void onShutdown() {
                ended.add("willing");
            }
        };
        final CompletionHandler unwilling = new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                throw new IllegalStateException("no disk to write to");
            }

            @Override
            public void onShutdown() {
                ended.add("unwilling");
            }
        };
        final PipelineBuilder description = Pipeline.builder().runToCompletion().onAll(willing)
            .onReceive(unwilling, options -> options.name("receiver")).queue(queue);
        assertEquals("thread receiver did not start: no disk to write to",
            assertThrows(PipelineStartException.class, description::start).getMessage());
        assertEquals(List.of("willing"), ended);
    }

    @Test
    void shouldContinueAfterAnExceptionAndEndAfterAHalt() throws InterruptedException {
        final CountDownLatch failed = new CountDownLatch(1);
        final List<String> heard = new CopyOnWriteArrayList<>();
        final CompletionHandler failing = new Recorder() {
            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) throws Exception {
                super.onCompletion(wc, sequence, endOfBatch);
                if (wc.workRequestId() % 10 == 3) {
                    throw new IllegalStateException("at " + wc.workRequestId());
                }
            }

            @Override
            public void onShutdown() {
                heard.add("ended");
            }
        };
        for (int i = 0; i < 40; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        try (Pipeline pipeline = Pipeline.builder().runToCompletion().batchLimit(8)
                .onAll(failing, options -> options.failurePolicy((failure, sequence) ->
                    sequence < 20 ? FailurePolicy.Decision.CONTINUE : FailurePolicy.Decision.HALT))
                .onSendWrite(all)
                .onFailure((of, threadName, failure) -> {
                    heard.add(failure.getMessage());
                    failed.countDown();
                })
                .queue(queue).start()) {
            assertTrue(failed.await(20, TimeUnit.SECONDS));
            // The batch of 16 to 23 is the last: all other handlers have it whole.
            final PipelineReport report = pipeline.close(BOUND_NS);
            assertEquals(24, report.polled());
            assertEquals(24, report.handled());
            assertEquals(16, report.inQueues());
            assertEquals(3, pipeline.handlerExceptions());
        }
        assertEquals(List.of("at 23", "ended"), heard);
        assertEquals(every(1, 0, 24), all.ids);
    }

    @Test
    void shouldAddAndRemoveQueuesDirectlyInAHandler() {
        final ScriptedQueue second = new ScriptedQueue("second");
        final ScriptedQueue third = new ScriptedQueue("third");
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND).add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        second.add(10, WcStatus.SUCCESS, WcOpcode.SEND);
        third.add(20, WcStatus.SUCCESS, WcOpcode.SEND);
        final Recorder changing = atTheFirst(pipeline -> {
            pipeline.removeQueue(queue);
            pipeline.removeQueue(second);
            pipeline.addQueue(third);
        });
        try (Pipeline pipeline = start(Pipeline.builder().batchLimit(1).onAll(changing).queue(queue).queue(second))) {
            changing.awaitSize(2);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(0, pipeline.handlerExceptions());
        }
        assertEquals(List.of(1L, 20L), changing.ids);
        assertEquals(1, queue.size());
        assertEquals(1, second.size());
    }

    @Test
    void shouldEndTheRoundWhenAHandlerPausesAndContinueWhenAnotherThreadResumes() throws InterruptedException {
        final ScriptedQueue second = new ScriptedQueue("second");
        final CountDownLatch paused = new CountDownLatch(1);
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        second.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        final Recorder pausing = atTheFirst(pipeline -> {
            assertTrue(pipeline.pause(BOUND_NS));
            paused.countDown();
        });
        try (Pipeline pipeline = start(Pipeline.builder().onAll(pausing).queue(queue).queue(second))) {
            assertTrue(paused.await(20, TimeUnit.SECONDS));
            // By a command, which the poller executes between two rounds.
            assertTrue(pipeline.pause(BOUND_NS));
            assertEquals(1, second.size());
            assertTrue(pipeline.resume(BOUND_NS));
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        assertEquals(List.of(1L, 2L), pausing.ids);
    }

    @Test
    void shouldNotWaitForItselfWhenAHandlerDrainsOrCloses() throws InterruptedException {
        final AtomicReference<PipelineReport> drained = new AtomicReference<>();
        final CountDownLatch asked = new CountDownLatch(1);
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        final Pipeline pipeline = start(Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            assertTrue(started.await(20, TimeUnit.SECONDS));
            drained.set(self.get().drain(TimeUnit.DAYS.toNanos(1)));
            self.get().close(BOUND_NS);
            asked.countDown();
        }).queue(queue));
        assertTrue(asked.await(20, TimeUnit.SECONDS));
        pipeline.pollerThread().join(TimeUnit.NANOSECONDS.toMillis(BOUND_NS));
        assertFalse(pipeline.pollerThread().isAlive());
        assertTrue(pipeline.close(BOUND_NS).inTime());
        assertFalse(drained.get().inTime());
        assertEquals(1, drained.get().polled());
        assertEquals(0, drained.get().handled());
        assertEquals(0, pipeline.handlerExceptions());
    }

    @Test
    void shouldRetainItsMemoryForABlockedHandler() throws InterruptedException {
        final CountDownLatch release = new CountDownLatch(1);
        final CountDownLatch entered = new CountDownLatch(1);
        queue.add(5, WcStatus.SUCCESS, WcOpcode.SEND);
        final Pipeline pipeline = start(Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            entered.countDown();
            assertTrue(release.await(30, TimeUnit.SECONDS));
            all.onCompletion(wc, sequence, endOfBatch);
        }).queue(queue));
        assertTrue(entered.await(20, TimeUnit.SECONDS));
        final PipelineReport report = pipeline.close(TimeUnit.MILLISECONDS.toNanos(50));
        assertFalse(report.inTime());
        assertEquals(1, report.unhandled());
        assertFalse(pipeline.slab().isFreed());
        release.countDown();
        pipeline.pollerThread().join(TimeUnit.NANOSECONDS.toMillis(BOUND_NS));
        assertEquals(List.of(5L), all.ids);
        assertTrue(pipeline.slab().isFreed());
    }

    @Test
    void shouldHoldNoSlots() {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        final List<Boolean> held = new CopyOnWriteArrayList<>();
        queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        final CompletionHandler holding = new Recorder() {
            @Override
            public void onStart(final SlotControl control) {
                slots.set(control);
            }

            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                held.add(slots.get().hold(sequence));
                slots.get().releaseThrough(sequence);
            }
        };
        try (Pipeline pipeline = Pipeline.builder().runToCompletion().onAll(holding).queue(queue).start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(0, pipeline.held());
        }
        assertEquals(List.of(false), held);
        assertEquals("slot 0 is not held: handlers on the poller's thread hold none",
            assertThrows(IllegalStateException.class, () -> slots.get().release(0)).getMessage());
    }

    @Test
    void shouldRequestACpuForThePollerOnly() {
        final List<Pinning.Candidate> asked = new CopyOnWriteArrayList<>();
        Pipeline.builder().name("p").runToCompletion().onReceive(all).discard(CompletionPath.SEND_WRITE)
            .discard(CompletionPath.ERROR).pin((candidates, taken) -> {
                asked.addAll(candidates);
                return Map.of();
            }).start().close();
        assertEquals(List.of(new Pinning.Candidate("p-poller", true)), asked);
    }

    /** Records all completions, and runs an action on completion 1. */
    private Recorder atTheFirst(final Action action) {
        return new Recorder() {
            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) throws Exception {
                super.onCompletion(wc, sequence, endOfBatch);
                if (wc.workRequestId() == 1) {
                    assertTrue(started.await(20, TimeUnit.SECONDS));
                    action.on(self.get());
                }
            }
        };
    }

    private Pipeline start(final PipelineBuilder description) {
        final Pipeline pipeline = description.runToCompletion().start();
        self.set(pipeline);
        started.countDown();
        return pipeline;
    }

    private static List<Long> every(final int step, final int first, final int count) {
        return LongStream.range(0, count).filter(i -> i % step == first % step).boxed().toList();
    }
}
