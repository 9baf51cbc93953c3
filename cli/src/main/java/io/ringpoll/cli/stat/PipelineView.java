package io.ringpoll.cli.stat;

import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.internal.counters.CountersSnapshot.Counter;
import io.ringpoll.internal.poller.CounterType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Values derived from the counters of a pipeline: rates between two samples, the lag of each handler, ring occupancy.
 *
 * <p>Immutable.
 */
final class PipelineView {
    private final CountersSnapshot now;
    private final Optional<CountersSnapshot> before;

    PipelineView(final CountersSnapshot now, final Optional<CountersSnapshot> before) {
        this.now = now;
        this.before = before;
    }

    /** The counters to show: positions are shown as lags, and zero values only on request. */
    List<Counter> counters(final boolean zeroToo) {
        return now.counters().stream()
            .filter(counter -> counter.type() == null || counter.type().kind() != CounterType.Kind.POSITION)
            .filter(counter -> zeroToo || counter.value() != 0 || rate(counter).orElse(0) != 0).toList();
    }

    /** The increase of a counter per second; empty if the counter does not grow, and in the first sample. */
    OptionalDouble rate(final Counter counter) {
        final boolean grows = counter.type() != null &&
            (counter.type().kind() == CounterType.Kind.COUNT || counter.type().kind() == CounterType.Kind.NANOSECONDS);
        if (!grows || before.isEmpty()) {
            return OptionalDouble.empty();
        }
        final double seconds = (now.takenNs() - before.get().takenNs()) / (double) TimeUnit.SECONDS.toNanos(1);
        return before.get().counters().stream().filter(old -> isSame(old, counter)).mapToLong(Counter::value).findFirst().stream()
            .mapToDouble(old -> (counter.value() - old) / seconds).findFirst();
    }

    /** The handlers, in order of registration. */
    List<String> handlers() {
        return ownersOf(CounterType.HANDLER_POSITION);
    }

    /** The published slots that a handler has not passed; empty with several pollers. */
    OptionalLong lag(final String handler) {
        final List<String> pollers = ownersOf(CounterType.PUBLISHED);
        if (pollers.size() != 1) {
            return OptionalLong.empty();
        }
        // Positions are copied one after the other: the sample of a handler may be newer than that of the poller.
        return OptionalLong.of(Math.max(0, now.value(CounterType.PUBLISHED, pollers.getFirst()) -
            now.value(CounterType.HANDLER_POSITION, handler)));
    }

    /** The occupied slots of the ring; empty with several pollers. */
    OptionalLong occupancy() {
        return handlers().stream().map(this::lag).filter(OptionalLong::isPresent).mapToLong(OptionalLong::getAsLong).max();
    }

    /** The slots of the ring; 0 if unknown. */
    long ringSize() {
        return now.counters().stream().filter(counter -> counter.type() == CounterType.RING_SIZE).mapToLong(Counter::value)
            .findFirst().orElse(0);
    }

    private List<String> ownersOf(final CounterType type) {
        final List<String> owners = new ArrayList<>();
        now.counters().stream().filter(counter -> counter.type() == type).forEach(counter -> owners.add(counter.owner()));
        return owners;
    }

    private static boolean isSame(final Counter one, final Counter other) {
        return one.typeId() == other.typeId() && one.parameter() == other.parameter() && one.owner().equals(other.owner());
    }
}
