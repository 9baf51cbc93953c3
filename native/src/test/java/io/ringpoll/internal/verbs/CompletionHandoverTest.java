package io.ringpoll.internal.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Completions that are taken from a queue before one of its connections is deleted: each is polled once, in order. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CompletionHandoverTest {
    /** More than one batch of the handover. */
    private static final int MANY = 150;

    private final Queue queue = new Queue();
    private final WorkCompletions records = WorkCompletions.allocate(MANY);
    private final WorkCompletion completion = new WorkCompletion();

    /** A queue of completions with ascending numbers. */
    private static final class Queue implements CompletionHandover.Source {
        private long next;
        private int waiting;
        private int error;

        @Override
        public int poll(final long wcAddress, final int maxEntries) {
            if (error != 0) {
                return error;
            }
            final int count = Math.min(waiting, maxEntries);
            final UnsafeBuffer memory = new UnsafeBuffer(wcAddress, count * IbvWc.SIZE_BYTES);
            for (int i = 0; i < count; i++) {
                memory.putLong(i * IbvWc.SIZE_BYTES + IbvWc.WR_ID_OFFSET, next++);
                memory.putInt(i * IbvWc.SIZE_BYTES + IbvWc.QP_NUM_OFFSET, (int) next + 1000);
            }
            waiting -= count;
            return count;
        }
    }

    @Test
    void shouldPollTheQueueIfNothingWasHandedOver() {
        final CompletionHandover handover = new CompletionHandover(MANY);
        assertFalse(handover.isActive());
        queue.waiting = 3;
        assertEquals(List.of(0L, 1L, 2L), poll(handover, MANY));
        assertFalse(handover.isActive());
    }

    @Test
    void shouldReturnHandedOverCompletionsBeforeLaterOnes() {
        final CompletionHandover handover = new CompletionHandover(MANY);
        handover.begin();
        assertTrue(handover.isActive());
        queue.waiting = MANY;
        handover.complete(queue);
        assertTrue(handover.isActive());
        assertEquals(0, queue.waiting);
        queue.waiting = 2;
        assertEquals(numbers(0, 100), poll(handover, 100));
        assertTrue(handover.isActive());
        assertEquals(numbers(100, MANY), poll(handover, 100));
        assertFalse(handover.isActive());
        assertEquals(numbers(MANY, MANY + 2), poll(handover, 100));
    }

    @Test
    void shouldBeActiveUntilTheLastOfSeveralIsComplete() {
        final CompletionHandover handover = new CompletionHandover(MANY);
        handover.begin();
        handover.begin();
        handover.complete(queue);
        assertTrue(handover.isActive());
        queue.waiting = 1;
        assertEquals(List.of(0L), poll(handover, 1));
        assertTrue(handover.isActive(), "another one is under way");
        handover.complete(queue);
        assertFalse(handover.isActive(), "nothing was taken");
        handover.begin();
        queue.waiting = 1;
        handover.complete(queue);
        handover.begin();
        assertEquals(List.of(1L), poll(handover, 1));
        assertTrue(handover.isActive(), "another one is under way");
        handover.complete(queue);
        assertFalse(handover.isActive());
    }

    @Test
    void shouldKeepTheOrderOfSeveralTakings() {
        final CompletionHandover handover = new CompletionHandover(MANY);
        final List<Long> polled = new ArrayList<>();
        int taken = 0;
        for (int round = 1; round <= 40; round++) {
            handover.begin();
            queue.waiting = round;
            taken += round;
            handover.complete(queue);
            polled.addAll(poll(handover, round / 2));
        }
        while (handover.isActive()) {
            polled.addAll(poll(handover, MANY));
        }
        assertEquals(numbers(0, taken), polled);
    }

    @Test
    void shouldTakeNoMoreThanTheQueueHolds() {
        final CompletionHandover handover = new CompletionHandover(64);
        handover.begin();
        queue.waiting = 2 * MANY;
        handover.complete(queue);
        assertEquals(2 * MANY - 64, queue.waiting, "a queue that is filled meanwhile would be polled for ever");
        assertEquals(numbers(0, 64), poll(handover, MANY));
    }

    @Test
    void shouldLeaveAFailedQueueToThePolls() {
        final CompletionHandover handover = new CompletionHandover(MANY);
        handover.begin();
        queue.error = -1;
        handover.complete(queue);
        assertFalse(handover.isActive());
        assertEquals(-1, handover.poll(queue, records.address(0, 1), 1));
        handover.begin();
        assertThrows(IllegalStateException.class, () -> handover.complete((address, most) -> {
            throw new IllegalStateException("on purpose");
        }));
        assertFalse(handover.isActive());
    }

    @Test
    void shouldLeaveArgumentsThatTakeNothingToTheQueue() {
        final CompletionHandover handover = new CompletionHandover(MANY);
        handover.begin();
        queue.waiting = 1;
        handover.complete(queue);
        queue.error = -22;
        assertEquals(-22, handover.poll(queue, 0, 1));
        assertEquals(-22, handover.poll(queue, records.address(0, 1), 0));
        assertEquals(-22, handover.poll(queue, records.address(0, 1), -1));
        assertEquals(List.of(0L), poll(handover, 1));
    }

    private List<Long> poll(final CompletionHandover handover, final int most) {
        final int count = handover.poll(queue, records.address(0, 1), most);
        final List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.show(i, completion);
            assertEquals(completion.workRequestId() + 1001, completion.queuePairNumber());
            numbers.add(completion.workRequestId());
        }
        return numbers;
    }

    private static List<Long> numbers(final int from, final int to) {
        return LongStream.range(from, to).boxed().toList();
    }
}
