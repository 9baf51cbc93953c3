package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The order of the round, and the start of the next one, after additions and removals. */
@Timeout(60)
class QueueRoundTest {
    /** The initial capacity of the round. */
    private static final int FULL = 16;

    private final QueueRound round = new QueueRound();

    @Test
    void shouldPreserveTheOrderOfTheRemainingQueues() {
        for (final int size : new int[]{4, FULL}) {
            for (int removed = 0; removed < size; removed++) {
                final QueueRound changed = new QueueRound();
                final List<PolledQueue> expected = add(changed, size);
                changed.remove(expected.remove(removed));
                assertEquals(expected, polled(changed));
                assertNull(changed.queues[size - 1], "held after its removal");
            }
        }
    }

    @Test
    void shouldGrowWithTheNumberOfQueues() {
        assertEquals(add(round, 5 * FULL), polled(round));
    }

    @Test
    void shouldStartTheNextRoundWithTheSameQueueAfterAnyRemoval() {
        final int size = 4;
        for (int first = 0; first < size; first++) {
            for (int removed = 0; removed < size; removed++) {
                final QueueRound four = new QueueRound();
                final List<PolledQueue> queues = add(four, size);
                four.first = first;
                four.remove(queues.get(removed));
                // Or with the next queue, if the first one is removed.
                final PolledQueue expected = queues.get(first != removed ? first : (first + 1) % size);
                assertEquals(expected, four.queues[four.first], "began with " + first + ", removed " + removed);
            }
        }
    }

    @Test
    void shouldStartAtTheFirstPositionAfterRemovalOfTheLastQueue() {
        final List<PolledQueue> queues = add(round, 1);
        round.remove(queues.getFirst());
        assertEquals(0, round.first);
        assertEquals(0, round.size);
    }

    @Test
    void shouldShowAChangeIfOneQueueReplacesAnother() {
        final List<PolledQueue> queues = add(round, 2);
        final int before = round.changes;
        add(round, 1);
        round.remove(queues.getFirst());
        assertNotEquals(before, round.changes, "a handler in place that does both would go on with the old round");
    }

    @Test
    void shouldStartAfterAQueueAtAnyPosition() {
        final List<PolledQueue> queues = add(round, FULL);
        for (int i = 0; i < FULL; i++) {
            round.startAfter(queues.get(i), 0);
            assertEquals((i + 1) % FULL, round.first);
        }
    }

    @Test
    void shouldStartAtThePositionOfARemovedQueue() {
        final PolledQueue left = newQueue("left");
        add(round, FULL);
        round.startAfter(left, FULL - 1);
        assertEquals(FULL - 1, round.first);
        round.startAfter(left, FULL);
        assertEquals(0, round.first);
    }

    @Test
    void shouldRemoveAQueueThatIsNotInTheRound() {
        final List<PolledQueue> queues = add(round, FULL);
        final PolledQueue absent = newQueue("absent");
        round.remove(absent);
        round.add(absent);
        assertEquals(queues, polled(round), "one that was removed is not added any more");
    }

    @Test
    void shouldRemoveAllFailedQueues() {
        final List<PolledQueue> queues = add(round, 5);
        for (final int failed : new int[]{0, 1, 4}) {
            queues.get(failed).state = QueueState.FAILED;
        }
        round.removeFailed();
        assertEquals(List.of(queues.get(2), queues.get(3)), polled(round));
    }

    @Test
    void shouldHandOverEachQueue() {
        final List<String> handedOver = new ArrayList<>();
        final class Handed implements CompletionQueue, CountedQueue {
            private final String name;

            Handed(final String name) {
                this.name = name;
            }

            @Override
            public void onHandOver() {
                handedOver.add(name);
            }

            @Override
            public int pollUncounted(final long wcAddress, final int maxEntries) {
                return 0;
            }

            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                return 0;
            }

            @Override
            public CompletionBudget budget() {
                return null;
            }

            @Override
            public String name() {
                return name;
            }
        }

        for (final String name : List.of("a", "b", "c")) {
            final CompletionQueue queue = new Handed(name);
            round.add(new PolledQueue(queue, queue, 0, PolledQueue.NO_EVENT_FD));
        }
        round.onHandOver();
        assertEquals(List.of("a", "b", "c"), handedOver);
    }

    @Test
    void shouldCountAdditionsAndRemovals() {
        int before = round.changes;
        final PolledQueue queue = add(round, 1).getFirst();
        assertNotEquals(before, round.changes);
        before = round.changes;
        round.remove(queue);
        assertNotEquals(before, round.changes);
    }

    @Test
    void shouldSumTheBudgetsAndRetainRefusedPostsOfRemovedQueues() {
        final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
        final PolledQueue first = counted(2, 5);
        final PolledQueue second = counted(3, 7);
        final PolledQueue third = counted(4, 4);
        round.add(first);
        add(round, 1);
        round.add(second);
        round.add(third);
        round.sumBudgets(counters);
        assertEquals(9, counters.budgetDepth());
        assertEquals(9, counters.budgetInFlight());
        assertEquals(3 + 4, counters.budgetRefused());
        round.remove(second);
        round.remove(third);
        round.remove(first);
        round.add(counted(1, 3));
        round.sumBudgets(counters);
        assertEquals(1, counters.budgetDepth());
        assertEquals(1, counters.budgetInFlight());
        assertEquals(3 + 4 + 2, counters.budgetRefused());
    }

    private static List<PolledQueue> add(final QueueRound round, final int number) {
        final List<PolledQueue> added = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            final PolledQueue polled = newQueue("queue " + i);
            round.add(polled);
            added.add(polled);
        }
        return added;
    }

    private static PolledQueue newQueue(final String name) {
        final ScriptedQueue queue = new ScriptedQueue(name);
        return new PolledQueue(queue, queue, 0, PolledQueue.NO_EVENT_FD);
    }

    private static List<PolledQueue> polled(final QueueRound round) {
        return Arrays.asList(round.queues).subList(0, round.size);
    }

    /** A queue with a budget, after a number of posts. */
    private static PolledQueue counted(final int depth, final int posts) {
        final CompletionBudget budget = new CompletionBudget(depth);
        for (int i = 0; i < posts; i++) {
            assertEquals(i < depth, budget.reserveSend(true, false));
        }
        assertTrue(budget.inFlight() > 0);
        final CompletionQueue queue = new CompletionQueue() {
            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                throw new AssertionError("polled");
            }

            @Override
            public CompletionBudget budget() {
                return budget;
            }

            @Override
            public String name() {
                return "counted";
            }
        };
        return new PolledQueue(queue, queue, 0, PolledQueue.NO_EVENT_FD);
    }
}
