package io.ringpoll.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.Ringpoll;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--add-opens") || argument.startsWith("--enable-native") ||
                argument.startsWith("-Dringpoll."))
            .toList());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Ringpoll.class.getName(), "run"));
        command.addAll(options);
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), output);
        assertEquals(0, process.exitValue(), output);
        assertTrue(output.contains("corrupted payloads   0"), output);
    }
}
