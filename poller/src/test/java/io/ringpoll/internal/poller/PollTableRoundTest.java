package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.PollTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rounds whose queues are polled by their places in a table; plain ones, and adaptive ones of more than 64 queues. */
@Timeout(60)
class PollTableRoundTest {
    private static final int SLOTS = 1024;
    private static final int BATCH_LIMIT = 4;
    /** No divisor of the sizes of rounds. */
    private static final int MOST_IN_TURN = 7;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(50);

    private final ArraySlots slots = new ArraySlots(SLOTS, SLOTS);
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final CompletionPoller poller = new CompletionPoller("poller", slots, BATCH_LIMIT, counters);
    private final List<Tabled> queues = new ArrayList<>();
    private final Table table = new Table();

    /** A queue that has its place from its first poll on. */
    private final class Tabled implements CompletionQueue, CountedQueue {
        private final String name = "queue " + queues.size();
        private Table in;
        private int place;
        private int next;
        private int polls;
        private int pollsByTable;

        @Override
        public int pollUncounted(final long wcAddress, final int maxEntries) {
            polls++;
            final int result = next;
            next = 0;
            return result;
        }

        @Override
        public int pollAndLease(final long wcAddress, final int maxEntries) {
            if (in != null) {
                in.leased[place] = this;
            }
            return pollUncounted(wcAddress, maxEntries);
        }

        @Override
        public PollTable newTable() {
            return table;
        }

        @Override
        public void moveTo(final PollTable to, final int newPlace) {
            if (in != null && in.leased[place] == this) {
                in.leased[place] = null;
            }
            in = (Table) to;
            place = newPlace;
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            throw new AssertionError("not polled as a counted queue");
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

    /** The table of those queues. */
    private static final class Table implements PollTable {
        private Tabled[] leased = new Tabled[0];
        private int[] places = new int[0];

        @Override
        public int poll(final int place, final long wcAddress, final int maxEntries) {
            final Tabled queue = leased[place];
            if (queue == null) {
                return NOT_LEASED;
            }
            queue.pollsByTable++;
            return queue.pollUncounted(wcAddress, maxEntries);
        }

        @Override
        public long pollInTurn(final int first, final int most, final long wcAddress, final int maxEntries) {
            assertTrue(most >= 1 && first + most <= places.length);
            int empty = 0;
            int last = poll(places[first], wcAddress, maxEntries);
            while (last == 0 && empty + 1 < Math.min(most, MOST_IN_TURN)) {
                empty++;
                last = poll(places[first + empty], wcAddress, maxEntries);
            }
            return PollTable.result(empty, last);
        }

        @Override
        public void resize(final int number) {
            assertTrue(number > leased.length);
            leased = new Tabled[number];
        }

        @Override
        public void order(final int[] ordered, final int number) {
            places = Arrays.copyOf(ordered, number);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 20, 100})
    void shouldPollByTheTableFromTheSecondRoundOn(final int size) {
        add(size);
        for (int round = 0; round < 10; round++) {
            assertEquals(0, poller.doWork());
        }
        queues.forEach(queue -> assertEquals(List.of(10, 9), List.of(queue.polls, queue.pollsByTable), queue.name));
        poller.onClose();
        assertEquals(10L * size, counters.emptyPolls());
    }

    @Test
    void shouldPollTheOnlyQueueByTheTableUntilItHasCompletions() {
        poller.spin();
        add(1);
        final Tabled only = queues.getFirst();
        assertEquals(0, poller.doWork());
        assertEquals(0, poller.doWork());
        assertEquals(List.of(64, 63), List.of(only.polls, only.pollsByTable));
        only.next = 3;
        assertEquals(3, poller.doWork());
        assertEquals(3, slots.published());
        only.next = -5;
        assertEquals(1, poller.doWork());
        assertEquals(66, only.polls);
        assertEquals(0, poller.doWork());
        assertEquals(66, only.polls);
        poller.onClose();
        assertEquals(1, counters.queueFaults());
        assertEquals(64, counters.emptyPolls());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 100})
    void shouldPublishCompletionsOfPollsByTheTable(final int size) {
        add(size);
        poller.doWork();
        queues.get(1).next = 3;
        assertEquals(3, poller.doWork());
        assertEquals(3, slots.published());
        assertEquals(0, poller.doWork());
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 64, 100})
    void shouldPublishTheCompletionsOfEachQueueBetweenEmptyOnes(final int size) {
        add(size);
        poller.doWork();
        for (int i = 3; i < size; i += 5) {
            queues.get(i).next = 2;
        }
        assertEquals(2 * ((size + 1) / 5), poller.doWork());
        for (int slot = 0; slot < slots.published(); slot++) {
            assertEquals(3 + slot / 2 * 5, slots.get(slot).queueIndex());
        }
        final long polls = queues.stream().mapToLong(queue -> queue.polls).sum();
        poller.onClose();
        assertEquals(polls, counters.polls());
        assertEquals(polls - slots.published() / 2, counters.emptyPolls());
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 100})
    void shouldContinueBehindTheLastPolledQueueWhenTheRingWasFull(final int size) {
        final ArraySlots full = new ArraySlots(SLOTS, BATCH_LIMIT);
        final CompletionPoller behind = new CompletionPoller("behind", full, BATCH_LIMIT, counters);
        for (int i = 0; i < size; i++) {
            final Tabled queue = new Tabled();
            queues.add(queue);
            behind.queues().add(queue);
        }
        behind.doWork();
        queues.get(12).next = BATCH_LIMIT;
        assertEquals(BATCH_LIMIT, behind.doWork());
        assertEquals(CompletionPoller.Outcome.RING_FULL, behind.outcome());
        assertEquals(List.of(2, 1), List.of(queues.get(12).polls, queues.get(13).polls));
        full.release(BATCH_LIMIT);
        assertEquals(0, behind.doWork());
        // A recent queue of a large round is polled more often.
        queues.remove(12);
        queues.forEach(queue -> assertEquals(queues.indexOf(queue) < 12 ? 3 : 2, queue.polls, queue.name));
    }

    @Test
    void shouldPollARecentQueueAfterEach64OthersUntilItHasBeenEmptyForManyRounds() {
        final int size = 128;
        add(size);
        poller.doWork();
        queues.get(5).next = 1;
        assertEquals(1, poller.doWork());
        assertEquals(3 * 10, pollsOf(5, 10));
        pollsOf(5, RecentQueues.ROUNDS);
        assertEquals(10, pollsOf(5, 10));
    }

    private int pollsOf(final int queue, final int rounds) {
        final int before = queues.get(queue).polls;
        for (int i = 0; i < rounds; i++) {
            assertEquals(0, poller.doWork());
        }
        return queues.get(queue).polls - before;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 100})
    void shouldPublishAFaultOfAPollByTheTableOnce(final int size) {
        add(size);
        poller.doWork();
        final Tabled failing = queues.get(1);
        // A recent queue of a large round: there would be a second poll.
        failing.next = 1;
        poller.doWork();
        final int before = failing.polls;
        failing.next = -5;
        assertEquals(1, poller.doWork());
        assertEquals(1, counters.queueFaults());
        assertEquals(before + 1, failing.polls);
        poller.doWork();
        assertEquals(before + 1, failing.polls);
        assertEquals(size - 1, counters.queues.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 100})
    void shouldNotPollAQueueByTheTableAfterTheReportOfAFault(final int size) {
        add(size);
        poller.doWork();
        final Tabled reported = queues.getFirst();
        final int before = reported.polls;
        poller.queues().reportFault(reported, -5);
        assertEquals(1, poller.doWork());
        assertEquals(before, reported.polls);
        assertEquals(1, counters.queueFaults());
    }

    @Test
    void shouldLetTheOthersKeepTheirPlacesWhenAQueueLeaves() throws TimeoutException {
        add(16);
        poller.doWork();
        final int placeOfLeft = queues.get(3).place;
        poller.queues().remove(queues.get(3), TIMEOUT_NS);
        poller.doWork();
        final Tabled left = queues.remove(3);
        assertEquals(1, left.polls);
        queues.forEach(queue -> assertEquals(List.of(2, 1), List.of(queue.polls, queue.pollsByTable), queue.name));
        add(1);
        poller.doWork();
        assertEquals(placeOfLeft, queues.getLast().place);
        assertPlaces();
    }

    @Test
    void shouldGiveEachQueueAPlaceOfItsOwnAfterManyChanges() throws TimeoutException {
        add(200);
        poller.doWork();
        for (int i = 0; i < 300; i++) {
            poller.queues().remove(queues.remove(i * 7 % queues.size()), TIMEOUT_NS);
            if (i % 2 == 0) {
                add(1);
            }
            poller.doWork();
            poller.doWork();
            assertPlaces();
        }
        final List<Integer> before = queues.stream().map(queue -> queue.polls).toList();
        poller.doWork();
        for (int i = 0; i < queues.size(); i++) {
            assertEquals(before.get(i) + 1, queues.get(i).polls);
        }
    }

    private void assertPlaces() {
        final Set<Integer> places = new HashSet<>();
        for (final Tabled queue : queues) {
            assertTrue(places.add(queue.place), "two queues have place " + queue.place);
            assertEquals(queue, table.leased[queue.place]);
        }
        assertEquals(queues.size(), Arrays.stream(table.leased).filter(queue -> queue != null).count());
    }

    private void add(final int number) {
        for (int i = 0; i < number; i++) {
            final Tabled queue = new Tabled();
            queues.add(queue);
            poller.queues().add(queue);
        }
    }
}
