package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashSet;
import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class GoalTest {
    private static final double[] C_NS = {4, 4, 4, 4, 4, 4, 4, 4};

    @ParameterizedTest
    @CsvSource({"0.98, 1.02, met", "0.98, 1.03, met", "1.02, 1.04, not shown", "1.03, 1.04, not shown", "1.031, 1.04, missed",
        "-Infinity, Infinity, not shown"})
    void shouldLetTheWholeIntervalDecide(final double low, final double high, final String verdict) {
        assertEquals(verdict, Verdict.of(new Interval(low, high), 1.03).toString());
    }

    @Test
    void shouldJudgeTheRatioOfTheResultThatItIsAbout() {
        final BenchResult near = result("post/write/64-bytes", "c", 4.04);
        final Goal goal = Goals.of(near).orElseThrow();
        assertEquals("<= 1.03", goal.bound());
        assertEquals("1.010 (1.010 to 1.010)", goal.figureText(near));
        assertEquals(Verdict.MET, goal.verdict(near));
        assertEquals(Verdict.MISSED, goal.verdict(result("post/write/64-bytes", "c", 4.2)));
        assertTrue(Goals.of(result("post/write/64-bytes", "other", 4)).isEmpty());
        assertTrue(Goals.of(result("post/write/65-bytes", "c", 4)).isEmpty());
    }

    @Test
    void shouldJudgeTheNanosecondsAboveTheBaseline() {
        // The ratio is 1.1, for which no other goal allows so much.
        final BenchResult near = result("poll/empty/librpma", "c", 4.4);
        final Goal goal = Goals.of(near).orElseThrow();
        assertEquals("<= +0.50 ns", goal.bound());
        assertEquals("+0.40 (+0.40 to +0.40) ns", goal.figureText(near));
        assertEquals(Verdict.MET, goal.verdict(near));
        assertEquals(Verdict.MISSED, goal.verdict(result("poll/empty/librpma", "c", 4.6)));
    }

    @Test
    void shouldAllowNoByteWhereNothingIsToBeAllocated() {
        final BenchResult nothing = BenchResult.ofBytes("throughput/1-handlers/allocated-per-million", new double[8]);
        final Goal goal = Goals.of(nothing).orElseThrow();
        assertEquals("<= 0 B", goal.bound());
        assertEquals("0.0 (0.0 to 0.0) B", goal.figureText(nothing));
        assertEquals(Verdict.MET, goal.verdict(nothing));
        assertEquals("-", nothing.ratioText());
        final BenchResult little = BenchResult.ofBytes(nothing.name(), DoubleStream.generate(() -> 0.001).limit(8).toArray());
        assertEquals(Verdict.MISSED, goal.verdict(little));
        // One run may be the JVM's own doing, when it compiles, or a rare allocation of ours.
        final BenchResult once = BenchResult.ofBytes(nothing.name(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1);
        assertEquals(Verdict.NOT_SHOWN, goal.verdict(once));
        assertEquals("0.0 (0.0 to 0.1) B", goal.figureText(once));
        assertEquals(Verdict.NOT_SHOWN, goal.verdict(BenchResult.ofBytes(nothing.name(), 0, 0, 0)));
    }

    @Test
    void shouldTakeTheExcessRunByRun() {
        // The machine was slower in half of the runs, for both.
        final BenchResult result = BenchResult.ofCosts("name", new double[] {5, 9, 5, 9, 5, 9, 5, 9},
            new double[] {4, 8, 4, 8, 4, 8, 4, 8}, "c");
        assertEquals(new Estimate(1, new Interval(1, 1)), result.excess());
    }

    @Test
    void shouldNotJudgeFewerRunsThanAnIntervalNeeds() {
        final BenchResult few = BenchResult.ofCosts("post/write/64-bytes", new double[] {1, 1, 1}, new double[] {4, 4, 4}, "c");
        assertEquals(Verdict.NOT_SHOWN, Goals.of(few).orElseThrow().verdict(few));
        final String text = printed(List.of(few, result("throughput/1-handlers/close", "c", 4)));
        assertTrue(text.endsWith("\nno verdict on 1 figures: they have fewer than 6 runs; 'bench --full' or "
            + "'replicate --rounds 6' gives one\n"), text);
    }

    @Test
    void shouldPrintOneVerdictInEachRowAndCountThem() {
        final String text = printed(List.of(result("throughput/1-handlers", "c", 9),
            result("throughput/1-handlers/close", "plain-disruptor", 1), result("throughput/1-handlers/trailing", "c", 5),
            result("throughput/1-handlers/close", "c", 4)));
        assertEquals(List.of("throughput/1-handlers/close c 1.000 (1.000 to 1.000) <= 1.03 met",
            "throughput/1-handlers/trailing c 1.250 (1.250 to 1.250) <= 1.03 missed",
            "throughput/1-handlers/close plain-disruptor 0.250 (0.250 to 0.250) <= 0.50 met"),
            text.lines().filter(line -> line.startsWith("throughput")).map(line -> line.replaceAll(" +", " ")).toList());
        assertTrue(text.contains("2 met, 1 missed, 0 not shown: "), text);
        assertFalse(text.contains("no verdict"), text);
    }

    @Test
    void shouldPrintNothingWhereNoResultHasAGoal() {
        assertEquals("", printed(List.of(result("flyweight/path", "heap-object", 4))));
    }

    @Test
    void shouldStateEachGoalOnce() {
        final HashSet<String> seen = new HashSet<>();
        for (final Goal goal : Goals.all()) {
            assertTrue(seen.add(goal.result() + " beside " + goal.baseline()), goal.toString());
        }
    }

    @Test
    void shouldAddTheVerdictToTheResultInJson() {
        final ObjectNode root = JsonText.document(List.of(result("post/write/64-bytes", "c", 4), result("other", "c", 4)));
        assertEquals("<= 1.03", root.path("results").path(0).path("goal").asText());
        assertEquals("met", root.path("results").path(0).path("verdict").asText());
        assertTrue(root.path("results").path(1).path("verdict").isMissingNode());
    }

    private static BenchResult result(final String name, final String baseline, final double oursNs) {
        return BenchResult.ofCosts(name, DoubleStream.generate(() -> oursNs).limit(C_NS.length).toArray(), C_NS, baseline);
    }

    private static String printed(final List<BenchResult> results) {
        final StringWriter out = new StringWriter();
        Goals.print(results, new PrintWriter(out, true));
        return out.toString();
    }
}
