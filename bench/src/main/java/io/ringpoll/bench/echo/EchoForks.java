package io.ringpoll.bench.echo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.measure.ChildProcesses;
import io.ringpoll.bench.measure.JavaCommand;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures in several JVMs, one after the other: the layout of memory and code differs between them, and favours a contestant in
 * one of them by chance. Used by one thread.
 */
final class EchoForks {
    private EchoForks() {
    }

    /**
     * Measures.
     *
     * @param name the name of the settings
     * @return the report on the turns of all JVMs
     * @throws IllegalStateException if a JVM fails
     */
    static EchoReport run(final String name) throws IOException, InterruptedException {
        final EchoConfig config = EchoConfig.named(name);
        final List<EchoWindow> windows = new ArrayList<>();
        try (ChildProcesses children = new ChildProcesses(() -> { })) {
            for (int fork = 0; fork < config.forks(); fork++) {
                final Process process = children.start(new ProcessBuilder(JavaCommand.of(
                    List.of(EchoTool.class.getName(), name, Integer.toString(fork)))).redirectError(Redirect.INHERIT));
                process.getOutputStream().close();
                final JsonNode document;
                try (InputStream output = process.getInputStream()) {
                    document = new ObjectMapper().readTree(output.readAllBytes());
                }
                final int exitCode = process.waitFor();
                if (!document.has("windows")) {
                    throw new IllegalStateException("JVM " + fork + " of the echo failed with exit code " + exitCode);
                }
                document.path("windows").forEach(node -> windows.add(EchoWindow.of(node, config)));
            }
        }
        return new EchoReport(config, windows);
    }
}
