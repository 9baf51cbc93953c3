package io.ringpoll.bench.replicate;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.JsonText;
import io.ringpoll.bench.measure.Spread;
import io.ringpoll.bench.options.AddressOption;
import io.ringpoll.bench.options.CheckedOptions;
import io.ringpoll.bench.options.Execution;
import io.ringpoll.bench.options.OutputPath;
import io.ringpoll.bench.plot.PercentilePlot;
import io.ringpoll.device.Device;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;
import org.apache.ratis.util.ExitUtils;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll replicate}: appends/s and commit latency of Apache Ratis over ringpoll, Netty or gRPC: three servers and a
 * client in this process, or each a process of its own.
 */
@Command(
    name = "replicate",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    subcommands = VerifyCommand.class,
    description = "Appends records to a log that three servers replicate by Apache Ratis, and reads all logs back.")
public final class ReplicateCommand implements Callable<Integer>, CheckedOptions {
    private static final String VARIANT = "--variant";
    private static final String LOCALHOST = "127.0.0.1";
    private static final double MEDIAN = 50;
    private static final double TAIL = 99;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--transport", paramLabel = "NAME", defaultValue = "ringpoll",
        description = "ringpoll, netty or grpc (${DEFAULT-VALUE}).")
    private Transport transport;

    @Option(names = "--compare", description = "ringpoll and netty in turns, and the ratios.")
    private boolean compare;

    @Option(
        names = VARIANT, paramLabel = "KEY=VALUE[,KEY=VALUE...]",
        defaultValue = "raft.rdma.poller.shared=true,raft.rdma.poller.idle=yield",
        description = "With --compare: ringpoll once more, with these settings (${DEFAULT-VALUE}); may be repeated.")
    private List<String> variants = List.of();

    @Option(
        names = "--lead-in", paramLabel = "N", defaultValue = "0",
        description = "Runs of each transport before those that count, in the same process (${DEFAULT-VALUE}).")
    private int leadIn;

    @Option(
        names = "--payload", paramLabel = "BYTES", defaultValue = "100",
        description = "Length of a record, 8 to 1000000 bytes (${DEFAULT-VALUE}).")
    private int payloadBytes;

    @Option(
        names = "--window", paramLabel = "N", defaultValue = "1",
        description = "Records on their way at a time (${DEFAULT-VALUE}).")
    private int window;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "5", description = "How long each run counts (${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
        names = "--warm-up", paramLabel = "S", defaultValue = "3",
        description = "How long each run goes before it counts (${DEFAULT-VALUE}).")
    private int warmUpSeconds;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "3", description = "Runs of each transport (${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
        names = "--log", paramLabel = "WHERE", defaultValue = "memory",
        description = "memory or disk: where the servers keep their logs (${DEFAULT-VALUE}).")
    private String log;

    @Option(
        names = "--address", paramLabel = "IP",
        description = "Where the servers listen (the address of the device; without ringpoll 127.0.0.1).")
    private String address;

    @Option(
        names = "--property", paramLabel = "KEY=VALUE",
        description = "A setting of the engine or of its transport, such as raft.rdma.poller.spin=50us; may be repeated.")
    private Map<String, String> properties = Map.of();

    @Option(
        names = "--plots", paramLabel = "DIR",
        description = "Draw the commit latencies by percentile there (.svg, .png).")
    private Path plots;

    @Option(
        names = "--profile",
        description = "What an append wakes and costs, by kind of thread, and what the machine's processors do meanwhile.")
    private boolean profile;

    @Mixin
    private RoleOptions processes;

    @Option(names = "--json", description = "Print one JSON object and nothing else on standard output.")
    private boolean json;

    /** Created by picocli. */
    ReplicateCommand() {
    }

    /**
     * Runs the command.
     *
     * @param arguments as typed
     */
    public static void main(final String[] arguments) {
        // The engine would end the process for what this command says in a line.
        ExitUtils.disableSystemExit();
        System.exit(Execution.run(new ReplicateCommand(), arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException, TimeoutException {
        check();
        final PrintWriter out = spec.commandLine().getOut();
        if (processes.role == RoleOptions.Role.SERVER) {
            return new ServerRole(processes, Contestant.of(transport, properties)).run(out);
        }
        if (processes.role == RoleOptions.Role.CLIENT) {
            return new ClientRole(processes, Contestant.of(transport, properties), payloadBytes, window,
                TimeUnit.SECONDS.toNanos(seconds)).run(out);
        }
        final ReplicateConfig config = new ReplicateConfig(address(), payloadBytes, window,
            TimeUnit.SECONDS.toNanos(warmUpSeconds), TimeUnit.SECONDS.toNanos(seconds), "memory".equals(log), profile);
        final List<Contestant> contestants = compare ?
            Contestant.compared(properties, variants.stream().map(Contestant::settings).toList()) :
            List.of(Contestant.of(transport, properties));
        final Map<Contestant, List<ReplicateResult>> results = new LinkedHashMap<>();
        for (int round = 1 - leadIn; round <= rounds; round++) {
            for (final Contestant each : contestants) {
                final ReplicateResult result = new ReplicateRun(config, each).run();
                say(round, each, result);
                if (round > 0) {
                    results.computeIfAbsent(each, none -> new ArrayList<>()).add(result);
                }
            }
        }
        if (json) {
            out.println(json(results));
        } else {
            print(out, results);
        }
        out.flush();
        draw(results);
        return CommandLine.ExitCode.OK;
    }

    private String address() {
        if (address != null) {
            return address;
        }
        if (!compare && transport != Transport.RINGPOLL) {
            return LOCALHOST;
        }
        return AddressOption.ofDevice(spec.commandLine().getErr());
    }

    @Override
    public void check() {
        require(payloadBytes >= Long.BYTES && payloadBytes <= 1_000_000, "--payload is 8 to 1000000 bytes");
        require(window >= 1 && window <= 10_000, "--window is 1 to 10000");
        require(seconds >= 1, "--seconds " + seconds + " is not 1 or more");
        require(rounds >= 1, "--rounds " + rounds + " is not 1 or more");
        require(warmUpSeconds >= 0, "--warm-up " + warmUpSeconds + " is negative");
        require(leadIn >= 0, "--lead-in " + leadIn + " is negative");
        require(address == null || address.matches(AddressOption.HOST), "--address '" + address + "' names no host");
        OutputPath.requireFolder(spec, "--plots", plots);
        require(compare || !spec.commandLine().getParseResult().hasMatchedOption(VARIANT), "--variant is for --compare");
        for (final String variant : variants) {
            require(Contestant.settings(variant) != null, "--variant " + variant + " is not KEY=VALUE[,KEY=VALUE...]");
        }
        require(properties.keySet().stream().noneMatch(String::isBlank), "--property is KEY=VALUE, and the key is missing");
        final String fault = processes.fault();
        require(fault == null, fault);
        OutputPath.requireFolder(spec, "--dir", processes.folder);
        OutputPath.requireFile(spec, "--acknowledged", processes.acknowledged);
        require(processes.role == null || payloadBytes >= NumberedRecord.MIN_BYTES && !compare && plots == null && !json &&
            !profile, "with --role, --payload is at least " + NumberedRecord.MIN_BYTES +
            " and there is no --compare, --plots, --profile or --json");
        require("memory".equals(log) || "disk".equals(log), "--log is memory or disk");
    }

    private void draw(final Map<Contestant, List<ReplicateResult>> results) {
        if (plots == null) {
            return;
        }
        final Map<String, Histogram> histograms = new LinkedHashMap<>();
        results.forEach((each, runs) -> {
            final Histogram all = new Histogram(runs.get(0).latencies());
            runs.forEach(run -> all.add(run.latencies()));
            histograms.put(each.name(), all);
        });
        final String title = "Commit latency, records of " + payloadBytes + " bytes, window " + window;
        for (final String ending : List.of(".svg", ".png")) {
            PercentilePlot.draw(title, histograms, plots.resolve("replicate-" + payloadBytes + "-" + window + ending));
        }
    }

    private void require(final boolean holds, final String otherwise) {
        Execution.require(spec, holds, otherwise);
    }

    private void print(final PrintWriter out, final Map<Contestant, List<ReplicateResult>> results) {
        if (results.keySet().stream().anyMatch(each -> each.transport() == Transport.RINGPOLL)) {
            out.println(Device.current().description());
        }
        out.printf("records of %d bytes, window %d, log in %s; medians of %d runs of %d s%n", payloadBytes, window,
            "memory".equals(log) ? "memory" : "files", rounds, seconds);
        out.printf("%-28s %12s %12s %12s %16s%n", "transport", "appends/s", "p50 us", "p99 us", "verified records");
        results.forEach((each, runs) -> out.printf("%-28s %12.0f %12.1f %12.1f %16d%n", each.name(), rate(runs), p50(runs),
            p99(runs), verified(runs)));
        if (compare) {
            final List<ReplicateResult> theirs = results.entrySet().stream()
                .filter(each -> each.getKey().transport() == Transport.NETTY).findFirst().orElseThrow().getValue();
            results.forEach((each, ours) -> {
                if (each.transport() != Transport.NETTY) {
                    out.printf("%-28s %12.2f %12.2f %12.2f   of netty's%n", each.name(), rate(ours) / rate(theirs),
                        p50(ours) / p50(theirs), p99(ours) / p99(theirs));
                }
            });
        }
        if (profile) {
            results.forEach((each, runs) -> profile(runs).print(out, each.name()));
        }
    }

    private static AppendProfile profile(final List<ReplicateResult> runs) {
        return runs.stream().map(ReplicateResult::profile).reduce(AppendProfile.NONE, AppendProfile::plus);
    }

    /** A run takes its time, and runs differ: each is told of when it is over. */
    private void say(final int round, final Contestant contestant, final ReplicateResult result) {
        final PrintWriter err = spec.commandLine().getErr();
        err.printf("%s, %s: %.0f appends/s, p50 %.1f us, p99 %.1f us%n", contestant.name(),
            round > 0 ? "run " + round + " of " + rounds : "before", result.appendsPerSecond(), result.percentileUs(MEDIAN),
            result.percentileUs(TAIL));
        err.flush();
    }

    private String json(final Map<Contestant, List<ReplicateResult>> results) {
        final ObjectNode root = JsonText.document(List.of());
        root.put("payloadBytes", payloadBytes).put("window", window).put("log", log).put("seconds", seconds).put("runs", rounds);
        results.forEach((each, runs) -> {
            final ObjectNode figures = root.putObject(each.name()).put("appendsPerSecond", rate(runs))
                .put("p50us", p50(runs)).put("p99us", p99(runs)).put("verifiedRecords", verified(runs));
            if (profile) {
                profile(runs).addTo(figures);
            }
        });
        return JsonText.of(root);
    }

    private static double rate(final List<ReplicateResult> runs) {
        return median(runs, ReplicateResult::appendsPerSecond);
    }

    private static double p50(final List<ReplicateResult> runs) {
        return median(runs, run -> run.percentileUs(MEDIAN));
    }

    private static double p99(final List<ReplicateResult> runs) {
        return median(runs, run -> run.percentileUs(TAIL));
    }

    private static long verified(final List<ReplicateResult> runs) {
        return runs.stream().mapToLong(ReplicateResult::verified).sum();
    }

    private static double median(final List<ReplicateResult> runs, final ToDoubleFunction<ReplicateResult> figure) {
        return Spread.of(runs.stream().mapToDouble(figure).toArray()).median();
    }
}
