package io.ringpoll.verify.seeds;

import java.util.concurrent.TimeUnit;

/** A time limit with a sequence of seeds, for random runs. Immutable; its time starts with it. */
public final class SeededRun {
    private final long firstSeed;
    private final double seconds;
    private final long startNs = System.nanoTime();

    /**
     * Starts the time.
     *
     * @param firstSeed seed of the first random run; each further one has the next
     * @param seconds   duration
     */
    public SeededRun(final long firstSeed, final double seconds) {
        this.firstSeed = firstSeed;
        this.seconds = seconds;
    }

    /**
     * The first seed.
     *
     * @return as given
     */
    public long firstSeed() {
        return firstSeed;
    }

    /**
     * The duration.
     *
     * @return seconds, as given
     */
    public double seconds() {
        return seconds;
    }

    /**
     * The time since the start.
     *
     * @return seconds
     */
    public double elapsedSeconds() {
        return (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1);
    }

    /**
     * Whether the time is over.
     *
     * @return true if no further run may start
     */
    public boolean isOver() {
        return elapsedSeconds() >= seconds;
    }
}
