package io.ringpoll.internal.poller;

import static java.util.stream.IntStream.range;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.poller.CompletionPoller.Outcome;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.testing.Allocation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The order of the polls in rounds of more than 64 queues: recent queues are polled again after each 64 first polls. */
@Timeout(60)
class AdaptiveRoundTest {
    private static final int BATCH_LIMIT = 4;
    private static final int SLOTS = 4096;
    private static final int LOGGED = 4096;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(50);

    private final ArraySlots slots = new ArraySlots(SLOTS, SLOTS);
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final List<CountingQueue> queues = new ArrayList<>();
    /** Numbers of the polled queues, in the order of the polls. */
    private final int[] log = new int[LOGGED];
    private int logged;
    private CompletionPoller poller = new CompletionPoller("poller", slots, BATCH_LIMIT, counters);

    @Test
    void shouldPollARecentQueueAgainAfterEach64Queues() {
        add(200);
        queues.get(0).add(1);
        assertEquals(1, poller.doWork());
        assertPolled(range(0, 64), one(0), range(64, 128), one(0), range(128, 192), one(0), range(192, 200));
        // The distance is 64 queues over the end of the round, too.
        assertEquals(0, poller.doWork());
        assertPolled(range(0, 56), one(0), range(56, 120), one(0), range(120, 184), one(0), range(184, 200));
        poller.onClose();
        assertEquals(2 * (200 + 3), counters.polls());
        assertEquals(2 * (200 + 3) - 1, counters.emptyPolls());
        assertEquals(1, counters.completions());
        assertEquals(2, poller.cycles());
    }

    @Test
    void shouldTakeTheBatchLimitAtEachPollOfABusyQueue() {
        add(129);
        queues.get(0).add(100);
        assertEquals(3 * BATCH_LIMIT, poller.doWork());
        assertEquals(100 - 3 * BATCH_LIMIT, queues.get(0).completions());
    }

    @Test
    void shouldPollAgainAQueueThatHasItsFirstCompletionsInTheMiddleOfTheRound() {
        add(200);
        queues.get(100).add(1);
        poller.doWork();
        assertPolled(range(0, 128), one(100), range(128, 192), one(100), range(192, 200));
    }

    @Test
    void shouldPollEachQueueOnceInARoundOf64() {
        add(64);
        queues.forEach(queue -> queue.add(100));
        for (int round = 0; round < 3; round++) {
            assertEquals(64 * BATCH_LIMIT, poller.doWork());
            assertPolled(range(0, 64));
        }
        add(1);
        poller.doWork();
        assertPolled(range(0, 64), range(0, 8), one(64));
    }

    @Test
    void shouldPollEachQueueOnceInPlainRoundsOfAnySize() {
        poller =
            new CompletionPoller("poller", slots, slots, BATCH_LIMIT, true, counters, error -> { }, SystemNanoClock.INSTANCE);
        add(300);
        queues.forEach(queue -> queue.add(9));
        for (int round = 0; round < 3; round++) {
            poller.doWork();
            assertPolled(range(0, 300));
        }
    }

    @Test
    void shouldPollEightRecentQueuesAtATimeInTurns() {
        add(128);
        for (int i = 0; i < 20; i++) {
            queues.get(i).add(1);
        }
        poller.doWork();
        assertPolled(range(0, 64), range(0, 8), range(64, 128), range(8, 16));
        poller.doWork();
        assertPolled(range(0, 64), range(16, 20), range(0, 4), range(64, 128), range(4, 12));
        poller.doWork();
        assertPolled(range(0, 64), range(12, 20), range(64, 128), range(0, 8));
    }

    @Test
    void shouldForgetAQueueAfterItsEmptyRounds() {
        add(128);
        for (int time = 0; time < 2; time++) {
            // In its last round of these it has one empty first poll less than it needs to leave.
            queues.get(0).add(1);
            for (int round = 0; round < RecentQueues.ROUNDS; round++) {
                poller.doWork();
                assertPolled(range(0, 64), one(0), range(64, 128), one(0));
            }
        }
        poller.doWork();
        assertPolled(range(0, 128));
        queues.get(0).add(1);
        poller.doWork();
        assertPolled(range(0, 64), one(0), range(64, 128), one(0));
    }

    @Test
    void shouldRememberAQueueThatHasItsCompletionsAtSecondPolls() {
        add(128);
        queues.get(0).add(1);
        poller.doWork();
        for (int round = 1; round <= 3 * RecentQueues.ROUNDS; round++) {
            final boolean isDue = round % (RecentQueues.ROUNDS - 1) == 0;
            if (isDue) {
                queues.get(1).atNextPoll(() -> queues.get(0).add(1));
            }
            takeLog();
            assertEquals(isDue ? 1 : 0, poller.doWork());
        }
        assertPolled(range(0, 64), one(0), range(64, 128), one(0));
    }

    @Test
    void shouldForgetAllQueuesInOneRoundAfterTheEndOfALoad() {
        add(300);
        queues.forEach(queue -> queue.add(1));
        for (int round = 0; round < RecentQueues.ROUNDS; round++) {
            takeLog();
            poller.doWork();
        }
        assertTrue(takeLog().size() >= 300 + 4 * RecentQueues.POLLS);
        poller.doWork();
        takeLog();
        poller.doWork();
        assertPolled(range(0, 300));
    }

    @Test
    void shouldCompleteTheWaitForAnEmptyRoundOnlyIfTheSecondPollsWereEmpty() throws Exception {
        add(100);
        queues.get(10).add(1);
        poller.doWork();
        poller.onStart();
        final Thread waiting = Thread.startVirtualThread(() -> {
            try {
                poller.awaitEmptyRound(Deadline.after(TIMEOUT_NS));
            } catch (final TimeoutException late) {
                throw new AssertionError(late);
            }
        });
        while (!poller.commands().hasPending()) {
            Thread.onSpinWait();
        }
        // Queue 10 has a completion after its first poll in this round.
        queues.get(50).atNextPoll(() -> queues.get(10).add(1));
        assertEquals(1, poller.doWork());
        assertEquals(Outcome.WORKED, poller.outcome());
        assertEquals(1, poller.awaitingEmptyRound());
        assertEquals(0, poller.doWork());
        assertEquals(Outcome.EMPTY, poller.outcome());
        assertEquals(0, poller.awaitingEmptyRound());
        waiting.join();
    }

    @Test
    void shouldReturnTheBudgetOfASecondPollBeforeItsPublication() {
        final CompletionBudget budget = new CompletionBudget(2);
        final List<Integer> inFlight = new ArrayList<>();
        slots.handledBy(() -> inFlight.add(budget.inFlight()));
        poller.queues().add(new BudgetedQueue(budget));
        add(100);
        assertTrue(budget.reserveSend(true, false));
        queues.get(1).atNextPoll(() -> assertTrue(budget.reserveSend(true, false)));
        assertEquals(2, poller.doWork());
        assertEquals(List.of(0, 0), inFlight);
    }

    @Test
    void shouldPublishAFaultOfASecondPollOnceAndContinueTheRound() {
        add(200);
        queues.get(100).add(1);
        queues.get(101).add(1);
        poller.doWork();
        takeLog();
        queues.get(100).failWith(-5);
        assertEquals(1, poller.doWork());
        // No first poll of the queue follows its failed second poll.
        assertPolled(range(0, 56), one(100), one(101), range(56, 100), range(101, 120), one(101), range(120, 184), one(101),
            range(184, 200));
        assertEquals(-5, slots.get(2).vendorError());
        assertEquals(3, slots.published());
        assertEquals(1, counters.queueFaults());
        assertEquals(199, counters.queues.get());
        assertEquals(0, poller.doWork());
        assertFalse(takeLog().contains(100));
    }

    @Test
    void shouldPublishAReportedFaultOfARecentQueueOnceWithoutAPoll() {
        add(200);
        queues.get(100).add(1);
        poller.doWork();
        takeLog();
        poller.queues().reportFault(queues.get(100), -5);
        assertEquals(1, poller.doWork());
        assertEquals(0, poller.doWork());
        assertFalse(takeLog().contains(100));
        assertEquals(1, counters.queueFaults());
        assertEquals(199, counters.queues.get());
    }

    @Test
    void shouldNotPollAQueueAgainAfterItsFirstPollFailed() {
        add(200);
        queues.get(10).add(1);
        poller.doWork();
        takeLog();
        queues.get(10).failWith(-5);
        poller.doWork();
        assertPolled(range(0, 200));
        assertEquals(1, counters.queueFaults());
    }

    @Test
    void shouldNotPollARecentQueueAfterItsRemoval() {
        add(200);
        queues.get(3).add(1);
        poller.doWork();
        takeLog();
        remove(queues.get(3));
        poller.doWork();
        assertPolled(range(0, 3), range(4, 200));
    }

    @Test
    void shouldNotPollAQueueAgainThatAHandlerRemovesAfterItsFirstPoll() {
        inPlace(() -> remove(queues.get(0)));
        add(200);
        queues.get(0).add(9);
        poller.doWork();
        assertPolled(one(0));
        poller.doWork();
        assertPolled(range(1, 200));
        assertEquals(9 - BATCH_LIMIT, queues.get(0).completions());
    }

    @Test
    void shouldEndTheRoundWhenAHandlerRemovesQueuesDuringTheSecondPolls() {
        final List<CountingQueue> leaving = new ArrayList<>();
        inPlace(() -> leaving.forEach(this::remove));
        add(200);
        queues.get(0).add(1);
        queues.get(1).add(1);
        poller.doWork();
        takeLog();
        leaving.addAll(List.of(queues.get(1), queues.get(70), queues.get(0)));
        queues.get(2).atNextPoll(() -> queues.get(0).add(1));
        assertEquals(1, poller.doWork());
        assertPolled(range(0, 56), one(0));
        poller.doWork();
        assertPolled(range(56, 70), range(71, 200), range(2, 56));
    }

    @Test
    void shouldEndTheRoundWhenAHandlerPausesDuringTheSecondPolls() throws TimeoutException {
        inPlace(() -> {
            if (queues.get(0).completions() == 0) {
                pause();
            }
        });
        add(200);
        queues.get(0).add(BATCH_LIMIT + 1);
        queues.get(1).add(1);
        poller.doWork();
        assertPolled(range(0, 64), one(0));
        poller.doWork();
        assertEquals(Outcome.PAUSED, poller.outcome());
        poller.resume(Deadline.after(TIMEOUT_NS));
        poller.doWork();
        assertPolled(range(64, 128), one(1), one(0), range(128, 192), one(1), one(0), range(192, 200), range(0, 56), one(1),
            one(0), range(56, 64));
    }

    @Test
    void shouldStartTheNextRoundWithTheFirstUnpolledQueueWhenTheRingIsFullAtASecondPoll() {
        final ArraySlots few = new ArraySlots(64, BATCH_LIMIT);
        poller = new CompletionPoller("poller", few, BATCH_LIMIT, counters);
        add(200);
        queues.get(0).add(BATCH_LIMIT - 1);
        queues.get(63).add(1);
        poller.doWork();
        assertEquals(Outcome.RING_FULL, poller.outcome());
        assertPolled(range(0, 64));
        few.release(1);
        queues.get(64).add(1);
        assertEquals(1, poller.doWork());
        assertPolled(one(64));
    }

    @Test
    void shouldNotPollAQueueThatAnotherRemovesInItsPoll() {
        add(200);
        queues.get(150).add(1);
        queues.get(151).add(1);
        poller.doWork();
        takeLog();
        // A user's own kind of queue may do so; no handler runs in place.
        queues.get(150).atNextPoll(() -> {
            remove(queues.get(150));
            remove(queues.get(151));
            remove(queues.get(199));
        });
        poller.doWork();
        assertPolled(range(0, 56), one(150));
        assertEquals(Outcome.WORKED, poller.outcome(), "not all queues were polled");
        poller.doWork();
        assertPolled(range(56, 150), range(152, 199), range(0, 56));
    }

    @Test
    void shouldAllocateNothing() {
        poller = new CompletionPoller("poller", new EndlessRing(slots.slab()), BATCH_LIMIT, counters);
        add(100);
        final int[] round = {0};
        Allocation.assertNone(() -> {
            queues.get(round[0]++ / RecentQueues.ROUNDS % 100).add(1);
            poller.doWork();
            logged = 0;
        });
    }

    /** A ring that never fills. */
    private record EndlessRing(UnsafeBuffer slab) implements SlotRing {
        @Override
        public int claim(final int limit) {
            return limit;
        }

        @Override
        public int claimedOffset() {
            return 0;
        }

        @Override
        public void publish(final int count, final int queueIndex) {
        }

        @Override
        public long lastPublished() {
            return -1;
        }

        @Override
        public boolean isPassed(final long sequence) {
            return true;
        }

        @Override
        public boolean isHalted() {
            return false;
        }
    }

    /** A queue with a completion for each work request in flight. */
    private record BudgetedQueue(CompletionBudget budget) implements CompletionQueue, CountedQueue {
        @Override
        public int pollUncounted(final long wcAddress, final int maxEntries) {
            return Math.min(maxEntries, budget.inFlight());
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            throw new AssertionError("the poller updates the budget");
        }

        @Override
        public String name() {
            return "budgeted";
        }
    }

    private void inPlace(final Runnable handler) {
        poller = new CompletionPoller("poller", slots.handledInPlaceBy(handler), slots, BATCH_LIMIT, false, counters,
            error -> { }, SystemNanoClock.INSTANCE);
    }

    private void add(final int number) {
        for (int i = 0; i < number; i++) {
            final int index = queues.size();
            final CountingQueue queue = new CountingQueue("queue " + index, () -> log[logged++] = index);
            queues.add(queue);
            poller.queues().add(queue);
        }
    }

    private void remove(final CompletionQueue queue) {
        try {
            poller.queues().remove(queue, TIMEOUT_NS);
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
    }

    private void pause() {
        try {
            poller.pause(Deadline.after(TIMEOUT_NS));
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
    }

    private static IntStream one(final int queue) {
        return IntStream.of(queue);
    }

    /** Asserts on the polls since the last call. */
    private void assertPolled(final IntStream... parts) {
        assertEquals(Arrays.stream(parts).flatMap(IntStream::boxed).toList(), takeLog());
    }

    private List<Integer> takeLog() {
        final List<Integer> taken = Arrays.stream(log, 0, logged).boxed().toList();
        logged = 0;
        return taken;
    }
}
