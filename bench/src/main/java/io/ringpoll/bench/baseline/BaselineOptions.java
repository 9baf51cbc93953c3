package io.ringpoll.bench.baseline;

import io.ringpoll.verbs.CompletionPath;
import java.util.List;
import java.util.Set;

/**
 * How a C baseline runs.
 *
 * @param handlers      the handlers; none: the polling thread handles by itself, without any hand-off
 * @param ringSize      slots, a power of two
 * @param batch         completions that a poll asks for
 * @param yields        whether threads that have nothing to do yield; else they spin
 * @param pollerCpu     where the polling thread is pinned, or {@link #ANY_CPU}
 * @param recordFromNs  latency is recorded of completions due from here, by {@link System#nanoTime()}
 * @param recordUntilNs to before here; if both are 0, {@code wr_id} is summed up and no time is taken
 * @param stallUs       how long handlers sleep once, before the first completion, so that the ring fills; microseconds
 */
public record BaselineOptions(List<Handler> handlers, int ringSize, int batch, boolean yields, int pollerCpu,
                              long recordFromNs, long recordUntilNs, int stallUs) {
    /** A thread that is not pinned. */
    public static final int ANY_CPU = -1;

    /**
     * A handler of a C baseline.
     *
     * @param paths whose completions it takes
     * @param cpu   where it is pinned, or {@link #ANY_CPU}
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
