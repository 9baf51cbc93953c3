package io.ringpoll.verify.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The main job on a collector that never collects: with a heap that has room for the start alone, what is allocated for each
 * completion would end it. The system property {@code ringpoll.epsilon.seconds} makes it longer.
 */
@Timeout(300)
class EpsilonRunTest {
    private static final int SECONDS = Integer.getInteger("ringpoll.epsilon.seconds", 5);
    private static final int BOUND_SECONDS = 240;
    /** Without failures, each of which ends a connection and makes a new one. */
    private static final String MIX = "write=40,send=30,read=20,write-imm=10";
    private static final String HEAP = "96m";

    @Test
    void shouldRunWithoutAGarbageCollector() throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--add-opens") || argument.startsWith("--enable-native") ||
                argument.startsWith("-Dringpoll."))
            .toList());
        command.addAll(List.of(
            "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xms" + HEAP, "-Xmx" + HEAP,
            "-cp", System.getProperty("java.class.path"), RunCommand.class.getName(), "--seconds", Integer.toString(SECONDS),
            "--mix", MIX));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), output);
        assertEquals(0, process.exitValue(), output);
        assertTrue(output.contains("corrupted payloads   0"), output);
    }
}
