package io.ringpoll.cli.idle;

import io.ringpoll.bench.idle.IdleMeasurement;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import java.net.ConnectException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll idle}: the processor time that a poller uses while its queue is empty, and the time from a post to the poll
 * that finds its completion, for each idle strategy; and the round trips between more pollers than CPUs.
 */
@Command(
    name = "idle",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures the CPU use of each idle strategy on an empty queue, its wake-up latency, "
        + "and round trips between more pollers than CPUs.")
public final class IdleCommand implements Callable<Integer>, CheckedOptions {
    private static final int LONGEST_SECONDS = 86_400;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "5",
        description = "Idle time of each poller, and time of the round trips (${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
        names = "--wake-ups", paramLabel = "N", defaultValue = "1000",
        description = "Number of wake-ups of each, some milliseconds after its last completion (${DEFAULT-VALUE}).")
    private int wakeUps;

    /** Created by picocli. */
    IdleCommand() {
    }

    @Override
    public void check() {
        Execution.require(spec, seconds >= 1 && seconds <= LONGEST_SECONDS,
            "--seconds " + seconds + " is not from 1 to " + LONGEST_SECONDS);
        Execution.require(spec, wakeUps >= 1, "--wake-ups " + wakeUps + " is not 1 or more");
    }

    @Override
    public Integer call() throws InterruptedException, ConnectException {
        check();
        new IdleMeasurement(seconds, wakeUps).run(spec.commandLine().getOut());
        return CommandLine.ExitCode.OK;
    }
}
