package io.ringpoll.counters;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes counters as OpenMetrics 1.0 text: a metric family for each name, with its type, unit and help, then a sample for each
 * counter. Used once, by one thread.
 *
 * @see <a href="https://prometheus.io/docs/specs/om/open_metrics_spec/">OpenMetrics 1.0</a>
 */
final class OpenMetricsText {
    private static final String PREFIX = "ringpoll_";
    private static final String NANOSECONDS = "nanoseconds";
    private static final int NANOSECOND_DIGITS = 9;

    private final Appendable output;

    OpenMetricsText(final Appendable output) {
        this.output = output;
    }

    void write(final List<Counter> counters) throws IOException {
        final Map<String, List<Counter>> families = new LinkedHashMap<>();
        counters.forEach(counter -> families.computeIfAbsent(counter.name(), name -> new ArrayList<>()).add(counter));
        for (final List<Counter> family : families.values()) {
            writeFamily(family);
        }
        output.append("# EOF\n");
    }

    private void writeFamily(final List<Counter> family) throws IOException {
        final Counter first = family.getFirst();
        final boolean counts = first.kind() == Counter.Kind.COUNTER;
        // The specification asks for base units.
        final boolean isTime = first.unit().equals(NANOSECONDS);
        final String unit = isTime ? "seconds" : first.unit();
        final String name = PREFIX + (isTime ? first.name().replaceFirst(NANOSECONDS + "$", unit) : first.name());
        output.append("# TYPE ").append(name).append(counts ? " counter\n" : " gauge\n");
        if (!unit.isEmpty()) {
            output.append("# UNIT ").append(name).append(' ').append(unit).append('\n');
        }
        output.append("# HELP ").append(name).append(' ').append(escaped(first.description())).append('\n');
        final Map<String, Integer> seen = new HashMap<>();
        for (final Counter counter : family) {
            String labels = labels(counter.attributes());
            final int number = seen.merge(labels, 1, Integer::sum);
            if (number > 1) {
                // Long names are cut: a sample of the same name and labels would make the text invalid.
                labels += (labels.isEmpty() ? "" : ",") + "number=\"" + number + '"';
            }
            output.append(name).append(counts ? "_total" : "");
            if (!labels.isEmpty()) {
                output.append('{').append(labels).append('}');
            }
            output.append(' ').append(isTime ? seconds(counter.value()) : Long.toString(counter.value())).append('\n');
        }
    }

    private static String labels(final Map<String, String> attributes) {
        final StringBuilder labels = new StringBuilder();
        attributes.forEach((name, value) ->
            labels.append(labels.isEmpty() ? "" : ",").append(name).append("=\"").append(escaped(value)).append('"'));
        return labels.toString();
    }

    private static String seconds(final long nanoseconds) {
        final BigDecimal seconds = BigDecimal.valueOf(nanoseconds, NANOSECOND_DIGITS).stripTrailingZeros();
        return seconds.toPlainString();
    }

    private static String escaped(final String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
