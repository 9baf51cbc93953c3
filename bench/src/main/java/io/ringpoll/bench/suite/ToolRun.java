package io.ringpoll.bench.suite;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.measure.ChildProcesses;
import io.ringpoll.bench.measure.JavaCommand;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A measuring tool, run in its own JVM, without the JIT profile of other measurements.
 *
 * @param name       prefix of its files
 * @param tool       its command
 * @param arguments  command line, without {@code --json}
 * @param expectedNs time on an idle machine, nanoseconds
 * @param main       its main class; null for a command of the program
 */
record ToolRun(String name, String tool, List<String> arguments, long expectedNs, Class<?> main) {
    private static final long TIME_LIMIT_S = 1800;

    ToolRun {
        arguments = List.copyOf(arguments);
    }

    /** A command of the program. */
    ToolRun(final String name, final String tool, final List<String> arguments, final long expectedNs) {
        this(name, tool, arguments, expectedNs, null);
    }

    /**
     * Runs it.
     *
     * @param folder  folder of its output
     * @param program main class, and the arguments before the name of a tool
     * @return its JSON document; without a figure for each line of its {@code unmeasured}
     * @throws IllegalStateException if it fails otherwise, or takes longer than half an hour
     */
    JsonNode run(final Path folder, final List<String> program) throws IOException, InterruptedException {
        final List<String> words = new ArrayList<>(main == null ? program : List.of(main.getName()));
        if (main == null) {
            words.add(tool);
        }
        words.addAll(arguments);
        words.add("--json");
        final File out = folder.resolve(name + ".json").toFile();
        final File log = folder.resolve(name + ".log").toFile();
        try (ChildProcesses children = new ChildProcesses(() -> { })) {
            final Process process = children.start(new ProcessBuilder(JavaCommand.of(words))
                .redirectInput(Redirect.from(new File("/dev/null"))).redirectOutput(out).redirectError(log));
            if (!process.waitFor(TIME_LIMIT_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException(name + " did not end within " + TIME_LIMIT_S + " s; its output is in " + log);
            }
            if (process.exitValue() != 0 && !lacksOnlyFigures(out)) {
                throw new IllegalStateException(
                    name + " failed with exit code " + process.exitValue() + ": " + lastLine(log.toPath()) + " (" + log + ")");
            }
        }
        return new ObjectMapper().readTree(out);
    }

    /** On a loaded machine, other parts may still have figures. */
    private static boolean lacksOnlyFigures(final File out) throws IOException {
        try {
            final JsonNode document = new ObjectMapper().readTree(out);
            return !document.path("unmeasured").isEmpty() && document.path("faults").isEmpty();
        } catch (final JsonProcessingException incomplete) {
            return false;
        }
    }

    private static String lastLine(final Path file) throws IOException {
        final List<String> lines = Files.readAllLines(file);
        return lines.isEmpty() ? "it has printed nothing" : lines.getLast();
    }
}
