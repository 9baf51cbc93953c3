package io.ringpoll.bench.change;

import io.ringpoll.bench.jitter.JitterMeter;
import io.ringpoll.bench.latency.LatencyProbe;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Measures rounds: a window of jitter, then one of latency, on the same CPUs. Used by one thread. */
public final class ChangeProbe implements RoundSource, AutoCloseable {
    private static final int WARM_UPS = 2;

    private final ChangeSettings settings;
    private final JitterMeter jitter;
    private final LatencyProbe latency;

    /**
     * Prepares the measurement.
     *
     * @param settings the settings
     * @throws IOException if the jitter meter cannot be prepared
     */
    public ChangeProbe(final ChangeSettings settings) throws IOException {
        this.settings = settings;
        jitter = new JitterMeter(settings.cpuSet(), 0, false);
        latency = new LatencyProbe(settings.perSecond(), settings.waitMode(), settings.cpus());
    }

    /**
     * The state of the machine.
     *
     * @return read now
     */
    public ChangeEnvironment environment() {
        return ChangeEnvironment.read(settings.cpuSet(), jitter.floorNs());
    }

    /**
     * Lets the compiler finish before the first round.
     *
     * @param turnNs length of each of the warm-ups, in nanoseconds; a second is enough
     * @throws InterruptedException       if the thread is interrupted
     * @throws io.ringpoll.os.OsException if a thread could not be pinned
     */
    public void warmUp(final long turnNs) throws InterruptedException {
        jitter.slice(turnNs);
        for (int i = 0; i < WARM_UPS; i++) {
            latency.turn(turnNs);
        }
    }

    @Override
    public ChangeRound measure() throws InterruptedException {
        final long windowNs = TimeUnit.MILLISECONDS.toNanos(settings.windowMs());
        final var lost = jitter.slice(windowNs).stream().map(ChangeRound.LostTime::of).toList();
        final LatencyProbe.Result result = latency.turn(windowNs);
        return new ChangeRound(lost, result.latencyNs(), result.fault());
    }

    @Override
    public void close() {
        latency.close();
    }
}
