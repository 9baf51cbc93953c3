package io.ringpoll.cli.fuzz;

import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.SeedOptions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import io.ringpoll.verify.fuzz.Finding;
import io.ringpoll.verify.fuzz.FuzzTarget;
import io.ringpoll.verify.fuzz.FuzzTargets;
import io.ringpoll.verify.fuzz.Fuzzer;
import io.ringpoll.verify.run.HandshakeInputs;
import io.ringpoll.verify.seeds.SeededRun;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll fuzz}: feeds every parser of external input with nearly valid inputs.
 *
 * <p>Exit codes: 0 if each input was accepted, or rejected with one line; 1 if one was not; 2 for wrong usage.
 */
@Command(
    name = "fuzz",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Feeds nearly valid inputs to every parser of external input: private data, descriptors, addresses, options, " +
        "counters files, fault plans.")
public final class FuzzCommand implements Callable<Integer>, CheckedOptions {
    @Spec
    private CommandSpec spec;

    @Mixin
    private SeedOptions run;

    @Option(names = "--inputs", paramLabel = "N", description = "Number of inputs for each target, instead of a time.")
    private Long inputs;

    @Option(names = "--target", paramLabel = "NAME", description = "One target only.")
    private String target;

    /** Created by picocli. */
    FuzzCommand() {
    }

    @Override
    public void check() {
        run.check();
        Execution.require(spec, inputs == null || inputs >= 1, "--inputs " + inputs + " is not 1 or more");
        Execution.requireOneOf(spec, "--seconds", "--inputs");
    }

    @Override
    public Integer call() {
        check();
        Device.choose(DeviceKind.LOOPBACK);
        final LogLevel before = RpmaLog.threshold();
        RpmaLog.threshold(LogLevel.DISABLED);
        try (FuzzTargets targets = new FuzzTargets(further())) {
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

    private static List<FuzzTarget> further() {
        final List<FuzzTarget> further = new ArrayList<>(HandshakeInputs.targets(Execution::oneLine));
        further.addAll(CommandTargets.all());
        return further;
    }

    private int fuzz(final List<FuzzTarget> targets) {
        final PrintWriter out = spec.commandLine().getOut();
        final SeededRun seeds = run.start();
        // Printed now: the process may crash.
        out.printf("inputs for %d targets from seed %d%n", targets.size(), seeds.firstSeed());
        out.flush();
        final Fuzzer fuzzer = new Fuzzer(targets, seeds.firstSeed(), inputs == null ? 0 : inputs, seeds::isOver);
        final Optional<Finding> finding = fuzzer.run();
        if (finding.isPresent()) {
            print(finding.get(), out);
            return CommandLine.ExitCode.SOFTWARE;
        }
        out.printf("%,d inputs: %,d accepted, %,d refused in one line, %.1f s%n", fuzzer.taken() + fuzzer.refused(),
            fuzzer.taken(), fuzzer.refused(), seeds.elapsedSeconds());
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    private static void print(final Finding finding, final PrintWriter out) {
        out.println("wrong: an input of " + finding.input().length + " bytes for " + finding.target() + " " + finding.what());
        out.println("input: " + finding.shownInput());
        out.println("replay: " + finding.replay());
        out.flush();
    }
}
