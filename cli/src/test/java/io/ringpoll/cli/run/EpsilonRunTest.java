package io.ringpoll.cli.run;

import io.ringpoll.cli.options.ChildCommand;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The main job with a garbage collector that never collects, and a heap for the start only: an allocation per completion would
 * exhaust it. The system property {@code ringpoll.epsilon.seconds} makes the run longer.
 */
@Timeout(300)
class EpsilonRunTest {
    private static final int SECONDS = Integer.getInteger("ringpoll.epsilon.seconds", 5);
    /** Without failures, because each ends a connection and creates a new one. */
    private static final String MIX = "write=40,send=30,read=20,write-imm=10";
    private static final String HEAP = "96m";

    @Test
    void shouldRunWithoutAGarbageCollector() throws IOException, InterruptedException {
        ChildRun.assertRuns(
            List.of(ChildCommand.ALL_COMPILERS, "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xms" + HEAP,
                "-Xmx" + HEAP),
            List.of("--seconds", Integer.toString(SECONDS), "--mix", MIX));
    }
}
