package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.ConnectedPair;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The programs of docs/guide/connections.md compile and run unchanged, each in a process of its own, on the loopback device.
 */
@Timeout(480)
class ConnectionsPageTest {
    private static final Path PAGE = Path.of("..", "docs", "guide", "connections.md");
    private static final Pattern PROGRAM = Pattern.compile("```java\n(import .*?\n)```", Pattern.DOTALL);
    private static final int MAX_LINES = 85;
    private static final int MAX_LINES_OF_ECHO = 60;
    /** For a hundred thousand answers in a JVM with one core, on a busy machine. */
    private static final int TIMEOUT_S = 200;

    @TempDir
    private Path folder;

    @BeforeEach
    void compile() throws IOException {
        final List<String> files = new ArrayList<>();
        final Matcher program = PROGRAM.matcher(Files.readString(PAGE));
        while (program.find()) {
            final String code = program.group(1);
            final Matcher name = Pattern.compile("public final class (\\w+)").matcher(code);
            assertTrue(name.find(), code);
            final int most = name.group(1).startsWith("Echo") ? MAX_LINES_OF_ECHO : MAX_LINES;
            assertTrue(code.lines().count() < most, () -> name.group(1) + " has " + code.lines().count() + " lines");
            final Path file = folder.resolve(name.group(1) + ".java");
            Files.writeString(file, code);
            files.add(file.toString());
        }
        assertEquals(3, files.size());
        files.addAll(0, List.of("-proc:none", "-d", folder.toString()));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, files.toArray(new String[0])));
    }

    @Test
    void shouldServeAllClientsUntilTheSignal() throws Exception {
        final String port = ConnectedPair.anyPort();
        try (Program server = run("EchoServer", port)) {
            server.await("listening on port " + port, 1);
            try (Program idle = run(EchoClients.class.getName(), "idle", port);
                Program killed = run(EchoClients.class.getName(), "endless", port)) {
                server.await(": connected", 2);
                killed.await("answers in order", 1);
                // SIGKILL, with messages in flight.
                assertTrue(killed.process().isAlive(), killed::output);
                assertEquals(137, killed.process().destroyForcibly().waitFor());
                server.await(": PEER_LOST", 1);
                try (Program client = run("EchoClient", TestDevice.address(), port);
                    Program slow = run(EchoClients.class.getName(), "slow", port)) {
                    client.requireEnd(0, "100000 answers");
                    slow.requireEnd(0, EchoClients.ANSWERS + " answers in order");
                }
                server.await(": PEER_CLOSED", 2);
                // As Ctrl-C.
                assertEquals(0, new ProcessBuilder("kill", "-INT", Long.toString(server.process().pid())).start().waitFor());
                server.requireEnd(130, ": connected");
                idle.requireEnd(0, "ended: PEER_CLOSED");
            }
            final String printed = server.output();
            assertEquals(2, count(printed, ": PEER_CLOSED"), printed);
            assertEquals(1, count(printed, ": PEER_LOST"), printed);
            assertEquals(1, count(printed, ": CLOSED"), printed);
            assertEquals(4, count(printed, ": connected"), printed);
        }
    }

    @Test
    void shouldWriteToThePeer() throws Exception {
        try (Program program = run("RemoteWrite", TestDevice.address())) {
            program.requireEnd(0, "written: hello");
            assertEquals(1, count(program.output(), "operation 42: IBV_WC_SUCCESS"), program::output);
        }
    }

    @ParameterizedTest
    @CsvSource({"EchoServer, usage: EchoServer PORT", "EchoClient, usage: EchoClient ADDRESS PORT",
        "RemoteWrite, usage: RemoteWrite ADDRESS"})
    void shouldPrintItsArgumentsIfTheyAreMissing(final String program, final String usage) throws Exception {
        try (Program started = run(program)) {
            started.requireEnd(2, usage);
            assertEquals(usage, started.output().strip());
        }
    }

    @ParameterizedTest
    @CsvSource({"EchoServer abc, 2, usage: EchoServer PORT",
        "EchoServer 99999, 1, EchoServer: port '99999' is not within 0 to 65535",
        "EchoClient HOST abc, 2, usage: EchoClient ADDRESS PORT", "EchoClient HOST 99999, 1, EchoClient: port '99999' is not ",
        "EchoClient HOST 7999, 1, 'EchoClient: cannot connect to HOST:7999: '", "RemoteWrite 192.0.2.1, 1, 'RemoteWrite: '"})
    void shouldReportAMistakeInOneLine(final String words, final int status, final String message) throws Exception {
        assertMistake(words, status, message);
    }

    @Test
    void shouldReportAUsedPortInOneLine() throws Exception {
        try (ConnectionSet set = ConnectionSet.builder().name("occupant")
            .listener((connection, buffer, offset, length) -> true).start()) {
            final int port = set.listen(0);
            assertTrue(assertMistake("EchoServer " + port, 1, "EchoServer: ").contains("EADDRINUSE"));
        }
    }

    /** The log of librpma, which has lines of its own, is apart. */
    private String assertMistake(final String words, final int status, final String message) throws Exception {
        final String host = TestDevice.address();
        try (Program program = run(words.replace("HOST", host).split(" "))) {
            program.requireEnd(status, message.replace("HOST", host));
            final String printed = program.output();
            assertEquals(1, printed.lines().filter(line -> line.startsWith(message.replace("HOST", host))).count(), printed);
            assertEquals(0, count(printed, "\tat "), printed);
            return printed;
        }
    }

    private Program run(final String... program) throws IOException {
        // The children of a process in the background ignore SIGINT otherwise.
        final List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT",
            Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(JavaProcess.flags());
        // With one core the polling threads yield.
        command.add("-XX:ActiveProcessorCount=1");
        command.addAll(List.of("-cp", folder + File.pathSeparator + System.getProperty("java.class.path")));
        command.addAll(List.of(program));
        final Path output = Files.createTempFile(folder, "output", ".txt");
        return new Program(
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start(), output);
    }

    /** A process, and the file with what it prints. */
    private record Program(Process process, Path file) implements AutoCloseable {
        String output() {
            try {
                return Files.readString(file);
            } catch (final IOException failed) {
                throw new AssertionError(failed);
            }
        }

        void await(final String text, final int times) throws InterruptedException {
            final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
            while (count(output(), text) < times) {
                assertTrue(process.isAlive() && System.nanoTime() < deadlineNs, this::output);
                process.waitFor(10, TimeUnit.MILLISECONDS);
            }
        }

        void requireEnd(final int status, final String text) throws InterruptedException {
            assertTrue(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS), this::output);
            assertEquals(status, process.exitValue(), this::output);
            assertTrue(output().contains(text), this::output);
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private static int count(final String text, final String part) {
        return text.split(Pattern.quote(part), -1).length - 1;
    }
}
