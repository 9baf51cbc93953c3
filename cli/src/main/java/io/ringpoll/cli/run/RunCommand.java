package io.ringpoll.cli.run;

import io.ringpoll.cli.options.AddressOption;
import io.ringpoll.cli.options.ApiOption;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.RoleOption;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.verify.run.MainJob;
import io.ringpoll.verify.run.Mix;
import io.ringpoll.verify.run.Payload;
import io.ringpoll.verify.run.Role;
import io.ringpoll.verify.run.RunConfig;
import io.ringpoll.verify.run.RunPinning;
import io.ringpoll.verify.run.RunReport;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll run}: parses the options of the main job, runs it, and prints the result.
 *
 * <p>Exit codes: 0 if every work request completed once on its path and every payload was intact; 1 if not, or if the run failed;
 * 2 for wrong usage.
 */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Moves real work requests through librpma or verbs and accounts for every completion.")
public final class RunCommand implements Callable<Integer>, CheckedOptions {
    private static final int DEFAULT_PORT = 7471;
    private static final double WARM_UP_SECONDS = 2.5;
    private static final double SOAK_WARM_UP_SECONDS = 10;
    private static final int LONGEST_WARM_UP_SECONDS = 3600;
    private static final int MAX_PAYLOAD = 1 << 20;
    private static final int MAX_CONNECTIONS = 1024;
    private static final int MAX_RING_SIZE = 1 << 24;
    private static final long EXIT_TIMEOUT_MS = 40_000;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--seconds", paramLabel = "S", defaultValue = "4",
        description = "Measured time, after the warm-up (${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
        names = "--warm-up", paramLabel = "S",
        description = "Maximum time until the hot threads have settled (2.5; with --soak 10).")
    private Double warmUp;

    @Option(names = "--operations", paramLabel = "N",
        description = "Number of operations instead of a time, including the warm-up.")
    private Long operations;

    @Option(
        names = "--mix", paramLabel = "OP=WEIGHT,...", defaultValue = Mix.DEFAULT,
        description = "Shares of the operations (${DEFAULT-VALUE}).")
    private String mix;

    @Option(names = "--payload", paramLabel = "BYTES", defaultValue = "64", description = "Message length (${DEFAULT-VALUE}).")
    private int payload;

    @Option(names = "--connections", paramLabel = "N", defaultValue = "2", description = "Connections (${DEFAULT-VALUE}).")
    private int connections;

    @Option(
        names = "--depth", paramLabel = "N", defaultValue = "64",
        description = "Work requests in flight on each connection, a power of two (${DEFAULT-VALUE}).")
    private int depth;

    @Option(
        names = "--batch", paramLabel = "N", defaultValue = "32",
        description = "Maximum completions per poll of one queue (${DEFAULT-VALUE}).")
    private int batch;

    @Option(
        names = "--ring-size", paramLabel = "SLOTS", defaultValue = "8192",
        description = "Slots of the ring, a power of two (${DEFAULT-VALUE}).")
    private int ringSize;

    @Option(
        names = "--wait", paramLabel = "HOW", defaultValue = "auto",
        description = "Wait of threads: auto, busy-spin, yield, sleep or block (${DEFAULT-VALUE}: by the number of cores).")
    private String wait;

    @Option(
        names = "--pin", paramLabel = "CPUS", defaultValue = "none",
        description = "CPUs for poller, send-write, receive, error, client: none, 2,3,4 or poller=2,client=3, or auto: " +
            "those of tune plan (${DEFAULT-VALUE}).")
    private String pin;

    @Option(names = "--device", paramLabel = "KIND", description = "auto, loopback or rdma (auto: RDMA if there is a device).")
    private String device;

    @Mixin
    private ApiOption api;

    @Mixin
    private AddressOption address = new AddressOption(DEFAULT_PORT);

    @Mixin
    private RoleOption role = new RoleOption();

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1",
        description = "Seed of all random choices (${DEFAULT-VALUE}).")
    private long seed;

    @Option(
        names = "--faults", paramLabel = "PLAN",
        description = "Faults that the loopback device injects (docs/reference/fault-plans.md); the failing operations of the " +
            "workload are omitted then.")
    private String faults;

    @Option(
        names = "--soak",
        description = "Sample memory, allocation and latency during the run, and check that they do not drift.")
    private boolean soak;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    RunCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        final RunConfig settled = config();
        if (device != null) {
            Device.choose(kind(device));
        }
        api.disableLog();
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter progress = json ? spec.commandLine().getErr() : out;
        progress.println(api.api().deviceLine());
        final MainJob job = new MainJob(settled.withAddress(address.host(progress)), progress);
        final CountDownLatch reported = new CountDownLatch(1);
        final Thread onSignal = new Thread(() -> {
            job.interrupt();
            awaitReport(reported);
        }, "ringpoll-signal");
        Runtime.getRuntime().addShutdownHook(onSignal);
        try {
            final RunReport report = job.run();
            if (json) {
                out.println(report.toJson());
                report.printRemarks(progress);
            } else {
                report.printTable(out);
            }
            out.flush();
            progress.flush();
            return report.isSound() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
        } finally {
            reported.countDown();
            forget(onSignal);
        }
    }

    @Override
    public void check() {
        config();
    }

    private static void forget(final Thread onSignal) {
        try {
            Runtime.getRuntime().removeShutdownHook(onSignal);
        } catch (final IllegalStateException shuttingDown) {
            // A signal has arrived: the shutdown hook is running and the JVM ends after it.
        }
    }

    private RunConfig config() {
        require(
            seconds > 0 && seconds <= TimeUnit.DAYS.toSeconds(365),
            "--seconds " + seconds + " is not a time above 0 and up to a year");
        final double warmUpSeconds = warmUp != null ? warmUp : soak ? SOAK_WARM_UP_SECONDS : WARM_UP_SECONDS;
        require(warmUpSeconds >= 0 && warmUpSeconds <= LONGEST_WARM_UP_SECONDS,
            "--warm-up " + warmUpSeconds + " is not from 0 to " + LONGEST_WARM_UP_SECONDS + " seconds");
        require(operations == null || operations >= 1, "--operations " + operations + " is not 1 or more");
        Execution.requireOneOf(spec, "--seconds", "--operations");
        require(
            payload >= Payload.MIN_LENGTH && payload <= MAX_PAYLOAD,
            "--payload " + payload + " is not from " + Payload.MIN_LENGTH + " to " + MAX_PAYLOAD + " bytes");
        require(
            connections >= 1 && connections <= MAX_CONNECTIONS,
            "--connections " + connections + " is not from 1 to " + MAX_CONNECTIONS);
        require(isPowerOfTwo(depth) && depth <= 4096, "--depth " + depth + " is not a power of two from 1 to 4096");
        require(
            isPowerOfTwo(ringSize) && ringSize >= 2 && ringSize <= MAX_RING_SIZE,
            "--ring-size " + ringSize + " is not a power of two from 2 to " + MAX_RING_SIZE);
        require(batch >= 1 && batch <= ringSize, "--batch " + batch + " is not from 1 to the ring size, " + ringSize);
        address.check();
        if (device != null) {
            kind(device);
        }
        try {
            final Mix shares = named("--mix", Mix::parse, mix);
            final RunPinning pinning = named("--pin", RunPinning::parse, pin);
            final FaultPlan plan = faults == null ? null : named("--faults", FaultPlan::parse, faults);
            return new RunConfig(
                api.api(), Role.valueOf(role.side().name()), seconds, warmUpSeconds, operations == null ? 0 : operations, shares,
                payload, connections, depth, batch, ringSize, waitOf(wait), pinning, null, address.port(), address.hasPort(),
                seed, soak, plan);
        } catch (final IllegalArgumentException refused) {
            throw new ParameterException(spec.commandLine(), refused.getMessage());
        }
    }

    private void require(final boolean holds, final String otherwise) {
        Execution.require(spec, holds, otherwise);
    }

    private static <T> T named(final String option, final Function<String, T> reader, final String text) {
        try {
            return reader.apply(text);
        } catch (final IllegalArgumentException refused) {
            throw new IllegalArgumentException(option + ": " + refused.getMessage(), refused);
        }
    }

    private static WaitMode waitOf(final String text) {
        if ("auto".equals(text)) {
            return null;
        }
        for (final WaitMode candidate : WaitMode.values()) {
            if (candidate.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(text)) {
                return candidate;
            }
        }
        throw new IllegalArgumentException("--wait '" + text + "' is not auto, busy-spin, yield, sleep or block");
    }

    private DeviceKind kind(final String text) {
        for (final DeviceKind candidate : DeviceKind.values()) {
            if (candidate.name().toLowerCase(Locale.ROOT).equals(text)) {
                return candidate;
            }
        }
        throw new ParameterException(spec.commandLine(), "--device '" + text + "' is not auto, loopback or rdma");
    }

    private static boolean isPowerOfTwo(final int number) {
        return number > 0 && Integer.bitCount(number) == 1;
    }

    private static void awaitReport(final CountDownLatch reported) {
        try {
            if (!reported.await(EXIT_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                Runtime.getRuntime().halt(CommandLine.ExitCode.SOFTWARE);
            }
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
