package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.internal.verbs.PollTable;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Polls of many queues by their places, in one call into C and each in a call of its own; a fault on loopback only. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RpmaPollTableTest {
    private static final int QUEUES = 40;
    private static final int ENTRIES = 4;
    /** Queues of one turn. */
    private static final int TURN = 32;

    private final List<ConnectedPair> pairs = new ArrayList<>();
    private final List<CountedQueue> queues = new ArrayList<>();
    private final WorkCompletions records = WorkCompletions.allocate(ENTRIES);
    private final long address = records.address(0, ENTRIES);
    private RpmaPollTable table;

    @AfterEach
    void close() {
        pairs.forEach(ConnectedPair::close);
    }

    /** Makes a table with a round of queues, each of which has been polled once. */
    private void make(final boolean inSeries) {
        assumeTrue(!inSeries || Librpma.SERIES != null, "libringpoll was not built for this architecture");
        table = new RpmaPollTable(inSeries);
        table.resize(QUEUES);
        for (int i = 0; i < QUEUES / 2; i++) {
            final ConnectedPair pair = ConnectedPair.ofDefaults();
            pairs.add(pair);
            queues.add(CountedQueues.of(pair.client().completionQueue()));
            queues.add(CountedQueues.of(pair.server().completionQueue()));
        }
        for (int place = 0; place < QUEUES; place++) {
            queues.get(place).moveTo(table, place);
            assertEquals(0, queues.get(place).pollAndLease(address, ENTRIES));
        }
        table.order(IntStream.range(0, QUEUES).toArray(), QUEUES);
    }

    private void write(final int queue, final long workRequestId) {
        assertEquals(0, queue % 2, "the queue of a client");
        assertTrue(pairs.get(queue / 2).client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, workRequestId));
    }

    private String poll(final int first, final int most) {
        final long result = table.pollInTurn(first, most, address, ENTRIES);
        return PollTable.emptyPolls(result) + " empty, then " + (int) result;
    }

    @Tag(TestDevice.TAG)
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPollNoMoreThanATurnOfEmptyQueues(final boolean inSeries) {
        make(inSeries);
        assertEquals("31 empty, then 0", poll(0, QUEUES));
        assertEquals("7 empty, then 0", poll(TURN, QUEUES - TURN));
        assertEquals("0 empty, then 0", poll(5, 1));
    }

    @Tag(TestDevice.TAG)
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndATurnAtCompletions(final boolean inSeries) {
        make(inSeries);
        for (int i = 0; i < ENTRIES + 1; i++) {
            write(8, 100 + i);
        }
        assertEquals("7 empty, then 4", poll(1, QUEUES - 1));
        final WorkCompletion completion = new WorkCompletion();
        for (int i = 0; i < ENTRIES; i++) {
            assertEquals(100 + i, records.show(i, completion).workRequestId());
        }
        assertEquals("0 empty, then 1", poll(8, 2));
        assertEquals(100 + ENTRIES, records.show(0, completion).workRequestId());
        assertEquals("1 empty, then 0", poll(8, 2));
    }

    @Tag(TestDevice.TAG)
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPollInTheGivenOrder(final boolean inSeries) {
        make(inSeries);
        write(2, 1);
        write(4, 2);
        table.order(new int[] {9, 4, 2, 7}, 3);
        assertEquals("1 empty, then 1", poll(0, 3));
        assertEquals(2, records.show(0, new WorkCompletion()).workRequestId());
        assertEquals("0 empty, then 1", poll(2, 1));
        assertEquals(1, records.show(0, new WorkCompletion()).workRequestId());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndATurnAtAFault(final boolean inSeries) {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse("poll@3"))) {
            make(inSeries);
            assertEquals(0, table.poll(5, address, ENTRIES));
            assertEquals("5 empty, then " + RpmaError.PROVIDER, poll(0, QUEUES));
            assertEquals(1, injection.injected());
        }
    }

    @Tag(TestDevice.TAG)
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotPollAClosedQueue(final boolean inSeries) {
        make(inSeries);
        // The queues of places 2 and 3. A close takes away all addresses.
        pairs.get(1).server().close();
        assertEquals("0 empty, then " + PollTable.NOT_LEASED, poll(0, QUEUES));
        for (int place = 0; place < QUEUES; place++) {
            assertEquals(place == 3 ? RpmaError.INVAL : 0, queues.get(place).pollAndLease(address, ENTRIES));
        }
        assertEquals("3 empty, then " + PollTable.NOT_LEASED, poll(0, QUEUES));
        assertEquals("0 empty, then " + PollTable.NOT_LEASED, poll(3, 1));
        assertEquals("31 empty, then 0", poll(4, QUEUES - 4));
    }

    @Tag(TestDevice.TAG)
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPollQueuesAgainAtNewPlaces(final boolean inSeries) {
        make(inSeries);
        table.resize(2 * QUEUES);
        assertEquals("0 empty, then " + PollTable.NOT_LEASED, poll(0, QUEUES));
        for (int i = 0; i < QUEUES; i++) {
            queues.get(i).moveTo(table, 2 * i);
        }
        queues.forEach(queue -> assertEquals(0, queue.pollAndLease(address, ENTRIES)));
        table.order(IntStream.range(0, QUEUES).map(position -> 2 * position).toArray(), QUEUES);
        write(6, 1);
        assertEquals("6 empty, then 1", poll(0, QUEUES));
    }
}
