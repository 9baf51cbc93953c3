package io.ringpoll.bench.baseline;

import org.HdrHistogram.Histogram;

/**
 * Totals of a C baseline run.
 *
 * @param published           completions polled
 * @param completions         completions handled, by all handlers
 * @param sum                 sum of the {@code wr_id}, if no latency was recorded
 * @param involuntarySwitches involuntary context switches of its threads
 * @param queueFault          the negative result that ended the polling, or 0
 * @param latencyNs           the recorded latencies
 */
public record BaselineResult(
    long published, long completions, long sum, long involuntarySwitches, int queueFault, Histogram latencyNs) {
}
