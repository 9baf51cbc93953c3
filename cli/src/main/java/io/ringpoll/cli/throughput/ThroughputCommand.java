package io.ringpoll.cli.throughput;

import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.RemoteServer;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.bench.throughput.Regime;
import io.ringpoll.bench.throughput.RemoteConfig;
import io.ringpoll.bench.throughput.RemoteThroughput;
import io.ringpoll.bench.throughput.ThroughputConfig;
import io.ringpoll.bench.throughput.ThroughputMeasurement;
import io.ringpoll.bench.throughput.ThroughputReport;
import io.ringpoll.cli.options.ApiOption;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.HotThreadOptions;
import io.ringpoll.cli.options.RoleOption;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll throughput}: the cost of a completion in saturation.
 *
 * <p>Exit codes: 0; 1 if a turn went wrong, or none of a hand-off counts; 2 for wrong usage.
 */
@Command(
    name = "throughput",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
        "Measures the cost of a completion from a saturated queue to the handlers, compared in turns.",
        "With --role: the operations per second to a server in another process."})
public final class ThroughputCommand implements Callable<Integer>, CheckedOptions {
    private static final long LONGEST_MS = 3_600_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--handlers", paramLabel = "N", defaultValue = "1",
        description = "Handlers that share the three paths, 1 to 3 (${DEFAULT-VALUE}).")
    private int handlers;

    @Option(names = "--in-batches",
        description = "The handlers of ringpoll receive batches, and sum up in registers as in C; default: single completions.")
    private boolean inBatches;

    @Option(names = "--run-to-completion",
        description = "The handler of ringpoll runs on the polling thread, as that of " + CHandOff.BARE_NAME + " does.")
    private boolean runToCompletion;

    @Option(names = "--regime", paramLabel = "NAME", defaultValue = "both",
        description = "Initial lag of the handlers: close behind the poller, trailing, or both (${DEFAULT-VALUE}).")
    private String regime;

    @Option(names = "--against", paramLabel = "NAME", split = ",", defaultValue = CHandOff.NAME + "," + CHandOff.BARE_NAME,
        description = "Baselines (${DEFAULT-VALUE}); copying: the usual Java queues in their fastest uses; "
            + "all-copying: all uses of them.")
    private List<String> against;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "15",
        description = "Measured rounds, with one turn of each (${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = "--warm-up", paramLabel = "N", defaultValue = "3", description = "Warm-up rounds (${DEFAULT-VALUE}).")
    private int warmUp;

    @Option(names = "--window", paramLabel = "MS", defaultValue = "500", description = "Length of a turn (${DEFAULT-VALUE}).")
    private long windowMs;

    @Option(names = "--lead-in", paramLabel = "MS", defaultValue = "150",
        description = "Time to run in before each turn (${DEFAULT-VALUE}).")
    private long leadInMs;

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

    @Mixin
    private RemoteOptions remote;

    @Mixin
    private ApiOption api;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    @Option(names = "--verbose", description = "Print every turn.")
    private boolean verbose;

    /** Created by picocli. */
    ThroughputCommand() {
    }

    @Override
    public Integer call() throws TimeoutException {
        check();
        return remote.role().isBoth() ? measureHandOffs() : runRole();
    }

    private int measureHandOffs() {
        final Optional<NodeCensus> census = hotThreads.bindMemory();
        final HotCpus cpus = hotThreads.cpus(handlers);
        final WaitMode waitStrategy = hotThreads.waitStrategy(cpus, handlers, 0);
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter progress = json ? spec.commandLine().getErr() : out;
        final List<HandOff> handOffs = HandOffs.available(handOffs(), progress);
        final ThroughputConfig config = new ThroughputConfig(
            handlers, mode(), regimes(), handOffs, rounds, warmUp, ringSize, batch, waitStrategy, cpus, leadInMs, windowMs,
            seed);
        Device.choose(DeviceKind.LOOPBACK);
        progress.println(MachineReport.line());
        progress.println(MachineReport.jvmLine());
        progress.println(config);
        hotThreads.compromises().forEach(compromise -> progress.println("note: " + compromise));
        progress.flush();
        final ThroughputReport report = new ThroughputMeasurement(config, census, verbose ? progress : null).run();
        if (json) {
            out.println(report.toJson());
        } else {
            report.print(out);
        }
        out.flush();
        return report.faults().isEmpty() && report.unmeasured().isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    /** The device is that of this machine. */
    private int runRole() throws TimeoutException {
        hotThreads.bindMemory();
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter progress = json ? spec.commandLine().getErr() : out;
        final HotCpus cpus = hotThreads.cpusOfRole(1);
        final HotThreads threads = new HotThreads(
            1, ringSize, batch, hotThreads.waitStrategyOfRole(cpus, 1), cpus, HotCpus.ANY);
        progress.println(MachineReport.line());
        progress.println(api.api().deviceLine());
        progress.flush();
        api.disableLog();
        final String host = remote.address().host(progress);
        final int port = remote.address().port();
        if (remote.role().side() == RoleOption.Side.SERVER) {
            return new RemoteServer(api.api(), host, port, progress).run(threads, runToCompletion) ?
                ExitCode.OK : ExitCode.SOFTWARE;
        }
        final RemoteThroughput measurement = new RemoteThroughput(new RemoteConfig(api.api(), remote.operation(), remote.size(),
            remote.depth(), rounds, warmUp, leadInMs, windowMs, threads, runToCompletion), verbose ? progress : null);
        measurement.run(host, port);
        if (json) {
            out.println(measurement.toJson());
        } else {
            measurement.print(out);
        }
        out.flush();
        return ExitCode.OK;
    }

    @Override
    public void check() {
        remote.check();
        checkRole();
        require(handlers >= 1 && handlers <= 3, "--handlers " + handlers + " is not from 1 to 3: there are three paths");
        require(!runToCompletion || handlers == 1 && !inBatches,
            "--run-to-completion has one handler, of single completions");
        require(rounds >= 1, "--rounds " + rounds + " is not 1 or more");
        require(warmUp >= 0, "--warm-up " + warmUp + " is negative");
        require(windowMs >= 1 && windowMs <= LONGEST_MS, "--window " + windowMs + " is not from 1 to " + LONGEST_MS + " ms");
        require(leadInMs >= 0 && leadInMs <= LONGEST_MS, "--lead-in " + leadInMs + " is not from 0 to " + LONGEST_MS + " ms");
        require(Integer.bitCount(ringSize) == 1 && ringSize >= 2 && ringSize <= 1 << 24,
            "--ring-size " + ringSize + " is not a power of two from 2 to " + (1 << 24));
        regimes();
        require(!against.isEmpty(), "--against names nothing");
        handOffs();
        hotThreads.check(handlers);
        require(batch >= 1 && batch <= ringSize, "--batch " + batch + " is not from 1 to the ring size, " + ringSize);
    }

    private void checkRole() {
        final ParseResult given = spec.commandLine().getParseResult();
        require(remote.role().isBoth() ||
            Stream.of("--handlers", "--in-batches", "--regime", "--against", "--seed").noneMatch(given::hasMatchedOption),
            "with --role there is one handler and no baseline: no --handlers, --in-batches, --regime, --against or --seed");
        require(!remote.role().isBoth() || api.api() == RdmaApi.RPMA,
            "--api verbs needs --role: the synthetic queue has no connection");
        remote.role().requireOfClient("--rounds", "--warm-up", "--window", "--lead-in", "--json", "--verbose");
    }

    private List<Regime> regimes() {
        return switch (regime) {
            case "close" -> List.of(Regime.CLOSE);
            case "trailing" -> List.of(Regime.TRAILING);
            case "both" -> List.of(Regime.CLOSE, Regime.TRAILING);
            default -> throw new ParameterException(
                spec.commandLine(), "--regime '" + regime + "' is not close, trailing or both");
        };
    }

    private RingpollHandOff.Mode mode() {
        if (runToCompletion) {
            return RingpollHandOff.Mode.RUN_TO_COMPLETION;
        }
        return inBatches ? RingpollHandOff.Mode.BATCHES : RingpollHandOff.Mode.SINGLE;
    }

    private List<HandOff> handOffs() {
        final List<HandOff> handOffs = new ArrayList<>(List.of(new RingpollHandOff(mode())));
        try {
            handOffs.addAll(HandOffs.baselines(against));
        } catch (final IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--against: " + e.getMessage());
        }
        require(handlers == 1 || handOffs.stream().noneMatch(HandOffs.allCopying()::contains),
            "--against: alternatives that copy have one handler, not " + handlers);
        return handOffs;
    }

    private void require(final boolean condition, final String otherwise) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
