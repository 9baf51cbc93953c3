package io.ringpoll.bench.latency;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Finds out that a closed loop has stopped: its count of completions does not change for a minute. Used by one thread.
 */
final class StallWatch {
    /** The limit of a measurement. */
    static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final String label;
    private final long limitNs;
    private long completions = -1;
    private long progressNs = System.nanoTime();

    /** For a contestant, by its label; with the time without a completion that is too long. */
    StallWatch(final String label, final long limitNs) {
        this.label = label;
        this.limitNs = limitNs;
    }

    /** Whether the count has stayed the same for too long, now that it has this value. */
    boolean isStalled(final long completionsSoFar) {
        final long nowNs = System.nanoTime();
        if (completionsSoFar != completions) {
            completions = completionsSoFar;
            progressNs = nowNs;
        }
        return nowNs - progressNs > limitNs;
    }

    /** The exception that ends the turn, with what is known of its state. */
    TimeoutException failure(final String state) {
        return new TimeoutException(label + ": nothing has completed for " + TimeUnit.NANOSECONDS.toSeconds(limitNs) +
            " s, after " + completions + " completions: " + state);
    }
}
