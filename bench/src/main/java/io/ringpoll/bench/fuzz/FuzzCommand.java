package io.ringpoll.bench.fuzz;

import io.ringpoll.bench.options.CheckedOptions;
import io.ringpoll.bench.options.Execution;
import io.ringpoll.bench.options.SeededRun;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll fuzz}: feeds all that reads from outside with inputs that are nearly right.
 *
 * <p>Exit codes: 0 if each was taken, or refused in one line; 1 if one was not; 2 for wrong usage.
 */
@Command(
    name = "fuzz",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Feeds nearly right inputs to all that reads from outside: private data, descriptors, addresses, options, " +
        "counters files, fault plans.")
public final class FuzzCommand implements Callable<Integer>, CheckedOptions {
    private static final long SLOW_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int LONGEST_REFUSAL = 4_000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private SeededRun run;

    @Option(names = "--inputs", paramLabel = "N", description = "How many inputs to feed each target with instead.")
    private long inputs;

    @Option(names = "--target", paramLabel = "NAME", description = "One target alone.")
    private String target;

    private long taken;
    private long refused;

    /** Created by picocli. */
    FuzzCommand() {
    }

    /**
     * Runs the command.
     *
     * @param arguments as typed
     */
    public static void main(final String[] arguments) {
        System.exit(Execution.run(new FuzzCommand(), arguments));
    }

    @Override
    public void check() {
        run.check();
        Execution.require(spec, inputs >= 0, "--inputs " + inputs + " is negative");
    }

    @Override
    public Integer call() {
        check();
        Device.choose(DeviceKind.LOOPBACK);
        final LogLevel before = RpmaLog.threshold();
        RpmaLog.threshold(LogLevel.DISABLED);
        try (FuzzTargets targets = new FuzzTargets()) {
            final List<FuzzTarget> chosen =
                targets.all().stream().filter(each -> target == null || each.name().equals(target)).toList();
            if (chosen.isEmpty()) {
                throw new ParameterException(spec.commandLine(), "--target '" + target + "' is none of " +
                    targets.all().stream().map(FuzzTarget::name).collect(Collectors.joining(", ")));
            }
            return fuzz(chosen);
        } finally {
            RpmaLog.threshold(before);
        }
    }

    private int fuzz(final List<FuzzTarget> targets) {
        final PrintWriter out = spec.commandLine().getOut();
        run.start();
        // Said at once: a process that dies says it no more.
        out.printf("inputs for %d targets from seed %d%n", targets.size(), run.firstSeed());
        out.flush();
        for (long turn = 0; inputs > 0 ? turn < inputs : turn == 0 || !run.isOver(); turn++) {
            for (final FuzzTarget each : targets) {
                final int inTurn = inputs > 0 ? 1 : each.inputsInTurn();
                for (int i = 0; i < inTurn; i++) {
                    final Finding finding = feed(each, run.firstSeed() + turn * inTurn + i);
                    if (finding != null) {
                        print(finding, out);
                        return CommandLine.ExitCode.SOFTWARE;
                    }
                }
            }
        }
        out.printf("%,d inputs: %,d taken, %,d refused in one line, %.1f s%n", taken + refused, taken, refused,
            run.elapsedSeconds());
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    /** Null if the input was taken, or refused as it should be. */
    private Finding feed(final FuzzTarget each, final long inputSeed) {
        final byte[] input = new Mutator(inputSeed).input(each.examples());
        final long startNs = System.nanoTime();
        String what = null;
        try {
            each.read(input);
            taken++;
        } catch (final FuzzTarget.Refused wrong) {
            refused++;
            final String said = wrong.getMessage();
            if (said == null || said.isBlank() || said.lines().count() != 1 || said.length() > LONGEST_REFUSAL) {
                what = "was not refused in one line, but by: " + said;
            }
        } catch (final RuntimeException | AssertionError thrown) {
            final StackTraceElement[] trace = thrown.getStackTrace();
            what = "caused " + thrown + (trace.length > 0 ? " at " + trace[0] : "");
        }
        if (what == null && System.nanoTime() - startNs > SLOW_NS) {
            what = "took longer than " + TimeUnit.NANOSECONDS.toSeconds(SLOW_NS) + " s";
        }
        return what == null ? null : new Finding(each.name(), inputSeed, input, what);
    }

    private static void print(final Finding finding, final PrintWriter out) {
        out.println("wrong: an input of " + finding.input().length + " bytes for " + finding.target() + " " + finding.what());
        out.println("input: " + finding.shownInput());
        out.println("replay: " + finding.replay());
        out.flush();
    }
}
