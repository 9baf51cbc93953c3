package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import java.util.List;
import java.util.Locale;

/** Checks of the JVM and its flags, which are set by the launcher and by {@code RINGPOLL_JAVA_OPTS}. */
final class JvmChecks {
    private static final int NEEDED = 25;
    private static final List<String> CONCURRENT = List.of("UseZGC", "UseShenandoahGC", "UseEpsilonGC");
    private static final List<String> STOPPING = List.of("UseG1GC", "UseParallelGC", "UseSerialGC");
    private static final String OPTIONS = "export RINGPOLL_JAVA_OPTS=\"$RINGPOLL_JAVA_OPTS ";

    private JvmChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("jdk-version", "JDK version",
                "The binding calls C by the foreign function interface with critical calls and heap access, as of JDK " + NEEDED
                    + ".", JvmChecks::version, OK, BAD),
            new Check("native-access", "native access",
                "Without it the JVM warns at the first call into C, and a later release will refuse the call.",
                JvmChecks::nativeAccess, OK, WARNING),
            new Check("garbage-collector", "garbage collector",
                "A collector that stops the threads stops the poller: while it works, completions wait in the queue.",
                JvmChecks::collector, OK, WARNING, UNKNOWN),
            new Check("heap-pretouch", "heap touched at start",
                "A heap page that is touched for the first time costs a page fault on the thread that touches it.",
                JvmChecks::preTouch, OK, WARNING, UNKNOWN),
            new Check("jvm-noise", "JVM flags that slow or stop threads",
                "The JVM's statistics file is written at each safepoint and can wait for the disk; a debugger or the interpreter "
                    + "slows every poll.", JvmChecks::noise, OK, WARNING, BAD));
    }

    private static Finding version(final Examined machine) {
        final Jvm jvm = machine.jvm();
        return jvm.feature() >= NEEDED ? Finding.ok(jvm.version() + ", " + jvm.name())
            : Finding.bad(jvm.version() + " is older than " + NEEDED, "install a JDK " + NEEDED + " and set JAVA_HOME to it");
    }

    private static Finding nativeAccess(final Examined machine) {
        return machine.jvm().nativeAccess() ? Finding.ok("enabled")
            : Finding.warning("not enabled", OPTIONS + "--enable-native-access=ALL-UNNAMED\"");
    }

    private static Finding collector(final Examined machine) {
        for (final String flag : CONCURRENT) {
            if (machine.jvm().isSet(flag)) {
                return Finding.ok(name(flag));
            }
        }
        for (final String flag : STOPPING) {
            if (machine.jvm().isSet(flag)) {
                return Finding.warning(name(flag) + ": stops all threads for milliseconds when the application allocates",
                    OPTIONS + "-XX:+UseZGC\"");
            }
        }
        return Finding.unknown("this JVM does not report its collector");
    }

    private static String name(final String flag) {
        return flag.substring("Use".length());
    }

    private static Finding preTouch(final Examined machine) {
        final Jvm jvm = machine.jvm();
        if (!jvm.flags().containsKey("AlwaysPreTouch") || jvm.size("MaxHeapSize").isEmpty()
            || jvm.size("InitialHeapSize").isEmpty()) {
            return Finding.unknown("this JVM does not show its heap flags");
        }
        final long initial = jvm.size("InitialHeapSize").get();
        final long max = jvm.size("MaxHeapSize").get();
        final String sizes = String.format(Locale.ROOT, "initial %d MiB, maximum %d MiB", initial >> 20, max >> 20);
        if (jvm.isSet("AlwaysPreTouch") && initial == max) {
            return Finding.ok("touched at start, " + sizes);
        }
        return Finding.warning((jvm.isSet("AlwaysPreTouch") ? "touched at start, but it grows: " : "not touched at start: ")
            + sizes,
            OPTIONS + "-Xms1g -Xmx1g -XX:+AlwaysPreTouch\"");
    }

    private static Finding noise(final Examined machine) {
        final Jvm jvm = machine.jvm();
        for (final String argument : jvm.arguments()) {
            if ("-Xint".equals(argument) || argument.startsWith("-agentlib:jdwp") || argument.startsWith("-Xrunjdwp")
                || argument.startsWith("-Xdebug") || argument.startsWith("-Xcheck:jni")) {
                return Finding.bad(argument + " is given", "remove " + argument + " from RINGPOLL_JAVA_OPTS");
            }
        }
        return jvm.isSet("PerfDisableSharedMem") ? Finding.ok("none; no statistics file is mapped")
            : Finding.warning("the statistics file (hsperfdata) is mapped", OPTIONS + "-XX:+PerfDisableSharedMem\"");
    }
}
