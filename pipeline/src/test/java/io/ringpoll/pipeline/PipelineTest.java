package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class PipelineTest {
    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder sendWrite = new Recorder();
    private final Recorder receive = new Recorder();
    private final Recorder error = new Recorder();

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldDeliverEachCompletionOnceToItsPathInOrder(final WaitMode wait) {
        // Few enough for spinning threads that share a busy core.
        final int count = 10_000;
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(256)
                .on(EnumSet.of(CompletionPath.SEND_WRITE), sendWrite, options -> options.waitStrategy(wait))
                .on(EnumSet.of(CompletionPath.RECEIVE), receive, options -> options.waitStrategy(wait))
                .on(EnumSet.of(CompletionPath.ERROR), error, options -> options.waitStrategy(wait))
                .queue(queue)
                .start()) {
            for (int i = 0; i < count; i++) {
                switch (i % 3) {
                    case 0 -> queue.add(i, WcStatus.SUCCESS, WcOpcode.RDMA_READ);
                    case 1 -> queue.add(i, WcStatus.SUCCESS, WcOpcode.RECV_RDMA_WITH_IMM);
                    default -> queue.add(i, WcStatus.WR_FLUSH_ERR, WcOpcode.RECV);
                }
            }
            awaitTotal(count);
        }
        assertEquals(every(3, 0, count), sendWrite.ids);
        assertEquals(every(3, 1, count), receive.ids);
        assertEquals(every(3, 2, count), error.ids);
    }

    @Test
    void shouldRouteAFailedCompletionToTheErrorPathForAnyOpcode() {
        try (Pipeline pipeline = start(256)) {
            queue.add(1, WcStatus.REM_ACCESS_ERR, WcOpcode.RDMA_WRITE);
            queue.add(2, WcStatus.LOC_LEN_ERR, WcOpcode.RECV);
            queue.add(3, WcStatus.WR_FLUSH_ERR, 0xEEEE_EEEE);
            awaitTotal(3);
        }
        assertEquals(List.of(1L, 2L, 3L), error.ids);
        assertEquals(List.of(), sendWrite.ids);
        assertEquals(List.of(), receive.ids);
    }

    @Test
    void shouldHandleAllPolledCompletionsBeforeClosing() {
        final Pipeline pipeline = start(1024);
        for (int i = 0; i < 1000; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        awaitTotal(1);
        final PipelineReport report = pipeline.close(TimeUnit.SECONDS.toNanos(20));
        assertTrue(report.inTime());
        assertEquals(0, report.unhandled());
        assertEquals(report.polled(), sendWrite.ids.size());
        assertEquals(1000, sendWrite.ids.size() + queue.size());
        assertEquals(report, pipeline.close(1));
    }

    @Test
    void shouldNotExposeFreedMemoryThroughARetainedFlyweight() {
        final AtomicReference<WorkCompletion> kept = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder()
                .onAll((completion, sequence, endOfBatch) -> kept.set(completion)).queue(queue).start()) {
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        assertThrows(IllegalStateException.class, () -> kept.get().workRequestId());
    }

    @Test
    void shouldNotReuseASlotBeforeTheSlowestHandlerHasPassedIt() throws InterruptedException {
        final CountDownLatch release = new CountDownLatch(1);
        final Recorder slow = new Recorder() {
            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) throws Exception {
                assertTrue(release.await(10, TimeUnit.SECONDS));
                super.onCompletion(wc, sequence, endOfBatch);
            }
        };
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(16).batchLimit(16).onSendWrite(slow).onReceive(receive).onError(error).queue(queue).start()) {
            for (int i = 0; i < 100; i++) {
                queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
            }
            while (pipeline.pollerCounters().ringFull() == 0) {
                Thread.sleep(1);
            }
            assertEquals(16, pipeline.occupancy());
            assertEquals(84, queue.size());
            release.countDown();
            slow.awaitSize(100);
        }
        assertEquals(every(1, 0, 100), slow.ids);
    }

    @Test
    void shouldMarkTheLastCompletionOfThePathInABatchAsItsEnd() {
        for (int i = 0; i < 8; i++) {
            queue.add(i, WcStatus.SUCCESS, i < 5 ? WcOpcode.SEND : WcOpcode.RECV);
        }
        try (Pipeline pipeline = start(64)) {
            awaitTotal(8);
        }
        assertEquals(List.of(4L), sendWrite.batchEnds);
        assertEquals(List.of(7L), receive.batchEnds);
    }

    @Test
    void shouldCountAndRecordAnExceptionAndContinue() {
        final AtomicInteger calls = new AtomicInteger();
        final CompletionHandler failing = (wc, sequence, endOfBatch) -> {
            sendWrite.onCompletion(wc, sequence, endOfBatch);
            if (calls.incrementAndGet() % 10 == 0) {
                throw new IllegalStateException("provoked");
            }
        };
        final List<String> errors = new ArrayList<>();
        try (Pipeline pipeline =
                Pipeline.builder().onSendWrite(failing).onReceive(receive).onError(error).queue(queue).start()) {
            for (int i = 0; i < 100; i++) {
                queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
            }
            awaitTotal(100);
            pipeline.close();
            pipeline.readErrors(errors::add);
            assertEquals(10, pipeline.handlerExceptions());
        }
        assertEquals(every(1, 0, 100), sendWrite.ids);
        assertEquals(1, errors.size());
        assertTrue(errors.getFirst().startsWith("10 times: ") && errors.getFirst().contains("provoked"), errors.getFirst());
    }

    @Test
    void shouldStopPollingWhenAHandlerHalts() throws InterruptedException {
        final IllegalStateException provoked = new IllegalStateException("provoked");
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(64)
                .on(
                    EnumSet.of(CompletionPath.SEND_WRITE),
                    (wc, sequence, endOfBatch) -> {
                        throw provoked;
                    },
                    options -> options.failurePolicy(FailurePolicy.HALT))
                .onReceive(receive)
                .onError(error)
                .queue(queue)
                .start()) {
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            while (pipeline.failure() == null) {
                Thread.sleep(1);
            }
            assertEquals(provoked, pipeline.failure());
            // In the duty cycle that was under way it may poll once more; at rest it has ended.
            while (pipeline.pollerThread().getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
            queue.add(2, WcStatus.SUCCESS, WcOpcode.RECV);
            Thread.sleep(20);
            assertEquals(1, queue.size());
        }
    }

    @Test
    void shouldReportAFailedQueueOnTheErrorPath() {
        final List<String> faults = new ArrayList<>();
        final CountDownLatch heard = new CountDownLatch(1);
        final CompletionHandler listening = new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int code) {
                faults.add(queueIndex + " " + queueName + " " + code);
                heard.countDown();
            }
        };
        queue.failWith(-100_000);
        try (Pipeline pipeline =
                Pipeline.builder().onSendWrite(sendWrite).onReceive(receive).onError(listening).queue(queue).start()) {
            assertNotNull(pipeline.pollerThread());
            assertTrue(heard.await(10, TimeUnit.SECONDS));
        } catch (final InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
        assertEquals(List.of("0 queue -100000"), faults);
    }

    @Test
    void shouldReportAllErrorsOfADescription() {
        final IllegalArgumentException refused = assertThrows(
            IllegalArgumentException.class,
            () -> Pipeline.builder().ringSize(100).batchLimit(0).onReceive(receive).start());
        assertEquals(4, refused.getMessage().lines().count(), refused.getMessage());
        assertTrue(refused.getMessage().contains("ring size 100 is not a power of two"), refused.getMessage());
        assertTrue(refused.getMessage().contains("the error path has no handler"), refused.getMessage());
    }

    private Pipeline start(final int ringSize) {
        return Pipeline.builder()
            .ringSize(ringSize).onSendWrite(sendWrite).onReceive(receive).onError(error).queue(queue).start();
    }

    private void awaitTotal(final int count) {
        while (sendWrite.size() + receive.size() + error.size() < count) {
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    private static List<Long> every(final int step, final int first, final int end) {
        return LongStream.iterate(first, i -> i < end, i -> i + step).boxed().toList();
    }
}
