package io.ringpoll.verify.seeds;

import java.util.concurrent.TimeUnit;

/** A run that goes on for a while with what it draws from seeds, one after the other. Immutable; its time begins with it. */
public final class SeededRun {
    private final long firstSeed;
    private final double seconds;
    private final long startNs = System.nanoTime();

    /**
     * Begins to count the time.
     *
     * @param firstSeed that the first is drawn from; each further one has the next
     * @param seconds   how long to go on
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
     * The time to go on.
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
