package io.ringpoll.cli.run;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The main job on a collector that never collects: with a heap that has room for the start alone, what is allocated for each
 * completion would end it. The system property {@code ringpoll.epsilon.seconds} makes it longer.
 */
@Timeout(300)
class EpsilonRunTest {
    private static final int SECONDS = Integer.getInteger("ringpoll.epsilon.seconds", 5);
    /** Without failures, each of which ends a connection and makes a new one. */
    private static final String MIX = "write=40,send=30,read=20,write-imm=10";
    private static final String HEAP = "96m";

    @Test
    void shouldRunWithoutAGarbageCollector() throws IOException, InterruptedException {
        ChildRun.assertRuns(
            List.of("-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xms" + HEAP, "-Xmx" + HEAP),
            List.of("--seconds", Integer.toString(SECONDS), "--mix", MIX));
    }
}
