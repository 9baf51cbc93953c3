package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The queue index and the attachment of a completion are those of its queue: its work request id contains the index. */
@Timeout(60)
class QueueIndexTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int QUEUES = 7;
    private static final int EACH = 3000;

    /** By index; the last queue has none. */
    private static final Object[] ATTACHMENTS = {"a", "b", "c", "d", "e", "f", null};

    private final AtomicLong asked = new AtomicLong();
    private final AtomicLong wrong = new AtomicLong();

    @ParameterizedTest
    @ValueSource(ints = {2, 8, 256})
    void shouldIdentifyTheQueueOfEachCompletionForEachHandler(final int ringSize) {
        final PipelineBuilder description = Pipeline.builder().ringSize(ringSize).batchLimit(Math.min(ringSize, 5))
            .onAll((wc, sequence, endOfBatch) -> check(wc), options -> options.name("each").maxBatch(Math.min(ringSize, 3)))
            .then((wc, sequence, endOfBatch) -> check(wc), options -> options.name("stage").maxBatch(1))
            .onAllBatch(batch -> {
                for (int i = batch.size() - 1; i >= 0; i--) {
                    check(batch.completion(i));
                }
            })
            .onAll((wc, sequence, endOfBatch) -> {
                if (sequence % 97 == 0) {
                    check(wc);
                }
            }, options -> options.name("rarely"));
        run(description);
        assertEquals(3L * QUEUES * EACH + (QUEUES * EACH + 96) / 97, asked.get());
        assertEquals(0, wrong.get());
    }

    @Test
    void shouldIdentifyTheQueueOnThePollersThread() {
        run(Pipeline.builder().runToCompletion().batchLimit(3)
            .onAll((wc, sequence, endOfBatch) -> check(wc)).onAllBatch(batch -> check(batch.completion(batch.size() - 1))));
        assertTrue(asked.get() > QUEUES * EACH);
        assertEquals(0, wrong.get());
    }

    @Test
    void shouldIdentifyTheQueueAfterAnEarlyRelease() {
        run(Pipeline.builder().ringSize(16).batchLimit(4).onAll(new CompletionHandler() {
            private SlotControl slots;

            @Override
            public void onStart(final SlotControl control) {
                slots = control;
            }

            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                check(wc);
                // From here on the poller may overwrite the beginning of the run.
                slots.releaseThrough(sequence);
            }
        }));
        assertEquals(QUEUES * EACH, asked.get());
        assertEquals(0, wrong.get());
    }

    @Test
    void shouldIdentifyTheQueueOfAHeldSlotOnEachThread() throws InterruptedException {
        final BlockingQueue<Long> held = new LinkedBlockingQueue<>();
        final SlotControl[] control = new SlotControl[1];
        final Thread worker = Thread.ofPlatform().unstarted(() -> {
            final WorkCompletion own = new WorkCompletion();
            try {
                for (long sequence = held.take(); sequence >= 0; sequence = held.take()) {
                    check(control[0].view(sequence, own));
                    control[0].release(sequence);
                }
            } catch (final InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
        run(Pipeline.builder().ringSize(16).batchLimit(4).onAll(new CompletionHandler() {
            @Override
            public void onStart(final SlotControl slots) {
                control[0] = slots;
                worker.start();
            }

            @Override
            public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                if (sequence % 3 == 0 && control[0].hold(sequence)) {
                    held.add(sequence);
                } else if (sequence % 5 == 0 && control[0].hold(sequence)) {
                    // The handler's own flyweight, which shows the next slot afterwards.
                    check(control[0].view(sequence, wc));
                    control[0].release(sequence);
                } else {
                    check(wc);
                }
            }

            @Override
            public void onShutdown() {
                held.add(-1L);
            }
        }, options -> options.maxHeld(5)));
        worker.join();
        assertEquals(QUEUES * EACH, asked.get());
        assertEquals(0, wrong.get());
    }

    @Test
    void shouldIdentifyTheQueueOfAnUndeliveredCompletion() {
        final List<Integer> left = new ArrayList<>();
        final ScriptedQueue first = new ScriptedQueue("first");
        final ScriptedQueue second = new ScriptedQueue("second");
        try (Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> { })
                .onUndelivered(wc -> {
                    left.add(wc.queueIndex());
                    check(wc.attachment(), ATTACHMENTS[wc.queueIndex()]);
                }).start()) {
            assertTrue(pipeline.pause(BOUND_NS));
            first.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            second.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            pipeline.addQueue(first, ATTACHMENTS[0]);
            pipeline.addQueue(second, ATTACHMENTS[1]);
            pipeline.stop(BOUND_NS);
        }
        assertEquals(List.of(0, 1), left);
        assertEquals(0, wrong.get());
    }

    private void run(final PipelineBuilder description) {
        try (Pipeline pipeline = description.start()) {
            for (int i = 0; i < QUEUES; i++) {
                assertEquals(i, pipeline.addQueue(queue(i), ATTACHMENTS[i]));
            }
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
    }

    private void check(final WorkCompletion wc) {
        // Either first: both look the queue up.
        if (asked.incrementAndGet() % 2 == 0) {
            check(wc.attachment(), ATTACHMENTS[(int) wc.workRequestId()]);
        }
        check((long) wc.queueIndex(), wc.workRequestId());
        check(wc.attachment(), ATTACHMENTS[(int) wc.workRequestId()]);
    }

    private void check(final Object actual, final Object expected) {
        if (!Objects.equals(actual, expected)) {
            wrong.incrementAndGet();
        }
    }

    private static CompletionQueue queue(final int index) {
        final ScriptedQueue queue = new ScriptedQueue("queue " + index);
        for (int i = 0; i < EACH; i++) {
            queue.add(index, i % 9 == 0 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS, WcOpcode.SEND);
        }
        return queue;
    }
}
