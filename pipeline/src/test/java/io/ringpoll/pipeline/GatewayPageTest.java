package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.DeviceClock;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.TestDevice;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/guide/gateway.md compiles and runs unchanged. Not on Soft-RoCE, where the tests are without the pages. */
@Timeout(120)
class GatewayPageTest {
    private static final Path PAGE = Path.of("..", "docs", "guide", "gateway.md");
    private static final Pattern PROGRAM = Pattern.compile("```java\n(import .*?\n)```", Pattern.DOTALL);
    private static final int TIMEOUT_S = 90;

    @TempDir
    private Path folder;

    @Test
    void shouldSendChainsAndReadTimestamps() throws Exception {
        final Matcher program = PROGRAM.matcher(Files.readString(PAGE));
        assertTrue(program.find(), "no program");
        final Path source = Files.writeString(folder.resolve("OrderGateway.java"), program.group(1));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null,
            "-proc:none", "-d", folder.toString(), source.toString()));

        final String printed = run();

        final String times = timestampsAreOffered() ? "p50 \\d+ ns" : "the device has no clock";
        assertTrue(printed.matches("1600 answers, from the NIC to the handler: " + times), printed);
    }

    private String run() throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(JavaProcess.flags());
        command.addAll(List.of("-cp", folder + File.pathSeparator + System.getProperty("java.class.path"), "OrderGateway"));
        final Path output = folder.resolve("output");
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertTrue(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS), "not ended");
        } finally {
            process.destroyForcibly();
        }
        final String printed = Files.readString(output).strip();
        assertEquals(0, process.exitValue(), printed);
        return printed;
    }

    private static boolean timestampsAreOffered() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            return DeviceClock.isOfferedBy(peer.context());
        }
    }
}
