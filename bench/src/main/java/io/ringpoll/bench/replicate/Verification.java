package io.ringpoll.bench.replicate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares the logs of a group with the acknowledgements of its clients: each acknowledged record is on a majority, and the
 * records on a majority are in order, unique, and complete.
 */
final class Verification {
    private static final int MOST_FAULTS = 10;

    private final List<StoredLog> logs;
    private final int majority;
    private final List<String> faults = new ArrayList<>();
    private int faultCount;
    private int committed;
    private int records;

    Verification(final List<StoredLog> logs) {
        this.logs = logs;
        majority = logs.size() / 2 + 1;
    }

    /** Verifies everything; the results are valid afterwards. */
    void run(final Collection<NumberedRecord> acknowledged) {
        final Set<NumberedRecord> found = new HashSet<>();
        final Map<Long, Long> nextBySeries = new HashMap<>();
        for (StoredLog.Entry entry = onMajority(committed); entry != null; entry = onMajority(committed)) {
            if (entry.record() != null) {
                check(NumberedRecord.of(entry.record()), found, nextBySeries);
            }
            committed++;
        }
        for (final NumberedRecord each : acknowledged) {
            if (!found.contains(each)) {
                fault("record " + text(each) + " was acknowledged and is not on " + majority + " of " + logs.size() + " servers");
            }
        }
    }

    /** The entry that more than half of the logs have at an index, or null. */
    private StoredLog.Entry onMajority(final int index) {
        for (final StoredLog candidate : logs) {
            if (logs.stream().filter(log -> log.agreesWith(candidate, index)).count() >= majority) {
                return candidate.entries().get(index);
            }
        }
        return null;
    }

    private void check(final NumberedRecord record, final Set<NumberedRecord> found, final Map<Long, Long> nextBySeries) {
        records++;
        if (record == null) {
            fault("entry " + committed + " holds a record that is not whole");
            return;
        }
        if (!found.add(record)) {
            fault("entry " + committed + " holds record " + text(record) + " a second time");
            return;
        }
        final long expected = nextBySeries.getOrDefault(record.series(), 0L);
        if (record.number() != expected) {
            fault("entry " + committed + " holds record " + text(record) + " where " + expected + " should be");
        }
        nextBySeries.put(record.series(), record.number() + 1);
    }

    private static String text(final NumberedRecord record) {
        return record.number() + " of series " + Long.toHexString(record.series());
    }

    private void fault(final String what) {
        faultCount++;
        if (faults.size() < MOST_FAULTS) {
            faults.add(what);
        }
    }

    /** The number of entries on a majority: all before the first that is on fewer. */
    int committed() {
        return committed;
    }

    /** The number of records among them. */
    int records() {
        return records;
    }

    /** The first error, or null. */
    List<String> faults() {
        return faults;
    }

    int faultCount() {
        return faultCount;
    }
}
