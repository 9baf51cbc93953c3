package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The C compiler of the machine: tests query the installed headers and provoke faults with it. */
public final class CCompiler {
    private static final long TIMEOUT_SECONDS = 60;

    private CCompiler() {
    }

    /** Skips the test where there is no compiler. */
    public static void require() {
        assumeTrue(isPresent(), "gcc is not installed");
    }

    /** Compiles a program, runs it, and returns its output lines. */
    public static List<String> run(final Path folder, final String source) {
        final Path program = folder.resolve("program");
        compile(folder, source, program, List.of());
        return execute(List.of(program.toString()));
    }

    /** Compiles a shared library. */
    public static Path sharedLibrary(final Path folder, final String name, final String source, final String... options) {
        final Path library = folder.resolve(name);
        final List<String> all = new ArrayList<>(List.of("-shared", "-fPIC"));
        all.addAll(List.of(options));
        compile(folder, source, library, all);
        return library;
    }

    /** Compiles a shared library and loads it for the life of the JVM; leaves no file behind. */
    @SuppressWarnings("restricted")
    public static SymbolLookup loadedLibrary(final String name, final String source, final String... options) {
        try {
            final Path folder = Files.createTempDirectory("ringpoll");
            final Path library = sharedLibrary(folder, name, source, options);
            final SymbolLookup loaded = SymbolLookup.libraryLookup(library, Arena.global());
            try (Stream<Path> files = Files.list(folder)) {
                for (final Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
            return loaded;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void compile(final Path folder, final String source, final Path output, final List<String> options) {
        require();
        try {
            final Path file = folder.resolve(output.getFileName() + ".c");
            Files.writeString(file, source);
            final List<String> command =
                new ArrayList<>(List.of("gcc", "-std=gnu11", "-Wall", "-Werror", "-o", output.toString(), file.toString()));
            command.addAll(options);
            execute(command);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPresent() {
        return List.of(System.getenv("PATH").split(":")).stream().anyMatch(path -> Files.isExecutable(Path.of(path, "gcc")));
    }

    /** Runs a command and returns its output lines; if it fails, throws with its output. */
    public static List<String> execute(final List<String> command) {
        try {
            final Path log = Files.createTempFile("ringpoll", ".out");
            try {
                final Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
                final boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
                if (!ended) {
                    process.destroyForcibly();
                }
                final String output = Files.readString(log, StandardCharsets.UTF_8);
                assertTrue(ended, () -> command + " did not end in " + TIMEOUT_SECONDS + " s: " + output);
                assertEquals(0, process.exitValue(), () -> command + ": " + output);
                return output.lines().toList();
            } finally {
                Files.delete(log);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
