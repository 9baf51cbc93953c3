package io.ringpoll.bench.idle;

import java.io.PrintWriter;
import org.HdrHistogram.Histogram;

/**
 * The processor time that a poller uses while its queue is empty, and the time from a post to the poll that finds its completion,
 * for each idle strategy.
 *
 * @param seconds how long each poller has nothing to do
 * @param wakeUps how often each is woken
 */
public record IdleMeasurement(int seconds, int wakeUps) {
    private static final double PERCENT = 100;
    private static final double NS_PER_US = 1000;
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;

    /**
     * Measures.
     *
     * @param out takes a line for each strategy
     * @throws InterruptedException if the calling thread is interrupted
     */
    public void run(final PrintWriter out) throws InterruptedException {
        out.printf("%-14s %16s %14s %14s%n", "idle strategy", "% of a core", "wake-up p50", "p99 us");
        for (final Idling idling : Idling.values()) {
            try (IdleTrial trial = new IdleTrial(idling.strategy())) {
                final double share = trial.shareOfCore(seconds);
                final Histogram latency = trial.wakeUps(wakeUps);
                out.printf("%-14s %16.2f %14.1f %14.1f%n", idling.text(), share * PERCENT,
                    latency.getValueAtPercentile(MEDIAN) / NS_PER_US, latency.getValueAtPercentile(TAIL) / NS_PER_US);
                out.flush();
            }
        }
    }
}
