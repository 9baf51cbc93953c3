package io.ringpoll.internal.tuning.doctor;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The properties of a JVM that the doctor checks.
 *
 * @param feature      the feature release, for instance 25
 * @param version      the full version
 * @param name         the virtual machine's name
 * @param nativeAccess whether the unnamed module may call C without a warning
 * @param arguments    the arguments of its command line
 * @param flags        the values of the supported flags in {@link #FLAGS}
 */
public record Jvm(int feature, String version, String name, boolean nativeAccess, List<String> arguments,
                  Map<String, String> flags) {
    /** The flags that are read. */
    public static final List<String> FLAGS = List.of("UseZGC", "UseShenandoahGC", "UseEpsilonGC", "UseG1GC", "UseParallelGC",
        "UseSerialGC", "AlwaysPreTouch", "InitialHeapSize", "MaxHeapSize", "UsePerfData", "PerfDisableSharedMem",
        "UseTransparentHugePages", "UseLargePages", "ParallelGCThreads", "ConcGCThreads", "CICompilerCount");

    /** Copies arguments and flags. */
    public Jvm {
        arguments = List.copyOf(arguments);
        flags = Map.copyOf(flags);
    }

    /**
     * The JVM of this process.
     *
     * @return its properties
     */
    public static Jvm ofThisProcess() {
        final Map<String, String> flags = new TreeMap<>();
        final HotSpotDiagnosticMXBean hotspot = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        for (final String flag : FLAGS) {
            try {
                flags.put(flag, hotspot.getVMOption(flag).getValue());
            } catch (final IllegalArgumentException | NullPointerException e) {
                // Another virtual machine, or one built without that collector: the flag remains unknown.
                continue;
            }
        }
        return new Jvm(Runtime.version().feature(), Runtime.version().toString(), System.getProperty("java.vm.name", "unknown"),
            Jvm.class.getModule().isNativeAccessEnabled(), ManagementFactory.getRuntimeMXBean().getInputArguments(), flags);
    }

    boolean isSet(final String flag) {
        return "true".equals(flags.get(flag));
    }

    /** Whether a flag is known to be off. */
    boolean isOff(final String flag) {
        return "false".equals(flags.get(flag));
    }

    OptionalLong number(final String flag) {
        return flags.containsKey(flag) ? OptionalLong.of(Long.parseLong(flags.get(flag))) : OptionalLong.empty();
    }

    /** The arguments that start with one of the prefixes. */
    List<String> argumentsWith(final String... prefixes) {
        return arguments.stream().filter(argument -> Stream.of(prefixes).anyMatch(argument::startsWith)).toList();
    }

    /** The command that adds options to those of the next start. */
    static String add(final String options) {
        return "export RINGPOLL_JAVA_OPTS=\"$RINGPOLL_JAVA_OPTS " + options + "\"";
    }
}
