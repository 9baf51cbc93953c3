package io.ringpoll.internal.tuning.topology;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads each CPU's core, caches and node from {@code /sys/devices/system}.
 *
 * @see <a href="https://www.kernel.org/doc/html/latest/admin-guide/cputopology.html">how CPU topology is exported</a>
 */
final class CpuReader {
    private static final String CPUS = "sys/devices/system/cpu/";
    private static final String NODES = "sys/devices/system/node/";

    private final MachineFiles files;
    private final CpuSet online;
    private final Map<Integer, Integer> packageIds = new HashMap<>();

    CpuReader(final MachineFiles files, final CpuSet online) {
        this.files = files;
        this.online = online;
        online.stream().forEach(id ->
            packageIds.put(id, (int) files.number(CPUS + "cpu" + id + "/topology/physical_package_id").orElse(-1)));
    }

    List<NumaNode> nodes() {
        final List<NumaNode> nodes = new ArrayList<>();
        for (final String name : files.names(NODES)) {
            if (name.matches("node\\d{1,5}")) {
                final CpuSet cpus = files.cpuSet(NODES + name + "/cpulist").orElse(CpuSet.EMPTY).and(online);
                nodes.add(new NumaNode(Integer.parseInt(name.substring(4)), cpus, distances(name)));
            }
        }
        // A kernel without NUMA, or a container that hides it, exports none: the machine is treated as one node.
        return nodes.stream().allMatch(node -> node.cpus().isEmpty()) ? List.of(new NumaNode(0, online, List.of(10))) : nodes;
    }

    private List<Integer> distances(final String node) {
        final String text = files.text(NODES + node + "/distance").orElse("");
        final List<Integer> distances = new ArrayList<>();
        for (final String word : text.split("\\s+")) {
            if (word.matches("\\d{1,5}")) {
                distances.add(Integer.parseInt(word));
            }
        }
        return distances;
    }

    List<Cpu> cpus(final List<NumaNode> nodes) {
        return online.stream().mapToObj(id -> cpu(id, nodes)).toList();
    }

    private Cpu cpu(final int id, final List<NumaNode> nodes) {
        final String folder = CPUS + "cpu" + id + "/";
        final int packageId = packageIds.get(id);
        final CpuSet siblings = files.cpuSet(folder + "topology/thread_siblings_list")
            .or(() -> files.cpuSet(folder + "topology/core_cpus_list"))
            .map(online::and).filter(set -> set.contains(id)).orElse(CpuSet.of(id));
        final NumaNode node = nodes.stream().filter(candidate -> candidate.cpus().contains(id)).findFirst()
            .orElse(nodes.getFirst());
        int level = 0;
        int line = 64;
        CpuSet group = null;
        String cache = null;
        for (final String index : files.names(folder + "cache")) {
            final String file = folder + "cache/" + index + "/";
            line = Math.max(line, (int) files.number(file + "coherency_line_size").orElse(0));
            final int cacheLevel = (int) files.number(file + "level").orElse(0);
            final CpuSet shared = files.cpuSet(file + "shared_cpu_list").orElse(CpuSet.EMPTY).and(online);
            final boolean instructions = files.text(file + "type").filter("Instruction"::equals).isPresent();
            // A private cache is no group: relevant is the first cache that two cores share.
            if (!instructions && cacheLevel > level && shared.contains(id) && (!siblings.containsAll(shared) || single(id))) {
                level = cacheLevel;
                group = shared;
                cache = "L" + cacheLevel + files.text(file + "size").map(CpuReader::readable).orElse("");
            }
        }
        if (group == null) {
            final CpuSet inPackage = packageMates(packageId);
            group = node.cpus().intersects(inPackage) && inPackage.contains(id) ? node.cpus().and(inPackage) : node.cpus();
            cache = "no shared cache shown";
        }
        return new Cpu(id, packageId, node.id(), siblings, group, cache, line);
    }

    private boolean single(final int id) {
        return online.equals(CpuSet.of(id));
    }

    private CpuSet packageMates(final int packageId) {
        return packageId < 0 ? CpuSet.EMPTY
            : CpuSet.of(online.stream().filter(cpu -> packageIds.get(cpu) == packageId).toArray());
    }

    private static String readable(final String size) {
        if (size.matches("\\d{1,9}K")) {
            final int kib = Integer.parseInt(size.substring(0, size.length() - 1));
            return kib % 1024 == 0 ? " " + kib / 1024 + " MiB" : " " + kib + " KiB";
        }
        return " " + size;
    }
}
