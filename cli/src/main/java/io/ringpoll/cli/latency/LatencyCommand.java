package io.ringpoll.cli.latency;

import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.latency.LatencyConfig;
import io.ringpoll.bench.latency.LatencyMeasurement;
import io.ringpoll.bench.link.RemoteServer;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.cli.options.ApiOption;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.HotThreadOptions;
import io.ringpoll.cli.options.OutputPath;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll latency}: the time from a completion to its handler, as percentiles, for ringpoll and C in turns.
 *
 * <p>Exit codes: 0; 1 if the measurement failed, or with {@code --strict} if its figures are doubtful; 2 for wrong usage.
 */
@Command(
    name = "latency",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures the latency from due time to handler (rate), or half round trips (ping-pong).")
public final class LatencyCommand implements Callable<Integer>, CheckedOptions {
    @Spec
    private CommandSpec spec;

    @Mixin
    private LatencyOptions options;

    @Mixin
    private ApiOption api;

    @Option(names = "--handlers", paramLabel = "N", defaultValue = "1",
        description = "Handlers that share the three paths, at a rate: 1 to 3 (${DEFAULT-VALUE}).")
    private int handlers;

    @Option(names = "--against", paramLabel = "NAME", split = ",", defaultValue = CHandOff.NAME,
        description = "Baselines (${DEFAULT-VALUE}): c, c-bare-loop, over synthetic also alternatives that "
            + "copy (copying: each in its fastest use, all-copying, or a name), over rdma in ping-pong also perftest, or none.")
    private List<String> against;

    @Option(names = "--ring-size", paramLabel = "SLOTS", defaultValue = "8192",
        description = "Slots of the ring, a power of two (${DEFAULT-VALUE}).")
    private int ringSize;

    @Option(names = "--batch", paramLabel = "N", defaultValue = "32",
        description = "Maximum completions per poll (${DEFAULT-VALUE}).")
    private int batch;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1",
        description = "Seed of the order of the turns in each round (${DEFAULT-VALUE}).")
    private long seed;

    @Mixin
    private HotThreadOptions hotThreads;

    @Option(names = "--output", paramLabel = "DIR",
        description = "Folder for histograms (.hgrm, .hlog), results (.json) and plots (.svg, .png).")
    private Path output;

    @Option(names = "--strict", description = "Exit with 1 if a run missed its rate, lost its CPU or was not pinned.")
    private boolean strict;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    @Option(names = "--verbose", description = "Print every turn.")
    private boolean verbose;

    /** Created by picocli. */
    LatencyCommand() {
    }

    @Override
    public Integer call() throws TimeoutException {
        check();
        final Optional<NodeCensus> census = hotThreads.bindMemory();
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter progress = json ? spec.commandLine().getErr() : out;
        final LatencyConfig config = config();
        progress.println(MachineReport.line());
        progress.println(MachineReport.jvmLine());
        progress.println(config);
        hotThreads.compromises().forEach(compromise -> progress.println("note: " + compromise));
        progress.flush();
        final LatencyMeasurement measurement = new LatencyMeasurement(config, census, progress, verbose);
        if (config.over() == LatencyConfig.Over.SYNTHETIC) {
            measurement.run();
        } else {
            api.disableLog();
            final String host = options.address().host(progress);
            final int port = options.address().port();
            switch (options.role().side()) {
                case BOTH -> measurement.run(api.api(), host, port);
                case CLIENT -> measurement.runToServer(api.api(), host, port);
                case SERVER -> {
                    return new RemoteServer(api.api(), host, port, progress)
                        .run(config.threads(), config.runToCompletion()) ? ExitCode.OK : ExitCode.SOFTWARE;
                }
            }
        }
        if (json) {
            out.println(measurement.toJson());
        } else {
            measurement.print(out);
        }
        out.flush();
        if (!measurement.unrecorded().isEmpty()) {
            throw new IllegalStateException("nothing was recorded of " + String.join(", ", measurement.unrecorded()));
        }
        return strict && !measurement.isClean() ? ExitCode.SOFTWARE : ExitCode.OK;
    }

    private LatencyConfig config() {
        final boolean both = options.role().isBoth();
        final LatencyConfig.Over over = options.choose();
        final HotCpus cpus = both ? hotThreads.cpus(handlers) : hotThreads.cpusOfRole(handlers);
        final WaitMode waitStrategy = both ? hotThreads.waitStrategy(cpus, handlers, options.posters()) :
            hotThreads.waitStrategyOfRole(cpus, handlers);
        return options.config(over, both ? against : List.of(), handlers, ringSize, batch, waitStrategy, cpus, seed, output);
    }

    @Override
    public void check() {
        checkRole();
        options.check();
        final boolean synthetic = options.over() == LatencyConfig.Over.SYNTHETIC;
        require(!synthetic || api.api() == RdmaApi.RPMA,
            "--api verbs needs --over loopback or rdma: the synthetic queue has no connection");
        require(handlers >= 1 && handlers <= 3, "--handlers " + handlers + " is not from 1 to 3: there are three paths");
        require(handlers == 1 || synthetic, "over a device there is one handler, not " + handlers);
        require(Integer.bitCount(ringSize) == 1 && ringSize >= 2 && ringSize <= 1 << 24,
            "--ring-size " + ringSize + " is not a power of two from 2 to " + (1 << 24));
        require(batch >= 1 && batch <= ringSize, "--batch " + batch + " is not from 1 to the ring size, " + ringSize);
        hotThreads.check(handlers);
        OutputPath.requireFolder(spec, "--output", output);
        require(!against.isEmpty(), "--against names nothing; none measures ours alone");
        require(against.size() == 1 || !against.contains("none"), "--against none has no other baseline beside it");
        try {
            final List<HandOff> known = LatencyMeasurement.handOffs(against);
            require(handlers == 1 || known.stream().noneMatch(HandOffs.allCopying()::contains),
                "--against: alternatives that copy have one handler, not " + handlers);
            require(synthetic || known.stream().noneMatch(HandOffs.allCopying()::contains),
                "--against: alternatives that copy are measured over the synthetic queue only");
        } catch (final IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--against: " + e.getMessage());
        }
        require(!against.contains(LatencyMeasurement.PERFTEST) ||
            options.over() == LatencyConfig.Over.RDMA && options.mode() == LatencyConfig.Mode.PING_PONG,
            "--against perftest: it needs --over rdma, and has ping-pong only");
        require(options.mode() == LatencyConfig.Mode.PING_PONG || synthetic || !against.contains(CHandOff.BARE_NAME),
            "--against c-bare-loop: there is none for paced operations over a device");
    }

    private void checkRole() {
        require(options.role().isBoth() || !spec.commandLine().getParseResult().hasMatchedOption("--against"),
            "with --role the server answers, and there is no baseline: no --against");
        options.role().requireOfClient("--mode", "--rate", "--burst", "--random", "--operation", "--size", "--warm-up",
            "--duration", "--iterations", "--lead-in", "--seed", "--output", "--strict", "--json", "--verbose");
    }

    private void require(final boolean condition, final String otherwise) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
