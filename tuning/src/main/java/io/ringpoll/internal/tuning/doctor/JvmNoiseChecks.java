package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Scope.COMMAND;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import java.util.List;

/** Checks of the JVM's options that slow or stop threads. */
final class JvmNoiseChecks {
    private JvmNoiseChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("jvm-noise", "JVM flags that slow or stop threads",
                "The JVM's statistics file is written at each safepoint and can wait for the disk; a debugger or the interpreter "
                    + "slows every poll.", HIGH, COMMAND, JvmNoiseChecks::noise, OK, WARNING, BAD));
    }

    private static Finding noise(final Examined machine) {
        final Jvm jvm = machine.jvm();
        final List<String> slow = jvm.argumentsWith("-Xint", "-agentlib:jdwp", "-Xrunjdwp", "-Xdebug", "-Xcheck:jni");
        if (!slow.isEmpty()) {
            return Finding.bad(slow.getFirst() + " is given", "remove " + slow.getFirst() + " from RINGPOLL_JAVA_OPTS");
        }
        return jvm.isSet("PerfDisableSharedMem") || jvm.isOff("UsePerfData") ? Finding.ok("none; no statistics file is mapped")
            : Finding.warning("the statistics file (hsperfdata) is mapped", Jvm.add("-XX:+PerfDisableSharedMem"));
    }
}
