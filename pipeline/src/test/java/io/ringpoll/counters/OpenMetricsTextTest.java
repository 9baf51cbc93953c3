package io.ringpoll.counters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.counters.Counter.Kind;
import io.ringpoll.testing.OpenMetricsParser;
import io.ringpoll.testing.OpenMetricsParser.Family;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The text as a strict reader sees it, and texts that the reader must refuse. */
@Timeout(60)
class OpenMetricsTextTest {
    private static final Map<String, String> NONE = Map.of();

    private static Counter counter(final String name, final Map<String, String> attributes, final Kind kind, final String unit,
        final long value) {
        return new Counter(name, attributes, "label", "a \"description\" with \\ and\na line feed", kind, unit, value);
    }

    private static String text(final Counter... counters) {
        return new Counters(0, List.of(counters)).toOpenMetrics();
    }

    @Test
    void shouldWriteTypeUnitHelpSamplesAndEnd() {
        final Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("pipeline", "orders");
        attributes.put("poller", "p");
        final String expected = """
            # TYPE ringpoll_polls counter
            # HELP ringpoll_polls polls
            ringpoll_polls_total{pipeline="orders",poller="p"} 7
            # TYPE ringpoll_ring_full_seconds counter
            # UNIT ringpoll_ring_full_seconds seconds
            # HELP ringpoll_ring_full_seconds time
            ringpoll_ring_full_seconds_total{pipeline="orders",poller="p"} 1.500000001
            # TYPE ringpoll_ring_size_slots gauge
            # UNIT ringpoll_ring_size_slots slots
            # HELP ringpoll_ring_size_slots size
            ringpoll_ring_size_slots 8192
            # EOF
            """;
        assertEquals(expected, text(new Counter("polls", attributes, "p: polls", "polls", Kind.COUNTER, "", 7),
            new Counter("ring_full_nanoseconds", attributes, "", "time", Kind.COUNTER, "nanoseconds", 1_500_000_001L),
            new Counter("ring_size_slots", NONE, "", "size", Kind.GAUGE, "slots", 8192)));
    }

    @Test
    void shouldWriteOnlyTheEndWithoutCounters() {
        assertEquals("# EOF\n", text());
        assertEquals(Map.of(), OpenMetricsParser.parse(text()));
    }

    @Test
    void shouldKeepTheSamplesOfAFamilyTogether() {
        final List<Counter> mixed = new ArrayList<>();
        for (final String pipeline : List.of("one", "two", "three")) {
            mixed.add(counter("polls", Map.of("pipeline", pipeline), Kind.COUNTER, "", pipeline.length()));
            mixed.add(counter("queues", Map.of("pipeline", pipeline), Kind.GAUGE, "", -1));
        }
        final Map<String, Family> families = OpenMetricsParser.parse(new Counters(0, mixed).toOpenMetrics());
        assertEquals(List.of("ringpoll_polls", "ringpoll_queues"), List.copyOf(families.keySet()));
        assertEquals(BigDecimal.valueOf(5), families.get("ringpoll_polls").value("pipeline", "three"));
        assertEquals(BigDecimal.valueOf(-1), families.get("ringpoll_queues").value("pipeline", "one"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"", "\\", "\n", "a\"b\\c\nd", "\\n", "{pipeline=\"x\"}", " ", "", "Größe \uD83D\uDE80",
        "a,b=\"c\""})
    void shouldEscapeLabelsAndDescriptions(final String name) {
        final Map<String, Family> families =
            OpenMetricsParser.parse(text(counter("polls", Map.of("pipeline", name), Kind.COUNTER, "", 3)));
        assertEquals(BigDecimal.valueOf(3), families.get("ringpoll_polls").value("pipeline", name));
        assertEquals("a \\\"description\\\" with \\\\ and\\na line feed", families.get("ringpoll_polls").help());
    }

    @Test
    void shouldNumberSamplesWithTheSameLabels() {
        final Counter same = counter("polls", Map.of("pipeline", "x"), Kind.COUNTER, "", 1);
        final Family polls = OpenMetricsParser.parse(text(same, same, same)).get("ringpoll_polls");
        assertEquals(3, polls.samples().size());
        assertEquals(BigDecimal.ONE, polls.value("number", "3"));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 999_999_999, 1_000_000_000, 60_000_000_000L, Long.MAX_VALUE})
    void shouldWriteTimesInSecondsWithoutRounding(final long nanoseconds) {
        final Family time =
            OpenMetricsParser.parse(text(counter("x_nanoseconds", Map.of("a", "b"), Kind.GAUGE, "nanoseconds", nanoseconds)))
                .get("ringpoll_x_seconds");
        assertEquals("seconds", time.unit());
        assertEquals(nanoseconds, time.value("a", "b").movePointRight(9).longValueExact());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "a 1\n# EOF\n", "# TYPE a gauge\n# HELP a x\na 1\n", "# TYPE a gauge\n# HELP a x\na 1\n# EOF\n\n",
        "# TYPE a counter\n# HELP a x\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a x\na_total 1\n# EOF\n",
        "# TYPE a counter\n# HELP a x\na_total -1\n# EOF\n", "# TYPE a gauge\n# UNIT a seconds\n# HELP a x\na 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a x\n\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a x\na{b=\"c} 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a x\na{b=\"c\",} 1\n# EOF\n", "# TYPE a gauge\n# HELP a x\na{b=\"\\t\"} 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a x\na 1\na 2\n# EOF\n", "# TYPE a gauge\n# HELP a x\na 1,5\n# EOF\n",
        "# TYPE a gauge\n# HELP a \"x\"\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a x\n# EOF\n", "# HELP a x\na 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a x\na 1\n# TYPE b gauge\n# HELP b x\nb 1\n# TYPE a gauge\n# EOF\n"})
    void shouldBeReadByAParserThatRefusesInvalidText(final String invalid) {
        assertThrows(AssertionError.class, () -> OpenMetricsParser.parse(invalid));
    }
}
