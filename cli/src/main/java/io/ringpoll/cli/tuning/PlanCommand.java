package io.ringpoll.cli.tuning;

import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.plan.ThreadRole;
import io.ringpoll.internal.tuning.topology.MachineDescription;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.Topology;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code ./ringpoll tune plan}: the CPU of each thread with the reason, the compromises, and the plan as options and settings.
 */
@Command(
    name = "plan",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Finds the CPU for each thread of a pipeline and prints it as options and settings. Changes nothing.")
public final class PlanCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private MachineOptions machine;

    @Option(names = "--device", paramLabel = "NAME",
        description = "The RDMA device to be near (default: the first active one).")
    private String device;

    @Option(names = "--pollers", paramLabel = "NAMES", split = ",", defaultValue = "poller",
        description = "Names of the polling threads (${DEFAULT-VALUE}).")
    private List<String> pollers;

    @Option(names = "--handlers", paramLabel = "NAMES", split = ",", defaultValue = "send-write,receive,error",
        description = "Names of the handler threads (${DEFAULT-VALUE}).")
    private List<String> handlers;

    @Option(names = "--applications", paramLabel = "NAMES", split = ",", defaultValue = "client",
        description = "Names of the threads that post or consume (${DEFAULT-VALUE}).")
    private List<String> applications;

    @Option(names = "--json", description = "Print only one JSON object on standard output.")
    private boolean json;

    /** Created by picocli. */
    PlanCommand() {
    }

    @Override
    public Integer call() {
        final MachineFiles files = machine.files();
        final Topology topology = Topology.read(files);
        final List<String> devices = topology.rdmaDevices().stream().map(RdmaDevice::name).toList();
        if (device != null && !devices.contains(device)) {
            throw new ParameterException(spec.commandLine(), "--device: no RDMA device '" + device + "'; there " +
                (devices.isEmpty() ? "is none" : "are " + String.join(", ", devices)));
        }
        final AffinityPlan plan;
        try {
            plan = AffinityPlan.plan(topology, request());
        } catch (final IllegalArgumentException refused) {
            throw new ParameterException(spec.commandLine(), refused.getMessage());
        }
        final PrintWriter out = spec.commandLine().getOut();
        final PlanReport report = new PlanReport(MachineDescription.of(files, topology), topology, plan);
        if (json) {
            out.println(report.toJson());
        } else {
            report.print(out);
        }
        out.flush();
        return 0;
    }

    private static List<ThreadRole> roles(
        final String option, final List<String> names, final Function<String, ThreadRole> role) {
        try {
            return names.stream().filter(name -> !name.isEmpty()).map(role).toList();
        } catch (final IllegalArgumentException refused) {
            throw new IllegalArgumentException(option + ": " + refused.getMessage(), refused);
        }
    }

    private PlanRequest request() {
        final List<ThreadRole> threads = new ArrayList<>();
        threads.addAll(roles("--pollers", pollers, ThreadRole::poller));
        threads.addAll(roles("--handlers", handlers, ThreadRole::handler));
        threads.addAll(roles("--applications", applications, ThreadRole::application));
        return new PlanRequest(threads, Optional.ofNullable(device), machine.cpus());
    }
}
