package io.ringpoll.cli.stat;

import io.ringpoll.counters.Counter;
import io.ringpoll.counters.Counters;
import io.ringpoll.internal.counters.CountersSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The counters of a pipeline at one moment, with rates since the previous sample.
 *
 * <p>Immutable.
 */
final class PipelineView {
    /** Positions in the ring, which are shown as lags. */
    private static final Set<String> POSITIONS = Set.of("published_slots", "passed_slots");
    private static final String LAG = "lag_slots";
    private static final String USED = "used_slots";

    private final Counters now;
    private final Optional<Counters> before;

    PipelineView(final CountersSnapshot now, final Optional<CountersSnapshot> before) {
        this.now = now.toCounters();
        this.before = before.map(CountersSnapshot::toCounters);
    }

    /** All counters: the derived ones, then those of the file in their order. */
    List<Counter> counters() {
        return now.values();
    }

    /** The counters to show: those that are 0 only on request, except for the derived ones. */
    List<Counter> counters(final boolean zeroToo) {
        return now.values().stream().filter(counter -> !POSITIONS.contains(counter.name()))
            .filter(counter -> zeroToo || counter.value() != 0 || rate(counter).orElse(0) != 0 || isDerived(counter)).toList();
    }

    /** The increase of a counter per second; empty if the counter does not grow, and in the first sample. */
    OptionalDouble rate(final Counter counter) {
        if (counter.kind() != Counter.Kind.COUNTER || before.isEmpty()) {
            return OptionalDouble.empty();
        }
        final double seconds = (now.takenNs() - before.get().takenNs()) / (double) TimeUnit.SECONDS.toNanos(1);
        return before.get().values().stream().filter(old -> isSame(old, counter)).mapToLong(Counter::value).findFirst().stream()
            .mapToDouble(old -> (counter.value() - old) / seconds).findFirst();
    }

    /** The published slots that each handler has not passed. */
    List<Counter> lags() {
        return now.values().stream().filter(counter -> counter.name().equals(LAG)).toList();
    }

    /** The occupied slots of the ring; empty if the file has no counters of a poller. */
    OptionalLong occupancy() {
        return now.values().stream().filter(counter -> counter.name().equals(USED)).mapToLong(Counter::value).findFirst();
    }

    /** The slots of the ring; 0 if unknown. */
    long ringSize() {
        return now.values().stream().filter(counter -> counter.name().equals("ring_size_slots")).mapToLong(Counter::value)
            .findFirst().orElse(0);
    }

    private static boolean isDerived(final Counter counter) {
        return counter.name().equals(LAG) || counter.name().equals(USED);
    }

    private static boolean isSame(final Counter one, final Counter other) {
        return one.name().equals(other.name()) && one.attributes().equals(other.attributes());
    }
}
