package io.ringpoll.cli.replicate;

import io.ringpoll.bench.measure.JavaCommand;
import io.ringpoll.bench.replicate.ClientRole;
import io.ringpoll.bench.replicate.Contestant;
import io.ringpoll.bench.replicate.ProcessComparison;
import io.ringpoll.bench.replicate.ReplicateConfig;
import io.ringpoll.bench.replicate.Replication;
import io.ringpoll.bench.replicate.ServerRole;
import io.ringpoll.bench.replicate.StreamComparison;
import io.ringpoll.bench.replicate.Transport;
import io.ringpoll.cli.options.AddressOption;
import io.ringpoll.cli.options.ApiOption;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.OutputPath;
import io.ringpoll.cli.options.RoleOption;
import io.ringpoll.internal.ratis.KnownKeys;
import io.ringpoll.ratis.RdmaConfigKeys;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.util.ExitUtils;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll replicate}: appends/s and commit latency of Apache Ratis over ringpoll, Netty or gRPC: servers and clients,
 * all in this process or each in its own.
 */
@Command(
    name = "replicate",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    subcommands = VerifyCommand.class,
    description = "Appends records to a log that servers replicate by Apache Ratis, and reads all logs back.")
public final class ReplicateCommand implements Callable<Integer>, CheckedOptions {
    private static final String VARIANT = "--variant";
    private static final String API = "--api";
    private static final String PROPERTY = "--property";
    private static final String WINDOW = "--window";
    /** Until the processes of a group have compiled their code on two cores: after 15 s they have a third of the rate. */
    private static final int PROCESSES_WARM_UP_S = 40;
    /** Processes share no poller. */
    private static final String PROCESSES_VARIANT = "raft.rdma.poller.idle=yield";
    /** The windows of groups of processes. */
    private static final List<Integer> WINDOWS = List.of(1, 32);
    /** A name, because the main class depends on all commands. */
    private static final String MAIN_CLASS = "io.ringpoll.cli.Ringpoll";
    private static final String LOCALHOST = "127.0.0.1";

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--transport", paramLabel = "NAME", defaultValue = "ringpoll",
        description = "Transport: ringpoll, netty or grpc (${DEFAULT-VALUE}).")
    private Transport transport;

    @Option(names = "--compare", description = "Measure ringpoll and netty in turns, with ratios.")
    private boolean compare;

    @Option(
        names = "--processes",
        description = "Each server and the client is a process on this machine, started by this command.")
    private boolean asProcesses;

    @Option(
        names = VARIANT, paramLabel = "KEY=VALUE[,KEY=VALUE...]",
        defaultValue = "raft.rdma.poller.shared=true,raft.rdma.poller.idle=yield",
        description = "With --compare: also ringpoll with these settings (${DEFAULT-VALUE}; with --processes " +
            PROCESSES_VARIANT + "); may be repeated.")
    private List<String> variants = List.of();

    @Option(
        names = "--lead-in", paramLabel = "N", defaultValue = "0",
        description = "Unmeasured runs of each transport at the start, in the same process (${DEFAULT-VALUE}).")
    private int leadIn;

    @Option(
        names = "--payload", paramLabel = "BYTES", defaultValue = "100",
        description = "Length of a record, 0 to " + ReplicateConfig.LONGEST_RECORD + " bytes (${DEFAULT-VALUE}); of processes," +
            " at least " + ClientRole.SHORTEST_RECORD + ".")
    private int payloadBytes;

    @Option(
        names = "--payload-max", paramLabel = "BYTES",
        description = "Mixed lengths, from --payload to this, at most " + ReplicateConfig.LONGEST_RECORD +
            "; each factor is equally frequent (default: --payload).")
    private Integer maxPayloadBytes;

    @Option(
        names = "--stream", paramLabel = "BYTES",
        description = "Write data streams of this length, 1 to 1000000000, instead of records.")
    private Integer streamBytes;

    @Option(
        names = WINDOW, paramLabel = "N", defaultValue = "1",
        description = "Maximum number of records or streams in flight (${DEFAULT-VALUE}; with --processes 1, then 32).")
    private int window;

    @Option(
        names = "--servers", paramLabel = "N", defaultValue = "" + ReplicateConfig.SERVERS,
        description = "Number of servers, 1 to 15 (${DEFAULT-VALUE}).")
    private int servers;

    @Option(
        names = "--groups", paramLabel = "N", defaultValue = "1",
        description = "Number of groups on the servers, 1 to 100; each has a client, and records go to them in turns" +
            " (${DEFAULT-VALUE}).")
    private int groups;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "5",
        description = "Measured time of each run (${DEFAULT-VALUE}); with --role server: life time of the server (no limit).")
    private int seconds;

    @Option(
        names = "--warm-up", paramLabel = "S", defaultValue = "3",
        description = "Warm-up time of each run (${DEFAULT-VALUE}; with --processes " + PROCESSES_WARM_UP_S +
            ", as each process compiles for itself; with --role client 0).")
    private int warmUpSeconds;

    @Option(
        names = "--rounds", paramLabel = "N", defaultValue = "3",
        description = "Runs of each transport (${DEFAULT-VALUE}); with --compare, a goal needs 6 for a verdict.")
    private int rounds;

    @Option(
        names = "--log", paramLabel = "WHERE", defaultValue = "memory",
        description = "Storage of the logs: memory or disk (${DEFAULT-VALUE}).")
    private String log;

    @Option(
        names = "--address", paramLabel = "IP",
        description = "Address of the servers (default: the address of the device; without ringpoll 127.0.0.1).")
    private String address;

    @Mixin
    private ApiOption api;

    @Option(
        names = PROPERTY, paramLabel = "KEY=VALUE",
        description = "A setting of the engine or of its transport, such as raft.rdma.poller.spin=50us; may be repeated.")
    private Map<String, String> properties = Map.of();

    @Option(
        names = "--plots", paramLabel = "DIR",
        description = "Folder for plots of the commit latencies by percentile (.svg, .png).")
    private Path plots;

    @Option(
        names = "--profile",
        description = "Print wake-ups and CPU time of an append, by kind of thread, and the processor use of the machine.")
    private boolean profile;

    @Mixin
    private RoleOptions processes;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    ReplicateCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException, TimeoutException {
        check();
        // The engine would exit the process where this command prints one line.
        ExitUtils.disableSystemExit();
        final PrintWriter out = spec.commandLine().getOut();
        try {
            return processes.role.isBoth() ? measure(out) : playRole(out);
        } catch (final IOException | RuntimeException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                // The engine and its transports read their settings when they are created.
                if (cause instanceof IllegalArgumentException && hasSettings()) {
                    throw new CommandLine.ParameterException(
                        spec.commandLine(), (properties.isEmpty() ? VARIANT : PROPERTY) + ": " + cause.getMessage());
                }
            }
            throw e;
        }
    }

    private boolean hasSettings() {
        return !properties.isEmpty() || isGiven(VARIANT);
    }

    private int measure(final PrintWriter out) throws IOException, InterruptedException, TimeoutException {
        final ReplicateConfig config =
            config(address(), asProcesses && !isGiven("--warm-up") ? PROCESSES_WARM_UP_S : warmUpSeconds);
        final List<Contestant> contestants = compare ? Contestant.compared(settings(), settingsOfVariants()) :
            List.of(Contestant.of(transport, settings()));
        if (asProcesses) {
            return measureProcesses(config, contestants, out);
        }
        if (streamBytes != null) {
            return measureStreams(config, contestants, out);
        }
        final Replication replication = new Replication(config, contestants, leadIn, rounds, spec.commandLine().getErr());
        replication.run();
        if (json) {
            out.println(replication.toJson());
        } else {
            replication.print(out);
        }
        out.flush();
        if (plots != null) {
            replication.draw(plots);
        }
        return CommandLine.ExitCode.OK;
    }

    private int playRole(final PrintWriter out) throws IOException, InterruptedException, TimeoutException {
        if (processes.role.side() == RoleOption.Side.SERVER) {
            return new ServerRole(processes.config(), Contestant.of(transport, settings()))
                .run(out, isGiven("--seconds") ? seconds : Long.MAX_VALUE);
        }
        return new ClientRole(processes.config(), Contestant.of(transport, settings()),
            config(null, isGiven("--warm-up") ? warmUpSeconds : 0), processes.latencies).run(out);
    }

    private ReplicateConfig config(final String of, final int warmUp) {
        return new ReplicateConfig(of, payloadBytes, maxPayloadBytes == null ? payloadBytes : maxPayloadBytes, window,
            TimeUnit.SECONDS.toNanos(warmUp), TimeUnit.SECONDS.toNanos(seconds), "memory".equals(log), profile, servers, groups,
            asProcesses);
    }

    private int measureProcesses(final ReplicateConfig config, final List<Contestant> contestants, final PrintWriter out)
        throws IOException, InterruptedException, TimeoutException {
        final ProcessComparison comparison = new ProcessComparison(config, isGiven(WINDOW) ? List.of(window) : WINDOWS,
            contestants, leadIn, rounds, JavaCommand.of(List.of(MAIN_CLASS, spec.name())), spec.commandLine().getErr());
        comparison.run();
        if (json) {
            out.println(comparison.toJson());
        } else {
            comparison.print(out);
        }
        out.flush();
        if (plots != null) {
            comparison.draw(plots);
        }
        return CommandLine.ExitCode.OK;
    }

    private Map<String, String> settings() {
        final Map<String, String> settings = new TreeMap<>(properties);
        if (isGiven(API)) {
            settings.put(RdmaConfigKeys.API_KEY, api.api().toString());
        }
        return settings;
    }

    private List<Map<String, String>> settingsOfVariants() {
        return (asProcesses && !isGiven(VARIANT) ? List.of(PROCESSES_VARIANT) : variants).stream().map(Contestant::settings)
            .toList();
    }

    private boolean isGiven(final String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private int measureStreams(final ReplicateConfig config, final List<Contestant> contestants, final PrintWriter out)
        throws IOException, InterruptedException, TimeoutException {
        final StreamComparison streams =
            new StreamComparison(config, streamBytes, contestants, rounds, spec.commandLine().getErr());
        streams.run();
        if (json) {
            out.println(streams.toJson());
        } else {
            streams.print(out);
        }
        out.flush();
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
        require(payloadBytes >= 0 && payloadBytes <= ReplicateConfig.LONGEST_RECORD,
            "--payload is 0 to " + ReplicateConfig.LONGEST_RECORD + " bytes");
        require(maxPayloadBytes == null || maxPayloadBytes >= payloadBytes && maxPayloadBytes <= ReplicateConfig.LONGEST_RECORD,
            "--payload-max is --payload to " + ReplicateConfig.LONGEST_RECORD + " bytes");
        require(window >= 1 && window <= 10_000, "--window is 1 to 10000");
        require(streamBytes == null || streamBytes >= 1 && streamBytes <= 1_000_000_000, "--stream is 1 to 1000000000 bytes");
        require(streamBytes == null || processes.role.isBoth() && plots == null && !profile && leadIn == 0 &&
            !isGiven("--payload") && maxPayloadBytes == null,
            "with --stream there is no --role, --plots, --profile, --lead-in, --payload or --payload-max");
        require(servers >= 1 && servers <= 15, "--servers is 1 to 15");
        require(!asProcesses || processes.role.isBoth() && streamBytes == null && !profile && groups == 1,
            "with --processes there is no --role, --stream, --profile or --groups");
        require(!asProcesses || payloadBytes >= ClientRole.SHORTEST_RECORD,
            "with --processes, --payload is at least " + ClientRole.SHORTEST_RECORD);
        require(groups >= 1 && groups <= 100, "--groups is 1 to 100");
        require(streamBytes == null || groups == 1, "with --stream there is no --groups");
        require(seconds >= 1, "--seconds " + seconds + " is not 1 or more");
        require(rounds >= 1, "--rounds " + rounds + " is not 1 or more");
        require(warmUpSeconds >= 0, "--warm-up " + warmUpSeconds + " is negative");
        require(leadIn >= 0, "--lead-in " + leadIn + " is negative");
        require(address == null || address.matches(AddressOption.HOST), "--address '" + address + "' is not an IP address");
        OutputPath.requireFolder(spec, "--plots", plots);
        require(!compare || !isGiven("--transport"), "--compare measures ringpoll and netty: no --transport");
        require(compare || transport == Transport.RINGPOLL || !isGiven(API), "--api is for --transport ringpoll");
        require(compare || !isGiven(VARIANT), "--variant is for --compare");
        for (final String variant : variants) {
            require(Contestant.settings(variant) != null, "--variant " + variant + " is not KEY=VALUE[,KEY=VALUE...]");
        }
        require(properties.keySet().stream().noneMatch(String::isBlank), "--property is KEY=VALUE, and the key is missing");
        properties.keySet().forEach(key -> requireKey(PROPERTY, key));
        if (isGiven(VARIANT)) {
            settingsOfVariants().forEach(variant -> variant.keySet().forEach(key -> requireKey(VARIANT, key)));
        }
        require(!isGiven(API) || !properties.containsKey(RdmaConfigKeys.API_KEY),
            "--api and --property " + RdmaConfigKeys.API_KEY + " exclude each other");
        final String fault = processes.fault();
        require(fault == null, fault);
        OutputPath.requireFolder(spec, "--dir", processes.folder);
        OutputPath.requireFile(spec, "--acknowledged", processes.acknowledged);
        OutputPath.requireFile(spec, "--latencies", processes.latencies);
        require(processes.role.isBoth() || servers == ReplicateConfig.SERVERS && groups == 1,
            "with --role, --peers has the servers: no --servers, no --groups");
        require(processes.role.isBoth() || payloadBytes >= ClientRole.SHORTEST_RECORD && !compare && plots == null && !json &&
            !profile, "with --role, --payload is at least " + ClientRole.SHORTEST_RECORD +
            " and there is no --compare, --plots, --profile or --json");
        require("memory".equals(log) || "disk".equals(log), "--log is memory or disk");
    }

    /** A key that nobody reads would have no effect, and the table would not show it. */
    private void requireKey(final String option, final String key) {
        require(key.startsWith("raft."), option + " " + key + ": the keys of all settings begin with raft.");
        require(!key.equals(RaftConfigKeys.Rpc.TYPE_KEY), option + " " + key + ": --transport sets it");
        KnownKeys.meantBy(key).ifPresent(meant ->
            require(false, option + " " + key + ": there is no such setting; did you mean " + meant + "?"));
    }

    private void require(final boolean holds, final String otherwise) {
        Execution.require(spec, holds, otherwise);
    }
}
