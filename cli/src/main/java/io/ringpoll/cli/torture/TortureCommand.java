package io.ringpoll.cli.torture;

import io.ringpoll.cli.options.AddressOption;
import io.ringpoll.cli.options.ApiOption;
import io.ringpoll.cli.options.CheckedOptions;
import io.ringpoll.cli.options.Execution;
import io.ringpoll.cli.options.SeedOptions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.verify.seeds.SeededRun;
import io.ringpoll.verify.torture.Torture;
import io.ringpoll.verify.torture.TortureReport;
import io.ringpoll.verify.torture.connections.ConnectionScenes;
import io.ringpoll.verify.torture.lifecycle.LifecycleScenes;
import io.ringpoll.verify.torture.processes.ProcessScenes;
import io.ringpoll.verify.torture.supervised.JvmKind;
import io.ringpoll.verify.torture.supervised.SceneKind;
import io.ringpoll.verify.torture.supervised.SupervisedReport;
import io.ringpoll.verify.torture.supervised.SupervisedTorture;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll torture}: plays random scenes, one after the other, until one fails or the time is over.
 *
 * <p>With {@code --lifecycle} the scenes start, change and end pipelines, with {@code --connections} sets of message connections,
 * with {@code --processes} connections to processes that are killed or stopped; all three run in child processes.
 *
 * <p>Exit codes: 0 if all passed; 1 if one failed, or could not be played; 2 for wrong usage.
 */
@Command(
    name = "torture",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Random connections, pollers, handlers and faults on the loopback device, or without faults on another; each " +
        "work request is checked by its identity against a model of its expected end. With --lifecycle: random calls of all " +
        "public methods of pipelines, groups, queues and connections from several threads and from handlers, in supervised " +
        "child processes. With --connections: sets of message connections that come and go, in such processes, too. " +
        "With --processes: work with other processes that are killed, stopped or closed at random.")
public final class TortureCommand implements Callable<Integer>, CheckedOptions {
    @Spec
    private CommandSpec spec;

    @Mixin
    private SeedOptions run;

    @Mixin
    private ApiOption api;

    @Option(
        names = "--device", paramLabel = "KIND",
        description = "${COMPLETION-CANDIDATES} (loopback). The scenes of other devices than loopback have no faults. Not with "
            + "--lifecycle, --connections or --processes, which play on the RDMA device if there is one.")
    private DeviceKind device;

    @Option(names = "--scenes", paramLabel = "N", description = "Number of scenes, instead of a time.")
    private Long scenes;

    @Option(
        names = "--lifecycle",
        description = "Torture start, change, stop and close; on any RDMA device. --seconds limits the scenes only: "
            + "the start of a child process takes a few seconds more, and minutes on an emulated CPU.")
    private boolean lifecycle;

    @Option(
        names = "--connections",
        description = "Torture sets of message connections; on any RDMA device. --seconds counts as with --lifecycle.")
    private boolean connections;

    @Option(
        names = "--processes",
        description = "Torture the work with processes that are killed or stopped; on any RDMA device. --seconds counts as with "
            + "--lifecycle.")
    private boolean processes;

    @Option(
        names = "--jvm", paramLabel = "KIND",
        description = "With --lifecycle, --connections or --processes: one kind of child process instead of all in turn: "
            + "${COMPLETION-CANDIDATES}.")
    private JvmKind jvm;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    TortureCommand() {
    }

    @Override
    public void check() {
        run.check();
        Execution.require(spec, scenes == null || scenes >= 1, "--scenes " + scenes + " is not 1 or more");
        Execution.requireOneOf(spec, "--seconds", "--scenes");
        final List<SceneKind> kinds = kinds();
        Execution.require(spec, kinds.size() <= 1, kinds.stream().map(SceneKind::option).collect(Collectors.joining(" and ")) +
            " are different kinds of scenes: use one");
        Execution.require(spec, kinds.isEmpty() || device == null,
            "--device goes without --lifecycle, --connections and --processes; RINGPOLL_DEVICE chooses theirs");
        Execution.require(spec, !kinds.isEmpty() || jvm == null, "--jvm goes with --lifecycle, --connections or --processes");
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        final List<SceneKind> kinds = kinds();
        return kinds.isEmpty() ? tortureWork() : tortureSupervised(kinds.getFirst());
    }

    private List<SceneKind> kinds() {
        final List<SceneKind> kinds = new ArrayList<>();
        if (lifecycle) {
            kinds.add(LifecycleScenes.KIND);
        }
        if (connections) {
            kinds.add(ConnectionScenes.KIND);
        }
        if (processes) {
            kinds.add(ProcessScenes.KIND);
        }
        return kinds;
    }

    private int tortureSupervised(final SceneKind kind) throws IOException, InterruptedException {
        final PrintWriter out = spec.commandLine().getOut();
        final PrintWriter progress = json ? spec.commandLine().getErr() : out;
        final SeededRun seeds = run.start();
        progress.println(api.api().deviceLine());
        final SupervisedReport report =
            new SupervisedTorture(kind, api.api(), seeds, scenes(), jvm, AddressOption.ofDevice(progress), progress)
                .play();
        if (json) {
            out.println(report.toJson());
            out.flush();
        } else {
            report.print(out);
        }
        return exitCode(report.isSound());
    }

    private int tortureWork() {
        Device.choose(device == null ? DeviceKind.LOOPBACK : device);
        final PrintWriter out = spec.commandLine().getOut();
        final TortureReport report = new Torture(api.api(), run.start(), scenes()).play(json ? spec.commandLine().getErr() : out);
        if (json) {
            out.println(report.toJson());
            out.flush();
        } else {
            report.print(out);
        }
        return exitCode(report.isSound());
    }

    /** 0 for the time. */
    private long scenes() {
        return scenes == null ? 0 : scenes;
    }

    private static int exitCode(final boolean sound) {
        return sound ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
