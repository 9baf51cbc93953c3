package io.ringpoll.cli.suite;

import io.ringpoll.bench.echo.EchoConfig;
import io.ringpoll.bench.suite.BenchSuite;
import io.ringpoll.bench.suite.Effort;
import io.ringpoll.bench.suite.Part;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.OutputPath;
import io.ringpoll.internal.os.TemporaryFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ./ringpoll bench}: all measurements in one run, ringpoll and its baselines, with the results in one folder. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures ringpoll, plain C and the usual alternatives in one run: a table, JSON, or a report with plots.")
public final class BenchCommand implements Callable<Integer>, CheckedOptions {
    /** This program, in a JVM of its own. */
    private static final List<String> PROGRAM = List.of("io.ringpoll.cli.Ringpoll");

    @Spec
    private CommandSpec spec;

    @Option(names = "--quick",
        description = "The most important measurements, in less than six minutes; the default unless parts are named: these "
            + "have six runs, for intervals, and growth has all its points, in four minutes instead of 40 seconds. "
            + "echo and processes repeat turns in which a thread lost its CPU, up to three times the planned turns.")
    private boolean quick;

    @Option(names = "--full", description = "All measurements, with intervals; about 70 minutes.")
    private boolean full;

    @Option(names = "--glance", hidden = true, description = "Each for a moment: to check that it works.")
    private boolean glance;

    @Option(names = "--only", paramLabel = "PART", split = ",",
        description = "Only these parts: poll, flyweight, hand-off, post, verbs (lists of posts beside "
            + "single ones, posts beside C and librpma, and an extended queue; measured with --full or if it is named), wake-up, "
            + "counters, throughput, latency, echo "
            + "(servers of messages), processes (two of them, beside shared memory, Aeron IPC and TCP), growth (cost by queues, "
            + "pollers, ring size and batch; both measured with --full or if they are named), instructions (executed "
            + "instructions by part of the program; only if it is named).")
    private List<String> only;

    @Option(names = "--connections", paramLabel = "N", split = ",",
        description = "echo only with these numbers of connections: some of 1, 20 and 1000 (default: all).")
    private List<Integer> connections;

    @Option(names = "--output", paramLabel = "DIR",
        description = "Folder for bench.json, report.html, plots, histograms and logs; it is created (default: no files).")
    private Path output;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    BenchCommand() {
    }

    @Override
    public void check() {
        Execution.require(spec, !quick || !full, "--quick and --full exclude each other");
        Execution.require(spec, only == null || !only.isEmpty(), "--only names no part");
        Execution.require(spec, connections == null || parts().contains(Part.ECHO), "--connections is for --only echo");
        Execution.require(spec, connections == null || EchoConfig.connections().containsAll(connections),
            "--connections " + connections + " is not some of " + EchoConfig.connections());
        parts();
        OutputPath.requireFolder(spec, "--output", output);
    }

    @Override
    public Integer call() throws IOException, InterruptedException, RunnerException {
        check();
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter log = json ? spec.commandLine().getErr() : out;
        final TemporaryFolder temporary = output != null ? null : TemporaryFolder.create("ringpoll-bench");
        final Path folder = output != null ? Files.createDirectories(output).toAbsolutePath() : temporary.path();
        final Set<Integer> ofEcho = connections == null ? Set.of() : Set.copyOf(connections);
        final BenchSuite suite = new BenchSuite(parts(), effort(), ofEcho, folder, PROGRAM, log);
        try {
            suite.run();
        } catch (final IOException | InterruptedException | RunnerException | RuntimeException failed) {
            if (temporary != null) {
                temporary.keep();
            }
            log.println("the results so far are in " + folder);
            log.flush();
            throw failed;
        }
        if (json) {
            out.println(suite.toJson());
        } else {
            suite.print(out);
        }
        suite.printEnd();
        if (temporary != null) {
            temporary.close();
        } else {
            log.println("results: " + folder);
        }
        log.flush();
        out.flush();
        return 0;
    }

    private Set<Part> parts() {
        final Set<Part> chosen = EnumSet.noneOf(Part.class);
        for (final String name : only == null ? List.<String>of() : only) {
            chosen.add(Arrays.stream(Part.values()).filter(part -> part.label().equals(name)).findFirst()
                .orElseThrow(() -> new ParameterException(spec.commandLine(), "--only '" + name + "' is not one of " +
                    Arrays.stream(Part.values()).map(Part::label).collect(Collectors.joining(", ")))));
        }
        return chosen.isEmpty() ? Part.unnamed(effort()) : chosen;
    }

    private Effort effort() {
        return full ? Effort.FULL : glance ? Effort.GLANCE : quick || only == null ? Effort.QUICK : Effort.USUAL;
    }
}
