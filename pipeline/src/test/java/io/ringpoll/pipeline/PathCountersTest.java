package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.PollerCounters;
import io.ringpoll.poller.ScriptedQueue;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The counters of the paths are exact when the pipeline is quiet, whichever handlers there are. */
@Timeout(60)
class PathCountersTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int COUNT = 5000;
    private static final CompletionHandler IGNORE = (wc, sequence, endOfBatch) -> { };

    /** Descriptions of handlers. */
    private enum Description {
        ONE(builder -> builder.onAll(IGNORE)),
        ONE_IN_BATCHES(builder -> builder.onAllBatch(batch -> { })),
        THREE(builder -> builder.onSendWrite(IGNORE).onReceive(IGNORE).onError(IGNORE)),
        THREE_IN_BATCHES(builder -> builder.onErrorBatch(batch -> { }).onReceiveBatch(batch -> { })
            .onSendWriteBatch(batch -> { })),
        SEVERAL_FOR_A_PATH(builder -> builder.onReceive(IGNORE).onAll(IGNORE).onReceive(IGNORE).onAll(IGNORE)),
        STAGES(builder -> builder.on(EnumSet.of(CompletionPath.SEND_WRITE, CompletionPath.ERROR), IGNORE, options -> { })
            .then(IGNORE).onReceive(IGNORE)),
        DISCARDED_SENDS(builder -> builder.onReceive(IGNORE).onError(IGNORE).discard(CompletionPath.SEND_WRITE)),
        DISCARDED_RECEIVES(builder -> builder.onErrorBatch(batch -> { }).onSendWrite(IGNORE).discard(CompletionPath.RECEIVE)),
        DISCARDED_ERRORS(builder -> builder.onReceive(IGNORE).onSendWrite(IGNORE).discard(CompletionPath.ERROR)),
        ONLY_RECEIVES(builder -> builder.onReceive(IGNORE).discard(CompletionPath.SEND_WRITE).discard(CompletionPath.ERROR)),
        ONLY_ERRORS(builder -> builder.onError(IGNORE).discard(CompletionPath.SEND_WRITE).discard(CompletionPath.RECEIVE)),
        THROWING(builder -> builder.onAll((wc, sequence, endOfBatch) -> {
            throw new IllegalStateException("provoked");
        }, options -> options.failurePolicy(FailurePolicy.CONTINUE)));

        private final UnaryOperator<PipelineBuilder> handlers;

        Description(final UnaryOperator<PipelineBuilder> handlers) {
            this.handlers = handlers;
        }
    }

    @ParameterizedTest
    @EnumSource(Description.class)
    void shouldCountEachCompletionOnItsPathOnce(final Description description) {
        assertCounted(description.handlers.apply(Pipeline.builder().ringSize(64)));
    }

    @ParameterizedTest
    @EnumSource(value = Description.class, mode = EnumSource.Mode.EXCLUDE, names = "STAGES")
    void shouldCountOnThePollersThread(final Description description) {
        assertCounted(description.handlers.apply(Pipeline.builder().runToCompletion()));
    }

    @Test
    void shouldCountUpToTheCompletionAtWhichAHandlerHalts() throws InterruptedException {
        for (final boolean inPlace : new boolean[] {false, true}) {
            final PipelineBuilder builder = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
                if (wc.workRequestId() == 6) {
                    throw new IllegalStateException("provoked");
                }
            }, options -> options.failurePolicy(FailurePolicy.HALT));
            final ScriptedQueue queue = new ScriptedQueue("queue");
            for (int i = 0; i < 10; i++) {
                queue.add(i, i == 5 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS, i % 2 == 0 ? WcOpcode.RECV : WcOpcode.SEND);
            }
            try (Pipeline pipeline = (inPlace ? builder.runToCompletion() : builder.ringSize(16)).start()) {
                pipeline.addQueue(queue);
                awaitHalt(pipeline);
                pipeline.close(BOUND_NS);
                final PollerCounters counters = pipeline.pollerCounters();
                assertEquals(4, counters.receives(), "0, 2, 4 and 6");
                assertEquals(2, counters.sendWrites(), "1 and 3");
                assertEquals(1, counters.errors());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"false,false", "false,true", "true,false", "true,true"})
    void shouldCountNothingOfABatchAtWhoseStartTheHandlerHalts(final boolean inPlace, final boolean inBatches)
        throws InterruptedException {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (int i = 0; i < 16; i++) {
            queue.add(i, i % 4 == 2 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS, i % 2 == 1 ? WcOpcode.RECV : WcOpcode.SEND);
        }
        final PipelineBuilder builder = Pipeline.builder().ringSize(16).batchLimit(16).queue(queue);
        if (inBatches) {
            builder.onAllBatch(new Unwilling(), options -> options.failurePolicy(FailurePolicy.HALT));
        } else {
            builder.onAll(new UnwillingSingle(), options -> options.failurePolicy(FailurePolicy.HALT));
        }
        try (Pipeline pipeline = (inPlace ? builder.runToCompletion() : builder).start()) {
            awaitHalt(pipeline);
            assertEquals(0, pipeline.close(BOUND_NS).handled());
            final PollerCounters counters = pipeline.pollerCounters();
            assertEquals(0, counters.sendWrites());
            assertEquals(0, counters.receives());
            assertEquals(0, counters.errors());
            assertEquals(0, counters.errors(WcStatus.WR_FLUSH_ERR));
        }
    }

    @Test
    void shouldNotReadThePathsOfWhatIsNotHandledYet() throws InterruptedException {
        final AtomicLong allowed = new AtomicLong();
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (int i = 0; i < 100; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        try (Pipeline pipeline = Pipeline.builder().ringSize(16).onAll((wc, sequence, endOfBatch) -> {
            while (sequence >= allowed.get()) {
                Thread.onSpinWait();
            }
        }).queue(queue).start()) {
            final PollerCounters counters = pipeline.pollerCounters();
            final long deadlineNs = System.nanoTime() + BOUND_NS;
            while (counters.completions() < 16) {
                assertTrue(System.nanoTime() < deadlineNs, "not published");
                Thread.sleep(1);
            }
            assertEquals(0, counters.sendWrites());
            assertEquals(16, counters.completions(), "behind by the size of the ring at most");
            allowed.set(100);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(100, counters.sendWrites());
        }
    }

    @Test
    void shouldAssignEachPathToItsFirstHandlerAndDiscardedPathsToTheFirstOfAll() {
        final Set<CompletionPath> all = EnumSet.allOf(CompletionPath.class);
        final Set<CompletionPath> receive = EnumSet.of(CompletionPath.RECEIVE);
        final Set<CompletionPath> others = EnumSet.complementOf(EnumSet.of(CompletionPath.RECEIVE));
        final Set<CompletionPath> none = Set.of();
        assertEquals(List.of(all), HandlerPaths.counted(List.of(all)));
        assertEquals(List.of(receive, others, none), HandlerPaths.counted(List.of(receive, all, receive)));
        assertEquals(List.of(all, none), HandlerPaths.counted(List.of(receive, receive)));
    }

    private static void awaitHalt(final Pipeline pipeline) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (pipeline.state() != PipelineState.HALTED) {
            assertTrue(System.nanoTime() < deadlineNs, "not halted");
            Thread.sleep(1);
        }
    }

    /** Fails before its first batch. */
    private static final class Unwilling implements BatchHandler {
        @Override
        public void onBatchStart(final long available) {
            throw new IllegalStateException("provoked");
        }

        @Override
        public void onBatch(final CompletionBatch batch) {
            throw new AssertionError("not called after a halt");
        }
    }

    /** Fails before its first completion. */
    private static final class UnwillingSingle implements CompletionHandler {
        @Override
        public void onBatchStart(final long available) {
            throw new IllegalStateException("provoked");
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            throw new AssertionError("not called after a halt");
        }
    }

    private static void assertCounted(final PipelineBuilder description) {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        final ScriptedQueue failing = new ScriptedQueue("failing");
        final Random random = new Random(1);
        final long[] paths = new long[3];
        final long[] statuses = new long[WcStatus.COUNT];
        for (int i = 0; i < COUNT; i++) {
            // A small part of errors, and none in the first batches.
            final int status = i > COUNT / 4 && random.nextInt(10) == 0 ? 1 + random.nextInt(WcStatus.COUNT - 1) : 0;
            final boolean receive = random.nextBoolean();
            queue.add(i, status, receive ? WcOpcode.RECV : WcOpcode.SEND);
            paths[status != 0 ? 2 : receive ? 1 : 0]++;
            statuses[status]++;
        }
        failing.failWith(-1);
        try (Pipeline pipeline = description.queue(failing).queue(queue).start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            final PollerCounters counters = pipeline.pollerCounters();
            assertEquals(1, counters.queueFaults());
            assertEquals(COUNT, counters.completions());
            assertEquals(paths[0], counters.sendWrites());
            assertEquals(paths[1], counters.receives());
            assertEquals(paths[2], counters.errors());
            for (int status = 1; status < WcStatus.COUNT; status++) {
                assertEquals(statuses[status], counters.errors(status), WcStatus.name(status));
            }
        }
    }
}
