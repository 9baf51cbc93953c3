package io.ringpoll.bench.idle;

import io.ringpoll.bench.measure.Estimate;
import io.ringpoll.bench.measure.Interval;
import io.ringpoll.pipeline.WaitMode;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures the CPU time of a poller with an empty queue, and the time from a post to the poll that finds its completion, for each
 * wait; then the round trips between twice as many pollers as the process has CPUs. The intervals are those of ten blocks of the
 * time, and of ten blocks of successive wake-ups.
 *
 * @param seconds idle time of each poller, and time of the round trips with each number of messages
 * @param wakeUps number of wake-ups of each
 */
public record IdleMeasurement(int seconds, int wakeUps) {
    private static final int BLOCKS = 10;
    private static final double PERCENT = 100;
    private static final double NS_PER_US = 1000;
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;
    private static final int FEWEST_PAIRS = 2;
    private static final int MANY_MESSAGES = 16;
    /** Without yield, which uses a core like busy-spin. */
    private static final List<WaitMode> WAITS = List.of(WaitMode.BUSY_SPIN, WaitMode.SLEEP, WaitMode.BLOCK);

    /**
     * Measures.
     *
     * @param out receives a line for each strategy
     * @throws InterruptedException if the calling thread is interrupted
     * @throws ConnectException     if an echo cannot connect
     */
    public void run(final PrintWriter out) throws InterruptedException, ConnectException {
        measureIdle(out);
        measureRoundTrips(out);
    }

    private void measureIdle(final PrintWriter out) throws InterruptedException {
        out.printf("%-14s %-24s %-26s %10s%n", "idle strategy", "% of a core (95 %)", "wake-up p50 us (95 %)", "p99 us");
        for (final WaitMode wait : WAITS) {
            try (IdleTrial trial = new IdleTrial(wait.newIdleStrategy())) {
                final Estimate share = meanPercent(trial.sharesOfCore(BLOCKS, TimeUnit.SECONDS.toNanos(seconds) / BLOCKS));
                final Histogram all = new Histogram(IdleTrial.MAX_NS, IdleTrial.DIGITS);
                final double[] medians = new double[Math.min(BLOCKS, wakeUps)];
                for (int i = 0; i < medians.length; i++) {
                    final Histogram block = trial.wakeUps(wakeUps / medians.length + (i < wakeUps % medians.length ? 1 : 0));
                    medians[i] = us(block, MEDIAN);
                    all.add(block);
                }
                final Estimate median = new Estimate(us(all, MEDIAN), Interval.ofMedian(medians));
                out.printf("%-14s %-24s %-26s %10.1f%n", wait.option(), share.text("%.2f"), median.text("%.1f"), us(all, TAIL));
                out.flush();
            }
        }
    }

    private void measureRoundTrips(final PrintWriter out) throws InterruptedException, ConnectException {
        final int cpus = Runtime.getRuntime().availableProcessors();
        final int pairs = Math.max(FEWEST_PAIRS, cpus);
        out.printf("%nround trips in a second between %d pollers on %d CPUs, by messages in flight of each of %d connections%n",
            2 * pairs, cpus, pairs);
        out.printf("%-14s %-34s %s%n", "idle strategy", "1 message (95 %)", MANY_MESSAGES + " messages (95 %)");
        for (final WaitMode wait : WaitMode.values()) {
            try (CrowdedEcho echo = new CrowdedEcho(wait, pairs)) {
                echo.add(1);
                final Estimate one = roundTrips(echo);
                echo.add(MANY_MESSAGES - 1);
                out.printf("%-14s %-34s %s%n", wait.option(), one.text("%.0f"), roundTrips(echo).text("%.0f"));
                out.flush();
            }
        }
    }

    private Estimate roundTrips(final CrowdedEcho echo) throws InterruptedException {
        return Estimate.ofMedian(echo.roundTrips(BLOCKS, TimeUnit.SECONDS.toNanos(seconds) / BLOCKS));
    }

    private static double us(final Histogram latencyNs, final double percentile) {
        return latencyNs.getValueAtPercentile(percentile) / NS_PER_US;
    }

    private static Estimate meanPercent(final double... shares) {
        final Interval interval = Interval.of(
            shares.length, draw -> PERCENT * Arrays.stream(draw).mapToDouble(i -> shares[i]).average().orElseThrow());
        return new Estimate(PERCENT * Arrays.stream(shares).average().orElseThrow(), interval);
    }
}
