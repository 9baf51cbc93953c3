package io.ringpoll.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A separate JVM, for settings that are fixed once per process: the device, the libraries, switches. */
public final class JavaProcess {
    private static final int DEFAULT_TIMEOUT_SECONDS = 60;

    private final List<String> options = new ArrayList<>();
    private final Map<String, String> environment;
    private int timeoutSeconds = DEFAULT_TIMEOUT_SECONDS;
    private String classPath = System.getProperty("java.class.path");
    private String missingFlag;

    private JavaProcess(final Map<String, String> environment) {
        this.environment = environment;
    }

    /** A JVM with the flags and the class path of this one. */
    public static JavaProcess create() {
        return new JavaProcess(new HashMap<>());
    }

    /** Sets a system property. */
    public JavaProcess property(final String name, final String value) {
        options.add("-D" + name + "=" + value);
        return this;
    }

    /** Sets an option of the JVM. */
    public JavaProcess option(final String text) {
        options.add(text);
        return this;
    }

    /** Lets the JVM end with an error if a thread keeps it from a safepoint or a handshake for 10 s. */
    public JavaProcess watchingSafepoints() {
        return option("-XX:+UnlockDiagnosticVMOptions").option("-XX:+SafepointTimeout").option("-XX:SafepointTimeoutDelay=10000")
            .option("-XX:+AbortVMOnSafepointTimeout").option("-XX:HandshakeTimeout=10000").option("-XX:-CreateCoredumpOnCrash")
            .option("-XX:ErrorFile=/dev/null");
    }

    /** Leaves out the flag that starts with a text. */
    public JavaProcess withoutFlag(final String start) {
        missingFlag = start;
        return this;
    }

    /** Sets an environment variable. */
    public JavaProcess variable(final String name, final String value) {
        environment.put(name, value);
        return this;
    }

    /** Sets how long the JVM may take. */
    public JavaProcess timeoutSeconds(final int seconds) {
        timeoutSeconds = seconds;
        return this;
    }

    /** Replaces the class path. */
    public JavaProcess classPath(final String path) {
        classPath = path;
        return this;
    }

    /** The flags that a JVM needs for ringpoll. */
    public static List<String> flags() {
        try (InputStream file = JavaProcess.class.getResourceAsStream("jvm.flags")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> line.startsWith("-")).toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a class to its end and returns its output, including standard error. */
    public String run(final Class<?> main, final String... arguments) {
        final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(flags().stream().filter(flag -> missingFlag == null || !flag.startsWith(missingFlag)).toList());
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        try {
            final Path output = Files.createTempFile("ringpoll", ".out");
            try {
                final ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
                builder.environment().putAll(environment);
                final Process process = builder.start();
                if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    throw new AssertionError(main + " does not end: " + Files.readString(output));
                }
                return Files.readString(output, StandardCharsets.UTF_8).strip();
            } finally {
                Files.delete(output);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
