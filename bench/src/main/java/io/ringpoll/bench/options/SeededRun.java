package io.ringpoll.bench.options;

import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of a command that goes on for a while with what it draws from seeds, one after the other. */
public final class SeededRun {
    private static final long LONGEST_SECONDS = TimeUnit.DAYS.toSeconds(365);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "10",
        description = "How long to go on; what has begun is ended (${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
        names = "--seed", paramLabel = "S",
        description = "What the first is drawn from; each further one has the next seed (the time, if left out).")
    private Long seed;

    private long startNs;

    /** Created by picocli. */
    SeededRun() {
    }

    /** Refuses a time that cannot be meant. */
    public void check() {
        Execution.require(spec, seconds > 0 && seconds <= LONGEST_SECONDS,
            "--seconds " + seconds + " is not from above 0 to a year");
    }

    /** Begins to count the time. */
    public void start() {
        if (seed == null) {
            seed = System.currentTimeMillis();
        }
        startNs = System.nanoTime();
    }

    /**
     * The first seed.
     *
     * @return as given, or the time of {@link #start()}
     */
    public long firstSeed() {
        return seed;
    }

    /**
     * The time since {@link #start()}.
     *
     * @return seconds
     */
    public double elapsedSeconds() {
        return (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1);
    }

    /**
     * How long to go on.
     *
     * @return seconds, as given
     */
    public double seconds() {
        return seconds;
    }

    /**
     * Whether the time is up.
     *
     * @return true if nothing more is to be begun
     */
    public boolean isOver() {
        return elapsedSeconds() >= seconds;
    }
}
