package io.ringpoll.bench.latency;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.baseline.CLink;
import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BenchResult;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.bench.options.CheckedOptions;
import io.ringpoll.bench.options.Execution;
import io.ringpoll.bench.options.HotThreadOptions;
import io.ringpoll.bench.options.OutputPath;
import io.ringpoll.bench.plot.PercentilePlot;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.pipeline.HandlerWait;
import io.ringpoll.synthetic.SyntheticSource;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll latency}: how long a completion takes to its handler, as percentiles, with C's in turns beside ours.
 *
 * <p>Exit codes: 0; 1 if the measurement could not be made, or with {@code --strict} if its figures are doubtful; 2 for wrong
 * usage.
 */
@Command(
    name = "latency",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures latency to the handler from when a completion was due (rate), or as half a round trip (ping-pong).")
public final class LatencyCommand implements Callable<Integer>, CheckedOptions {
    @Spec
    private CommandSpec spec;

    @Mixin
    private LatencyOptions options;

    @Option(names = "--handlers", paramLabel = "N", defaultValue = "1",
        description = "Handlers that share the three paths, at a rate: 1 to 3 (${DEFAULT-VALUE}).")
    private int handlers;

    @Option(names = "--against", paramLabel = "NAME", split = ",", defaultValue = CHandOff.NAME,
        description = "What is measured beside ours (${DEFAULT-VALUE}): c, c-bare-loop, over synthetic also alternatives that "
            + "copy (array-blocking-queue, ... or copying for all), over rdma in ping-pong also perftest, or none.")
    private List<String> against;

    @Option(names = "--ring-size", paramLabel = "SLOTS", defaultValue = "8192",
        description = "Slots of the ring, a power of two (${DEFAULT-VALUE}).")
    private int ringSize;

    @Option(names = "--batch", paramLabel = "N", defaultValue = "32",
        description = "Completions that a poll asks for (${DEFAULT-VALUE}).")
    private int batch;

    @Mixin
    private HotThreadOptions hotThreads;

    @Option(names = "--output", paramLabel = "DIR",
        description = "Write histograms (.hgrm, .hlog), results (.json) and plots (.svg, .png) there.")
    private Path output;

    @Option(names = "--strict", description = "Exit with 1 if a run missed its rate, lost its CPU or was not pinned.")
    private boolean strict;

    @Option(names = "--json", description = "Print one JSON object and nothing else on standard output.")
    private boolean json;

    @Option(names = "--verbose", description = "Tell of every turn.")
    private boolean verbose;

    private Optional<NodeCensus> census = Optional.empty();

    /** Created by picocli. */
    LatencyCommand() {
    }

    /**
     * Runs the command.
     *
     * @param arguments as typed
     */
    public static void main(final String[] arguments) {
        System.exit(Execution.run(new LatencyCommand(), arguments));
    }

    @Override
    public Integer call() throws TimeoutException {
        check();
        census = hotThreads.bindMemory();
        final HotCpus cpus = hotThreads.cpus(handlers);
        final HandlerWait waitStrategy = hotThreads.waitStrategy(cpus, handlers, options.posters());
        final HotThreads threads = new HotThreads(handlers, ringSize, batch, waitStrategy, cpus, HotCpus.ANY);
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter progress = json ? spec.commandLine().getErr() : out;
        Device.choose(options.over() == LatencyOptions.Over.RDMA ? DeviceKind.RDMA : DeviceKind.LOOPBACK);
        progress.println(MachineReport.line());
        progress.printf("%s; waiting by %s%n", cpus, waitStrategy.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        hotThreads.compromises().forEach(compromise -> progress.println("note: " + compromise));
        progress.flush();
        final List<LatencyReport> reports = options.over() == LatencyOptions.Over.SYNTHETIC ?
            List.of(overSynthetic(threads, progress)) : overDevice(threads, progress);
        final ObjectNode root = JsonText.document(results(reports));
        reports.forEach(report -> report.addTo(root));
        census.ifPresent(looked -> looked.addTo(root));
        if (output != null) {
            write(reports, root);
        }
        if (json) {
            out.println(JsonText.of(root));
        } else {
            reports.forEach(report -> report.printTable(out));
            census.ifPresent(out::println);
        }
        out.flush();
        return strict && !reports.stream().allMatch(LatencyReport::isClean) ? ExitCode.SOFTWARE : ExitCode.OK;
    }

    private LatencyReport overSynthetic(final HotThreads threads, final PrintWriter progress) throws TimeoutException {
        final List<HandOff> handOffs = handOffs();
        final String name = "latency/synthetic/" + options.perSecond() + "-per-second";
        try (SyntheticSource source = SyntheticSource.open()) {
            final List<Contestant> contestants = new ArrayList<>();
            handOffs.forEach(handOff ->
                contestants.add(new SyntheticContestant(handOff, source, options.schedule(), threads)));
            return play(name, contestants, threads, progress);
        }
    }

    private List<LatencyReport> overDevice(final HotThreads threads, final PrintWriter progress) throws TimeoutException {
        final boolean pingPong = options.mode() == LatencyOptions.Mode.PING_PONG;
        final String host = options.address().host(progress);
        final String port = Integer.toString(options.address().port());
        final String kind = options.over().name().toLowerCase(Locale.ROOT);
        final List<LatencyReport> reports = new ArrayList<>();
        for (final int size : options.sizes()) {
            final String how = options.operation().name().toLowerCase(Locale.ROOT) +
                (pingPong ? "-ping-pong" : "-at-" + options.perSecond() + "-per-second");
            final String name = "latency/" + kind + "/" + how + "/" + size + "-bytes";
            final List<Contestant> contestants = new ArrayList<>();
            try {
                final LinkedPair pair = new LinkedPair(host, port);
                contestants.add(ours(pair, size, threads));
                for (final String label : against) {
                    addC(label, host, port, size, threads, contestants);
                }
                reports.add(play(name, contestants, threads, progress));
            } finally {
                contestants.forEach(Contestant::close);
            }
        }
        return reports;
    }

    private Contestant ours(final LinkedPair pair, final int size, final HotThreads threads) {
        final Traffic.Operation operation = options.operation();
        if (options.mode() == LatencyOptions.Mode.PING_PONG) {
            return new RingpollPingPong(pair, operation, size, threads, options.runToCompletion());
        }
        return operation == Traffic.Operation.SEND ? new RingpollPacedSends(pair, size, options.schedule(), threads) :
            new RingpollPacedPosts(pair, operation, size, options.schedule(), threads);
    }

    private void addC(final String label, final String host, final String port, final int size, final HotThreads threads,
        final List<Contestant> contestants) {
        if ("none".equals(label)) {
            return;
        }
        if (PerftestContestant.NAME.equals(label)) {
            contestants.add(new PerftestContestant(options.operation(), host, size));
            return;
        }
        final CLink link = CLink.open(host, port);
        contestants.add(options.mode() == LatencyOptions.Mode.PING_PONG ?
            CLinkContestant.pingPong(link, CHandOff.BARE_NAME.equals(label), options.operation(), size, threads) :
            CLinkContestant.paced(link, options.operation(), size, options.schedule(), threads));
    }

    private LatencyReport play(final String name, final List<Contestant> contestants, final HotThreads threads,
        final PrintWriter progress) throws TimeoutException {
        progress.println(name + ": " + options.rounds() + " turns of each of " +
            contestants.stream().map(Contestant::label).toList());
        progress.flush();
        new LatencyMeter(contestants.stream().filter(Contestant::warmsUp).toList())
            .play(options.warmUpRounds(), options.warmUpTurn(), window -> { });
        final LatencyMeter meter = new LatencyMeter(contestants);
        final Map<String, List<LatencyWindow>> windows =
            meter.play(options.rounds(), options.turn(), window -> show(window, progress));
        if (census.isPresent()) {
            census.get().during(() -> meter.play(1, LatencyOptions.CENSUS_TURN, window -> { }));
        }
        final List<LatencyRun> runs = new ArrayList<>();
        windows.forEach((label, turns) -> runs.add(
            LatencyRun.of(label, turns, threads.cpus(), CHandOff.BARE_NAME.equals(label) ? 0 : threads.handlers())));
        return new LatencyReport(name, runs);
    }

    private void show(final LatencyWindow window, final PrintWriter progress) {
        if (verbose) {
            progress.printf(Locale.ROOT,
                "%4d %-24s p50 %,8d  p90 %,8d  p99 %,9d  p99.9 %,10d  max %,12d ns; lost %.2f ms, gap %.3f ms%s%n",
                window.round(), window.label(), window.percentileNs(50), window.percentileNs(90), window.percentileNs(99),
                window.percentileNs(99.9), window.latencyNs().getMaxValue(), window.loss().lostNs() / 1e6,
                window.longestGapNs() / 1e6, window.fault().isEmpty() ? "" : "; " + window.fault());
            progress.flush();
        }
    }

    private void write(final List<LatencyReport> reports, final ObjectNode root) {
        for (final LatencyReport report : reports) {
            HistogramFiles.write(report, output);
            final Map<String, Histogram> histograms = new LinkedHashMap<>();
            report.runs().forEach(run -> histograms.put(run.label(), run.total()));
            final String stem = HistogramFiles.fileName(report.name());
            PercentilePlot.draw(report.name(), histograms, output.resolve(stem + ".svg"));
            PercentilePlot.draw(report.name(), histograms, output.resolve(stem + ".png"));
        }
        try {
            Files.writeString(output.resolve("latency.json"), JsonText.of(root));
        } catch (final IOException e) {
            throw new UncheckedIOException("cannot write to " + output, e);
        }
    }

    private static List<BenchResult> results(final List<LatencyReport> reports) {
        return reports.stream().flatMap(report -> report.results().stream()).toList();
    }

    private List<HandOff> handOffs() {
        final List<HandOff> handOffs = new ArrayList<>(List.of(new RingpollHandOff()));
        for (final String label : against) {
            if ("copying".equals(label)) {
                handOffs.addAll(HandOffs.copying());
            } else if (!List.of("none", PerftestContestant.NAME, RingpollHandOff.NAME).contains(label)) {
                handOffs.add(HandOffs.of(label));
            }
        }
        return handOffs;
    }

    @Override
    public void check() {
        options.check();
        final boolean synthetic = options.over() == LatencyOptions.Over.SYNTHETIC;
        require(handlers >= 1 && handlers <= 3, "--handlers " + handlers + " is not from 1 to 3: there are three paths");
        require(handlers == 1 || synthetic, "over a device there is one handler, not " + handlers);
        require(Integer.bitCount(ringSize) == 1 && ringSize >= 2 && ringSize <= 1 << 24,
            "--ring-size " + ringSize + " is not a power of two from 2 to " + (1 << 24));
        require(batch >= 1 && batch <= ringSize, "--batch " + batch + " is not from 1 to the ring size, " + ringSize);
        hotThreads.check(handlers);
        OutputPath.requireFolder(spec, "--output", output);
        require(!against.isEmpty(), "--against names nothing; none measures ours alone");
        try {
            final List<HandOff> known = handOffs();
            require(handlers == 1 || known.stream().noneMatch(HandOffs.copying()::contains),
                "--against: alternatives that copy have one handler, not " + handlers);
            require(synthetic || known.stream().noneMatch(HandOffs.copying()::contains),
                "--against: alternatives that copy are measured over the synthetic queue only");
        } catch (final IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--against: " + e.getMessage());
        }
        require(!against.contains(PerftestContestant.NAME) ||
            options.over() == LatencyOptions.Over.RDMA && options.mode() == LatencyOptions.Mode.PING_PONG,
            "--against perftest: it needs --over rdma, and has ping-pong only");
        require(options.mode() == LatencyOptions.Mode.PING_PONG || synthetic || !against.contains(CHandOff.BARE_NAME),
            "--against c-bare-loop: there is none for paced operations over a device");
    }

    private void require(final boolean condition, final String otherwise) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
