package io.ringpoll.bench.replicate;

import io.ringpoll.bench.options.CheckedOptions;
import io.ringpoll.bench.options.Execution;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll replicate verify}: reads back the logs that servers have left, and compares them with what was
 * acknowledged.
 */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    description = {
        "Reads the logs of all servers of a group back, which are not running: every acknowledged record is on a" +
            " majority of them, and what is on a majority is in order, once, and whole.",
        "Ends with 1 if that does not hold."
    })
final class VerifyCommand implements Callable<Integer>, CheckedOptions {
    @Spec
    private CommandSpec spec;

    @Option(
        names = "--acknowledged", paramLabel = "FILE",
        description = "What a client has noted; may be given for each client.")
    private List<Path> acknowledged = List.of();

    @Parameters(paramLabel = "DIR", description = "Folder of a server, one for each member of the group.")
    private List<Path> folders = List.of();

    @Override
    public void check() {
        for (final Path file : acknowledged) {
            Execution.require(spec, Files.isRegularFile(file) && Files.isReadable(file),
                "--acknowledged '" + file + "' is not a file that can be read");
        }
        Execution.require(spec, !folders.isEmpty(), "give the folder of each server of the group");
        for (final Path folder : folders) {
            Execution.require(
                spec, !folder.toString().isEmpty() && Files.isDirectory(folder), "'" + folder + "' is not a folder");
        }
    }

    @Override
    public Integer call() throws IOException {
        check();
        final List<StoredLog> logs = new ArrayList<>();
        for (final Path folder : folders) {
            logs.add(StoredLog.read(folder));
        }
        final List<NumberedRecord> told = new ArrayList<>();
        for (final Path file : acknowledged) {
            told.addAll(Acknowledgements.read(file));
        }
        final Verification verification = new Verification(logs);
        verification.run(told);
        final PrintWriter out = spec.commandLine().getOut();
        logs.forEach(log -> out.printf("%s: %d entries%n", log.folder(), log.entries().size()));
        out.printf("on a majority: %d entries, %d of them records; acknowledged records: %d; faults: %d%n",
            verification.committed(), verification.records(), told.size(), verification.faultCount());
        verification.faults().forEach(fault -> out.println("FAULT: " + fault));
        out.flush();
        return verification.faultCount() == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
