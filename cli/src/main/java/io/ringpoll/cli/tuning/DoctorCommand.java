package io.ringpoll.cli.tuning;

import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.device.DeviceException;
import io.ringpoll.internal.tuning.doctor.CheckResult;
import io.ringpoll.internal.tuning.doctor.Doctor;
import io.ringpoll.internal.tuning.doctor.Examined;
import io.ringpoll.internal.tuning.doctor.Jvm;
import io.ringpoll.internal.tuning.doctor.Verdict;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll doctor}: inspects the machine and reports settings that slow completions down, with the command that changes
 * each.
 *
 * <p>It changes nothing and needs no root. Exit codes: 0; with {@code --strict} {@value #EXIT_WARNING} if the worst result is a
 * warning and {@value #EXIT_BAD} if it is bad; 2 for wrong usage.
 */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Inspects this machine and reports settings that slow completions down. Changes nothing, needs no root.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:no finding, or no --strict", "2:wrong usage", "3:with --strict, the worst result is a warning",
        "4:with --strict, the worst result is bad"})
public final class DoctorCommand implements Callable<Integer> {
    static final int EXIT_WARNING = 3;
    static final int EXIT_BAD = 4;

    @Spec
    private CommandSpec spec;

    @Mixin
    private MachineOptions machine;

    @Option(names = "--strict", description = "Exit with the worst result: 3 for a warning, 4 for bad.")
    private boolean strict;

    @Option(names = "--verbose", description = "Print all results, good ones too, in the order of the checks.")
    private boolean verbose;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    DoctorCommand() {
    }

    @Override
    public Integer call() {
        final MachineFiles files = machine.files();
        final Examined examined;
        try {
            examined = Examined.of(files, machine.cpus(), Jvm.ofThisProcess(), askDevices(files));
        } catch (final IllegalArgumentException refused) {
            throw new ParameterException(spec.commandLine(), "--cpus: " + refused.getMessage());
        }
        final List<CheckResult> results = Doctor.examine(examined);
        final PrintWriter out = spec.commandLine().getOut();
        final DoctorReport report = new DoctorReport(examined, results);
        if (json) {
            out.println(report.toJson());
        } else if (verbose) {
            report.printAll(out);
        } else {
            report.print(out);
        }
        out.flush();
        final Verdict worst = Doctor.worst(results);
        return !strict ? 0 : worst == Verdict.BAD ? EXIT_BAD : worst == Verdict.WARNING ? EXIT_WARNING : 0;
    }

    /** Only the devices of this machine can be queried, and their libraries are loaded only if there are devices. */
    private static Optional<List<DeviceAttributes>> askDevices(final MachineFiles files) {
        if (!files.areThisMachine() || files.names("sys/class/infiniband").isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(DeviceAttributes.ofAll());
        } catch (final DeviceException | VerbsException e) {
            return Optional.empty();
        }
    }
}
