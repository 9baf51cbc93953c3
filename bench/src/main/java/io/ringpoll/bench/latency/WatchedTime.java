package io.ringpoll.bench.latency;

import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import java.util.function.LongSupplier;

/**
 * What was seen from outside of the time that a turn records.
 *
 * @param handled how many operations were handled within it
 * @param loss    what CPU time the hot threads lost meanwhile
 */
record WatchedTime(long handled, CpuLoss loss) {
    /** Waits for the time to begin, and watches until it ends. */
    static WatchedTime between(final long fromNs, final long untilNs, final LongSupplier handledSoFar) {
        Timing.sleepUntil(fromNs);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        watch.start();
        final long before = handledSoFar.getAsLong();
        Timing.sleepUntil(untilNs);
        return new WatchedTime(handledSoFar.getAsLong() - before, watch.stop());
    }
}
