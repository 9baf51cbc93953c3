package io.ringpoll.counters;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * One counter of a pipeline at one moment. Immutable.
 *
 * @param name        stable name, which ends with the unit if there is one, for instance {@code published_slots}
 * @param attributes  distinguish counters of the same name: {@code pipeline}, then {@code poller} or {@code handler}, then {@code
 *     status} or {@code at_least}; the labels in OpenMetrics
 * @param label       for display, for instance {@code orders-poller: slots published}
 * @param description the same for all counters of the name, for instance {@code slots published}
 * @param kind        whether the value only grows
 * @param unit        empty for a number of events or things; {@code slots}, {@code completions}, {@code requests} or {@code
 *     nanoseconds}
 * @param value       at the moment of the snapshot
 */
public record Counter(String name, Map<String, String> attributes, String label, String description, Kind kind, String unit,
    long value) {
    /** How the values of a counter follow each other. */
    public enum Kind {
        /** The value starts with 0 and only grows: the difference of two values is meaningful. */
        COUNTER,
        /** A present value, or a maximum since the start. */
        GAUGE
    }

    /**
     * Copies the attributes.
     *
     * @throws NullPointerException if one of the values is null
     */
    public Counter {
        Objects.requireNonNull(name, "the name is null");
        Objects.requireNonNull(label, "the label is null");
        Objects.requireNonNull(description, "the description is null");
        Objects.requireNonNull(kind, "the kind is null");
        Objects.requireNonNull(unit, "the unit is null");
        attributes = Collections.unmodifiableMap(new LinkedHashMap<>(attributes));
    }
}
