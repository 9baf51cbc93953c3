package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SoakReportTest {
    private static final int SAMPLES = 40;
    private static final double INTERVAL_SECONDS = 15;
    private static final long RESIDENT = 360L << 20;
    private static final long IN_USE = 13L << 20;

    private final SplittableRandom random = new SplittableRandom(1);

    @Test
    void shouldFindARunConstantThatSettlesAndIsDisturbedNowAndThen() {
        final SoakReport report = report(i -> sample(
            i, RESIDENT - ((long) 30 << 20) / (i + 1) + noise(200_000), IN_USE + noise(1_000_000), 0,
            i % 3 == 0 ? 400_000 : 40_000));
        assertEquals("", notConstant(report));
        assertTrue(report.isSound());
    }

    @Test
    void shouldFindMemoryThatGrowsByALittleForEachConnection() {
        // 500 connections in an interval.
        final long perInterval = 125 * 500;
        assertEquals("resident MiB", notConstant(report(
            i -> sample(i, RESIDENT + i * perInterval + noise(50_000), IN_USE, 0, 40_000))));
        assertEquals("C heap in use MiB", notConstant(report(
            i -> sample(i, RESIDENT, IN_USE + i * perInterval + noise(200_000), 0, 40_000))));
    }

    @Test
    void shouldFindAllocationAndLatencyThatGrow() {
        assertEquals("bytes allocated per million completions", notConstant(report(
            i -> sample(i, RESIDENT, IN_USE, 20_000, 40_000))));
        assertEquals("p50 us", notConstant(report(i -> sample(i, RESIDENT, IN_USE, 0, 40_000 + i * 8_000))));
    }

    @Test
    void shouldNotJudgeARunThatIsTooShort() {
        final SoakReport report = new SoakReport(IntStream.range(0, 6)
            .mapToObj(i -> sample(i, RESIDENT << i, IN_USE, 0, 40_000)).toList());
        assertFalse(report.isLongEnough());
        assertTrue(report.isSound());
    }

    @Test
    void shouldTakeTheSlopeThatMostSamplesAgreeOn() {
        assertEquals(2, Trend.slope(new double[] {0, 1, 2, 3, 4}, new double[] {1, 3, 900, 7, 9}), 1e-9);
        assertEquals(0, Trend.slope(new double[] {1}, new double[] {1}));
    }

    private static String notConstant(final SoakReport report) {
        return report.verdicts().stream().filter(verdict -> !verdict.isConstant()).map(SoakReport.Verdict::what)
            .collect(Collectors.joining(","));
    }

    private static SoakReport report(final IntFunction<Soak.Sample> samples) {
        return new SoakReport(List.copyOf(IntStream.range(0, SAMPLES).mapToObj(samples).toList()));
    }

    private static Soak.Sample sample(
        final int number, final long residentBytes, final long mallocBytes, final long allocatedBytes, final long p50Ns) {
        return new Soak.Sample((number + 1) * INTERVAL_SECONDS, 10_000_000, residentBytes, mallocBytes, 20 << 20, allocatedBytes,
            p50Ns, 10 * p50Ns, 100 * p50Ns);
    }

    private long noise(final int most) {
        return random.nextLong(most) - most / 2;
    }
}
