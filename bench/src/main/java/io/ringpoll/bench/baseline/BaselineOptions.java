package io.ringpoll.bench.baseline;

import io.ringpoll.completion.CompletionPath;
import java.util.List;
import java.util.Set;

/**
 * Options of a C baseline run.
 *
 * @param handlers      number of handlers; 0: the polling thread also handles, without a hand-off
 * @param ringSize      slots, a power of two
 * @param batch         maximum completions per poll
 * @param yields        whether waiting threads yield; else they spin
 * @param pollerCpu     CPU of the polling thread, or {@link #ANY_CPU}
 * @param recordFromNs  start of the recording time, inclusive, by {@link System#nanoTime()}
 * @param recordUntilNs end of the recording time, exclusive; if both are 0, {@code wr_id} is summed up and no latency is recorded
 * @param stallUs       time that handlers sleep once, before the first completion, so that the ring fills; microseconds
 */
public record BaselineOptions(List<Handler> handlers, int ringSize, int batch, boolean yields, int pollerCpu,
                              long recordFromNs, long recordUntilNs, int stallUs) {
    /** Marks a thread that is not pinned. */
    public static final int ANY_CPU = -1;

    /**
     * A handler of a C baseline.
     *
     * @param paths paths that it handles
     * @param cpu   CPU that it is pinned to, or {@link #ANY_CPU}
     */
    public record Handler(Set<CompletionPath> paths, int cpu) {
        int pathBits() {
            int bits = 0;
            for (final CompletionPath path : paths) {
                bits |= 1 << path.ordinal();
            }
            return bits;
        }
    }

    /** Copies the handlers. */
    public BaselineOptions {
        handlers = List.copyOf(handlers);
        if (handlers.size() > BaselineFunctions.MAX_HANDLERS) {
            throw new IllegalArgumentException(handlers.size() + " handlers are more than " + BaselineFunctions.MAX_HANDLERS);
        }
    }

    boolean recordsLatency() {
        return recordUntilNs != 0;
    }
}
