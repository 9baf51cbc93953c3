package io.ringpoll.bench.latency;

import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import java.util.function.LongSupplier;

/**
 * Observations from outside during the recorded time of a turn.
 *
 * @param handled number of operations handled within it
 * @param loss    CPU time that the hot threads lost
 */
record WatchedTime(long handled, CpuLoss loss) {
    /** Waits for the start of the time, and observes until its end. */
    static WatchedTime between(final long fromNs, final long untilNs, final LongSupplier handledSoFar) {
        Timing.sleepUntil(fromNs);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        watch.start();
        final long before = handledSoFar.getAsLong();
        Timing.sleepUntil(untilNs);
        return new WatchedTime(handledSoFar.getAsLong() - before, watch.stop());
    }
}
