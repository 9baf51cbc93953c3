package io.ringpoll.bench.latency;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Detects a stalled closed loop: its count of completions does not change for a minute. Used by one thread. */
final class StallWatch {
    /** The default limit of a measurement. */
    static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final String label;
    private final long limitNs;
    private long completions = -1;
    private long progressNs = System.nanoTime();

    /** Creates a watch for the contestant with this label; with the maximum time without a completion. */
    StallWatch(final String label, final long limitNs) {
        this.label = label;
        this.limitNs = limitNs;
    }

    /** Whether the count has not changed for too long, given its present value. */
    boolean isStalled(final long completionsSoFar) {
        final long nowNs = System.nanoTime();
        if (completionsSoFar != completions) {
            completions = completionsSoFar;
            progressNs = nowNs;
        }
        return nowNs - progressNs > limitNs;
    }

    /** The exception that ends the turn, with the known state. */
    TimeoutException failure(final String state) {
        return new TimeoutException(label + ": nothing has completed for " + TimeUnit.NANOSECONDS.toSeconds(limitNs) +
            " s, after " + completions + " completions: " + state);
    }
}
