package io.ringpoll.counters;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The counters of one pipeline, or of several, at one moment.
 *
 * <p>Immutable; any thread. The values are read one after the other while the pipeline continues, so that two of them may differ
 * by the completions in between.
 */
public final class Counters {
    /** The media type of {@link #writeOpenMetrics}, for the header {@code Content-Type}. */
    public static final String OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private final long takenNs;
    private final List<Counter> values;

    /**
     * Creates a snapshot.
     *
     * @param takenNs time on the clock of {@link System#nanoTime()}
     * @param values  in the order of display
     */
    public Counters(final long takenNs, final List<Counter> values) {
        this.takenNs = takenNs;
        this.values = List.copyOf(values);
    }

    /**
     * Combines snapshots.
     *
     * @param parts of pipelines with different names, or from different processes
     * @return the values of all, taken when the first was; empty without any
     */
    public static Counters of(final List<Counters> parts) {
        final List<Counter> all = new ArrayList<>();
        parts.forEach(part -> all.addAll(part.values));
        return new Counters(parts.isEmpty() ? System.nanoTime() : parts.getFirst().takenNs, all);
    }

    /**
     * The time of the snapshot, from which rates are computed.
     *
     * @return nanoseconds on the clock of {@link System#nanoTime()}
     */
    public long takenNs() {
        return takenNs;
    }

    /**
     * The counters in the order of display.
     *
     * @return always the same list
     */
    public List<Counter> values() {
        return values;
    }

    /**
     * Adds up the counters with a name, for instance those of all handlers.
     *
     * @param name as in {@link Counter#name()}
     * @return the sum
     * @throws IllegalArgumentException if no counter has the name
     */
    public long sum(final String name) {
        Objects.requireNonNull(name, "the name is null");
        if (values.stream().noneMatch(counter -> counter.name().equals(name))) {
            throw new IllegalArgumentException("no counter is named " + name);
        }
        return values.stream().filter(counter -> counter.name().equals(name)).mapToLong(Counter::value).sum();
    }

    /**
     * Writes the counters as OpenMetrics 1.0 text, which Prometheus reads. Names begin with {@code ringpoll_}, and times are in
     * seconds.
     *
     * @param output receives a complete text with its last line, {@code # EOF}; encode it in UTF-8
     * @throws IOException of the output
     */
    public void writeOpenMetrics(final Appendable output) throws IOException {
        Objects.requireNonNull(output, "the output is null");
        new OpenMetricsText(output).write(values);
    }

    /**
     * The counters as OpenMetrics 1.0 text.
     *
     * @return as {@link #writeOpenMetrics} writes it
     */
    public String toOpenMetrics() {
        final StringBuilder text = new StringBuilder();
        try {
            writeOpenMetrics(text);
        } catch (final IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return text.toString();
    }

    /** One line for each counter. */
    @Override
    public String toString() {
        final StringBuilder lines = new StringBuilder();
        values.forEach(counter -> lines.append(counter.label()).append(' ').append(counter.value()).append('\n'));
        return lines.toString();
    }
}
