package io.ringpoll.bench.baseline;

import org.HdrHistogram.Histogram;

/**
 * What a C baseline did from its start to its end.
 *
 * @param published           completions polled
 * @param completions         completions handled, by all handlers
 * @param sum                 of their {@code wr_id}, where no latency was recorded
 * @param involuntarySwitches how often the scheduler took the CPU from its threads
 * @param queueFault          the negative result that ended the polling, or 0
 * @param latencyNs           what was recorded
 */
public record BaselineResult(
    long published, long completions, long sum, long involuntarySwitches, int queueFault, Histogram latencyNs) {
}
