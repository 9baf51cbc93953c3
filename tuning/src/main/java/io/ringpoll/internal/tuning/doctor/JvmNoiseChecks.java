package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.COMMAND;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import java.util.List;
import java.util.stream.Stream;

/** Checks of the JVM's options that slow or stop threads. */
final class JvmNoiseChecks {
    private static final List<String> POOLS = List.of("ParallelGCThreads", "ConcGCThreads", "CICompilerCount");
    /** The smallest number of compiler threads with both compilers. */
    private static final int LEAST_COMPILERS = 2;

    private JvmNoiseChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("jvm-noise", "JVM flags that slow or stop threads",
                "The JVM's statistics file is written at each safepoint and can wait for the disk; a debugger or the interpreter "
                    + "slows every poll.", HIGH, COMMAND, JvmNoiseChecks::noise, OK, WARNING, BAD),
            new Check("jvm-agents", "agents and flight recorder",
                "An agent runs code of its own in all threads; the flight recorder suspends running threads to sample them.",
                MEDIUM, COMMAND, JvmNoiseChecks::agents, OK, WARNING),
            new Check("jvm-threads", "threads of collector and compiler",
                "More of them than auxiliary CPUs crowd each other out, or run on hot CPUs.",
                MEDIUM, COMMAND, JvmNoiseChecks::threads, OK, WARNING, UNKNOWN),
            new Check("safepoint-log", "safepoint log",
                "Without it nobody can tell a pause of the JVM from one of the machine; a log that is written by the pausing "
                    + "thread makes pauses longer.", LOW, COMMAND, JvmNoiseChecks::safepointLog, OK, WARNING));
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

    private static Finding agents(final Examined machine) {
        final List<String> found = machine.jvm().argumentsWith("-javaagent:", "-agentpath:", "-agentlib:",
            "-XX:StartFlightRecording", "-XX:+FlightRecorder").stream().filter(given -> !given.startsWith("-agentlib:jdwp"))
            .toList();
        return found.isEmpty() ? Finding.ok("none")
            : Finding.warning(String.join(", ", found), "remove " + String.join(", ", found)
                + " from RINGPOLL_JAVA_OPTS; a recording without jdk.ExecutionSample suspends no thread");
    }

    private static Finding threads(final Examined machine) {
        final Jvm jvm = machine.jvm();
        final CpuSet auxiliary = machine.others().and(machine.topology().usable()).minus(machine.topology().isolated());
        final List<String> known = POOLS.stream().filter(pool -> jvm.number(pool).isPresent()).toList();
        if (known.isEmpty() || auxiliary.isEmpty()) {
            return Finding.unknown(known.isEmpty() ? "this JVM does not show their number" : "no CPU is left for them");
        }
        final String reading = String.join(", ", known.stream().map(pool -> pool + " " + jvm.number(pool).getAsLong()).toList())
            + " for auxiliary " + auxiliary.named();
        final boolean crowded = known.stream().anyMatch(pool -> jvm.number(pool).getAsLong()
            > Math.max(auxiliary.size(), "CICompilerCount".equals(pool) ? LEAST_COMPILERS : 1));
        return crowded ? Finding.warning(reading, Jvm.add("-XX:ActiveProcessorCount=" + auxiliary.size())) : Finding.ok(reading);
    }

    private static Finding safepointLog(final Examined machine) {
        final List<String> logs = machine.jvm().argumentsWith("-Xlog");
        final boolean async = logs.contains("-Xlog:async");
        final boolean logged = logs.stream().anyMatch(log -> log.startsWith("-Xlog:") && log.contains("safepoint"));
        return logged && async ? Finding.ok("written by a thread of its own")
            : Finding.warning(logged ? "written by the pausing thread" : "none", Jvm.add(
                Stream.of(async ? "" : "-Xlog:async", logged ? "" : "-Xlog:safepoint:file=/dev/shm/safepoint.log::filecount=2")
                    .filter(option -> !option.isEmpty()).reduce((a, b) -> a + " " + b).orElseThrow()));
    }
}
