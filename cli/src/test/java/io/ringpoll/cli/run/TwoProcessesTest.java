package io.ringpoll.cli.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.Ringpoll;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The main job as two processes over the loopback device, and with one of the two killed in mid-run: the survivor accounts for
 * every work request, reports that its peer has gone, and ends. The same on Soft-RoCE: {@code cli/softroce/two-processes}.
 */
@Timeout(600)
class TwoProcessesTest {
    private static final int BOUND_SECONDS = 180;
    private static final Pattern ROW = Pattern.compile(
        "(?m)^(send/write|receive|error) +([0-9,]+) +([0-9,]+) +([0-9,]+) +([0-9,]+)$");

    @TempDir
    private Path folder;
    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void endProcesses() throws InterruptedException {
        for (final Process process : started) {
            process.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldLoseNothingAsTwoProcesses() throws Exception {
        final Process server = startServer("7531");
        final Process client = start("client", "--role", "client", "--address", "127.0.0.1:7531", "--operations", "20000");
        assertEnds(client, "client");
        assertEnds(server, "server");
        assertAccounted("client");
        assertAccounted("server");
    }

    @Test
    void shouldAccountForEverythingAtTheServerWhenTheClientIsKilled() throws Exception {
        final Process server = startServer("7532");
        final Process client = start("client", "--role", "client", "--address", "127.0.0.1:7532", "--seconds", "100");
        awaitLine("client", "^  2 s ");
        client.destroyForcibly();
        assertEnds(server, "server");
        assertAccounted("server");
        assertTrue(log("server").contains("gone without a goodbye"), log("server"));
    }

    @Test
    void shouldAccountForEverythingAtTheClientWhenTheServerIsKilled() throws Exception {
        final Process server = startServer("7533");
        final Process client = start("client", "--role", "client", "--address", "127.0.0.1:7533", "--seconds", "100");
        awaitLine("client", "^  2 s ");
        server.destroyForcibly();
        assertEnds(client, "client");
        assertAccounted("client");
        assertTrue(log("client").contains("the peer has gone"), log("client"));
    }

    private Process startServer(final String port) throws IOException, InterruptedException {
        final Process server = start("server", "--role", "server", "--address", "127.0.0.1:" + port);
        awaitLine("server", "^the server listens");
        return server;
    }

    private Process start(final String name, final String... options) throws IOException {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--add-opens") || argument.startsWith("--enable-native") ||
                argument.startsWith("-Dringpoll."))
            .toList());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Ringpoll.class.getName(), "run",
            "--device", "loopback", "--wait", "block"));
        command.addAll(List.of(options));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(folder.resolve(name).toFile()).start();
        started.add(process);
        return process;
    }

    private void awaitLine(final String name, final String line) throws IOException, InterruptedException {
        final Pattern pattern = Pattern.compile("(?m)" + line);
        final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
        while (!pattern.matcher(log(name)).find()) {
            assertTrue(System.nanoTime() < deadline, "no line '" + line + "' of the " + name + ":\n" + log(name));
            Thread.sleep(20);
        }
    }

    private void assertEnds(final Process process, final String name) throws IOException, InterruptedException {
        assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "the " + name + " does not end:\n" + log(name));
        assertEquals(0, process.exitValue(), log(name));
    }

    private void assertAccounted(final String name) throws IOException {
        final String log = log(name);
        final List<String[]> rows = ROW.matcher(log).results()
            .map(row -> new String[] {row.group(2), row.group(3), row.group(4), row.group(5)}).toList();
        assertEquals(3, rows.size(), log);
        for (final String[] row : rows) {
            assertEquals(row[0], row[1], log);
            assertEquals("0", row[2], log);
            assertEquals("0", row[3], log);
        }
        assertFalse(rows.stream().allMatch(row -> row[0].equals("0")), log);
        assertTrue(log.contains("corrupted payloads   0"), log);
    }

    private String log(final String name) throws IOException {
        return Files.readString(folder.resolve(name));
    }
}
