package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A handler that flushes at the end of a batch always receives one, even before a queue fault. */
@Timeout(60)
class EndOfBatchTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    private final ScriptedQueue queue = new ScriptedQueue("failing");
    private final ScriptedQueue other = new ScriptedQueue("failing too");
    private final CountDownLatch release = new CountDownLatch(1);
    private final Flushing flushing = new Flushing();

    @ParameterizedTest
    @CsvSource({"false,false", "false,true", "true,false", "true,true"})
    void shouldEndTheBatchBeforeEachFault(final boolean allPaths, final boolean throwing) throws InterruptedException {
        flushing.throwing = throwing;
        final PipelineBuilder description = Pipeline.builder().ringSize(64);
        if (allPaths) {
            description.onAll(flushing);
        } else {
            description.onError(flushing).onSendWrite(new Recorder()).onReceive(new Recorder());
        }
        assertFlushed(description.queue(queue).queue(other).start());
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldEndTheBatchBeforeEachFaultOnThePollingThread(final boolean throwing) throws InterruptedException {
        flushing.throwing = throwing;
        release.countDown();
        assertFlushed(Pipeline.builder().ringSize(64).runToCompletion().onAll(flushing).queue(queue).queue(other).start());
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void shouldDeliverTheBatchBeforeEachFault(final boolean runsToCompletion) throws InterruptedException {
        final BatchHandler batches = new BatchHandler() {
            @Override
            public void onBatch(final CompletionBatch batch) throws InterruptedException {
                for (int i = 0; i < batch.size(); i++) {
                    flushing.onCompletion(batch.completion(i), batch.sequence(i), i == batch.size() - 1);
                }
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                flushing.onQueueFault(queueIndex, queueName, code);
            }
        };
        final PipelineBuilder description = Pipeline.builder().ringSize(64).onAllBatch(batches).queue(queue).queue(other);
        if (runsToCompletion) {
            release.countDown();
            assertFlushed(description.runToCompletion().start());
        } else {
            assertFlushed(description.start());
        }
    }

    @ParameterizedTest
    @CsvSource({"false,false,1", "false,true,1", "true,false,1", "true,true,1",
        "false,false,3", "false,true,3", "true,false,3", "true,true,3"})
    void shouldDeliverACompletionWithTheStatusOfFaultsAsAnError(
        final boolean runsToCompletion, final boolean inBatches, final int size) throws InterruptedException {
        release.countDown();
        final PipelineBuilder description = Pipeline.builder().ringSize(64).queue(queue);
        final List<Integer> statuses = new CopyOnWriteArrayList<>();
        if (inBatches) {
            description.onErrorBatch(new BatchHandler() {
                @Override
                public void onBatch(final CompletionBatch batch) {
                    for (int i = 0; i < batch.size(); i++) {
                        statuses.add(batch.completion(i).status());
                    }
                }

                @Override
                public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                    statuses.add(code);
                }
            }).onSendWrite(flushing).onReceive(flushing);
        } else {
            description.onAll(new CompletionHandler() {
                @Override
                public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                    statuses.add(wc.status());
                }

                @Override
                public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                    statuses.add(code);
                }
            });
        }
        final List<Integer> expected = new ArrayList<>();
        try (Pipeline pipeline = (runsToCompletion ? description.runToCompletion() : description).start()) {
            for (int batch = 0; batch < 2; batch++) {
                assertTrue(pipeline.pause(BOUND_NS));
                for (int i = 0; i < size; i++) {
                    queue.add(i, QueueFault.STATUS, WcOpcode.SEND);
                    expected.add(QueueFault.STATUS);
                }
                if (batch == 1) {
                    // With a fault after them in the ring.
                    queue.failWith(-7);
                    expected.add(-7);
                }
                assertTrue(pipeline.resume(BOUND_NS));
                assertTrue(pipeline.drain(BOUND_NS).inTime());
            }
            assertEquals(expected, statuses);
            assertEquals(2 * size, pipeline.pollerCounters().completions());
            assertEquals(2 * size, pipeline.pollerCounters().errors());
            assertEquals(1, pipeline.pollerCounters().queueFaults());
        }
    }

    private void assertFlushed(final Pipeline pipeline) throws InterruptedException {
        assertTrue(pipeline.pause(BOUND_NS));
        for (int i = 0; i < 10; i++) {
            queue.add(i, WcStatus.WR_FLUSH_ERR, WcOpcode.SEND);
            other.add(i, WcStatus.WR_FLUSH_ERR, WcOpcode.SEND);
        }
        queue.failWith(-1);
        other.failWith(-2);
        assertTrue(pipeline.resume(BOUND_NS));
        while (pipeline.pollerCounters().queueFaults() < 2) {
            Thread.sleep(1);
        }
        // The handler has waited at the first completion until all 22 slots were published.
        release.countDown();
        assertEquals(new PipelineReport(22, 22, 0, 0, true), pipeline.close(BOUND_NS));
        assertEquals(20, flushing.taken);
        assertEquals(List.of(), flushing.unflushed, "completions that no end of batch followed");
        assertEquals(List.of("fault -1 flushed", "fault -2 flushed"), flushing.faults);
    }

    /** Collects its input until the end of a batch. */
    private final class Flushing implements CompletionHandler {
        private final List<Long> unflushed = new ArrayList<>();
        private final List<String> faults = new ArrayList<>();
        private int taken;
        private boolean throwing;

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch)
            throws InterruptedException {
            release.await();
            taken++;
            unflushed.add(sequence);
            if (endOfBatch) {
                unflushed.clear();
            }
            if (throwing) {
                throw new IllegalStateException("provoked");
            }
        }

        @Override
        public void onQueueFault(final int queueIndex, final String queueName, final int code) {
            faults.add("fault " + code + (unflushed.isEmpty() ? " flushed" : " with " + unflushed + " not flushed"));
        }
    }
}
