package io.ringpoll.testing;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A strict reader of OpenMetrics 1.0 text for the types counter and gauge, after the grammar and the rules of the specification.
 * Refuses everything else.
 *
 * @see <a href="https://prometheus.io/docs/specs/om/open_metrics_spec/">OpenMetrics 1.0</a>
 */
public final class OpenMetricsParser {
    private static final Pattern METADATA = Pattern.compile("# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)");
    private static final Pattern SAMPLE =
        Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)\\})? (-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\"n\\\\])*)\"(,|$)");
    private static final Pattern HELP = Pattern.compile("(?:[^\"\\\\\n]|\\\\[\"n\\\\])*");

    private final Map<String, Family> families = new LinkedHashMap<>();
    private Family current;

    /** A metric family. */
    public static final class Family {
        private final String name;
        private final Map<String, String> metadata = new HashMap<>();
        private final Map<Map<String, String>, BigDecimal> samples = new LinkedHashMap<>();

        private Family(final String name) {
            this.name = name;
        }

        /** {@code counter} or {@code gauge}. */
        public String type() {
            return metadata.get("TYPE");
        }

        /** Empty if it has none. */
        public String unit() {
            return metadata.getOrDefault("UNIT", "");
        }

        /** The description. */
        public String help() {
            return metadata.get("HELP");
        }

        /** The values by their labels. */
        public Map<Map<String, String>, BigDecimal> samples() {
            return samples;
        }

        /** The value of the only sample with a label. */
        public BigDecimal value(final String label, final String value) {
            final List<BigDecimal> found = new ArrayList<>();
            samples.forEach((labels, sample) -> {
                if (value.equals(labels.get(label))) {
                    found.add(sample);
                }
            });
            require(found.size() == 1, found.size() + " samples of " + name + " with " + label + "=" + value);
            return found.getFirst();
        }
    }

    private OpenMetricsParser() {
    }

    /** Reads a text, and throws an {@link AssertionError} with the offending line unless it is valid. */
    public static Map<String, Family> parse(final String text) {
        require(text.endsWith("\n# EOF\n") || text.equals("# EOF\n"), "no # EOF at the end");
        require(!text.contains("\r"), "a carriage return");
        final OpenMetricsParser parser = new OpenMetricsParser();
        final String[] lines = text.substring(0, text.length() - "# EOF\n".length()).split("\n", -1);
        for (int i = 0; i < lines.length - 1; i++) {
            parser.readLine(lines[i]);
        }
        parser.families.values().forEach(OpenMetricsParser::check);
        return parser.families;
    }

    private void readLine(final String line) {
        final Matcher metadata = METADATA.matcher(line);
        if (metadata.matches()) {
            final Family family = family(metadata.group(2));
            require(family.samples.isEmpty(), "metadata after samples: " + line);
            final String value = metadata.group(3);
            require(family.metadata.put(metadata.group(1), value) == null, "twice: " + line);
            switch (metadata.group(1)) {
                case "TYPE" -> require(Set.of("counter", "gauge").contains(value), "type of " + line);
                case "UNIT" -> require(family.name.endsWith("_" + value) && !value.isEmpty(), "the name lacks the unit: " + line);
                default -> require(HELP.matcher(value).matches(), "an unescaped character: " + line);
            }
            return;
        }
        final Matcher sample = SAMPLE.matcher(line);
        require(sample.matches(), "neither metadata nor sample: " + line);
        require(current != null, "a sample without a family: " + line);
        final String suffix = "counter".equals(current.type()) ? "_total" : "";
        require(sample.group(1).equals(current.name + suffix), "the name of a sample of " + current.name + ": " + line);
        final BigDecimal value = new BigDecimal(sample.group(3));
        require(suffix.isEmpty() || value.signum() >= 0, "a negative counter: " + line);
        final Map<String, String> labels = sample.group(2) == null ? Map.of() : labels(sample.group(2));
        require(current.samples.put(labels, value) == null, "a sample of the same labels: " + line);
    }

    /** The family of a metadata line: the current one, or a new one that was not there before. */
    private Family family(final String name) {
        if (current == null || !current.name.equals(name)) {
            require(!families.containsKey(name), "lines of family " + name + " are not together");
            current = new Family(name);
            families.put(name, current);
        }
        return current;
    }

    private static Map<String, String> labels(final String text) {
        final Map<String, String> labels = new LinkedHashMap<>();
        final Matcher label = LABEL.matcher(text);
        int end = 0;
        while (end < text.length()) {
            require(label.find(end) && label.start() == end, "labels {" + text + "} at " + end);
            require(!label.group(1).startsWith("__"), "a reserved label: " + text);
            require(labels.put(label.group(1), unescaped(label.group(2))) == null, "a label twice: " + text);
            require(label.group(3).isEmpty() == (label.end() == text.length()), "a comma at the end: " + text);
            end = label.end();
        }
        return labels;
    }

    private static String unescaped(final String text) {
        final StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char next = text.charAt(i);
            if (next == '\\') {
                next = text.charAt(++i);
                next = next == 'n' ? '\n' : next;
            }
            plain.append(next);
        }
        return plain.toString();
    }

    private static void check(final Family family) {
        require(family.type() != null, family.name + " has no type");
        require(family.help() != null && !family.help().isBlank(), family.name + " has no help");
        require(!family.samples.isEmpty(), family.name + " has no samples");
    }

    private static void require(final boolean holds, final String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
