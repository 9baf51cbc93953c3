package io.ringpoll.bench.handoff;

import org.HdrHistogram.Histogram;

/**
 * The outcome of a hand-off, from its start to its end.
 *
 * @param polled    completions polled
 * @param handled   completions that reached a handler
 * @param sum       sum of the {@code wr_id}, if no latency was recorded
 * @param latencyNs time from due time to handler, if recorded
 * @param fault     reason for an early end; empty if there was none
 */
public record Outcome(long polled, long handled, long sum, Histogram latencyNs, String fault) {
    /**
     * Whether every polled completion reached a handler and, in saturation, with the right content.
     *
     * @param saturated whether {@code wr_id} counts completions from 0
     * @return false if a completion was lost, duplicated or torn
     */
    public boolean isSound(final boolean saturated) {
        return fault.isEmpty() && polled == handled && (!saturated || sum == polled * (polled - 1) / 2);
    }
}
