package io.ringpoll.bench.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.Difference;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.pipeline.WaitMode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ChangeReportTest {
    private static final int ROUNDS = 15;
    private static final ChangeSettings SETTINGS =
        new ChangeSettings(0, 1, WaitMode.BUSY_SPIN, ChangeSettings.ANY_NODE, ROUNDS, 1000, 100_000);

    @Test
    void shouldShowOnlyTheDifferencesOfAChange() {
        // The change halves the lost time, and leaves the latencies as they are.
        final ChangeReport report = new ChangeReport(measured(1, 0.01, 1000), measured(2, 0.005, 1000), true);
        final List<ChangeReport.Figure> figures = report.figures();
        assertEquals(List.of("lost time of a CPU, us a second", "longest interruption in a window, us", "latency p50, us",
            "latency p99, us", "latency p99.9, us", "highest latency in a window, us"),
            figures.stream().map(ChangeReport.Figure::name).toList());
        assertEquals(List.of(Difference.LOWER, Difference.LOWER, Difference.NOT_SHOWN, Difference.NOT_SHOWN,
            Difference.NOT_SHOWN, Difference.NOT_SHOWN), figures.stream().map(ChangeReport.Figure::shown).toList());
        final ChangeReport.Figure lost = figures.getFirst();
        assertEquals(10_000, lost.before(), 1_500);
        assertEquals(5_000, lost.after(), 750);
        assertEquals(lost.after() - lost.before(), lost.difference().value(), 1_000);
    }

    @Test
    void shouldShowASlowDownOfATenthInTheLatencies() {
        final List<ChangeReport.Figure> figures =
            new ChangeReport(measured(1, 0.01, 1000), measured(2, 0.01, 1100), false).figures();
        assertEquals(Difference.HIGHER, figures.get(2).shown(), figures.get(2).toString());
        assertEquals(0.1, figures.get(2).difference().value(), 0.02);
        assertEquals(Difference.NOT_SHOWN, figures.getFirst().shown());
    }

    @Test
    void shouldShowNoDifferenceInAboutNineteenOfTwentyComparisonsOfEquals() {
        int shown = 0;
        int all = 0;
        for (int seed = 0; seed < 60; seed++) {
            for (final ChangeReport.Figure figure :
                new ChangeReport(measured(2 * seed, 0.01, 1000), measured(2 * seed + 1, 0.01, 1000), false).figures()) {
                shown += figure.shown() == Difference.NOT_SHOWN ? 0 : 1;
                all++;
            }
        }
        assertTrue(shown < 0.1 * all, shown + " of " + all);
    }

    @Test
    void shouldCompareCpusWithoutAnyInterruption() {
        final ChangeReport report = new ChangeReport(measured(1, 0, 1000), measured(2, 0, 1000), true);
        assertEquals(Difference.NOT_SHOWN, report.figures().getFirst().shown());
        assertEquals(0, report.figures().getFirst().difference().value());
        assertEquals(Difference.LOWER,
            new ChangeReport(measured(1, 0.01, 1000), measured(2, 0, 1000), true).figures().getFirst().shown());
    }

    @Test
    void shouldLeaveOutPairsWithoutAllLatencies() {
        final ChangeMeasurement before = measured(1, 0.01, 1000);
        final List<ChangeRound> rounds = new ArrayList<>(measured(2, 0.01, 1000).rounds());
        final ChangeRound first = rounds.getFirst();
        rounds.set(0, new ChangeRound(first.cpus(), first.latencyNs(), "incomplete"));
        final ChangeReport report = new ChangeReport(before, new ChangeMeasurement(SETTINGS, before.environment(), rounds), true);
        assertTrue(printed(report).contains("left out: 1 of 15 pairs of rounds"), printed(report));
        final ChangeReport none = new ChangeReport(before, new ChangeMeasurement(SETTINGS, before.environment(),
            rounds.stream().map(round -> new ChangeRound(round.cpus(), round.latencyNs(), "incomplete")).toList()), true);
        assertEquals(List.of(), none.figures());
        assertTrue(printed(none).contains("an interval needs " + Interval.FEWEST_RUNS + " pairs"), printed(none));
    }

    @Test
    void shouldNameTheChangedSettingsOfTheMachine() {
        final ChangeMeasurement before = measured(1, 0.01, 1000);
        final ObjectNode state = environment();
        state.withObject("/machine").put("governor", "performance").put("loadAverage", "9.0");
        state.withObject("/doctor").put("governor", "ok");
        final ChangeReport report =
            new ChangeReport(before, new ChangeMeasurement(SETTINGS, new ChangeEnvironment(state), before.rounds()), false);
        final String text = printed(report);
        assertEquals(List.of("changed: doctor.governor: warning -> ok", "changed: machine.governor: powersave -> performance"),
            text.lines().filter(line -> line.startsWith("changed")).toList());
        assertTrue(text.contains("the rounds did not alternate"), text);
        assertTrue(printed(new ChangeReport(before, before, true)).contains("no recorded setting of the machine"), text);
    }

    @Test
    void shouldPrintTheSameFiguresAsJson() throws Exception {
        final ChangeReport report = new ChangeReport(measured(1, 0.01, 1000), measured(2, 0.005, 1000), true);
        final var json = new ObjectMapper().readTree(report.toJson());
        assertEquals(6, json.path("figures").size());
        assertEquals("lower", json.path("figures").path(0).path("shown").asText());
        assertTrue(json.path("figures").path(0).path("high").asDouble() < 0);
        assertEquals(ROUNDS, json.path("pairs").asInt());
    }

    @Test
    void shouldReadAMeasurementAsItWasWritten() {
        final ChangeMeasurement written = measured(1, 0.01, 1000);
        final ChangeMeasurement read = ChangeMeasurement.parse(written.toJson());
        assertEquals(written.settings(), read.settings());
        assertEquals(written.environment(), read.environment());
        assertEquals(new ChangeReport(written, written, true).figures(), new ChangeReport(read, written, true).figures());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "{}", "[]", "null", "{\"format\": \"ringpoll tune verify 1\"}",
        "{\"format\": \"ringpoll tune verify 1\", \"environment\": {}}", "{\"format\": \"ringpoll tune verify 2\"}"})
    void shouldRefuseAnotherFileInOneLine(final String text) {
        final String message = assertThrows(IllegalArgumentException.class, () -> ChangeMeasurement.parse(text)).getMessage();
        assertTrue(message.startsWith("is ") && message.lines().count() == 1, message);
    }

    @Test
    void shouldRefuseADamagedRound() {
        final String whole = measured(1, 0.01, 1000).toJson();
        for (final String damaged : List.of(whole.replaceFirst("\"latencyNs\" : \"....", "\"latencyNs\" : \"AAAA"),
            whole.replaceFirst("\"latencyNs\" : \"[^\"]*", "\"latencyNs\" : \""),
            whole.replaceFirst("\"share\" : 0", "\"share\" : 7"),
            whole.replaceFirst("\"rounds\" : 15", "\"rounds\" : 14"), whole.replaceFirst("busy-spin", "dance"))) {
            final String message =
                assertThrows(IllegalArgumentException.class, () -> ChangeMeasurement.parse(damaged)).getMessage();
            assertTrue(message.startsWith("is damaged: "), message);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "1, 1, BUSY_SPIN, -1, 15, 1000, 100000 | on CPUs 0,1, not 1,1 (--pin)",
        "0, 1, YIELD, -1, 15, 1000, 100000 | with busy-spin, not yield (--wait)",
        "0, 1, BUSY_SPIN, 0, 15, 1000, 100000 | with memory of any node, not of node 0 (--numa-node)",
        "0, 1, BUSY_SPIN, -1, 16, 1000, 100000 | with 15 rounds, not 16 (--rounds)",
        "0, 1, BUSY_SPIN, -1, 15, 10, 100000 | in windows of 1000 ms, not 10 (--window)",
        "0, 1, BUSY_SPIN, -1, 15, 1000, 7 | at 100000 completions a second, not 7 (--rate)"})
    void shouldRefuseAComparisonOfDifferentSettings(final String other, final String reason) {
        final String[] words = other.strip().split(", ");
        final ChangeSettings settings = new ChangeSettings(Integer.parseInt(words[0]), Integer.parseInt(words[1]),
            WaitMode.valueOf(words[2]), Integer.parseInt(words[3]), Integer.parseInt(words[4]), Integer.parseInt(words[5]),
            Long.parseLong(words[6]));
        final ChangeMeasurement before = measured(1, 0.01, 1000);
        assertEquals("was measured " + reason.strip(), before.incomparableWith(settings, before.environment()).orElseThrow());
        assertTrue(before.incomparableWith(SETTINGS, before.environment()).isEmpty());
    }

    @Test
    void shouldRefuseAComparisonWithAnotherProcessorOrBuild() {
        final ChangeMeasurement before = measured(1, 0.01, 1000);
        final ObjectNode otherCpu = environment();
        otherCpu.withObject("/machine").put("cpu", "B");
        assertEquals("was measured on the processor A, not B", refusal(before, otherCpu));
        final ObjectNode otherBuild = environment();
        otherBuild.withObject("/ringpoll").put("commit", "2");
        assertEquals("was measured by ringpoll, commit 1, not 2", refusal(before, otherBuild));
        assertEquals("was measured with the shortest gap, in ns, 1000, not 2000",
            refusal(before, environment().put("floorNs", 2000)));
        // The kernel and the JVM may be the change.
        final ObjectNode otherKernel = environment();
        otherKernel.withObject("/machine").put("kernel", "7.0");
        assertTrue(before.incomparableWith(SETTINGS, new ChangeEnvironment(otherKernel)).isEmpty());
    }

    private static String refusal(final ChangeMeasurement before, final ObjectNode state) {
        return before.incomparableWith(SETTINGS, new ChangeEnvironment(state)).orElseThrow();
    }

    private static String printed(final ChangeReport report) {
        final StringWriter out = new StringWriter();
        report.print(new PrintWriter(out, true));
        return out.toString();
    }

    private static ObjectNode environment() {
        final ObjectNode root = JsonNodeFactory.instance.objectNode().put("floorNs", 1000).put("time", "now");
        root.putObject("machine").put("cpu", "A").put("governor", "powersave").put("loadAverage", "0.1");
        root.putObject("doctor").put("governor", "warning");
        root.putObject("ringpoll").put("version", "0").put("commit", "1");
        return root;
    }

    /** Random rounds around a lost share and a latency. */
    private static ChangeMeasurement measured(final long seed, final double share, final long latencyNs) {
        final SplittableRandom random = new SplittableRandom(seed);
        return new ChangeMeasurement(SETTINGS, new ChangeEnvironment(environment()),
            Stream.generate(() -> round(random, share, latencyNs)).limit(ROUNDS).toList());
    }

    private static ChangeRound round(final SplittableRandom random, final double share, final long latencyNs) {
        final Histogram latencies = new Histogram(3);
        for (int i = 0; i < 3_000; i++) {
            latencies.recordValue((long) (latencyNs * (1 + 0.05 * random.nextExponential())));
        }
        return new ChangeRound(List.of(lost(0, random, share), lost(1, random, share)), latencies, "");
    }

    private static ChangeRound.LostTime lost(final int cpu, final SplittableRandom random, final double share) {
        return new ChangeRound.LostTime(cpu, share * (0.9 + 0.2 * random.nextDouble()),
            (long) (1e8 * share * (0.9 + 0.2 * random.nextDouble())));
    }
}
