package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.testing.FirstUses;
import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process without one of the flags of {@code config/jvm.flags}. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class MissingFlagTest {
    @Test
    void shouldNameTheFlagWhateverIsUsedFirst() {
        assertEquals("called; the JVM needs the flag --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED: Agrona accesses " +
            "off-heap memory by this package",
            JavaProcess.create().withoutFlag("--add-opens").run(FirstUses.class, "poller", "pipeline", "loopback"));
        assertEquals("called; the JVM needs the flag --enable-native-access=ALL-UNNAMED: the binding calls C",
            JavaProcess.create().withoutFlag("--enable-native-access").option("--illegal-native-access=deny")
                .run(FirstUses.class, "poller", "pipeline", "loopback"));
    }

    @Test
    void shouldNeedTheFlagForMemoryAccessOfOtherLibrariesOnlyForThese() {
        assertEquals("handled 3000", JavaProcess.create().withoutFlag("--sun-misc-unsafe-memory-access")
            .option("--sun-misc-unsafe-memory-access=deny").run(Handling.class));
    }

    /** A program that handles completions. */
    static final class Handling {
        private static final PrintStream OUT = System.out;

        private Handling() {
        }

        public static void main(final String[] arguments) {
            try (Pipeline pipeline = Pipeline.builder().queue(new SyntheticQueue("queue", 3000))
                .onAll((wc, sequence, endOfBatch) -> { }).start()) {
                pipeline.drain(TimeUnit.SECONDS.toNanos(30));
                OUT.println("handled " + pipeline.counters().sum("handled_completions"));
            }
        }
    }
}
