package io.ringpoll.internal.tuning.doctor;

import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.tuning.RecordedTree;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * One check, one change of the tuned server, and the expected finding.
 *
 * @param id      the check
 * @param verdict the expected result
 * @param reading a part of the expected reading
 * @param tree    the change of the machine
 * @param jvm     the change of the JVM
 * @param verbs   attributes reported by the devices
 * @param command a part of the expected command
 */
record DoctorCase(String id, Verdict verdict, String reading, UnaryOperator<RecordedTree> tree, UnaryOperator<Jvm> jvm,
                  Optional<List<DeviceAttributes>> verbs, String command) {
    static final Jvm GOOD_JVM = new Jvm(25, "25.0.1+8-LTS", "OpenJDK 64-Bit Server VM", true,
        List.of("-Xlog:async", "-Xlog:safepoint:file=/dev/shm/safepoint.log"), Map.of("UseZGC", "true", "UseG1GC", "false",
            "AlwaysPreTouch", "true", "InitialHeapSize", "1073741824", "MaxHeapSize", "1073741824", "PerfDisableSharedMem",
            "true", "ParallelGCThreads", "2", "ConcGCThreads", "1", "CICompilerCount", "2"));
    static final Optional<List<DeviceAttributes>> GOOD_VERBS =
        Optional.of(List.of(new DeviceAttributes("mlx5_0", 16_777_216, 4_194_303, 32_768, 32_768, List.of(4096))));

    static DoctorCase ofTree(final String id, final Verdict verdict, final String reading,
        final UnaryOperator<RecordedTree> tree) {
        return new DoctorCase(id, verdict, reading, tree, UnaryOperator.identity(), GOOD_VERBS, "");
    }

    static DoctorCase ofJvm(final String id, final Verdict verdict, final String reading, final UnaryOperator<Jvm> jvm) {
        return new DoctorCase(id, verdict, reading, UnaryOperator.identity(), jvm, GOOD_VERBS, "");
    }

    static DoctorCase ofVerbs(final String id, final Verdict verdict, final String reading, final List<DeviceAttributes> verbs,
                              final UnaryOperator<RecordedTree> tree) {
        return new DoctorCase(id, verdict, reading, tree, UnaryOperator.identity(), Optional.ofNullable(verbs), "");
    }

    /** The same with a command that contains a text. */
    DoctorCase advising(final String part) {
        return new DoctorCase(id, verdict, reading, tree, jvm, verbs, part);
    }

    /** The same on another machine. */
    DoctorCase on(final UnaryOperator<RecordedTree> machine) {
        return new DoctorCase(id, verdict, reading, machine, jvm, verbs, command);
    }

    static UnaryOperator<Jvm> flag(final String name, final String value) {
        return jvm -> {
            final Map<String, String> flags = new TreeMap<>(jvm.flags());
            flags.put(name, value);
            return new Jvm(jvm.feature(), jvm.version(), jvm.name(), jvm.nativeAccess(), jvm.arguments(), flags);
        };
    }

    static UnaryOperator<Jvm> argument(final String argument) {
        return jvm -> {
            final List<String> arguments = new ArrayList<>(jvm.arguments());
            arguments.add(argument);
            return new Jvm(jvm.feature(), jvm.version(), jvm.name(), jvm.nativeAccess(), arguments, jvm.flags());
        };
    }

    Finding examine(final Path root) {
        final Examined machine = Examined.of(tree.apply(RecordedTree.named("tuned-server")).expand(root), Optional.empty(),
            jvm.apply(GOOD_JVM), verbs);
        return check().examination().apply(machine);
    }

    Check check() {
        return Doctor.checks().stream().filter(check -> check.id().equals(id)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no check " + id));
    }

    @Override
    public String toString() {
        return id + ": " + verdict + ", " + reading;
    }
}
