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
        description = "How long to go on; what has begun is ended (${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
        names = "--seed", paramLabel = "S",
        description = "What the first is drawn from; each further one has the next seed (the time, if left out).")
    private Long seed;

    /** Created by picocli. */
    SeedOptions() {
    }

    /** Rejects an invalid time. */
    public void check() {
        Execution.require(spec, seconds > 0 && seconds <= LONGEST_SECONDS,
            "--seconds " + seconds + " is not from above 0 to a year");
    }

    /**
     * Begins to count the time.
     *
     * @return a run from the seed as given, or from the time of day
     */
    public SeededRun start() {
        return new SeededRun(seed == null ? System.currentTimeMillis() : seed, seconds);
    }
}
