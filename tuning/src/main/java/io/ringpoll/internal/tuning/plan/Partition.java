package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.List;
import java.util.OptionalInt;

/**
 * An isolated partition of control groups (version 2): isolates the CPUs of a plan without a reboot, until it is removed.
 *
 * <p>The whole process enters the partition, so that it needs a CPU for the auxiliary threads too: one only, because the
 * scheduler does not balance threads inside an isolated partition.
 *
 * @param topology of the machine
 * @param plan     the plan
 * @see <a href="https://docs.kernel.org/admin-guide/cpu-isolation.html">CPU isolation</a>
 */
public record Partition(Topology topology, AffinityPlan plan) {
    private static final String ROOT = "/sys/fs/cgroup/";
    private static final String GROUP = ROOT + "ringpoll/";

    /**
     * The commands that make the partition, and the one that runs ringpoll in it.
     *
     * @param run the command that runs it with the plan
     * @return lines for one shell; empty if the kernel has no such partitions, or no CPU would be left for the machine, or the
     *     CPUs are isolated already
     */
    public List<String> commands(final String run) {
        final CpuSet hot = plan.hotCpus().minus(plan.auxiliary());
        final CpuSet boot = CpuSet.of(topology.online().first().orElse(0));
        final CpuSet cores = new Preparation(topology, hot).cores();
        final OptionalInt auxiliary = plan.auxiliary().minus(cores).minus(boot).first();
        if (!topology.controlGroup().partitions() || hot.isEmpty() || cores.intersects(boot) || auxiliary.isEmpty()
            || topology.isolated().containsAll(hot)) {
            return List.of();
        }
        final int other = auxiliary.getAsInt();
        return List.of("echo +cpuset | sudo tee " + ROOT + "cgroup.subtree_control",
            "sudo mkdir -p " + GROUP,
            "echo " + cores.or(CpuSet.of(other)) + " | sudo tee " + GROUP + "cpuset.cpus",
            "echo isolated | sudo tee " + GROUP + "cpuset.cpus.partition",
            "echo $$ | sudo tee " + GROUP + "cgroup.procs   # this shell and all that it starts",
            "taskset -c " + other + " " + run,
            "# afterwards, from another shell: echo member | sudo tee " + GROUP + "cpuset.cpus.partition; sudo rmdir " + GROUP);
    }
}
