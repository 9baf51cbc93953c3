package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.poller.ScriptedQueue;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A round of one queue, which is polled again while its batches are full. */
@Timeout(60)
final class SingleQueueRoundTest {
    private static final int BATCH_LIMIT = 4;

    private final ArraySlots slots = new ArraySlots(64, 64);
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final CompletionPoller poller = new CompletionPoller("poller", slots, BATCH_LIMIT, counters);

    @Test
    void shouldPollASingleQueueUpToEightTimesWhileItsBatchesAreFull() {
        final ScriptedQueue busy = queueOf("busy", LongStream.range(0, 9 * BATCH_LIMIT + 1).toArray());
        poller.queues().add(busy);
        assertEquals(8 * BATCH_LIMIT, poller.doWork());
        assertEquals(8 * BATCH_LIMIT, counters.completions());
        assertEquals(BATCH_LIMIT + 1, busy.size());
        assertEquals(BATCH_LIMIT + 1, poller.doWork());
        for (int i = 0; i < 9 * BATCH_LIMIT + 1; i++) {
            assertEquals(i, slots.get(i).workRequestId());
        }
        poller.onClose();
        assertEquals(10, counters.polls());
        assertEquals(0, counters.emptyPolls());
        assertEquals(9, counters.batchesBySize[2].get());
        assertEquals(1, counters.batchesBySize[0].get());
    }

    @Test
    void shouldCountTheEmptyPollAfterAFullBatch() {
        poller.queues().add(queueOf("a", LongStream.range(0, BATCH_LIMIT).toArray()));
        assertEquals(BATCH_LIMIT, poller.doWork());
        assertEquals(CompletionPoller.Outcome.WORKED, poller.outcome());
        poller.onClose();
        assertEquals(2, counters.polls());
        assertEquals(1, counters.emptyPolls());
    }

    @Test
    void shouldPublishTheFaultOfASingleQueueAfterItsFullBatches() {
        final ScriptedQueue failing = queueOf("failing", LongStream.range(0, 2 * BATCH_LIMIT).toArray());
        failing.failWith(-100_002);
        poller.queues().add(failing);
        assertEquals(2 * BATCH_LIMIT + 1, poller.doWork());
        assertEquals(2 * BATCH_LIMIT, counters.completions());
        assertEquals(1, counters.queueFaults());
        assertEquals(QueueFault.STATUS, slots.get(2 * BATCH_LIMIT).status());
        assertEquals(0, poller.doWork(), "the queue has left the round");
    }

    @Test
    void shouldPollASingleQueueOnceIfHandlersRunOnThePollingThread() {
        final CompletionPoller inPlace = new CompletionPoller("poller", slots, new RingHandlers() {
            @Override
            public boolean runInPlace() {
                return true;
            }
        }, BATCH_LIMIT, false, counters, error -> { }, SystemNanoClock.INSTANCE);
        inPlace.queues().add(queueOf("a", LongStream.range(0, 2 * BATCH_LIMIT).toArray()));
        assertEquals(BATCH_LIMIT, inPlace.doWork());
    }

    @Test
    void shouldPollASingleEmptyQueueManyTimesOnAThreadThatSpins() {
        poller.queues().add(new ScriptedQueue("a"));
        poller.spin();
        assertEquals(0, poller.doWork());
        assertEquals(CompletionPoller.Outcome.EMPTY, poller.outcome());
        poller.onClose();
        assertEquals(32, counters.emptyPolls());
    }

    @Test
    void shouldPublishWhatArrivesBetweenTwoPollsOfADutyCycle() {
        final CountingQueue[] queue = new CountingQueue[1];
        final int[] polls = new int[1];
        queue[0] = new CountingQueue("late", () -> {
            if (++polls[0] == 3) {
                queue[0].add(1);
            }
        });
        poller.queues().add(queue[0]);
        poller.spin();
        assertEquals(1, poller.doWork());
        assertEquals(1, slots.published());
        assertEquals(1, counters.completions());
        poller.onClose();
        assertEquals(2, counters.emptyPolls());
        assertEquals(3, counters.polls());
    }

    @Test
    void shouldPollEachOfTwoEmptyQueuesOnce() {
        poller.queues().add(new ScriptedQueue("a"));
        poller.queues().add(new ScriptedQueue("b"));
        poller.spin();
        assertEquals(0, poller.doWork());
        poller.onClose();
        assertEquals(2, counters.emptyPolls());
    }

    @Test
    void shouldPollEachOfTwoQueuesOnce() {
        poller.queues().add(queueOf("a", LongStream.range(0, 2 * BATCH_LIMIT).toArray()));
        poller.queues().add(queueOf("b", LongStream.range(100, 100 + 2 * BATCH_LIMIT).toArray()));
        assertEquals(2 * BATCH_LIMIT, poller.doWork());
        assertEquals(100, slots.get(BATCH_LIMIT).workRequestId());
    }

    @Test
    void shouldContinueAfterTheRingWasFullBetweenTwoBatches() {
        final ArraySlots few = new ArraySlots(64, BATCH_LIMIT + 1);
        final CompletionPoller stalled = new CompletionPoller("poller", few, BATCH_LIMIT, counters);
        final ScriptedQueue queue = queueOf("a", LongStream.range(0, 2 * BATCH_LIMIT).toArray());
        stalled.queues().add(queue);
        assertEquals(BATCH_LIMIT + 1, stalled.doWork());
        assertEquals(0, stalled.doWork());
        assertEquals(CompletionPoller.Outcome.RING_FULL, stalled.outcome());
        few.release(BATCH_LIMIT + 1);
        assertEquals(BATCH_LIMIT - 1, stalled.doWork());
        assertEquals(2 * BATCH_LIMIT - 1, few.get(2 * BATCH_LIMIT - 1).workRequestId());
        assertEquals(2 * BATCH_LIMIT, counters.completions());
    }

    @Test
    void shouldNotPollAQueueAgainThatItsOwnPollRemoved() {
        final int[] polls = new int[1];
        final CountingQueue[] queue = new CountingQueue[1];
        queue[0] = new CountingQueue("leaving", () -> polls[0]++);
        queue[0].add(2 * BATCH_LIMIT);
        poller.onStart();
        poller.queues().add(queue[0]);
        poller.doWork();
        final int before = polls[0];
        queue[0].add(2 * BATCH_LIMIT);
        queue[0].atNextPoll(() -> remove(queue[0]));
        poller.doWork();
        poller.doWork();
        assertEquals(before + 1, polls[0]);
    }

    @Test
    void shouldContinueWhenTheErrorHandlerRemovesAQueue() {
        final ScriptedQueue throwing = new ScriptedQueue("throwing");
        final ScriptedQueue other = queueOf("other", 1, 2);
        final CompletionPoller[] careful = new CompletionPoller[1];
        for (final ScriptedQueue removed : List.of(throwing, other)) {
            final CompletionPoller tested = new CompletionPoller("poller", slots, new RingHandlers() { }, BATCH_LIMIT, false,
                counters, error -> remove(careful[0], removed), SystemNanoClock.INSTANCE);
            careful[0] = tested;
            tested.onStart();
            tested.queues().add(throwing);
            tested.queues().add(other);
            throwing.throwAtPoll(new IllegalStateException("provoked"));
            for (int cycle = 0; cycle < 3; cycle++) {
                tested.doWork();
            }
            assertEquals(removed == throwing ? 0 : 1, counters.queueFaults(), "a removed queue reports nothing");
            tested.onClose();
        }
        assertEquals(2, slots.get(1).workRequestId());
    }

    private void remove(final CompletionQueue queue) {
        remove(poller, queue);
    }

    private static void remove(final CompletionPoller from, final CompletionQueue queue) {
        try {
            from.queues().remove(queue, 0);
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
    }

    private static ScriptedQueue queueOf(final String name, final long... workRequestIds) {
        final ScriptedQueue queue = new ScriptedQueue(name);
        for (final long id : workRequestIds) {
            queue.add(id, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        }
        return queue;
    }
}
