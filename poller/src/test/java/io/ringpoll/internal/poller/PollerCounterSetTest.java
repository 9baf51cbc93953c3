package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import java.util.HashMap;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The counters of a poller as an external reader sees them: by type, owner, parameter and label. */
@Timeout(60)
class PollerCounterSetTest {
    private final CountersManager manager = TestCounters.create();
    private final PollerCounterSet counters = new PollerCounterSet(manager, "poller");

    /** Labels by type and parameter. */
    private Map<String, String> labels() {
        final Map<String, String> labels = new HashMap<>();
        manager.forEach((id, typeId, key, label) -> {
            assertEquals("poller", CounterType.owner(key));
            assertNull(labels.put(CounterType.ofId(typeId) + " " + CounterType.parameter(key), label), "twice: " + label);
        });
        return labels;
    }

    private long value(final CounterType type, final int parameter) {
        final long[] value = {-1};
        manager.forEach((id, typeId, key, label) -> {
            if (typeId == type.id() && CounterType.parameter(key) == parameter) {
                value[0] = manager.getCounterValue(id);
            }
        });
        return value[0];
    }

    @Test
    void shouldLabelBatchesBySize() {
        final Map<String, String> labels = labels();
        assertEquals("poller: batches of 1", labels.get(CounterType.BATCHES_BY_SIZE + " 1"));
        assertEquals("poller: batches of 2 to 3", labels.get(CounterType.BATCHES_BY_SIZE + " 2"));
        assertEquals("poller: batches of 16384 to 32767", labels.get(CounterType.BATCHES_BY_SIZE + " 16384"));
        assertEquals("poller: batches of 32768 or more", labels.get(CounterType.BATCHES_BY_SIZE + " 32768"));
        for (final int[] sizeAndFrom : new int[][] {{1, 1}, {2, 2}, {3, 2}, {4, 4}, {32_767, 16_384}, {32_768, 32_768},
            {1 << 20, 32_768}}) {
            final long before = value(CounterType.BATCHES_BY_SIZE, sizeAndFrom[1]);
            counters.onBatchesOf(PollerCounterSet.sizeClass(sizeAndFrom[0]), 3);
            assertEquals(before + 3, value(CounterType.BATCHES_BY_SIZE, sizeAndFrom[1]), "batches of " + sizeAndFrom[0]);
        }
    }

    @Test
    void shouldRefuseStatusesThatAreNotThoseOfErrors() {
        for (final int status : new int[] {WcStatus.SUCCESS, -1, WcStatus.COUNT + 1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> counters.errors(status));
            assertEquals("status " + status + " is not that of an error, from 1 to " + WcStatus.COUNT, refused.getMessage());
        }
        assertEquals(0, counters.errors(WcStatus.COUNT));
    }

    @Test
    void shouldCountErrorsByStatusAndUnknownStatusesTogether() {
        final Map<String, String> labels = labels();
        for (int status = 1; status < WcStatus.COUNT; status++) {
            assertEquals("poller: errors, " + WcStatus.name(status), labels.get(CounterType.ERRORS_BY_STATUS + " " + status));
            counters.onError(status);
            assertEquals(1, counters.errors(status));
            assertEquals(1, value(CounterType.ERRORS_BY_STATUS, status));
        }
        assertEquals(
            "poller: errors, status not in the manual", labels.get(CounterType.ERRORS_BY_STATUS + " " + WcStatus.COUNT));
        for (final int unknown : new int[] {-1, 0, WcStatus.COUNT, WcStatus.COUNT + 1, Integer.MIN_VALUE}) {
            counters.onError(unknown);
        }
        assertEquals(5, value(CounterType.ERRORS_BY_STATUS, WcStatus.COUNT));
    }

    @Test
    void shouldFindATypeByItsIdAndNoneByAnyOther() {
        for (final CounterType type : CounterType.values()) {
            assertEquals(type, CounterType.ofId(type.id()));
            assertNotNull(type.kind());
            assertFalse(type.label().isEmpty());
        }
        for (int id = -2; id < 2000; id++) {
            final CounterType type = CounterType.ofId(id);
            assertTrue(type == null || type.id() == id, "id " + id);
        }
    }

    @Test
    void shouldReadAnOwnerUpToTheLengthThatAKeyHasRoomFor() {
        final int room = CountersReader.MAX_KEY_LENGTH - 2 * Integer.BYTES;
        for (final int length : new int[]{1, room, room + 1}) {
            final UnsafeBuffer key = new UnsafeBuffer(new byte[2 * CountersReader.MAX_KEY_LENGTH]);
            key.putStringAscii(Integer.BYTES, "n".repeat(length));
            assertEquals(length > room ? "" : "n".repeat(length), CounterType.owner(key));
        }
    }

    @Test
    void shouldCountBatchesAndPolls() {
        counters.onBatches(2, 7);
        counters.onBatches(1, 4);
        counters.onEmptyPolls(5);
        assertEquals(8, counters.polls());
        assertEquals(5, counters.emptyPolls());
        assertEquals(7, value(CounterType.BATCH_MAX, 0));
    }

    @Test
    void shouldCountCompletionsByPath() {
        counters.onReceives(3);
        counters.onReceives(4);
        counters.onSendWrites(6);
        counters.onErrors(1);
        assertEquals(7, counters.receives());
        assertEquals(6, counters.sendWrites());
        assertEquals(1, counters.errors());
        assertEquals(7, value(CounterType.RECEIVES, 0));
    }

    @Test
    void shouldNotCountAFaultAsACompletion() {
        counters.published.getAndAddRelease(5);
        counters.onFaultPublished();
        assertEquals(5, counters.completions());
        assertEquals(6, value(CounterType.PUBLISHED, 0));
    }

    @Test
    void shouldReturnTheCounterValues() {
        counters.budgetDepth.setRelease(11);
        counters.budgetInFlight.setRelease(12);
        counters.budgetRefused.setRelease(13);
        counters.spuriousWakeups.setRelease(14);
        counters.events.setRelease(15);
        counters.sleeps.setRelease(16);
        counters.ringFullStalls.setRelease(17);
        counters.ringFullNs.setRelease(18);
        counters.ringFullCycles.setRelease(19);
        counters.queueFaults.setRelease(20);
        counters.dutyCycleMaxNs.setRelease(21);
        counters.dutyCyclesOver.setRelease(22);
        assertEquals(11, counters.budgetDepth());
        assertEquals(12, counters.budgetInFlight());
        assertEquals(13, counters.budgetRefused());
        assertEquals(14, counters.spuriousWakeups());
        assertEquals(15, counters.events());
        assertEquals(16, counters.sleeps());
        assertEquals(17, counters.ringFullStalls());
        assertEquals(18, counters.ringFullNs());
        assertEquals(19, counters.ringFull());
        assertEquals(20, counters.queueFaults());
        assertEquals(21, counters.dutyCycleMaxNs());
        assertEquals(22, counters.dutyCyclesOver());
    }
}
