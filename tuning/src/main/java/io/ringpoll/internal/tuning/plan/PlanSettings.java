package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A plan as commands and settings: options of {@code ./ringpoll run}, {@code taskset}, {@code numactl} and systemd settings,
 * calls of the pipeline's builder, and the scripts that prepare the machine.
 *
 * <p>{@code taskset} and {@code numactl} confine the whole process to the auxiliary CPUs; the hot threads then pin themselves to
 * other CPUs, which an affinity mask permits, unlike a cpuset.
 */
public final class PlanSettings {
    private static final Map<String, String> PATHS =
        Map.of("send-write", "SEND_WRITE", "receive", "RECEIVE", "error", "ERROR");

    private final Topology topology;
    private final AffinityPlan plan;

    /**
     * Creates the settings of a plan.
     *
     * @param topology of the machine
     * @param plan     the plan
     */
    public PlanSettings(final Topology topology, final AffinityPlan plan) {
        this.topology = topology;
        this.plan = plan;
    }

    /**
     * The command that runs the main job with the plan.
     *
     * @return one line
     */
    public String run() {
        return "./ringpoll run --pin " + plan.pinOption() + " --wait " + plan.waitMode(ThreadRole.Kind.HANDLER).option();
    }

    /**
     * Commands that run it with all other threads on the auxiliary CPUs.
     *
     * @return one with {@code taskset}; a second one with {@code numactl} if there are several nodes
     */
    public List<String> confined() {
        final List<String> lines = new ArrayList<>();
        lines.add("taskset -c " + plan.auxiliary() + " " + run());
        if (topology.cpuNodes().size() > 1) {
            lines.add("numactl --physcpubind=" + plan.auxiliary() + " --membind=" + plan.node() + " " + run());
        }
        return lines;
    }

    /**
     * Settings for the service section of a unit.
     *
     * @return lines
     */
    public List<String> systemd() {
        final CpuSet all = plan.auxiliary().or(plan.hotCpus());
        final List<String> lines = new ArrayList<>(List.of("[Service]", "AllowedCPUs=" + all, "CPUAffinity=" + plan.auxiliary()));
        if (topology.cpuNodes().size() > 1) {
            lines.add("NUMAPolicy=bind");
            lines.add("NUMAMask=" + plan.node());
        }
        lines.add("LimitMEMLOCK=infinity");
        return lines;
    }

    /**
     * The options of a container.
     *
     * @return lines for Docker and for Kubernetes
     */
    public List<String> container() {
        final CpuSet all = plan.auxiliary().or(plan.hotCpus());
        final String node = topology.cpuNodes().size() > 1 ? " --cpuset-mems " + plan.node() : "";
        return List.of("docker run --cpuset-cpus " + all + node + " --ulimit memlock=-1 --device /dev/infiniband IMAGE",
            "Kubernetes: kubelet with cpuManagerPolicy: static" + (node.isEmpty() ? "" : " and topologyManagerPolicy: "
                + "single-numa-node") + ", limits of cpu: " + all.size() + " equal to the requests");
    }

    /**
     * The builder calls for the default three handlers.
     *
     * @return lines of Java
     */
    public List<String> builder() {
        final List<String> lines = new ArrayList<>();
        lines.add(".pin(AutoPinning.auto())   // plans at each start; or, for these very CPUs:");
        for (final PlannedThread planned : plan.threads()) {
            if (planned.cpu().isEmpty()) {
                continue;
            }
            final int cpu = planned.cpu().getAsInt();
            final String name = planned.role().name();
            if (planned.role().kind() == ThreadRole.Kind.POLLER) {
                lines.add(".pollerCpu(" + cpu + ")");
            } else if (planned.role().kind() == ThreadRole.Kind.HANDLER) {
                lines.add(PATHS.containsKey(name) ? ".on(EnumSet.of(" + PATHS.get(name)
                    + "), handler, options -> options.cpu(" + cpu + "))"
                    : "options.cpu(" + cpu + ")   // of " + name);
            } else {
                lines.add("ThreadAffinity.pin(" + cpu + ");   // first thing on the thread " + name);
            }
        }
        return lines;
    }

    /**
     * Isolates the plan's CPUs without a reboot.
     *
     * @return lines for one shell; empty if that is not possible or not needed
     */
    public List<String> partition() {
        return new Partition(topology, plan).commands(run());
    }

    /**
     * Scripts that reduce the interruptions on the plan's CPUs.
     *
     * @return commands; empty if there is nothing to improve
     */
    public List<String> preparations() {
        final CpuSet hot = plan.hotCpus().minus(plan.auxiliary());
        final List<String> lines = new ArrayList<>();
        if (hot.isEmpty()) {
            return lines;
        }
        final Preparation preparation = new Preparation(topology, hot);
        if (!topology.isolated().containsAll(hot) && topology.usable().equals(topology.online())) {
            preparation.isolate().ifPresent(lines::add);
        }
        if (topology.interrupts().stream().anyMatch(interrupt -> interrupt.effective().intersects(preparation.cores()))) {
            preparation.moveInterrupts().ifPresent(lines::add);
        }
        return lines;
    }
}
