package io.ringpoll.internal.tuning.topology;

import java.util.Optional;

/**
 * A one-line description of a machine, stored with results.
 *
 * @param processor the processor's name as in the kernel; {@code unknown CPU} if it has none
 * @param cpus      CPUs online
 * @param cores     cores online
 * @param nodes     NUMA nodes with CPUs
 * @param caches    number of last-level shared caches
 * @param cacheName description of one of them
 * @param isolated  isolated CPUs
 * @param kernel    the kernel's release
 */
public record MachineDescription(String processor, int cpus, int cores, int nodes, int caches, String cacheName, CpuSet isolated,
                                 String kernel) {
    /**
     * Describes a machine.
     *
     * @param files    its files
     * @param topology its topology
     * @return the description
     */
    public static MachineDescription of(final MachineFiles files, final Topology topology) {
        final Optional<String> processor = files.text("proc/cpuinfo").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("model name")).map(line -> line.substring(line.indexOf(':') + 1).strip()).findFirst();
        return new MachineDescription(processor.orElse("unknown CPU"), topology.online().size(),
            topology.cores(topology.online()).size(), topology.cpuNodes().size(), topology.cacheGroups(topology.online()).size(),
            topology.cpus().getFirst().cacheName(), topology.isolated(), files.text("proc/sys/kernel/osrelease")
                .orElse("unknown"));
    }

    /**
     * The description for display.
     *
     * @return one line
     */
    public String line() {
        return processor + ": " + counted(cpus, "CPU") + " on " + counted(cores, "core") + ", " + counted(nodes, "NUMA node")
            + ", "
            + (cacheName.startsWith("L") ? caches + " x " + cacheName : cacheName)
            + (isolated.isEmpty() ? ", no CPU isolated" : ", isolated: " + isolated) + "; Linux " + kernel;
    }

    private static String counted(final int number, final String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
