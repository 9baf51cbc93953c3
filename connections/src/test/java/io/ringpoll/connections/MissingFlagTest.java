package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process without one of the flags of {@code config/jvm.flags} whose first call is that for a set. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class MissingFlagTest {
    @Test
    void shouldNameTheFlag() {
        assertEquals("the JVM needs the flag --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED: Agrona accesses " +
            "off-heap memory by this package", JavaProcess.create().withoutFlag("--add-opens").run(Building.class));
        assertEquals("the JVM needs the flag --enable-native-access=ALL-UNNAMED: the binding calls C",
            JavaProcess.create().withoutFlag("--enable-native-access").option("--illegal-native-access=deny")
                .run(Building.class));
    }

    /** Describes a set, and prints the message of the exception. */
    static final class Building {
        private static final PrintStream OUT = System.out;

        private Building() {
        }

        public static void main(final String[] arguments) {
            try {
                OUT.println(ConnectionSet.builder());
            } catch (final RuntimeException refused) {
                OUT.println(refused.getMessage());
            }
        }
    }
}
