package io.ringpoll.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.ChildCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The main job in a separate JVM, with options that change the JVM. */
final class ChildRun {
    private static final int BOUND_SECONDS = 240;

    private ChildRun() {
    }

    /**
     * Runs the job and checks that it succeeds.
     *
     * @param jvmOptions additional options of the JVM
     * @param options    options of the command
     */
    static void assertRuns(final List<String> jvmOptions, final List<String> options) throws IOException, InterruptedException {
        final List<String> words = new ArrayList<>(List.of("run"));
        words.addAll(options);
        final Process process = new ProcessBuilder(
            ChildCommand.of(jvmOptions, Ringpoll.class, words.toArray(String[]::new))).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), output);
        assertEquals(0, process.exitValue(), output);
        assertTrue(output.contains("corrupted payloads   0"), output);
    }
}
