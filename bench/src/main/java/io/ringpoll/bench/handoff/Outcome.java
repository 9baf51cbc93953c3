package io.ringpoll.bench.handoff;

import org.HdrHistogram.Histogram;

/**
 * What a hand-off did from its start to its end.
 *
 * @param polled    completions polled
 * @param handled   completions that reached a handler
 * @param sum       of their {@code wr_id}, where no latency was recorded
 * @param latencyNs from due time to handler, where it was recorded
 * @param fault     why it ended early; empty if it did not
 */
public record Outcome(long polled, long handled, long sum, Histogram latencyNs, String fault) {
    /**
     * Whether everything that was polled reached a handler, and in saturation, that it was the right thing.
     *
     * @param saturated whether {@code wr_id} counted completions from 0
     * @return false if something was lost, came twice or was torn
     */
    public boolean isSound(final boolean saturated) {
        return fault.isEmpty() && polled == handled && (!saturated || sum == polled * (polled - 1) / 2);
    }
}
