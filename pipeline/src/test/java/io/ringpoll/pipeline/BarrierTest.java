package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.ScriptedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A removal with a time-out returns when all handlers have passed the queue's completions. */
@Timeout(60)
class BarrierTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    /** Longer than the time limit of the tests: a wait that uses it up is a failure. */
    private static final long LONG_NS = TimeUnit.MINUTES.toNanos(10);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch leave = new CountDownLatch(1);
    private final AtomicLong handled = new AtomicLong();
    /** Waits at the first completion. */
    private final CompletionHandler blocked = (wc, sequence, endOfBatch) -> {
        entered.countDown();
        leave.await();
        handled.incrementAndGet();
    };

    @Test
    void shouldReturnWhenAllHandlersHavePassedTheCompletions() throws Exception {
        final AtomicLong[] counts = {new AtomicLong(), new AtomicLong(), new AtomicLong()};
        try (Pipeline pipeline = Pipeline.builder().ringSize(16)
            .onAll((wc, sequence, endOfBatch) -> counts[0].incrementAndGet())
            .then((wc, sequence, endOfBatch) -> counts[1].incrementAndGet())
            .onAllBatch(batch -> counts[2].addAndGet(batch.size())).start()) {
            long expected = 0;
            for (int i = 0; i < 300; i++) {
                final ScriptedQueue queue = queueOf(10);
                pipeline.addQueue(queue);
                while (queue.size() > 5) {
                    Thread.onSpinWait();
                }
                assertTrue(pipeline.removeQueue(queue, LONG_NS));
                expected += 10 - queue.size();
                for (final AtomicLong count : counts) {
                    assertEquals(expected, count.get());
                }
            }
        }
    }

    @Test
    void shouldRemoveTheQueueAndReturnFalseWhenAHandlerTakesLonger() throws Exception {
        final ScriptedQueue queue = queueOf(3);
        try (Pipeline pipeline = Pipeline.builder().onAll(blocked).start()) {
            pipeline.addQueue(queue);
            entered.await();
            awaitPolled(queue);
            assertFalse(removeQueue(timeoutNs -> pipeline.removeQueue(queue, timeoutNs)));
            assertEquals(0, pipeline.poller().queues().size());
            // It has been removed: only the handlers are waited for.
            assertFalse(pipeline.removeQueue(queue, 0));
            leave.countDown();
            assertTrue(pipeline.removeQueue(queue, LONG_NS));
            assertEquals(3, handled.get());
        }
    }

    @Test
    void shouldWaitForHeldSlots() throws Exception {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        final ScriptedQueue queue = queueOf(3);
        try (Pipeline pipeline = Pipeline.builder().onAll(new CompletionHandler() {
            @Override
            public void onStart(final SlotControl control) {
                slots.set(control);
            }

            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                if (sequence == 1) {
                    slots.get().hold(sequence);
                }
            }
        }, options -> options.maxHeld(1)).start()) {
            pipeline.addQueue(queue);
            while (pipeline.held() == 0) {
                Thread.onSpinWait();
            }
            assertFalse(removeQueue(timeoutNs -> pipeline.removeQueue(queue, timeoutNs)));
            slots.get().release(1);
            assertTrue(pipeline.removeQueue(queue, LONG_NS));
        }
    }

    @Test
    void shouldWaitForHandlersOnThePollingThread() throws Exception {
        final ScriptedQueue queue = queueOf(3);
        try (Pipeline pipeline = Pipeline.builder().runToCompletion().onAll(blocked).start()) {
            pipeline.addQueue(queue);
            entered.await();
            assertThrows(TimeoutException.class, () -> pipeline.removeQueue(queue, SHORT_NS));
            leave.countDown();
            assertTrue(pipeline.removeQueue(queue, LONG_NS));
            assertEquals(3 - queue.size(), handled.get());
        }
    }

    @Test
    void shouldNotWaitOnThePollingThread() throws Exception {
        final ScriptedQueue queue = queueOf(1);
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final CountDownLatch started = new CountDownLatch(1);
        final CountDownLatch removed = new CountDownLatch(1);
        final AtomicReference<Boolean> result = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder().runToCompletion().onAll((wc, sequence, endOfBatch) -> {
            started.await();
            result.set(self.get().removeQueue(queue, LONG_NS));
            removed.countDown();
        }).queue(queue).start()) {
            self.set(pipeline);
            started.countDown();
            removed.await();
            assertEquals(false, result.get());
            final CountDownLatch again = new CountDownLatch(1);
            assertTrue(pipeline.execute(() -> {
                try {
                    result.set(pipeline.removeQueue(queue, LONG_NS));
                } catch (final TimeoutException late) {
                    throw new AssertionError(late);
                } finally {
                    again.countDown();
                }
            }));
            again.await();
            assertEquals(true, result.get());
        }
    }

    @Test
    void shouldNotWaitForTheCallingHandlerItself() throws Exception {
        final ScriptedQueue queue = queueOf(1);
        final AtomicReference<Pipeline> self = new AtomicReference<>();
        final CountDownLatch started = new CountDownLatch(1);
        final CountDownLatch removed = new CountDownLatch(1);
        try (Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            started.await();
            assertTrue(self.get().removeQueue(queue, LONG_NS));
            removed.countDown();
        }).queue(queue).start()) {
            self.set(pipeline);
            started.countDown();
            removed.await();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotWaitForAHaltedHandlerNorAfterTheClose(final boolean inPlace) throws Exception {
        final ScriptedQueue queue = queueOf(1);
        final PipelineBuilder description = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            throw new IllegalStateException("provoked");
        }, options -> options.failurePolicy(FailurePolicy.HALT)).queue(queue);
        final Pipeline pipeline = inPlace ? description.runToCompletion().start() : description.start();
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.onSpinWait();
        }
        pipeline.removeQueue(queue, LONG_NS);
        assertTrue(pipeline.close(BOUND_NS).inTime());
        assertTrue(pipeline.removeQueue(queue, LONG_NS), "the slot of the failure counts as passed");
    }

    @Test
    void shouldWaitForTheHandlersOfTheGroup() throws Exception {
        final ScriptedQueue queue = queueOf(3);
        try (PipelineGroup group = PipelineGroup.start(2, i -> Pipeline.builder().name("p" + i).onAll(blocked))) {
            assertTrue(group.removeQueue(queue, LONG_NS), "not in the group");
            group.addQueue(queue);
            entered.await();
            awaitPolled(queue);
            assertFalse(removeQueue(timeoutNs -> group.removeQueue(queue, timeoutNs)));
            assertEquals(PipelineState.RUNNING, group.state());
            leave.countDown();
            group.addQueue(queue);
            assertTrue(group.removeQueue(queue, LONG_NS));
            assertTrue(group.drain(BOUND_NS).stream().allMatch(PipelineReport::inTime));
            assertEquals(3, handled.get());
        }
    }

    /** A removal with a time-out. */
    private interface Removal {
        boolean within(long timeoutNs) throws TimeoutException;
    }

    /** The result of a removal within a short time in which the poller had its CPU for a duty cycle. */
    private static boolean removeQueue(final Removal removal) throws TimeoutException {
        final Deadline deadline = Deadline.after(BOUND_NS);
        for (;;) {
            try {
                return removal.within(SHORT_NS);
            } catch (final TimeoutException starved) {
                if (deadline.leftNs() <= 0) {
                    throw starved;
                }
            }
        }
    }

    private static void awaitPolled(final ScriptedQueue queue) {
        while (queue.size() > 0) {
            Thread.onSpinWait();
        }
    }

    private static ScriptedQueue queueOf(final int completions) {
        final ScriptedQueue queue = new ScriptedQueue("queue");
        for (int i = 0; i < completions; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
        return queue;
    }
}
