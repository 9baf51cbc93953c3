package io.ringpoll.cli.pages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.options.ChildCommand;
import io.ringpoll.device.Device;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The programs of the pages about Apache Ratis, run with the JVM flags of docs/ratis-quickstart.md. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class RatisPagesTest {
    private static final Page QUICKSTART = Page.read(Page.ROOT.resolve("docs/ratis-quickstart.md"));
    private static final Page COMMIT_INDEX = Page.read(Page.ROOT.resolve("docs/internals/ratis-commit-index.md"));
    private static final Page REPEATED_APPEND = Page.read(Page.ROOT.resolve("docs/internals/ratis-repeated-append.md"));
    private static final String SUM = "ReplicatedSum";
    private static final Pattern FLAG = Pattern.compile("(?<= )-(?:-|Dorg)[\\w.=/-]+");
    private static final int SERVERS = 3;
    private static final int LIMIT_S = 120;

    @TempDir
    private Path folder;
    private final List<Process> processes = new ArrayList<>();

    @AfterEach
    void end() throws InterruptedException {
        for (final Process process : processes) {
            process.destroyForcibly();
            assertTrue(process.waitFor(LIMIT_S, TimeUnit.SECONDS), "a killed process does not end");
        }
    }

    @Test
    void shouldAddInOneProcessAndContinueWithTheStoredLogs() throws Exception {
        compile(SUM, block(QUICKSTART, "java"));
        final String data = folder.resolve("data").toString();
        assertEquals(block(QUICKSTART, "text"), output(SUM, "all", data));
        assertEquals("sum: 10100\n", output(SUM, "all", data));
    }

    @Test
    void shouldAddInAProcessForEachServerWithOneOfThemKilled() throws Exception {
        compile(SUM, block(QUICKSTART, "java"));
        final String host = Device.current().address().host();
        final List<String> addresses = List.of(host + ":7491", host + ":7492", host + ":7493");
        for (int i = 0; i < SERVERS; i++) {
            server(i, addresses);
        }
        assertEquals("sum: 5050\n", output(SUM, words(List.of("client"), addresses)));
        processes.getFirst().destroyForcibly().waitFor();
        assertEquals("sum: 10100\n", output(SUM, words(List.of("client"), addresses)));
        server(0, addresses);
        assertEquals("sum: 15150\n", output(SUM, words(List.of("client"), addresses)));
    }

    @Test
    void shouldPrintItsArgumentsIfTheyAreMissing() throws Exception {
        compile(SUM, block(QUICKSTART, "java"));
        for (final String arguments : List.of("", "all", "server 0 data", "client", "foo bar baz fob")) {
            final Process process = start("last", SUM, arguments.isEmpty() ? new String[0] : arguments.split(" "));
            assertTrue(process.waitFor(LIMIT_S, TimeUnit.SECONDS), arguments);
            assertEquals("usage: ReplicatedSum all FOLDER | server NUMBER FOLDER ADDRESS... | client ADDRESS...",
                Files.readString(folder.resolve("last.err")).strip());
            assertEquals(2, process.exitValue());
        }
    }

    /** Threads of a server that does not start would keep its process running. */
    @Test
    void shouldEndWithOneLineIfAServerCannotStart() throws Exception {
        compile(SUM, block(QUICKSTART, "java"));
        final String address = Device.current().address().host() + ":7491";
        assertFailure("server", "x", data("x"), address);
        assertFailure("server", "1", data("1"), address);
        assertFailure("server", "0", data("0"), "127.0.0.1");
        try (Peer peer = Peer.ofLocal(Device.current().address().host());
             Endpoint occupant = peer.listen(Device.current().address().host(), "7491")) {
            assertFailure("server", "0", data("occupied"), address);
            assertFailure("all", data("all"));
        }
    }

    @Test
    void shouldEndWithOneLineIfAnotherServerHasItsFolder() throws Exception {
        compile(SUM, block(QUICKSTART, "java"));
        final String host = Device.current().address().host();
        final List<String> addresses = List.of(host + ":7491", host + ":7492");
        server(0, addresses);
        awaitStarted(0);
        assertFailure(words(List.of("server", "1", data("0")), addresses));
        assertTrue(processes.getFirst().isAlive());
    }

    private void awaitStarted(final int number) throws IOException, InterruptedException {
        final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
        while (!Files.readString(folder.resolve("server-" + number + ".out")).contains("has started")) {
            assertTrue(System.nanoTime() < deadline, "the server does not start");
            Thread.sleep(20);
        }
    }

    private void assertFailure(final String... arguments) throws IOException, InterruptedException {
        final Process process = start("last", SUM, arguments);
        final boolean ended = process.waitFor(LIMIT_S, TimeUnit.SECONDS);
        final String logged = Files.readString(folder.resolve("last.err"));
        assertTrue(ended, () -> "it does not end: " + logged);
        assertEquals(1, logged.lines().filter(line -> line.startsWith("ReplicatedSum: ")).count(), logged);
        assertFalse(logged.contains("\tat "), logged);
        assertEquals(1, process.exitValue(), logged);
    }

    @Test
    void shouldWarnOfAMisspeltSetting() throws Exception {
        final String properties = "RaftProperties properties = new RaftProperties();";
        final String program = block(QUICKSTART, "java");
        assertTrue(program.contains(properties), program);
        compile(SUM, program.replace(properties, properties + " properties.set(\"raft.rdma.credit\", \"8\");"));
        assertEquals(block(QUICKSTART, "text"), output(SUM, "all", folder.resolve("data").toString()));
        final String logged = Files.readString(folder.resolve("last.err"));
        assertTrue(logged.contains("raft.rdma.credit has no effect"), logged);
    }

    /** If it fails with a newer engine, the defect may be fixed. */
    @Test
    void shouldReproduceTheCommitOfAnEntryThatIsNotCompared() throws Exception {
        shouldPrint(COMMIT_INDEX, "CommitIndexReproducer");
    }

    /** If it fails with a newer engine, the defect may be fixed. */
    @Test
    void shouldReproduceTheConfirmationOfEntriesThatAreNotStored() throws Exception {
        shouldPrint(REPEATED_APPEND, "RepeatedAppendReproducer");
    }

    /** In any order of the lines: the state machine prints on a thread of its own. */
    private void shouldPrint(final Page page, final String program) throws Exception {
        compile(program, block(page, "java"));
        assertEquals(sortedLines(block(page, "text")), sortedLines(output(program)));
    }

    private static List<String> sortedLines(final String text) {
        return text.lines().sorted().toList();
    }

    private void server(final int number, final List<String> addresses) throws IOException {
        start("server-" + number, SUM, words(
            List.of("server", Integer.toString(number), data(Integer.toString(number))), addresses));
    }

    private String data(final String name) {
        return folder.resolve("data-" + name).toString();
    }

    private static String[] words(final List<String> first, final List<String> rest) {
        return Stream.concat(first.stream(), rest.stream()).toArray(String[]::new);
    }

    private Process start(final String name, final String program, final String... arguments) throws IOException {
        final List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        FLAG.matcher(QUICKSTART.blocks().stream().filter(block -> block.language().equals("sh")).map(Page.Block::text)
            .filter(text -> text.contains(SUM + " all")).findFirst().orElseThrow()).results().map(MatchResult::group)
            .forEach(command::add);
        assertTrue(command.size() > SERVERS, () -> "the flags of the page: " + command);
        command.add(ChildCommand.SHORT_LIVED);
        command.addAll(List.of("-cp", folder + ":" + System.getProperty("java.class.path"), program));
        command.addAll(List.of(arguments));
        final Process process = new ProcessBuilder(command).redirectError(folder.resolve(name + ".err").toFile())
            .redirectOutput(folder.resolve(name + ".out").toFile()).start();
        processes.add(process);
        return process;
    }

    /** Runs a process to its end; returns its output. */
    private String output(final String program, final String... arguments) throws IOException, InterruptedException {
        final Process process = start("last", program, arguments);
        final boolean ended = process.waitFor(LIMIT_S, TimeUnit.SECONDS);
        final String printed = Files.readString(folder.resolve("last.out"));
        final String logged = Files.readString(folder.resolve("last.err"));
        assertTrue(ended, () -> "it does not end: " + printed + logged);
        assertEquals(0, process.exitValue(), () -> printed + logged);
        return printed;
    }

    private void compile(final String name, final String program) throws IOException {
        final Path source = Files.writeString(folder.resolve(name + ".java"), program);
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-proc:none", "-d", folder.toString(),
            "-cp", System.getProperty("java.class.path"), source.toString()));
    }

    private static String block(final Page page, final String language) {
        return page.blocks().stream().filter(block -> block.language().equals(language)).findFirst().orElseThrow().text();
    }
}
