package io.ringpoll.bench.idle;

import io.ringpoll.pipeline.WaitMode;
import java.io.PrintWriter;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Measures the CPU time of a poller with an empty queue, and the time from a post to the poll that finds its completion, for each
 * wait.
 *
 * @param seconds idle time of each poller
 * @param wakeUps number of wake-ups of each
 */
public record IdleMeasurement(int seconds, int wakeUps) {
    private static final double PERCENT = 100;
    private static final double NS_PER_US = 1000;
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;
    /** Without yield, which uses a core like busy-spin. */
    private static final List<WaitMode> WAITS = List.of(WaitMode.BUSY_SPIN, WaitMode.SLEEP, WaitMode.BLOCK);

    /**
     * Measures.
     *
     * @param out receives a line for each strategy
     * @throws InterruptedException if the calling thread is interrupted
     */
    public void run(final PrintWriter out) throws InterruptedException {
        out.printf("%-14s %16s %14s %14s%n", "idle strategy", "% of a core", "wake-up p50", "p99 us");
        for (final WaitMode wait : WAITS) {
            try (IdleTrial trial = new IdleTrial(wait.newIdleStrategy())) {
                final double share = trial.shareOfCore(seconds);
                final Histogram latency = trial.wakeUps(wakeUps);
                out.printf("%-14s %16.2f %14.1f %14.1f%n", wait.option(), share * PERCENT,
                    latency.getValueAtPercentile(MEDIAN) / NS_PER_US, latency.getValueAtPercentile(TAIL) / NS_PER_US);
                out.flush();
            }
        }
    }
}
