package io.ringpoll.cli.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.cli.Ringpoll;
import io.ringpoll.cli.options.ChildCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** {@code torture} in a JVM of its own with all compilers, which the JVM of these tests has not: scenes test compiled code. */
final class TortureProcess {
    private static final int BOUND_SECONDS = 60;

    private TortureProcess() {
    }

    /**
     * Plays scenes and checks that all are as the model predicts.
     *
     * @param folder  for the warnings of the process
     * @param options of the command, without {@code --json}
     * @return the report
     */
    static JsonNode report(final Path folder, final String... options) throws IOException, InterruptedException {
        final String[] words = Stream.of(Stream.of("torture", "--json"), Stream.of(options)).flatMap(each -> each)
            .toArray(String[]::new);
        final Path warnings = folder.resolve("warnings");
        final Process process = new ProcessBuilder(
            ChildCommand.of(List.of(ChildCommand.ALL_COMPILERS), Ringpoll.class, words)).redirectError(warnings.toFile()).start();
        try {
            final String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            // It has closed its output.
            assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), printed);
            assertEquals(0, process.exitValue(), printed + "\n" + Files.readString(warnings));
            final JsonNode report = new ObjectMapper().readTree(printed);
            assertTrue(report.get("sound").asBoolean(), printed);
            return report;
        } finally {
            process.destroyForcibly();
        }
    }
}
