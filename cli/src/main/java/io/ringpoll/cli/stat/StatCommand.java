package io.ringpoll.cli.stat;

import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.counters.Counters;
import io.ringpoll.internal.counters.CountersFileException;
import io.ringpoll.internal.counters.CountersFolder;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll stat}: shows the counters and errors of running pipelines from outside, periodically or once.
 *
 * <p>It only reads: it does not affect the observed processes and survives their end. Exit codes: 0 if it has shown a pipeline; 1
 * if there is none; 2 for wrong usage.
 */
@Command(
    name = "stat",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Shows the counters of running pipelines, from outside, until they end.")
public final class StatCommand implements Callable<Integer>, CheckedOptions {
    /** Fits into an int, as in Linux. */
    private static final Pattern PID = Pattern.compile("0*[1-9][0-9]{0,8}");
    private static final String CLEAR_SCREEN = "\033[H\033[2J";

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "PID", description = "Process ids (default: all processes with pipelines).")
    private List<String> words = List.of();

    @Option(names = "--folder", paramLabel = "DIR",
        description = "Folder of the counters files (default: that of this user in /dev/shm).")
    private Path folder;

    @Option(
        names = "--interval", paramLabel = "S", defaultValue = "1",
        description = "Seconds between two samples (${DEFAULT-VALUE}).")
    private double interval;

    @Option(names = "--count", paramLabel = "N", description = "Maximum number of tables.")
    private Integer count;

    @Option(names = "--once", description = "Show one table, without rates, and exit.")
    private boolean once;

    @Option(names = "--zero", description = "Also show counters that are 0.")
    private boolean zeroToo;

    @Option(names = "--errors", description = "Show errors with their stack traces.")
    private boolean wholeErrors;

    @Option(names = "--json", description = "Print one JSON object and exit; with --count 2, with rates.")
    private boolean json;

    @Option(names = "--openmetrics", description = "Print the counters as OpenMetrics text, for Prometheus, and exit.")
    private boolean openMetrics;

    /** Created by picocli. */
    public StatCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        check();
        final List<Watched> pipelines = find();
        final PrintWriter out = spec.commandLine().getOut();
        if (openMetrics) {
            out.print(Counters.of(pipelines.stream().map(watched -> watched.latest().toCounters()).toList()).toOpenMetrics());
            out.flush();
            return CommandLine.ExitCode.OK;
        }
        if (json) {
            refresh(pipelines, (count == null ? 1 : count) - 1);
            out.println(StatJson.of(pipelines));
            out.flush();
            return CommandLine.ExitCode.OK;
        }
        final boolean live = !once && System.console() != null && System.console().isTerminal();
        final StatTable table = new StatTable(zeroToo, wholeErrors);
        final int tables = once ? 1 : count == null ? Integer.MAX_VALUE : count;
        for (int i = 1; i <= tables; i++) {
            if (live) {
                out.print(CLEAR_SCREEN);
            }
            pipelines.forEach(watched -> table.print(watched, out));
            out.flush();
            // Nobody reads any more if the output fails, as after '| head'.
            if (i == tables || out.checkError() || pipelines.stream().allMatch(Watched::hasEnded)) {
                break;
            }
            refresh(pipelines, 1);
        }
        return CommandLine.ExitCode.OK;
    }

    private void refresh(final List<Watched> pipelines, final int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            Thread.sleep(Math.round(interval * TimeUnit.SECONDS.toMillis(1)));
            pipelines.forEach(Watched::refresh);
        }
    }

    @Override
    public void check() {
        Execution.require(spec, interval >= 0.01 && interval <= TimeUnit.DAYS.toSeconds(1),
            "--interval " + interval + " is not from 0.01 to 86400 seconds");
        words.forEach(word -> Execution.require(spec, PID.matcher(word).matches(), "PID '" + word + "' is not the number of a" +
            " process; without PID, stat shows all processes with pipelines"));
        Execution.require(spec, folder == null || !folder.toString().isBlank() && Files.isDirectory(folder),
            "--folder '" + folder + "' is not a folder");
        Execution.require(spec, count == null || count >= 1, "--count " + count + " is below 1");
        Execution.require(spec, !once || count == null, "--once and --count exclude each other");
        Execution.require(spec, !openMetrics || !json && count == null, "--openmetrics excludes --json and --count");
        Execution.require(spec, !openMetrics || !wholeErrors,
            "--openmetrics excludes --errors: the format has numbers only; use --json, which has all errors");
    }

    private List<Watched> find() {
        final List<Long> pids = words.stream().map(Long::valueOf).toList();
        final Path place = folder != null ? folder : CountersFolder.defaultFolder();
        final List<Watched> found = new ArrayList<>();
        String complaint = null;
        for (final Path file : CountersFolder.files(place)) {
            if (pids.isEmpty() || pids.contains(CountersFolder.pid(file))) {
                try {
                    final Watched watched = new Watched(file);
                    // The files of a killed process are shown only if its process id is requested.
                    if (!watched.hasEnded() || !pids.isEmpty()) {
                        found.add(watched);
                    }
                } catch (final CountersFileException unreadable) {
                    complaint = unreadable.getMessage();
                }
            }
        }
        if (found.isEmpty()) {
            throw new IllegalStateException(complaint != null ? complaint : (pids.isEmpty() ? "no pipeline is running"
                : "process " + pids.getFirst() + " runs no pipeline") + ": no counters file of one in " + place +
                "; start one, for instance with ./ringpoll run, or name another folder with --folder");
        }
        return found;
    }
}
