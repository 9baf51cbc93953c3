package io.ringpoll.cli.stat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.ChildCommand;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.OpenMetricsParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the command in another process, as a user would. */
@Timeout(120)
class StatCommandTest {
    private static final long TIMEOUT_S = 60;

    @TempDir
    private Path folder;

    @Test
    void shouldShowCountersLagAndErrorsOfAnotherProcess() throws Exception {
        final CountDownLatch goOn = new CountDownLatch(1);
        try (Pipeline pipeline = Pipeline.builder().name("orders").ringSize(256).countersFolder(folder)
            .onAll((wc, sequence, endOfBatch) -> {
                if (sequence == 100) {
                    throw new IllegalStateException("provoked");
                }
            }, options -> options.name("quick"))
            .onAll((wc, sequence, endOfBatch) -> {
                if (sequence == 10) {
                    goOn.await();
                }
            }, options -> options.name("stuck"))
            .queue(new SyntheticQueue("queue", 200)).start()) {
            awaitHandled(pipeline, 200);
            final Stat stat = Stat.run("--folder", folder.toString(), "--once");
            assertEquals(0, stat.exit, stat.said);
            assertTrue(stat.said.startsWith("orders, process " + ProcessHandle.current().pid() + ", up "), stat.said);
            assertRow(stat.said, "ring: slots in use, of 256", "200");
            assertRow(stat.said, "quick: slots behind", "0");
            // A handler has passed a slot when it has passed its batch.
            assertRow(stat.said, "stuck: slots behind", "200");
            assertRow(stat.said, "quick: completions handled", "200");
            assertRow(stat.said, "stuck: state", "running");
            assertTrue(stat.said.contains("error, 1 times from "), stat.said);
            assertTrue(stat.said.contains("java.lang.IllegalStateException: provoked"), stat.said);
            goOn.countDown();
        }
    }

    @Test
    void shouldPrintTheSameAsJsonWithRates() throws Exception {
        try (Pipeline pipeline = Pipeline.builder().name("orders").ringSize(256).countersFolder(folder)
            .onAll((wc, sequence, endOfBatch) -> { }, options -> options.name("all"))
            .queue(new SyntheticQueue("queue", 3000)).start()) {
            awaitHandled(pipeline, 3000);
            final Stat stat = Stat.run("--folder", folder.toString(), "--json", "--count", "2", "--interval", "3");
            assertEquals(0, stat.exit, stat.said);
            final JsonNode orders = new ObjectMapper().readTree(stat.said).get("pipelines").get(0);
            assertEquals("orders", orders.get("name").asText());
            assertTrue(orders.get("alive").asBoolean());
            assertEquals(256, orders.get("ringSize").asLong());
            assertEquals(0, orders.get("handlers").get(0).get("lag").asLong());
            final JsonNode polls = counter(orders, "polls");
            assertTrue(polls.get("perSecond").asDouble() > 0, "the poller polls between the two looks");
            assertEquals(1000, counter(orders, "receives").get("value").asLong());
        }
    }

    @Test
    void shouldPrintTheCountersOfAllPipelinesAsOpenMetrics() throws Exception {
        try (Pipeline orders = Pipeline.builder().name("orders").ringSize(256).countersFolder(folder)
            .onAll((wc, sequence, endOfBatch) -> { }, options -> options.name("all"))
            .queue(new SyntheticQueue("queue", 3000)).start();
             Pipeline same = Pipeline.builder().name("orders").ringSize(512).countersFolder(folder)
                 .onAll((wc, sequence, endOfBatch) -> { }).start()) {
            awaitHandled(orders, 3000);
            final Stat stat = Stat.run("--folder", folder.toString(), "--openmetrics");
            assertEquals(0, stat.exit, stat.said);
            final Map<String, OpenMetricsParser.Family> families = OpenMetricsParser.parse(stat.said);
            final Map<String, String> labels =
                Map.of("pid", Long.toString(ProcessHandle.current().pid()), "pipeline", "orders");
            final OpenMetricsParser.Family sizes = families.get("ringpoll_ring_size_slots");
            assertEquals(256, sizes.samples().get(labels).longValueExact());
            assertEquals(512, sizes.value("number", "2").longValueExact());
            assertEquals(3000, families.get("ringpoll_handled_completions").value("handler", "all").longValueExact());
            assertEquals(orders.counters().sum("receive_completions"), 1000);
        }
    }

    @Test
    void shouldSurviveTheProcessThatItWatches() throws Exception {
        final Process watched = Stat.java(Watchable.class, List.of(folder.toString()));
        try (BufferedReader said = watched.inputReader()) {
            assertEquals("running", said.readLine());
            final Process stat = Stat.java(
                Ringpoll.class,
                List.of("stat", "--folder", folder.toString(), "--interval", "0.1", Long.toString(watched.pid())));
            try (BufferedReader shown = stat.inputReader()) {
                assertTrue(shown.readLine().startsWith("short-lived, process " + watched.pid() + ", up "));
                watched.destroyForcibly();
                final String rest = shown.readAllAsString();
                assertTrue(rest.contains("short-lived, process " + watched.pid() + ", ended; seen last:"), rest);
                assertTrue(stat.waitFor(TIMEOUT_S, TimeUnit.SECONDS));
                assertEquals(0, stat.exitValue(), rest);
                assertFalse(rest.contains("Exception"), rest);
            } finally {
                stat.destroyForcibly();
            }
            assertTrue(watched.waitFor(TIMEOUT_S, TimeUnit.SECONDS));
            final Stat afterwards =
                Stat.run("--folder", folder.toString(), "--once", Long.toString(watched.pid()));
            assertTrue(afterwards.said.contains("ended; seen last:"), "the counters of a killed process are shown on request");
            assertEquals(1, Stat.run("--folder", folder.toString(), "--once").exit, "it is not taken for a running one");
        } finally {
            watched.destroyForcibly();
        }
    }

    @Test
    void shouldReportThatNoPipelineRuns() throws Exception {
        final Stat stat = Stat.run("--folder", folder.toString());
        assertEquals(1, stat.exit);
        assertEquals("ringpoll stat: no pipeline is running: no counters file of one in " + folder +
            "; start one, for instance with ./ringpoll run, or name another folder with --folder", stat.said.strip());
    }

    @Test
    void shouldReportADamagedFile() throws Exception {
        Files.writeString(folder.resolve(ProcessHandle.current().pid() + "-1.counters"), "x".repeat(1000));
        final Stat stat = Stat.run("--folder", folder.toString());
        assertEquals(1, stat.exit);
        assertEquals(1, stat.said.strip().lines().count(), stat.said);
        assertTrue(stat.said.contains("it is not a ringpoll counters file"), stat.said);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--interval=0 | --interval 0.0 is not from 0.01 to 86400 seconds",
        "--count=0 | --count 0 is below 1",
        "--openmetrics --json | --openmetrics excludes --json and --count",
        "--interval=soon | Invalid value for option '--interval': 'soon' is not a number, such as 1.5; see " +
            "'./ringpoll stat --help'",
        "--openmetrics --errors | --openmetrics excludes --errors: the format has numbers only; use --json, which has all errors",
        "all | PID 'all' is not the number of a process; without PID, stat shows all processes with pipelines",
        "0 | PID '0' is not the number of a process; without PID, stat shows all processes with pipelines",
        "99999999999999999999 | PID '99999999999999999999' is not the number of a process; without PID, stat shows all " +
            "processes with pipelines",
    })
    void shouldAnswerWrongUsageWithOneLineAndExitCodeTwo(final String argument, final String message) throws Exception {
        final Stat stat = Stat.run(argument.split(" "));
        assertEquals(2, stat.exit);
        assertEquals("ringpoll stat: " + message, stat.said.strip());
    }

    /** Waits until a handler has passed all completions, while another one may not have passed any. */
    private static void awaitHandled(final Pipeline pipeline, final long completions) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (pipeline.counters().sum("handled_completions") < completions ||
            pipeline.counters().sum("passed_slots") < completions) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(50), "the completions do not arrive");
            Thread.sleep(1);
        }
    }

    private static void assertRow(final String table, final String label, final String value) {
        assertTrue(table.lines().anyMatch(line -> line.strip().matches("\\Q" + label + "\\E +\\Q" + value + "\\E")),
            () -> "no row '" + label + " " + value + "' in\n" + table);
    }

    private static JsonNode counter(final JsonNode pipeline, final String type) {
        for (final JsonNode counter : pipeline.get("counters")) {
            if (counter.get("type").asText().equals(type)) {
                return counter;
            }
        }
        throw new AssertionError("no counter of type " + type);
    }

    /** A process with a pipeline, which runs until it is killed. */
    static final class Watchable {
        private static final PrintStream OUT = System.out;

        private Watchable() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            try (Pipeline pipeline = Pipeline.builder().name("short-lived").countersFolder(Path.of(arguments[0]))
                .onAll((wc, sequence, endOfBatch) -> { }).queue(new SyntheticQueue("queue", 3000)).start()) {
                awaitHandled(pipeline, 3000);
                OUT.println("running");
                // Longer than the test, which kills it.
                Thread.sleep(TimeUnit.MINUTES.toMillis(10));
            }
        }
    }

    /** A run of the command in its own process, with its output and exit code. */
    private record Stat(int exit, String said) {
        static Stat run(final String... arguments) throws IOException, InterruptedException {
            final Process process = java(Ringpoll.class, Stream.concat(Stream.of("stat"), Stream.of(arguments)).toList());
            final String said = new String(process.getInputStream().readAllBytes());
            assertTrue(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS));
            return new Stat(process.exitValue(), said);
        }

        static Process java(final Class<?> main, final List<String> arguments) throws IOException {
            final List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java"));
            command.addAll(JavaProcess.flags());
            command.add(ChildCommand.SHORT_LIVED);
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
            command.addAll(arguments);
            return new ProcessBuilder(command).redirectErrorStream(true).start();
        }
    }
}
