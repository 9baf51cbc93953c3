package io.ringpoll.bench.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class ToolRunTest {
    private static final List<String> PROGRAM = List.of(SmallTool.class.getName());

    @TempDir
    private Path folder;

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
            assertTrue(failure.getMessage().startsWith("wrong failed: ") && failure.getMessage().contains("a rate of 0"),
                failure.getMessage());
            return;
        }
        throw new AssertionError("a tool that exits with 2 has not failed");
    }
}
