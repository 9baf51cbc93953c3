package io.ringpoll.internal.tuning.doctor;

import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.plan.Preparation;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.Surroundings;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A machine and a JVM as seen by the checks.
 *
 * @param files      the machine's files
 * @param topology   read from the files
 * @param hot        the CPUs of pollers and handlers, given or from the plan
 * @param hotThreads number of threads that need a CPU of their own
 * @param jvm        the JVM
 * @param verbs      attributes reported by the RDMA devices; empty if they cannot be queried
 */
public record Examined(MachineFiles files, Topology topology, CpuSet hot, int hotThreads, Jvm jvm,
                       Optional<List<DeviceAttributes>> verbs) {
    private static final String CPU = "sys/devices/system/cpu/cpu";

    /**
     * Creates a machine with the given hot CPUs, or those of the default pipeline's plan.
     *
     * @param files the machine's files
     * @param cpus  the CPUs of the hot threads; empty for those of the plan
     * @param jvm   the JVM
     * @param verbs attributes reported by the RDMA devices
     * @return the input of the checks
     * @throws IllegalArgumentException if a given CPU is not online; the message contains its number
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

    /** The scripts that keep other threads and interrupts away. */
    Preparation preparation() {
        return new Preparation(topology, hot);
    }

    /** The hot CPUs and their SMT siblings: nothing else should run on any of them. */
    CpuSet hotCores() {
        return preparation().cores();
    }

    /**
     * The session, service or container of this process.
     *
     * @return a session, a service or a container
     */
    public Surroundings surroundings() {
        return Surroundings.read(files);
    }

    /** The CPUs for all other threads. */
    CpuSet others() {
        return topology.online().minus(hotCores());
    }

    /** The devices that are not software over a network interface. */
    List<RdmaDevice> hardware() {
        return topology.rdmaDevices().stream().filter(device -> !device.software()).toList();
    }

    /** The hot CPUs by the value of a file of each CPU; CPUs without the file are omitted. */
    TreeMap<String, CpuSet> hotCpusBy(final String file) {
        final TreeMap<String, CpuSet> values = new TreeMap<>();
        hot.stream().forEach(cpu -> files.text(CPU + cpu + "/" + file)
            .ifPresent(value -> values.merge(value, CpuSet.of(cpu), CpuSet::or)));
        return values;
    }

    /** Values and their CPUs in one line. */
    static String described(final TreeMap<String, CpuSet> values) {
        return String.join(", ", values.entrySet().stream().map(entry -> entry.getKey() + " on " + entry.getValue().named())
            .toList());
    }

    /** The command that adds an option to the kernel's command line. */
    String bootOption(final String option) {
        return files.exists("usr/sbin/grubby") ? "sudo grubby --update-kernel=ALL --args=" + option + "   # then reboot"
            : "append " + option + " to GRUB_CMDLINE_LINUX in /etc/default/grub, then: sudo update-grub && sudo reboot";
    }

    /** A command that writes a value to files of the kernel. */
    static String write(final String value, final String... paths) {
        return "echo " + value + " | sudo tee /" + String.join(" /", paths);
    }

    /** A command of {@code tuning/scripts}. */
    static String script(final String arguments) {
        return "sudo tuning/scripts/" + arguments + " --apply";
    }
}
