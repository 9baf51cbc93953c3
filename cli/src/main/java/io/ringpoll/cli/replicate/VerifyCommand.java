package io.ringpoll.cli.replicate;

import io.ringpoll.bench.replicate.LogCheck;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ./ringpoll replicate verify}: reads the logs of stopped servers and compares them with the acknowledged records. */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    description = {
        "Reads the logs of all servers of a group, which must be stopped, and checks them: every acknowledged record is on a" +
            " majority of them, and the records on a majority are in order, unique, and complete.",
        "Exit code 1 if a check fails."
    })
final class VerifyCommand implements Callable<Integer>, CheckedOptions {
    @Spec
    private CommandSpec spec;

    @Option(
        names = "--acknowledged", paramLabel = "FILE",
        description = "File with the acknowledged records of a client; may be repeated for further clients.")
    private List<Path> acknowledged = List.of();

    @Parameters(paramLabel = "DIR", description = "Folder of a server, one for each member of the group.")
    private List<Path> folders = List.of();

    @Override
    public void check() {
        for (final Path file : acknowledged) {
            Execution.require(spec, Files.isRegularFile(file) && Files.isReadable(file),
                "--acknowledged '" + file + "' is not a file that can be read");
        }
        Execution.require(spec, !folders.isEmpty(), "no folder: name the folder of each server of the group");
        for (final Path folder : folders) {
            Execution.require(
                spec, !folder.toString().isEmpty() && Files.isDirectory(folder), "'" + folder + "' is not a folder");
        }
    }

    @Override
    public Integer call() throws IOException {
        check();
        final PrintWriter out = spec.commandLine().getOut();
        final boolean sound = LogCheck.run(folders, acknowledged, out);
        out.flush();
        return sound ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
