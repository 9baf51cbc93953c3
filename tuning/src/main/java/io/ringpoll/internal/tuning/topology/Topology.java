package io.ringpoll.internal.tuning.topology;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/**
 * A snapshot of a machine for the planner and the doctor.
 *
 * @param cpus         the online CPUs in ascending order
 * @param online       their numbers
 * @param affinity     the CPUs in this process's current affinity mask
 * @param usable       the CPUs to which this process may pin threads: those of mask and cpuset, and the isolated CPUs of the
 *     cpuset, which the kernel excludes from default masks
 * @param isolated     the CPUs excluded from scheduling ({@code isolcpus}, or isolated cpuset partitions)
 * @param nohzFull     the CPUs without a timer tick while one thread runs ({@code nohz_full})
 * @param rcuNocbs     the CPUs without RCU callbacks ({@code rcu_nocbs}; {@code nohz_full} implies it)
 * @param nodes        the NUMA nodes, memory-only ones included
 * @param controlGroup the limits by control groups
 * @param rdmaDevices  the RDMA devices
 * @param interrupts   the interrupts with their affinity
 * @param bootOptions  the kernel's command line
 */
public record Topology(List<Cpu> cpus, CpuSet online, CpuSet affinity, CpuSet usable, CpuSet isolated, CpuSet nohzFull,
                       CpuSet rcuNocbs, List<NumaNode> nodes, ControlGroup controlGroup, List<RdmaDevice> rdmaDevices,
                       List<Interrupt> interrupts, KernelCommandLine bootOptions) {
    /** Copies the lists. */
    public Topology {
        cpus = List.copyOf(cpus);
        nodes = List.copyOf(nodes);
        rdmaDevices = List.copyOf(rdmaDevices);
        interrupts = List.copyOf(interrupts);
    }

    /**
     * Reads this machine.
     *
     * @return its topology
     * @throws IllegalStateException if {@code /proc} and {@code /sys} list no CPU
     */
    public static Topology ofThisMachine() {
        return read(MachineFiles.ofThisMachine());
    }

    /**
     * Reads a machine.
     *
     * @param files its files
     * @return its topology
     * @throws IllegalStateException if the files list no CPU; the message contains the file
     */
    public static Topology read(final MachineFiles files) {
        final KernelCommandLine boot = KernelCommandLine.read(files);
        final CpuSet online = onlineCpus(files);
        final CpuSet possible = files.cpuSet("sys/devices/system/cpu/possible").orElse(online);
        final CpuReader reader = new CpuReader(files, online);
        final List<NumaNode> nodes = reader.nodes();
        final ControlGroup group = new ControlGroupReader(files, online).read();
        final CpuSet isolated = files.cpuSet("sys/devices/system/cpu/isolated")
            .orElseGet(() -> boot.cpus("isolcpus", possible)).or(group.isolated()).and(online);
        final CpuSet nohzFull = files.cpuSet("sys/devices/system/cpu/nohz_full").orElse(CpuSet.EMPTY).and(online);
        final CpuSet rcuNocbs = (boot.value("rcu_nocbs").isEmpty() && boot.has("rcu_nocbs") ? possible
            : boot.cpus("rcu_nocbs", possible)).or(nohzFull).and(online);
        final CpuSet affinity = affinityMask(files).map(online::and).filter(set -> !set.isEmpty()).orElse(group.cpuset());
        return new Topology(reader.cpus(nodes), online, affinity, usable(affinity, group.cpuset(), isolated), isolated, nohzFull,
            rcuNocbs, nodes, group, new RdmaDeviceReader(files).read(), InterruptReader.read(files), boot);
    }

    private static CpuSet onlineCpus(final MachineFiles files) {
        final CpuSet online = files.cpuSet("sys/devices/system/cpu/online").orElse(CpuSet.EMPTY);
        if (!online.isEmpty()) {
            return online;
        }
        final CpuSet counted = CpuSet.of(files.text("proc/stat").stream().flatMap(String::lines)
            .filter(line -> line.matches("cpu\\d{1,5} .*"))
            .mapToInt(line -> Integer.parseInt(line.substring(3, line.indexOf(' ')))).toArray());
        if (counted.isEmpty()) {
            throw new IllegalStateException("no CPU found: /sys/devices/system/cpu/online and /proc/stat cannot be read; "
                + "mount /sys and /proc");
        }
        return counted;
    }

    private static Optional<CpuSet> affinityMask(final MachineFiles files) {
        return files.text("proc/self/status").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("Cpus_allowed_list:"))
            .map(line -> CpuSet.parse(line.substring(line.indexOf(':') + 1))).findFirst();
    }

    private static CpuSet usable(final CpuSet affinity, final CpuSet cpuset, final CpuSet isolated) {
        // The default mask is the cpuset without the isolated CPUs; a narrower one was set explicitly.
        return affinity.containsAll(cpuset.minus(isolated)) ? cpuset : affinity.and(cpuset);
    }

    /**
     * One CPU.
     *
     * @param id its number
     * @return the CPU
     * @throws IllegalArgumentException if it is not online
     */
    public Cpu cpu(final int id) {
        return cpus.stream().filter(cpu -> cpu.id() == id).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("CPU " + id + " is not online (online: " + online + ")"));
    }

    /**
     * One NUMA node.
     *
     * @param id its number
     * @return the node; empty if there is none with that number
     */
    public Optional<NumaNode> node(final int id) {
        return nodes.stream().filter(node -> node.id() == id).findFirst();
    }

    /**
     * One RDMA device.
     *
     * @param name its name
     * @return the device; empty if there is none with that name
     */
    public Optional<RdmaDevice> rdmaDevice(final String name) {
        return rdmaDevices.stream().filter(device -> device.name().equals(name)).findFirst();
    }

    /**
     * The cores of a set of CPUs.
     *
     * @param set the CPUs
     * @return the siblings of each core that has a CPU in the set, by its lowest CPU
     */
    public List<CpuSet> cores(final CpuSet set) {
        final LinkedHashSet<CpuSet> cores = new LinkedHashSet<>();
        cpus.stream().filter(cpu -> set.contains(cpu.id())).forEach(cpu -> cores.add(cpu.siblings()));
        return List.copyOf(cores);
    }

    /**
     * The groups of CPUs that share a last-level cache.
     *
     * @param set the CPUs to group
     * @return for each cache the CPUs of the set that are under it, by the lowest CPU
     */
    public List<CpuSet> cacheGroups(final CpuSet set) {
        final LinkedHashSet<CpuSet> groups = new LinkedHashSet<>();
        cpus.stream().filter(cpu -> set.contains(cpu.id())).forEach(cpu -> groups.add(cpu.cacheGroup().and(set)));
        return List.copyOf(groups);
    }

    /**
     * The SMT siblings of a set of CPUs that are not in it.
     *
     * @param set the CPUs
     * @return the other CPUs of their cores
     */
    public CpuSet siblings(final CpuSet set) {
        return cores(set).stream().reduce(CpuSet.EMPTY, CpuSet::or).minus(set);
    }

    /**
     * Whether any core has more than one CPU online.
     *
     * @return true if SMT is on
     */
    public boolean smt() {
        return cpus.stream().anyMatch(cpu -> cpu.siblings().size() > 1);
    }

    /**
     * The NUMA nodes with CPUs.
     *
     * @return those nodes
     */
    public List<NumaNode> cpuNodes() {
        return nodes.stream().filter(node -> !node.cpus().isEmpty()).toList();
    }
}
