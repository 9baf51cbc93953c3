package io.ringpoll.bench.change;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.measure.MachineReport;
import io.ringpoll.bench.measure.RingpollBuild;
import io.ringpoll.internal.tuning.doctor.CheckResult;
import io.ringpoll.internal.tuning.doctor.Doctor;
import io.ringpoll.internal.tuning.doctor.Examined;
import io.ringpoll.internal.tuning.doctor.Jvm;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The state of the machine at a measurement: the measured quantity, the build, and the settings that a change may concern.
 *
 * @param root as JSON: time, host, build, machine, results of the doctor, and the shortest counted gap
 */
public record ChangeEnvironment(ObjectNode root) {
    private static final int LONGEST_SHOWN = 200;
    /** They differ at any time. */
    private static final Set<String> NOT_A_SETTING = Set.of("machine.loadAverage", "time", "machine.device");

    /**
     * Reads the state of this machine.
     *
     * @param hot     the CPUs of the measurement
     * @param floorNs the shortest gap that counts as an interruption
     * @return the present state
     */
    public static ChangeEnvironment read(final CpuSet hot, final long floorNs) {
        final ObjectNode root = JsonNodeFactory.instance.objectNode();
        final MachineFiles files = MachineFiles.ofThisMachine();
        root.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString())
            .put("host", files.text("proc/sys/kernel/hostname").orElse("unknown").strip()).put("floorNs", floorNs);
        RingpollBuild.ofThisProcess().addTo(root.putObject("ringpoll"));
        root.set("machine", MachineReport.toJson());
        final ObjectNode doctor = root.putObject("doctor");
        for (final CheckResult result : Doctor.examine(
            Examined.of(files, Optional.of(hot), Jvm.ofThisProcess(), Optional.empty()))) {
            doctor.put(result.check().id(), result.finding().verdict().toString());
        }
        return new ChangeEnvironment(root);
    }

    /** The time of the reading. */
    String time() {
        return root.path("time").asText("unknown");
    }

    /**
     * The reason why a measurement here cannot be compared with one there.
     *
     * @param before the state at the other measurement
     * @return empty if both have the same processor, build and meter
     */
    public Optional<String> incomparableTo(final ChangeEnvironment before) {
        for (final String path : List.of("/machine/cpu", "/ringpoll/version", "/ringpoll/commit", "/floorNs")) {
            final String there = before.root.at(path).asText();
            final String here = root.at(path).asText();
            if (!there.equals(here)) {
                return Optional.of(name(path) + " " + shown(there) + ", not " + shown(here));
            }
        }
        return Optional.empty();
    }

    private static String name(final String path) {
        return switch (path) {
            case "/machine/cpu" -> "on the processor";
            case "/floorNs" -> "with the shortest gap, in ns,";
            default -> "by ringpoll, " + path.substring(path.lastIndexOf('/') + 1);
        };
    }

    /**
     * The settings that differ from an earlier state.
     *
     * @param before the earlier state
     * @return a line for each, for instance {@code "machine.governor: powersave -> performance"}
     */
    public List<String> changesSince(final ChangeEnvironment before) {
        final Map<String, String> earlier = flat(before.root);
        final Map<String, String> later = flat(root);
        final Set<String> keys = new TreeSet<>(earlier.keySet());
        keys.addAll(later.keySet());
        keys.removeAll(NOT_A_SETTING);
        final List<String> changes = new ArrayList<>();
        for (final String key : keys) {
            final String was = earlier.getOrDefault(key, "");
            final String is = later.getOrDefault(key, "");
            if (!was.equals(is)) {
                changes.add(key + ": " + shown(was) + " -> " + shown(is));
            }
        }
        return changes;
    }

    private static Map<String, String> flat(final JsonNode root) {
        final Map<String, String> values = new LinkedHashMap<>();
        flatten("", root, values);
        return values;
    }

    private static void flatten(final String prefix, final JsonNode node, final Map<String, String> values) {
        for (final Map.Entry<String, JsonNode> field : node.properties()) {
            if (field.getValue().isObject()) {
                flatten(prefix + field.getKey() + ".", field.getValue(), values);
            } else {
                values.put(prefix + field.getKey(),
                    field.getValue().isTextual() ? field.getValue().asText() : field.getValue().toString());
            }
        }
    }

    private static String shown(final String value) {
        final String line = value.isEmpty() ? "nothing" : value.replaceAll("\\p{Cntrl}", "?");
        return line.length() > LONGEST_SHOWN ? line.substring(0, LONGEST_SHOWN) + "..." : line;
    }
}
