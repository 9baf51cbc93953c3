package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Scope.COMMAND;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import java.util.List;

/** Checks of the JVM's ability to run ringpoll. */
final class JvmChecks {
    private static final int NEEDED = 25;

    private JvmChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("jdk-version", "JDK version",
                "The binding calls C by the foreign function interface with critical calls and heap access, as of JDK " + NEEDED
                    + ".", HIGH, COMMAND, JvmChecks::version, OK, BAD),
            new Check("native-access", "native access",
                "Without it the JVM warns at the first call into C, and a later release will refuse the call.",
                LOW, COMMAND, JvmChecks::nativeAccess, OK, WARNING));
    }

    private static Finding version(final Examined machine) {
        final Jvm jvm = machine.jvm();
        return jvm.feature() >= NEEDED ? Finding.ok(jvm.version() + ", " + jvm.name())
            : Finding.bad(jvm.version() + " is older than " + NEEDED, "install a JDK " + NEEDED + " and set JAVA_HOME to it");
    }

    private static Finding nativeAccess(final Examined machine) {
        return machine.jvm().nativeAccess() ? Finding.ok("enabled")
            : Finding.warning("not enabled", Jvm.add("--enable-native-access=ALL-UNNAMED"));
    }
}
