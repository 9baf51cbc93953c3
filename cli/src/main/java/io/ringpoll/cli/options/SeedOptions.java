package io.ringpoll.cli.options;

import io.ringpoll.verify.seeds.SeededRun;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of a command that runs for a time, with a sequence of seeds. */
public final class SeedOptions {
    private static final long LONGEST_SECONDS = TimeUnit.DAYS.toSeconds(365);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "10",
        description = "Time after which nothing new is started (${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
        names = "--seed", paramLabel = "S",
        description = "Seed of the first; each further one has the next seed (default: from the time).")
    private Long seed;

    /** Created by picocli. */
    SeedOptions() {
    }

    /** Rejects an invalid time. */
    public void check() {
        Execution.require(spec, seconds > 0 && seconds <= LONGEST_SECONDS,
            "--seconds " + seconds + " is not a time above 0 and up to a year");
    }

    /**
     * Starts the time.
     *
     * @return a run from the given seed, or from the time
     */
    public SeededRun start() {
        return new SeededRun(seed == null ? System.currentTimeMillis() : seed, seconds);
    }
}
