package io.ringpoll.bench.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class ToolRunTest {
    private static final List<String> PROGRAM = List.of(SmallTool.class.getName());

    @TempDir
    private Path folder;

    /** A tool that prints its arguments as JSON, and fails. */
    static final class BusyTool {
        private BusyTool() {
        }

        public static void main(final String[] words) {
            new PrintStream(System.out, true).println(words[1]);
            System.exit(1);
        }
    }

    @Test
    void shouldReturnTheOtherFiguresOfAToolThatLacksSome() throws Exception {
        final List<String> program = List.of(BusyTool.class.getName());
        final JsonNode document =
            new ToolRun("busy", "-", List.of("{\"unmeasured\": [\"c: no turn\"], \"faults\": []}"), 0).run(folder, program);
        assertEquals("c: no turn", document.path("unmeasured").path(0).asText());
        for (final String failed : List.of(
            "{\"unmeasured\": [\"c: no turn\"], \"faults\": [\"lost\"]}", "{\"faults\": []}", "{")) {
            final ToolRun tool = new ToolRun("failed", "-", List.of(failed), 0);
            assertThrows(IllegalStateException.class, () -> tool.run(folder, program));
        }
    }

    /** A tool that prints its arguments as JSON, and rejects a rate of 0. */
    static final class SmallTool {
        private SmallTool() {
        }

        public static void main(final String[] words) {
            if (List.of(words).contains("0")) {
                new PrintStream(System.err, true).println("a rate of 0");
                System.exit(2);
            }
            new PrintStream(System.out, true).println("{\"words\": \"" + String.join(" ", words) + "\"}");
        }
    }

    /** A tool that does not end by itself, and prints its process. */
    static final class EndlessTool {
        private EndlessTool() {
        }

        public static void main(final String[] words) throws InterruptedException {
            new PrintStream(System.out, true).println(ProcessHandle.current().pid());
            Thread.sleep(TimeUnit.MINUTES.toMillis(2));
        }
    }

    /** Runs the endless tool, in the folder of its argument. */
    static final class Caller {
        private Caller() {
        }

        public static void main(final String[] words) throws IOException, InterruptedException {
            new ToolRun("endless", "none", List.of(), 0).run(Path.of(words[0]), List.of(EndlessTool.class.getName()));
        }
    }

    @Test
    void shouldEndTheToolWhenItsCallerIsEnded() throws Exception {
        final Process caller = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
            System.getProperty("java.class.path"), Caller.class.getName(), folder.toString()).inheritIO().start();
        try {
            final Path out = folder.resolve("endless.json");
            while (!Files.exists(out) || !Files.readString(out).endsWith("\n")) {
                assertTrue(caller.isAlive());
                Thread.sleep(10);
            }
            final ProcessHandle tool = ProcessHandle.of(Long.parseLong(Files.readString(out).strip())).orElseThrow();
            try {
                caller.destroy();
                assertTrue(caller.waitFor(30, TimeUnit.SECONDS));
                tool.onExit().get(30, TimeUnit.SECONDS);
            } finally {
                tool.destroyForcibly();
            }
        } finally {
            caller.destroyForcibly();
        }
    }

    @Test
    void shouldRunATool() throws Exception {
        final JsonNode document = new ToolRun("small", "latency", List.of("--rate", "1000"), 0).run(folder, PROGRAM);
        assertEquals("latency --rate 1000 --json", document.path("words").asText());
        assertTrue(Files.readString(folder.resolve("small.json")).contains("words"));
    }

    @Test
    void shouldNameTheToolThatFailedAndItsReason() throws Exception {
        final ToolRun tool = new ToolRun("wrong", "latency", List.of("--rate", "0"), 0);
        try {
            tool.run(folder, PROGRAM);
        } catch (final IllegalStateException failure) {
            assertTrue(failure.getMessage().startsWith("wrong failed with exit code 2: a rate of 0 ("), failure.getMessage());
            return;
        }
        throw new AssertionError("a tool that exits with 2 has not failed");
    }
}
