package io.ringpoll.bench.torture;

import io.ringpoll.bench.options.Execution;
import io.ringpoll.device.Device;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll torture}: plays random scenes, one after the other, until one is wrong or the time is up.
 *
 * <p>Exit codes: 0 if all were right; 1 if one was not, or could not be played; 2 for wrong usage.
 */
@Command(
    name = "torture",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Random connections, pollers, handlers and faults on the loopback device; each work request is checked by " +
        "its identity against a model of what it must end as.")
public final class TortureCommand implements Callable<Integer> {
    private static final String ADDRESS = "127.0.0.1";
    private static final double LONGEST_SECONDS = TimeUnit.DAYS.toSeconds(365);
    private static final long LINE_NS = TimeUnit.SECONDS.toNanos(30);

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "10",
        description = "How long to begin new scenes (${DEFAULT-VALUE}).")
    private double seconds;

    @Option(names = "--scenes", paramLabel = "N", description = "How many scenes to play instead.")
    private long scenes;

    @Option(
        names = "--seed", paramLabel = "S",
        description = "Of the first scene; each further one has the next (the time, if left out).")
    private Long seed;

    @Option(names = "--json", description = "Print one JSON object and nothing else on standard output.")
    private boolean json;

    /** Created by picocli. */
    TortureCommand() {
    }

    /**
     * Runs the command.
     *
     * @param arguments as typed
     */
    public static void main(final String[] arguments) {
        System.exit(Execution.run(new TortureCommand(), arguments));
    }

    @Override
    public Integer call() {
        if (!(seconds > 0 && seconds <= LONGEST_SECONDS)) {
            throw new ParameterException(spec.commandLine(), "--seconds " + seconds + " is not from above 0 to a year");
        }
        if (scenes < 0) {
            throw new ParameterException(spec.commandLine(), "--scenes " + scenes + " is negative");
        }
        FaultInjection.requireLoopback();
        // Planned failures would fill the log; what goes wrong stands in exceptions.
        final LogLevel before = RpmaLog.threshold();
        RpmaLog.threshold(LogLevel.DISABLED);
        try {
            final PrintWriter out = spec.commandLine().getOut();
            final PrintWriter progress = json ? spec.commandLine().getErr() : out;
            progress.println(Device.current().description());
            progress.flush();
            final TortureReport report = torture(seed != null ? seed : System.currentTimeMillis(), progress);
            if (json) {
                out.println(report.toJson());
                out.flush();
            } else {
                report.print(out);
            }
            return report.isSound() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
        } finally {
            RpmaLog.threshold(before);
        }
    }

    private TortureReport torture(final long firstSeed, final PrintWriter progress) {
        final long startNs = System.nanoTime();
        final long durationNs = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
        long lines = 0;
        long played = 0;
        long workRequests = 0;
        long faults = 0;
        Scene failed = null;
        List<String> violations = List.of();
        while (failed == null && (scenes > 0 ? played < scenes : System.nanoTime() - startNs < durationNs)) {
            final Scene scene = Scene.of(firstSeed + played);
            final Trial trial = new Trial(scene, ADDRESS);
            violations = trial.play();
            failed = violations.isEmpty() ? null : scene;
            played++;
            workRequests += trial.ended();
            faults += trial.injected();
            if (System.nanoTime() - startNs >= (lines + 1) * LINE_NS) {
                lines++;
                progress.printf("%,d scenes, %,d work requests, %,d faults%n", played, workRequests, faults);
                progress.flush();
            }
        }
        final double took = (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1);
        return new TortureReport(firstSeed, played, workRequests, faults, took, failed, violations);
    }
}
