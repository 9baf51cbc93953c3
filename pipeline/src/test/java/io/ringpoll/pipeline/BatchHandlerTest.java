package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BatchHandlerTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    @Test
    void shouldDeliverAllCompletionsOfAPathInBatches() {
        final List<Long> ids = new ArrayList<>();
        final List<Integer> sizes = new ArrayList<>();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(256)
                .onReceiveBatch(batch -> {
                    sizes.add(batch.size());
                    for (int i = 0; i < batch.size(); i++) {
                        assertEquals(batch.sequence(i), batch.completion(i).workRequestId());
                        ids.add(batch.completion(i).workRequestId());
                    }
                })
                .discard(CompletionPath.SEND_WRITE)
                .discard(CompletionPath.ERROR)
                .queue(new SyntheticQueue("queue", 30_000))
                .start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(0, pipeline.handlerExceptions());
        }
        assertEquals(10_000, ids.size());
        for (int i = 0; i < ids.size(); i++) {
            assertEquals(3L * i + 1, ids.get(i));
        }
        assertTrue(sizes.size() < ids.size(), "every batch had one completion");
        assertTrue(sizes.stream().allMatch(size -> size <= 64), sizes.toString());
    }

    @Test
    void shouldReportAQueueFaultInOrderBetweenBatches() {
        final List<String> heard = new ArrayList<>();
        final ScriptedQueue failing = new ScriptedQueue("failing");
        failing.add(1, WcStatus.WR_FLUSH_ERR, WcOpcode.SEND).add(2, WcStatus.WR_FLUSH_ERR, WcOpcode.SEND).failWith(-7);
        final BatchHandler handler = new BatchHandler() {
            @Override
            public void onBatch(final CompletionBatch batch) {
                for (int i = 0; i < batch.size(); i++) {
                    heard.add("completion " + batch.completion(i).workRequestId());
                }
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                heard.add(queueName + " " + code);
            }
        };
        try (Pipeline pipeline =
                Pipeline.builder().onAllBatch(handler).queue(failing).start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        assertEquals(List.of("completion 1", "completion 2", "failing -7"), heard);
    }

    @Test
    void shouldCallThePolicyOnceForAFailedBatch() {
        final List<Long> asked = new ArrayList<>();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(64)
                .onAllBatch(
                    batch -> {
                        throw new IllegalStateException("provoked");
                    },
                    options -> options.failurePolicy((failure, sequence) -> {
                        asked.add(sequence);
                        return FailurePolicy.Decision.CONTINUE;
                    }))
                .queue(new SyntheticQueue("queue", 10))
                .start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(asked.size(), pipeline.handlerExceptions());
        }
        assertEquals(9, asked.getLast());
    }

    @Test
    void shouldDeliverBatchesOfEachPathAndToAStage() {
        final Map<String, Long> counts = new ConcurrentHashMap<>();
        final Function<String, BatchHandler> counting =
            name -> batch -> counts.merge(name, (long) batch.size(), Long::sum);
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(64)
                .onSendWriteBatch(counting.apply("send-write"))
                .onReceiveBatch(counting.apply("receive"))
                .onErrorBatch(counting.apply("error"))
                .thenBatch(counting.apply("after error"))
                .onBatch(Set.of(CompletionPath.SEND_WRITE, CompletionPath.RECEIVE), counting.apply("success"), options -> { })
                .queue(new SyntheticQueue("queue", 300))
                .start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(0, pipeline.handlerExceptions());
        }
        assertEquals(
            Map.of("send-write", 100L, "receive", 100L, "error", 100L, "after error", 100L, "success", 200L), counts);
    }

    @Test
    void shouldDeliverInTheFormInWhichAHandlerOfBothWasAdded() {
        final Both both = new Both();
        try (Pipeline pipeline =
                Pipeline.builder().ringSize(64).onAllBatch(both).queue(new SyntheticQueue("queue", 100)).start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        assertEquals(0, both.single);
        assertEquals(100, both.inBatches);
    }

    @Test
    void shouldRejectAnIndexOutsideTheBatch() {
        final List<Throwable> thrown = new ArrayList<>();
        try (Pipeline pipeline = Pipeline.builder()
                .onAllBatch(batch ->
                    thrown.add(assertThrows(IndexOutOfBoundsException.class, () -> batch.completion(batch.size()))))
                .queue(new SyntheticQueue("queue", 1))
                .start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        assertEquals("completion 1 of a batch of 1", thrown.getFirst().getMessage());
    }

    /** A handler of completions and of batches. */
    private static final class Both implements CompletionHandler, BatchHandler {
        private long single;
        private long inBatches;

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            single++;
        }

        @Override
        public void onBatch(final CompletionBatch batch) {
            inBatches += batch.size();
        }
    }
}
