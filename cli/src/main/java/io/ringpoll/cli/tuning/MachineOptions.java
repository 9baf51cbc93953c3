package io.ringpoll.cli.tuning;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that select the machine and its CPUs. */
final class MachineOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(names = "--root", paramLabel = "DIR", defaultValue = "/",
        description = "Inspect the file tree below DIR instead of this machine (${DEFAULT-VALUE}).")
    private Path root;

    @Option(names = "--cpus", paramLabel = "LIST",
        description = "The CPUs for hot threads, for instance 2-5,8 (default: all usable ones).")
    private String cpus;

    MachineFiles files() {
        if (root.toString().isEmpty() || !Files.isDirectory(root)) {
            throw new ParameterException(command.commandLine(), "--root '" + root + "' is not a folder");
        }
        return new MachineFiles(root);
    }

    Optional<CpuSet> cpus() {
        if (cpus == null) {
            return Optional.empty();
        }
        try {
            final CpuSet set = CpuSet.parse(cpus);
            if (set.isEmpty()) {
                throw new IllegalArgumentException("an empty list of CPUs");
            }
            return Optional.of(set);
        } catch (final IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), "--cpus: " + e.getMessage());
        }
    }
}
