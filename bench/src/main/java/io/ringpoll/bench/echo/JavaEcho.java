package io.ringpoll.bench.echo;

import io.ringpoll.bench.measure.Timing;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/** A contestant with Java threads, which wait at a gate between turns. */
abstract class JavaEcho implements EchoContestant {
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(10);

    /** Number of connections and messages. */
    protected final EchoScale scale;
    /** The hot threads. */
    protected final EchoThreads threads;
    /** Counts and records. */
    protected final EchoMeter meter = new EchoMeter();

    JavaEcho(final EchoScale scale, final EchoThreads threads) {
        this.scale = scale;
        this.threads = threads;
    }

    /** Makes the client's thread send the first messages of a turn: one, or all that are in flight. */
    protected abstract void sendFirst();

    @Override
    public final void start(final EchoMode mode, final long fromNs, final long untilNs) {
        meter.begin(mode, scale, fromNs, untilNs);
        threads.gate().open();
        sendFirst();
    }

    @Override
    public final long answers() {
        return meter.answers();
    }

    @Override
    public final void stop() throws TimeoutException {
        meter.stop();
        Timing.await(meter::isAtRest, System.nanoTime() + REST_NS, "all answers");
        threads.gate().close();
        if (!meter.fault().isEmpty()) {
            throw new IllegalStateException(meter.fault());
        }
    }

    @Override
    public final Histogram roundTripNs() {
        return meter.roundTripNs();
    }
}
