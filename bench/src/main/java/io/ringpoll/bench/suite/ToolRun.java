package io.ringpoll.bench.suite;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One of the measuring tools, run in a JVM of its own: what the JIT has learned from another measurement is not in it.
 *
 * @param name       of its files
 * @param tool       its name as a command
 * @param arguments  as one would type them, without {@code --json}
 * @param expectedNs how long it takes on a machine that does nothing else, nanoseconds
 */
record ToolRun(String name, String tool, List<String> arguments, long expectedNs) {
    private static final long TIME_LIMIT_S = 1800;

    ToolRun {
        arguments = List.copyOf(arguments);
    }

    /**
     * Runs it.
     *
     * @param folder  for what it says
     * @param program main class, and the words before the name of a tool
     * @return its JSON document
     * @throws IllegalStateException if it fails, or takes longer than half an hour
     */
    JsonNode run(final Path folder, final List<String> program) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(program);
        command.add(tool);
        command.addAll(arguments);
        command.add("--json");
        final File out = folder.resolve(name + ".json").toFile();
        final File log = folder.resolve(name + ".log").toFile();
        final Process process = new ProcessBuilder(command).redirectInput(Redirect.from(new File("/dev/null")))
            .redirectOutput(out).redirectError(log).start();
        try {
            if (!process.waitFor(TIME_LIMIT_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException(name + " did not end within " + TIME_LIMIT_S + " s; what it said is in " + log);
            }
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            throw new IllegalStateException(name + " failed: " + lastLine(log.toPath()) + " (" + log + ")");
        }
        return new ObjectMapper().readTree(out);
    }

    private static String lastLine(final Path file) throws IOException {
        final List<String> lines = Files.readAllLines(file);
        return lines.isEmpty() ? "it said nothing" : lines.getLast();
    }
}
