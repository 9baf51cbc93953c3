package io.ringpoll.tuning.doctor;

import io.ringpoll.tuning.plan.AffinityPlan;
import io.ringpoll.tuning.plan.PlanRequest;
import io.ringpoll.tuning.topology.CpuSet;
import io.ringpoll.tuning.topology.MachineFiles;
import io.ringpoll.tuning.topology.RdmaDevice;
import io.ringpoll.tuning.topology.Topology;
import io.ringpoll.verbs.DeviceAttributes;
import java.util.List;
import java.util.Optional;

/**
 * A machine and a JVM as the checks see them.
 *
 * @param files      the machine's files
 * @param topology   what they say
 * @param hot        the CPUs that pollers and handlers run on, or would by the plan
 * @param hotThreads how many threads want a CPU of their own
 * @param jvm        the JVM
 * @param verbs      what the RDMA devices say of themselves; empty if they could not be asked
 */
public record Examined(MachineFiles files, Topology topology, CpuSet hot, int hotThreads, Jvm jvm,
                       Optional<List<DeviceAttributes>> verbs) {
    /**
     * A machine with the hot CPUs that the usual pipeline's plan has.
     *
     * @param files the machine's files
     * @param cpus  the CPUs of the hot threads; nothing for those of the plan
     * @param jvm   the JVM
     * @param verbs what the RDMA devices say of themselves
     * @return what the checks look at
     * @throws IllegalArgumentException if a CPU that was named is not online; the message names it
     */
    public static Examined of(final MachineFiles files, final Optional<CpuSet> cpus, final Jvm jvm,
                              final Optional<List<DeviceAttributes>> verbs) {
        final Topology topology = Topology.read(files);
        final PlanRequest request = PlanRequest.ofPipeline();
        cpus.map(set -> set.minus(topology.online())).filter(set -> !set.isEmpty()).ifPresent(offline -> {
            throw new IllegalArgumentException("CPU " + offline + " is not online (online: " + topology.online() + ")");
        });
        final CpuSet hot = cpus.orElseGet(() -> {
            final AffinityPlan plan = AffinityPlan.plan(topology, request);
            final CpuSet planned = plan.hotCpus().minus(plan.auxiliary());
            return planned.isEmpty() ? topology.usable() : planned;
        });
        return new Examined(files, topology, hot, request.threads().size(), jvm, verbs);
    }

    /** The CPUs that are left to everything else. */
    CpuSet others() {
        return topology.online().minus(hot).minus(topology.siblings(hot));
    }

    /** The devices that are more than software over a network interface. */
    List<RdmaDevice> hardware() {
        return topology.rdmaDevices().stream().filter(device -> !device.software()).toList();
    }

    /** A command of {@code tuning/scripts}. */
    static String script(final String arguments) {
        return "sudo tuning/scripts/" + arguments + " --apply";
    }
}
