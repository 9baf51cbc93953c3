package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BenchResultTest {
    private static final double EXACT = 1e-9;

    @Test
    void shouldTakeTheMedianOfTheRatiosRunByRun() {
        // The machine was twice as slow in the second run: each ratio is that of its own run.
        final BenchResult result =
            BenchResult.ofCosts("name", new double[] {11, 22, 12}, new double[] {10, 20, 10}, "c");
        assertEquals(1.1, result.ratio(), EXACT);
        assertEquals(12, result.ringpoll(), EXACT);
        assertEquals(10, result.baseline(), EXACT);
        assertEquals(3, result.runs());
        assertEquals(0.05, result.spread(), EXACT);
    }

    @Test
    void shouldRefuseRunsThatWereNotMadeSideBySide() {
        assertThrows(IllegalArgumentException.class,
            () -> BenchResult.ofCosts("name", new double[] {1, 2}, new double[] {1}, "c"));
        assertThrows(IllegalArgumentException.class,
            () -> BenchResult.ofCosts("name", new double[0], new double[0], "c"));
    }

    @Test
    void shouldShowADifferenceOnlyIfTheIntervalOfTheRatioExcludesOne() {
        final double[] base = {10, 10, 10, 10, 10, 10, 10, 10};
        assertEquals(Difference.HIGHER, compared(base, 11, 11.2, 10.9, 11.1, 11.3, 10.8, 11, 11.1).difference());
        assertEquals(Difference.LOWER, compared(base, 9, 9.2, 8.9, 9.1, 9.3, 8.8, 9, 9.1).difference());
        assertEquals(Difference.NOT_SHOWN, compared(base, 11, 9.2, 10.9, 9.1, 11.3, 8.8, 11, 9.1).difference());
        assertEquals("1.105 (1.040 to 1.120)", compared(base, 11, 11.2, 10.4, 11.1, 11.2, 10.4, 11, 11.1).ratioText());
    }

    @Test
    void shouldNotJudgeFewerThanSixRuns() {
        final BenchResult result = compared(new double[] {10, 10, 10, 10, 10}, 20, 20, 20, 20, 20);
        assertEquals(Difference.TOO_FEW_RUNS, result.difference());
        assertEquals("2.000", result.ratioText());
    }

    @Test
    void shouldFindMedianAndQuartiles() {
        final Spread spread = Spread.of(5, 1, 4, 2, 3);
        assertEquals(3, spread.median(), EXACT);
        assertEquals(2, spread.lowerQuartile(), EXACT);
        assertEquals(4, spread.upperQuartile(), EXACT);
        assertEquals(2, spread.width(), EXACT);
        assertEquals(1.5, Spread.of(1, 2).median(), EXACT);
    }

    private static BenchResult compared(final double[] baseline, final double... ours) {
        return BenchResult.ofCosts("name", ours, baseline, "c");
    }
}
