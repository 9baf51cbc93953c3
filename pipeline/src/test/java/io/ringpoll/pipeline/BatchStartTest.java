package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.testing.LogCapture;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The call before each batch, and the log of a handler's exceptions. */
@Timeout(60)
class BatchStartTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int COMPLETIONS = 3000;

    /** Checks that each batch has been announced with its size, or a larger one. */
    private static final class Announced implements CompletionHandler {
        private final boolean exactly;
        private long left;
        private long batches;
        private long completions;
        private long wrong;

        Announced(final boolean exactly) {
            this.exactly = exactly;
        }

        @Override
        public void onBatchStart(final long available) {
            wrong += available < 1 || exactly && left != 0 ? 1 : 0;
            left = available;
            batches++;
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            completions++;
            left--;
            wrong += left < 0 || exactly && endOfBatch != (left == 0) ? 1 : 0;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldAnnounceEachBatch(final boolean inPlace) {
        final Announced all = new Announced(true);
        final Announced errors = new Announced(false);
        final long[] inBatches = new long[3];
        final BatchHandler receives = new BatchHandler() {
            @Override
            public void onBatchStart(final long available) {
                inBatches[0] = available;
            }

            @Override
            public void onBatch(final CompletionBatch batch) {
                inBatches[1] += batch.size();
                inBatches[2] += batch.size() == inBatches[0] ? 0 : 1;
            }
        };
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (int i = 0; i < COMPLETIONS; i++) {
            queue.add(i, i % 5 == 0 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS, i % 3 == 0 ? WcOpcode.RECV : WcOpcode.SEND);
        }
        final PipelineBuilder description = Pipeline.builder().ringSize(64).batchLimit(7).onAll(all)
            .on(EnumSet.of(CompletionPath.ERROR, CompletionPath.SEND_WRITE), errors, options -> { }).onReceiveBatch(receives)
            .queue(queue);
        try (Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(0, pipeline.handlerExceptions());
        }
        assertEquals(COMPLETIONS, all.completions);
        assertEquals(0, all.wrong);
        assertTrue(all.batches > 0 && all.batches <= COMPLETIONS);
        assertEquals(0, errors.wrong);
        assertEquals(COMPLETIONS, errors.completions + inBatches[1]);
        assertEquals(0, inBatches[2]);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDeliverABatchAlthoughItsStartFailed(final boolean inPlace) {
        final Recorder failing = new Recorder() {
            @Override
            public void onBatchStart(final long available) {
                throw new IllegalStateException("provoked at the start");
            }
        };
        try (LogCapture log = new LogCapture("io.ringpoll.pipeline"); Pipeline pipeline = start(failing, inPlace)) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(COMPLETIONS, failing.ids.size());
            assertTrue(pipeline.handlerExceptions() > 0);
            assertEquals(1, log.messages().size());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaltBeforeTheBatchOfWhichTheStartFailed(final boolean inPlace) {
        final Recorder failing = new Recorder() {
            @Override
            public void onBatchStart(final long available) {
                if (size() > 0) {
                    throw new IllegalStateException("provoked at the second start");
                }
            }
        };
        final PipelineBuilder description =
            Pipeline.builder().batchLimit(4).onAll(failing, options -> options.failurePolicy(FailurePolicy.HALT)).queue(filled());
        final Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start();
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.onSpinWait();
        }
        final PipelineReport report = pipeline.close(BOUND_NS);
        assertEquals(failing.ids.size(), report.handled());
        assertTrue(report.handled() < COMPLETIONS);
    }

    @Test
    void shouldLogTheFirstExceptionOfEachKindWithItsStack() {
        final CompletionHandler failing = (wc, sequence, endOfBatch) -> {
            if (sequence % 3 == 0) {
                throw new IllegalStateException("the first kind, at " + sequence);
            }
            throw new IllegalStateException("the second kind, at " + sequence);
        };
        try (LogCapture log = new LogCapture("io.ringpoll.pipeline"); Pipeline pipeline = start(failing, false)) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(COMPLETIONS, pipeline.handlerExceptions());
            final String message = "WARNING handler ringpoll-all threw java.lang.IllegalStateException; " +
                "more of this kind are only counted and recorded";
            assertEquals(List.of(message, message), log.messages());
            assertEquals(List.of("the first kind, at 0", "the second kind, at 1"),
                log.exceptions().stream().map(Throwable::getMessage).toList());
            for (final Throwable logged : log.exceptions()) {
                assertEquals(BatchStartTest.class.getName(), logged.getStackTrace()[0].getClassName());
            }
        }
    }

    private static Pipeline start(final CompletionHandler handler, final boolean inPlace) {
        final PipelineBuilder description = Pipeline.builder().onAll(handler).queue(filled());
        return inPlace ? description.runToCompletion().start() : description.start();
    }

    private static ScriptedQueue filled() {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (int i = 0; i < COMPLETIONS; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        return queue;
    }
}
