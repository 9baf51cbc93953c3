package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exceptions in user callbacks: no completion is lost, nothing leaks, the report is unchanged. */
@Timeout(60)
class HooksTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final AtomicInteger ended = new AtomicInteger();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountUndeliveredCompletionsWhenTheConsumerThrows(final boolean runsToCompletion) {
        final AtomicInteger handed = new AtomicInteger();
        final PipelineBuilder description = Pipeline.builder().onAll(ending(new Recorder())).queue(queue)
            .onUndelivered(completion -> {
                handed.incrementAndGet();
                throw new StackOverflowError("provoked");
            });
        final Pipeline pipeline = start(runsToCompletion, description);
        assertTrue(pipeline.pause(BOUND_NS));
        add(150);
        assertEquals(new PipelineReport(0, 0, 0, 150, true), pipeline.stop(BOUND_NS));
        assertEquals(150, handed.get());
        assertTrue(pipeline.slab().isFreed());
        assertEquals(1, errors(pipeline).size());
        assertTrue(errors(pipeline).getFirst().startsWith("150 times: "));
    }

    @Test
    void shouldNotPollMoreUndeliveredCompletionsThanItCounts() {
        final long rest = 100;
        final SyntheticQueue endless = new SyntheticQueue("endless", UndeliveredCompletions.MAX_COMPLETIONS + rest);
        final AtomicLong last = new AtomicLong();
        final Pipeline pipeline = Pipeline.builder().onAll(ending(new Recorder()))
            .onUndelivered(completion -> last.set(completion.workRequestId())).start();
        assertTrue(pipeline.pause(BOUND_NS));
        pipeline.addQueue(endless);
        assertEquals(UndeliveredCompletions.MAX_COMPLETIONS, pipeline.stop(BOUND_NS).inQueues());
        assertEquals(UndeliveredCompletions.MAX_COMPLETIONS - 1, last.get());
        // Completions that were not counted are still in the queue.
        final Pipeline next = Pipeline.builder().onAll(new Recorder()).queue(endless).start();
        assertTrue(next.drain(BOUND_NS).inTime());
        assertEquals(rest, next.close(BOUND_NS).polled());
    }

    @Test
    void shouldNotTrustTheNumberOfUndeliveredCompletionsOfAUsersQueue() {
        final Pipeline pipeline = Pipeline.builder().onAll(ending(new Recorder())).start();
        assertTrue(pipeline.pause(BOUND_NS));
        pipeline.addQueue(failing(() -> 65));
        pipeline.addQueue(queue);
        add(5);
        assertEquals(new PipelineReport(0, 0, 0, 5, true), pipeline.stop(BOUND_NS));
        final List<String> errors = errors(pipeline);
        assertEquals(1, errors.size());
        assertTrue(errors.getFirst().contains("returned 65 completions, at most 64 were asked for"), errors::toString);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailAUsersQueueWhoseOtherCallsThrowAndPollTheOthers(final boolean runsToCompletion) throws Exception {
        final CompletableFuture<String> fault = new CompletableFuture<>();
        final Recorder recorder = new Recorder() {
            @Override
            public void onQueueFault(final int index, final String name, final int code, final Object attachment) {
                fault.complete(name + ' ' + code + ' ' + attachment);
            }
        };
        final HostileQueue hostile = new HostileQueue();
        final Pipeline pipeline = start(runsToCompletion, Pipeline.builder().onAll(recorder).queue(hostile, "attached")
            .queue(queue));
        assertEquals("hostile " + QueueFault.POLL_THREW + " attached", fault.get(BOUND_NS, TimeUnit.NANOSECONDS));
        add(5);
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        assertEquals(List.of(0L, 1L, 2L, 3L, 4L), recorder.ids);
        final FutureTask<Boolean> removal = new FutureTask<>(() -> pipeline.removeQueue(hostile, BOUND_NS));
        Thread.ofPlatform().start(removal);
        assertTrue(removal.get());
        pipeline.addQueue(hostile);
        assertTrue(pipeline.close(BOUND_NS).inTime());
        assertNull(pipeline.failure());
        assertTrue(errors(pipeline).toString().contains("StackOverflowError: provoked"), errors(pipeline)::toString);
    }

    /** The thread that has created it may ask for all of it, others can only poll. */
    private static final class HostileQueue implements CompletionQueue {
        private final Thread adding = Thread.currentThread();

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            return 0;
        }

        @Override
        public String name() {
            requireAdding();
            return "hostile";
        }

        @Override
        public CompletionBudget budget() {
            requireAdding();
            return null;
        }

        private void requireAdding() {
            if (Thread.currentThread() != adding) {
                throw new StackOverflowError("provoked");
            }
        }
    }

    @Test
    void shouldPollTheOtherQueuesWhenOneFailsOrIsRemovedOnStop() {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final ScriptedQueue removed = new ScriptedQueue("removed");
        final Pipeline pipeline = Pipeline.builder().onAll(ending(new Recorder()))
            .onUndelivered(completion -> remove(self.get(), removed)).start();
        self.set(pipeline);
        assertTrue(pipeline.pause(BOUND_NS));
        pipeline.addQueue(failing(() -> {
            throw new IllegalStateException("poll threw");
        }));
        pipeline.addQueue(failing(() -> -7));
        pipeline.addQueue(queue);
        pipeline.addQueue(removed);
        add(5);
        removed.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        assertEquals(new PipelineReport(0, 0, 0, 5, true), pipeline.stop(BOUND_NS));
        assertEquals(1, removed.size());
        final String errors = errors(pipeline).toString();
        assertTrue(errors.contains("poll threw") && errors.contains("failed with code -7 after the stop"), errors);
    }

    @Test
    void shouldAcceptCallsByTheConsumerOfUndeliveredCompletions() {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final List<PipelineReport> reports = new ArrayList<>();
        final Pipeline pipeline = Pipeline.builder().onAll(ending(new Recorder())).queue(queue)
            .onUndelivered(completion -> {
                reports.add(self.get().close(BOUND_NS));
                reports.add(self.get().drain(TimeUnit.MINUTES.toNanos(5)));
                assertThrows(IllegalStateException.class, () -> self.get().addQueue(new ScriptedQueue("other")));
            }).start();
        self.set(pipeline);
        assertTrue(pipeline.pause(BOUND_NS));
        add(1);
        assertEquals(1, pipeline.stop(BOUND_NS).inQueues());
        assertEquals(2, reports.size());
        assertTrue(reports.stream().noneMatch(PipelineReport::inTime));
        assertEquals(List.of(), errors(pipeline));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndAHaltedHandlerWhenTheFailureListenerThrows(final boolean runsToCompletion) {
        final Pipeline pipeline = start(runsToCompletion, Pipeline.builder()
            .onAll(ending((wc, sequence, endOfBatch) -> {
                throw new LinkageError("provoked");
            }), options -> options.failurePolicy(FailurePolicy.HALT))
            .onAll(ending(new Recorder()))
            .onFailure((of, threadName, failure) -> {
                throw new IllegalStateException("listener");
            })
            .queue(queue));
        add(1);
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.yield();
        }
        final PipelineReport report = pipeline.stop(BOUND_NS);
        assertEquals(new PipelineReport(1, 1, 0, 0, true), report);
        assertEquals(2, ended.get());
        assertTrue(pipeline.slab().isFreed());
        assertTrue(errors(pipeline).toString().contains("listener"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReportTheSameWhenOnShutdownThrows(final boolean runsToCompletion) {
        final Pipeline pipeline = start(runsToCompletion, Pipeline.builder().onAll(new Recorder() {
            @Override
            public void onShutdown() {
                ended.incrementAndGet();
                throw new OutOfMemoryError("provoked");
            }
        }).onAll(ending(new Recorder())).queue(queue));
        add(10);
        assertEquals(new PipelineReport(10, 10, 0, 0, true), pipeline.close(BOUND_NS));
        assertEquals(2, ended.get());
        assertEquals(1, pipeline.handlerExceptions());
        assertTrue(pipeline.slab().isFreed());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldContinueAfterAnyThrowableThatThePolicyTolerates(final boolean runsToCompletion) {
        final Recorder recorder = new Recorder();
        final Throwable[] thrown = {
            new StackOverflowError(), new OutOfMemoryError(), new NoClassDefFoundError(), new Unprintable(), new Exception()};
        final Pipeline pipeline = start(runsToCompletion, Pipeline.builder().onAll(ending((wc, sequence, endOfBatch) -> {
            recorder.onCompletion(wc, sequence, endOfBatch);
            sneak(thrown[(int) sequence % thrown.length]);
        })).queue(queue));
        add(20);
        assertEquals(new PipelineReport(20, 20, 0, 0, true), pipeline.close(BOUND_NS));
        assertEquals(20, recorder.size());
        assertEquals(20, pipeline.handlerExceptions());
        assertEquals(1, ended.get());
        assertTrue(errors(pipeline).toString().contains("Unprintable, which cannot be printed"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldContinueAfterExceptionsThatCauseEachOther(final boolean runsToCompletion) {
        final Pipeline pipeline = start(runsToCompletion, Pipeline.builder().onAll(ending((wc, sequence, endOfBatch) -> {
            final IllegalStateException outer = new IllegalStateException("outer");
            outer.initCause(new IllegalStateException("inner", outer));
            throw outer;
        })).queue(queue));
        add(3);
        assertEquals(new PipelineReport(3, 3, 0, 0, true), pipeline.close(BOUND_NS));
        assertEquals(1, ended.get());
        assertTrue(errors(pipeline).toString().contains("IllegalStateException, whose causes are a cycle"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaltWhenThePolicyThrowsOrReturnsNull(final boolean throwing) {
        final Pipeline pipeline = Pipeline.builder().onAll(ending((wc, sequence, endOfBatch) -> {
            throw new IllegalStateException("handler");
        }), options -> options.failurePolicy((failure, sequence) -> {
            if (throwing) {
                throw new IllegalStateException("policy");
            }
            return null;
        })).queue(queue).start();
        add(1);
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.yield();
        }
        assertEquals("handler", pipeline.failure().getMessage());
        assertEquals(new PipelineReport(1, 1, 0, 0, true), pipeline.stop(BOUND_NS));
        assertEquals(1, ended.get());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShutDownStartedHandlersWhenTheStartFailsWithAnyThrowable(final boolean runsToCompletion) {
        final PipelineBuilder description = Pipeline.builder().name("p").onAll(ending(new Recorder())).onAll(new Recorder() {
            @Override
            public void onStart(final SlotControl slots) {
                throw new Unprintable();
            }

            @Override
            public void onShutdown() {
                throw new AssertionError("the thread has not started");
            }
        }, options -> options.name("unwilling")).queue(queue);
        if (runsToCompletion) {
            description.runToCompletion();
        }
        add(1);
        assertEquals("thread unwilling did not start: " + Unprintable.class.getName(),
            assertThrows(PipelineStartException.class, description::start).getMessage());
        assertEquals(1, ended.get());
        assertEquals(1, queue.size());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCloseFromEachCallback(final boolean runsToCompletion) throws InterruptedException {
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final Pipeline pipeline = start(runsToCompletion, Pipeline.builder()
            .onAll(new Recorder() {
                @Override
                public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                    throw new IllegalStateException("provoked");
                }

                @Override
                public void onShutdown() {
                    assertFalse(self.get().close(BOUND_NS).inTime());
                    ended.incrementAndGet();
                }
            }, options -> options.failurePolicy(FailurePolicy.HALT))
            .onFailure((of, threadName, failure) -> {
                self.set(of);
                assertFalse(of.stop(BOUND_NS).inTime());
            })
            .queue(queue));
        add(3);
        while (pipeline.state() != PipelineState.CLOSED) {
            Thread.sleep(1);
        }
        assertTrue(pipeline.stop(BOUND_NS).inTime());
        assertEquals(1, ended.get());
        assertEquals(1, pipeline.handlerExceptions());
    }

    private Pipeline start(final boolean runsToCompletion, final PipelineBuilder description) {
        return runsToCompletion ? description.runToCompletion().start() : description.start();
    }

    private void add(final int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }

    private CompletionHandler ending(final CompletionHandler handler) {
        return new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) throws Exception {
                handler.onCompletion(wc, sequence, endOfBatch);
            }

            @Override
            public void onShutdown() {
                ended.incrementAndGet();
            }
        };
    }

    private static void remove(final Pipeline pipeline, final CompletionQueue removed) {
        try {
            pipeline.removeQueue(removed);
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
    }

    private static CompletionQueue failing(final IntSupplier result) {
        return new CompletionQueue() {
            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                return result.getAsInt();
            }

            @Override
            public String name() {
                return "failing";
            }
        };
    }

    private static List<String> errors(final Pipeline pipeline) {
        final List<String> lines = new ArrayList<>();
        pipeline.readErrors(lines::add);
        return lines;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(final Throwable thrown) throws T {
        throw (T) thrown;
    }

    /** An exception with a throwing getMessage. */
    private static final class Unprintable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }
    }
}
