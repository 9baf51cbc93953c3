package io.ringpoll.bench.measure;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.tuning.topology.MachineDescription;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.Topology;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Optional;
import org.agrona.DirectBuffer;

/** The description of the machine and the JVM that is saved with a result. */
public final class MachineReport {
    private static final long MIB = 1 << 20;
    private static final String CPU0 = "sys/devices/system/cpu/cpu0/";

    private MachineReport() {
    }

    /**
     * Describes this machine and this JVM, and the device as that of librpma.
     *
     * @return a JSON object
     */
    public static ObjectNode toJson() {
        return toJson(RdmaApi.RPMA);
    }

    /**
     * Describes this machine and this JVM.
     *
     * @param api the library of the connections
     * @return a JSON object
     */
    public static ObjectNode toJson(final RdmaApi api) {
        final MachineFiles files = MachineFiles.ofThisMachine();
        final Topology topology = Topology.ofThisMachine();
        final MachineDescription machine = MachineDescription.of(files, topology);
        final ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("cpu", machine.processor()).put("cpus", machine.cpus()).put("cores", machine.cores())
            .put("numaNodes", machine.nodes());
        node.set("caches", caches(files));
        node.put("isolatedCpus", machine.isolated().isEmpty() ? "none" : machine.isolated().toString())
            .put("nohzFullCpus", topology.nohzFull().isEmpty() ? "none" : topology.nohzFull().toString())
            .put("governor", text(files, CPU0 + "cpufreq/scaling_governor", "not shown by the kernel"))
            .put("clockSource", text(files, "sys/devices/system/clocksource/clocksource0/current_clocksource", "unknown"))
            .put("transparentHugePages", text(files, "sys/kernel/mm/transparent_hugepage/enabled", "unknown"))
            .put("virtualized", files.text("proc/cpuinfo").orElse("").contains(" hypervisor"))
            .put("kernel", machine.kernel()).put("kernelOptions", text(files, "proc/cmdline", ""))
            .put("loadAverage", text(files, "proc/loadavg", "unknown"))
            .put("device", api.deviceLine());
        node.set("jvm", jvm());
        return node;
    }

    /**
     * Describes this machine in text.
     *
     * @return one line
     */
    public static String line() {
        final MachineFiles files = MachineFiles.ofThisMachine();
        return MachineDescription.of(files, Topology.ofThisMachine()).line() + "; load " +
            text(files, "proc/loadavg", "unknown").replaceFirst("^(\\S+) .*", "$1");
    }

    /**
     * Describes in text the settings of this JVM that change the cost of objects and of buffers.
     *
     * @return one line: collectors, heap, bounds checks
     */
    public static String jvmLine() {
        final Runtime runtime = Runtime.getRuntime();
        return "collector " + collectors() + "; heap " + runtime.totalMemory() / MIB + " of at most " +
            runtime.maxMemory() / MIB + " MiB; bounds checks of Agrona " + (DirectBuffer.SHOULD_BOUNDS_CHECK ? "on" : "off");
    }

    private static ArrayNode caches(final MachineFiles files) {
        final ArrayNode caches = JsonNodeFactory.instance.arrayNode();
        for (int index = 0; files.text(CPU0 + "cache/index" + index + "/size").isPresent(); index++) {
            final String cache = CPU0 + "cache/index" + index + "/";
            caches.add("L" + text(files, cache + "level", "?") + " " + text(files, cache + "type", "") + " " +
                text(files, cache + "size", "?") + ", shared by CPUs " + text(files, cache + "shared_cpu_list", "?"));
        }
        return caches;
    }

    private static ObjectNode jvm() {
        final ObjectNode node = JsonNodeFactory.instance.objectNode();
        node.put("version", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        final ArrayNode flags = node.putArray("flags");
        ManagementFactory.getRuntimeMXBean().getInputArguments().forEach(flags::add);
        node.put("collectors", collectors()).put("heapBytes", Runtime.getRuntime().totalMemory())
            .put("maxHeapBytes", Runtime.getRuntime().maxMemory()).put("agronaBoundsChecks", DirectBuffer.SHOULD_BOUNDS_CHECK);
        return node;
    }

    private static String collectors() {
        final List<String> collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(GarbageCollectorMXBean::getName).toList();
        return String.join(", ", collectors);
    }

    private static String text(final MachineFiles files, final String path, final String otherwise) {
        final Optional<String> text = files.text(path);
        return text.map(String::strip).filter(content -> !content.isEmpty()).orElse(otherwise);
    }
}
