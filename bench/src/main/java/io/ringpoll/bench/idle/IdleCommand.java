package io.ringpoll.bench.idle;

import io.ringpoll.bench.options.CheckedOptions;
import io.ringpoll.bench.options.Execution;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll idle}: the processor time that a poller uses while its queue is empty, and the time from a post to the poll
 * that finds its completion, for each idle strategy.
 */
@Command(
    name = "idle",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "What each idle strategy uses of a core while nothing comes, and how late it wakes up.")
public final class IdleCommand implements Callable<Integer>, CheckedOptions {
    private static final int LONGEST_SECONDS = 86_400;
    private static final double PERCENT = 100;
    private static final double NS_PER_US = 1000;
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "5",
        description = "How long each poller has nothing to do (${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
        names = "--wake-ups", paramLabel = "N", defaultValue = "1000",
        description = "How often each is woken, some milliseconds after it found nothing (${DEFAULT-VALUE}).")
    private int wakeUps;

    /** Created by picocli. */
    IdleCommand() {
    }

    /**
     * Runs the command.
     *
     * @param arguments as typed
     */
    public static void main(final String[] arguments) {
        System.exit(Execution.run(new IdleCommand(), arguments));
    }

    @Override
    public void check() {
        Execution.require(spec, seconds >= 1 && seconds <= LONGEST_SECONDS,
            "--seconds " + seconds + " is not from 1 to " + LONGEST_SECONDS);
        Execution.require(spec, wakeUps >= 1, "--wake-ups " + wakeUps + " is not 1 or more");
    }

    @Override
    public Integer call() throws InterruptedException {
        check();
        final PrintWriter out = spec.commandLine().getOut();
        out.printf("%-14s %16s %14s %14s%n", "idle strategy", "% of a core", "wake-up p50", "p99 us");
        for (final Idling idling : Idling.values()) {
            try (IdleTrial trial = new IdleTrial(idling.strategy())) {
                final double share = trial.shareOfCore(seconds);
                final var latency = trial.wakeUps(wakeUps);
                out.printf("%-14s %16.2f %14.1f %14.1f%n", idling.text(), share * PERCENT,
                    latency.getValueAtPercentile(MEDIAN) / NS_PER_US, latency.getValueAtPercentile(TAIL) / NS_PER_US);
                out.flush();
            }
        }
        return CommandLine.ExitCode.OK;
    }
}
