package io.ringpoll.cli.tuning;

import io.ringpoll.bench.change.ChangeEnvironment;
import io.ringpoll.bench.change.ChangeMeasurement;
import io.ringpoll.bench.change.ChangeProbe;
import io.ringpoll.bench.change.ChangeReport;
import io.ringpoll.bench.change.ChangeRound;
import io.ringpoll.bench.change.ChangeSettings;
import io.ringpoll.bench.change.ChangeTrial;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.HotThreadOptions;
import io.ringpoll.cli.options.OutputPath;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.pipeline.WaitMode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll tune verify}: measures jitter and latency before and after a change of the machine, and prints differences
 * that the rounds show.
 *
 * <p>Exit codes: 0; 1 if a command or the measurement fails; 2 for wrong usage, or for a file that cannot be compared with.
 */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures jitter and latency before and after a change of the machine, and reports the differences that are "
        + "shown. Give --before FILE, make the change, and give --after FILE; or let a COMMAND make the change.",
    footerHeading = "%nExamples:%n",
    footer = {"  ./ringpoll tune verify --before before.json",
        "  ./ringpoll tune verify --after before.json",
        "  ./ringpoll tune verify --undo \"sudo tuning/scripts/cpu-power --undo\" -- \\",
        "    sudo tuning/scripts/cpu-power --cpus 2-3 --governor performance --apply%n"})
public final class VerifyCommand implements Callable<Integer>, CheckedOptions {
    private static final int LONGEST_SETTLE_S = 3600;
    private static final double SHORTEST_WARM_UP_S = 0.01;
    private static final double LONGEST_WARM_UP_S = 60;
    private static final long LONGEST_END_S = 120;

    @Spec
    private CommandSpec spec;

    @Option(names = "--before", paramLabel = "FILE", description = "Measure before a change, and save the measurement to FILE.")
    private Path before;

    @Option(names = "--after", paramLabel = "FILE",
        description = "Measure after the change with the settings of FILE, and compare.")
    private Path after;

    @Parameters(paramLabel = "COMMAND", arity = "0..*",
        description = "After --: measure, run this command, measure again, and compare.")
    private List<String> command = List.of();

    @Option(names = "--undo", paramLabel = "COMMAND",
        description = "Command that undoes COMMAND, words separated by spaces. Then rounds before and after the change "
            + "alternate, so that a drift of the machine affects both; the change is undone at the end.")
    private String undo;

    @Option(names = "--settle", paramLabel = "S", defaultValue = "1",
        description = "Seconds between a command and the next measurement (${DEFAULT-VALUE}).")
    private double settleSeconds;

    @Option(names = "--rounds", paramLabel = "N", defaultValue = "15",
        description = "Rounds on each side, with a window of jitter and one of latency (${DEFAULT-VALUE}).")
    private int rounds;

    @Option(names = "--window", paramLabel = "MS", defaultValue = "1000", description = "Length of a window (${DEFAULT-VALUE}).")
    private int windowMs;

    @Option(names = "--rate", paramLabel = "N", defaultValue = "100000",
        description = "Completions per second (${DEFAULT-VALUE}); the exit from sleep states shows at a low rate, such as 1000.")
    private long rate;

    @Option(names = "--warm-up", hidden = true, paramLabel = "S", defaultValue = "1",
        description = "Seconds of each of the three warm-ups; for tests of anything but the figures.")
    private double warmUpSeconds;

    @Mixin
    private HotThreadOptions hotThreads;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    VerifyCommand() {
    }

    @Override
    public void check() {
        OutputPath.requireFile(spec, "--before", before);
        require(before == null || Files.notExists(before), "--before " + before + ": exists; name another file, or delete it");
        final ChangeMeasurement earlier = after == null ? null : read();
        hotThreads.check(1);
        requireSettings();
        require(settleSeconds >= 0 && settleSeconds <= LONGEST_SETTLE_S,
            "--settle " + settleSeconds + " is not from 0 to " + LONGEST_SETTLE_S + " seconds");
        require(command.isEmpty() || CommandChange.hasProgram(command),
            "COMMAND: no program '" + (command.isEmpty() ? "" : command.getFirst()) + "'");
        require(undo == null || CommandChange.hasProgram(undoWords()), "--undo '" + undo + "': no such program");
        require(undo == null || !command.isEmpty(), "--undo goes with a COMMAND, after --");
        final int forms = (before == null ? 0 : 1) + (after == null ? 0 : 1) + (command.isEmpty() ? 0 : 1);
        require(forms > 0, "nothing to verify: give --before FILE, --after FILE, or -- COMMAND");
        require(forms == 1, "--before, --after and a COMMAND exclude each other");
        settings(earlier);
    }

    private void requireSettings() {
        require(rounds >= 1 && rounds <= ChangeSettings.MOST_ROUNDS,
            "--rounds " + rounds + " is not from 1 to " + ChangeSettings.MOST_ROUNDS);
        require(windowMs >= 1 && windowMs <= ChangeSettings.LONGEST_WINDOW_MS,
            "--window " + windowMs + " is not from 1 to " + ChangeSettings.LONGEST_WINDOW_MS + " ms");
        require(warmUpSeconds >= SHORTEST_WARM_UP_S && warmUpSeconds <= LONGEST_WARM_UP_S,
            "--warm-up " + warmUpSeconds + " is not from " + SHORTEST_WARM_UP_S + " to " + LONGEST_WARM_UP_S + " seconds");
        require(rate >= 1 && rate <= ChangeSettings.HIGHEST_RATE,
            "--rate " + rate + " is not from 1 to " + ChangeSettings.HIGHEST_RATE);
    }

    private ChangeMeasurement read() {
        try {
            return ChangeMeasurement.parse(Files.readString(after));
        } catch (final IOException unreadable) {
            throw refused("--after '" + after + "' cannot be read; measure before the change with --before FILE");
        } catch (final IllegalArgumentException refused) {
            throw refused("--after " + after + " " + refused.getMessage());
        }
    }

    /** The given settings; in a comparison those of the file, of which the given ones must not differ. */
    private ChangeSettings settings(final ChangeMeasurement earlier) {
        final ChangeSettings from = earlier == null ? null : earlier.settings();
        final HotCpus cpus = from != null && isDefault("--pin") ? from.cpus() : hotThreads.cpus(1);
        require(cpus.isPinned(1), "--pin: jitter is measured on the CPUs of poller and handler; name two");
        final WaitMode wait = from != null && isDefault("--wait") ? from.waitMode() : hotThreads.waitStrategy(cpus, 1, 0);
        final ChangeSettings chosen = new ChangeSettings(cpus.poller(), cpus.handler(0), wait,
            hotThreads.numaNode().orElse(ChangeSettings.ANY_NODE),
            from != null && isDefault("--rounds") ? from.rounds() : rounds,
            from != null && isDefault("--window") ? from.windowMs() : windowMs,
            from != null && isDefault("--rate") ? from.perSecond() : rate);
        if (from != null) {
            from.differenceTo(chosen).ifPresent(difference -> {
                throw refused("--after " + after + " was measured " + difference + ": both sides need the same settings");
            });
        }
        final Topology topology = Topology.ofThisMachine();
        final CpuSet outside = CpuSet.of(chosen.poller()).or(CpuSet.of(chosen.handler()))
            .minus(topology.usable().or(topology.affinity()));
        require(outside.isEmpty(), "--pin: " + outside.named() + " cannot be used: this process may use " + topology.usable());
        return chosen;
    }

    private boolean isDefault(final String option) {
        return !spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private List<String> undoWords() {
        return undo == null ? List.of() : List.of(undo.strip().split("\\s+"));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        final ChangeMeasurement earlier = after == null ? null : read();
        final ChangeSettings settings = settings(earlier);
        hotThreads.bindMemory();
        Device.choose(DeviceKind.LOOPBACK);
        final PrintWriter progress = spec.commandLine().getErr();
        progress.println(MachineReport.line());
        progress.println(settings);
        hotThreads.compromises().forEach(compromise -> progress.println("note: " + compromise));
        progress.flush();
        try (ChangeProbe probe = new ChangeProbe(settings)) {
            if (earlier != null) {
                final ChangeEnvironment now = probe.environment();
                earlier.incomparableWith(settings, now).ifPresent(reason -> {
                    throw refused("--after " + after + " " + reason + ": measure both sides there, or both here");
                });
                print(new ChangeReport(earlier, measured(probe, settings, now), false));
            } else if (before != null) {
                final ChangeMeasurement measured = measured(probe, settings, probe.environment());
                Files.createDirectories(before.toAbsolutePath().getParent());
                Files.writeString(before, measured.toJson());
                spec.commandLine().getOut().println(json ? Json.text(Json.object().put("saved", before.toString())) :
                    "saved to " + before + "; make the change, then: ./ringpoll tune verify --after " + before);
            } else {
                final Optional<ChangeReport> report = trial(probe, settings);
                if (report.isEmpty()) {
                    return ExitCode.SOFTWARE;
                }
                print(report.get());
            }
        }
        spec.commandLine().getOut().flush();
        return 0;
    }

    private ChangeMeasurement measured(final ChangeProbe probe, final ChangeSettings settings, final ChangeEnvironment state)
        throws InterruptedException {
        probe.warmUp((long) (warmUpSeconds * 1e9));
        final List<ChangeRound> measured = new ArrayList<>();
        for (int round = 1; round <= settings.rounds(); round++) {
            showRound(round, settings, "");
            measured.add(probe.measure());
        }
        return new ChangeMeasurement(settings, state, measured);
    }

    private void showRound(final int round, final ChangeSettings settings, final String side) {
        spec.commandLine().getErr().println("round " + round + " of " + settings.rounds() + side);
        spec.commandLine().getErr().flush();
    }

    /** Empty if a signal has ended the trial: it does so as a failure does, a change that can be undone is undone. */
    private Optional<ChangeReport> trial(final ChangeProbe probe, final ChangeSettings settings)
        throws IOException, InterruptedException {
        probe.warmUp((long) (warmUpSeconds * 1e9));
        final ChangeTrial trial = new ChangeTrial(settings, probe, probe::environment,
            new CommandChange(command, undoWords(), (long) (settleSeconds * 1e3), spec.commandLine().getErr()),
            (round, changed) -> showRound(round, settings, changed ? ", after the change" : ", before the change"));
        final Thread measuring = Thread.currentThread();
        final CountDownLatch ended = new CountDownLatch(1);
        final AtomicBoolean signalled = new AtomicBoolean();
        final Thread onSignal = new Thread(() -> {
            signalled.set(true);
            measuring.interrupt();
            awaitEnd(ended);
        }, "ringpoll-signal");
        Runtime.getRuntime().addShutdownHook(onSignal);
        try {
            return Optional.of(trial.run());
        } catch (final IOException | InterruptedException | RuntimeException failed) {
            if (!signalled.get()) {
                throw failed;
            }
            // Before the JVM ends, which it does when the hook has ended.
            final String reason = failed instanceof IOException ? failed.getMessage() :
                trial.isApplied() ? "interrupted; the change is not undone" : "interrupted; the change is not in effect";
            spec.commandLine().getErr().println("ringpoll tune verify: " + Execution.oneLine(reason));
            spec.commandLine().getErr().flush();
            return Optional.empty();
        } finally {
            ended.countDown();
            forget(onSignal);
        }
    }

    private static void awaitEnd(final CountDownLatch ended) {
        try {
            ended.await(LONGEST_END_S, TimeUnit.SECONDS);
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void forget(final Thread onSignal) {
        try {
            Runtime.getRuntime().removeShutdownHook(onSignal);
        } catch (final IllegalStateException shuttingDown) {
            // A signal has arrived: the hook is running, and the JVM ends after it.
        }
    }

    private void print(final ChangeReport report) {
        final PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(report.toJson());
        } else {
            report.print(out);
        }
    }

    private void require(final boolean holds, final String otherwise) {
        Execution.require(spec, holds, otherwise);
    }

    private ParameterException refused(final String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
