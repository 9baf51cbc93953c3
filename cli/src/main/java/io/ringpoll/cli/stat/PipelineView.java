package io.ringpoll.cli.stat;

import io.ringpoll.pipeline.counters.CountersSnapshot;
import io.ringpoll.pipeline.counters.CountersSnapshot.Counter;
import io.ringpoll.poller.CounterType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * What follows from a pipeline's counters: rates between two looks, the lag of each handler, the ring's occupancy.
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

    /** The counters to show: positions are told as lags, and those that are 0 only if asked for. */
    List<Counter> counters(final boolean zeroToo) {
        return now.counters().stream()
            .filter(counter -> counter.type() == null || counter.type().kind() != CounterType.Kind.POSITION)
            .filter(counter -> zeroToo || counter.value() != 0 || rate(counter).orElse(0) != 0).toList();
    }

    /** By how much a counter grew in a second; nothing for one that does not grow, or at the first look. */
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

    /** The handlers, in the order in which they were made. */
    List<String> handlers() {
        return ownersOf(CounterType.HANDLER_POSITION);
    }

    /** How many slots lie published before a handler; nothing where several pollers publish. */
    OptionalLong lag(final String handler) {
        final List<String> pollers = ownersOf(CounterType.PUBLISHED);
        if (pollers.size() != 1) {
            return OptionalLong.empty();
        }
        // The positions were copied one after the other: a handler may have passed what was published a moment later.
        return OptionalLong.of(Math.max(0, now.value(CounterType.PUBLISHED, pollers.getFirst()) -
            now.value(CounterType.HANDLER_POSITION, handler)));
    }

    /** How many slots of the ring are not free; nothing where several pollers publish. */
    OptionalLong occupancy() {
        return handlers().stream().map(this::lag).filter(OptionalLong::isPresent).mapToLong(OptionalLong::getAsLong).max();
    }

    /** The number of the ring's slots; 0 if it is not told. */
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
