package io.ringpoll.internal.counters;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.counters.Counter;
import io.ringpoll.counters.Counter.Kind;
import io.ringpoll.counters.Counters;
import io.ringpoll.internal.counters.CountersSnapshot.RecordedCounter;
import io.ringpoll.internal.poller.CounterType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Names the counters of a pipeline for display and export, and derives the ring's used slots and the lag of each handler from
 * positions. Immutable.
 */
final class CounterNames {
    private static final int FIRST_HANDLER_TYPE = 200;
    private static final int FIRST_PIPELINE_TYPE = 300;
    private static final int FIRST_BUDGET_TYPE = 400;
    private static final int FIRST_SET_TYPE = 500;
    private static final String SLOTS = "slots";

    private final String pipeline;
    /** Null for counters of this process. */
    private final String pid;

    CounterNames(final String pipeline, final String pid) {
        this.pipeline = pipeline;
        this.pid = pid;
    }

    /** The derived counters, then the others in the order of allocation. */
    Counters of(final long takenNs, final List<RecordedCounter> counters) {
        final List<Counter> named = new ArrayList<>();
        derive(counters, named);
        counters.forEach(counter -> named.add(named(counter)));
        return new Counters(takenNs, named);
    }

    private void derive(final List<RecordedCounter> counters, final List<Counter> named) {
        final List<RecordedCounter> published = ofType(counters, CounterType.PUBLISHED);
        if (published.size() != 1) {
            return;
        }
        final List<Counter> lags = new ArrayList<>();
        long used = 0;
        for (final RecordedCounter handler : counters) {
            if (handler.type() == CounterType.HANDLER_POSITION) {
                // Positions are read one after the other: that of a handler may be newer than that of the poller.
                final long lag = Math.max(0, published.getFirst().value() - handler.value());
                used = Math.max(used, lag);
                lags.add(gauge("lag_slots", attributes("handler", handler.owner()), handler.owner() + ": slots behind",
                    "slots behind", lag));
            }
        }
        final long size = ofType(counters, CounterType.RING_SIZE).stream().mapToLong(RecordedCounter::value).sum();
        named.add(gauge("used_slots", attributes("", ""), String.format(Locale.ROOT, "ring: slots in use, of %,d", size),
            "slots of the ring in use", used));
        named.addAll(lags);
    }

    private static Counter gauge(final String name, final Map<String, String> attributes, final String label,
        final String description, final long value) {
        return new Counter(name, attributes, label, description, Kind.GAUGE, SLOTS, value);
    }

    private static List<RecordedCounter> ofType(final List<RecordedCounter> counters, final CounterType type) {
        return counters.stream().filter(counter -> counter.type() == type).toList();
    }

    private Counter named(final RecordedCounter counter) {
        final CounterType type = counter.type();
        if (type == null) {
            return new Counter("unknown_" + Integer.toUnsignedString(counter.typeId()), attributes("", ""), counter.label(),
                "a counter of another release", Kind.GAUGE, "", counter.value());
        }
        final Map<String, String> attributes = attributes(ownerOf(type), counter.owner());
        if (type == CounterType.ERRORS_BY_STATUS) {
            attributes.put("status", counter.parameter() == WcStatus.COUNT ? "other" : WcStatus.name(counter.parameter()));
        } else if (type == CounterType.BATCHES_BY_SIZE) {
            attributes.put("at_least", Integer.toString(counter.parameter()));
        }
        final boolean grows = switch (type.kind()) {
            case COUNT, NANOSECONDS, POSITION -> true;
            case GAUGE, MAX_VALUE, MAX_NS -> false;
        };
        return new Counter(type.metric(), attributes, counter.label(), type.label(), grows ? Kind.COUNTER : Kind.GAUGE,
            type.unit(), counter.value());
    }

    private static String ownerOf(final CounterType type) {
        if (type.id() >= FIRST_SET_TYPE) {
            return "set";
        }
        if (type.id() < FIRST_HANDLER_TYPE || type.id() >= FIRST_BUDGET_TYPE) {
            return "poller";
        }
        return type.id() < FIRST_PIPELINE_TYPE ? "handler" : "";
    }

    private Map<String, String> attributes(final String key, final String owner) {
        final Map<String, String> attributes = new LinkedHashMap<>();
        if (pid != null) {
            attributes.put("pid", pid);
        }
        attributes.put("pipeline", pipeline);
        if (!key.isEmpty()) {
            attributes.put(key, owner);
        }
        return attributes;
    }
}
