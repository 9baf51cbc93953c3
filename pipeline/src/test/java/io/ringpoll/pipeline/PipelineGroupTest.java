package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WcStatus;
import io.ringpoll.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several pollers, each with its ring and its share of the queues. */
@Timeout(60)
class PipelineGroupTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(20);

    @Test
    void shouldDeliverEachCompletionOnceAndInTheOrderOfItsQueueWhicheverPollerHasIt() {
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
    void shouldGoOnWithTheOtherPollersWhenAHandlerOfOneDies() {
        try (PipelineGroup group = PipelineGroup.start(2, i -> Pipeline.builder().name("shard-" + i).onAll(
            (wc, sequence, endOfBatch) -> {
                if (i == 0) {
                    throw new IllegalStateException("provoked");
                }
            }, options -> options.onFailure(FailurePolicy.HALT)))) {
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
    void shouldRefuseAQueueThatAnotherPollerHasUntilItIsRemoved() throws TimeoutException {
        final CompletionQueue queue = new SyntheticQueue("queue", 10);
        try (PipelineGroup group = PipelineGroup.start(
            2, i -> Pipeline.builder().name("shard-" + i).onAll((wc, sequence, endOfBatch) -> { }))) {
            group.addQueue(queue, added -> 0);
            assertThrows(IllegalStateException.class, () -> group.addQueue(queue, added -> 1));
            group.removeQueue(queue);
            assertSame(group.pipelines().get(1), group.addQueue(queue, added -> 1));
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

    private static void awaitFailure(final Pipeline pipeline) {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (pipeline.failure() == null) {
            assertTrue(System.nanoTime() < deadlineNs, "the handler did not die");
            Thread.yield();
        }
    }
}
