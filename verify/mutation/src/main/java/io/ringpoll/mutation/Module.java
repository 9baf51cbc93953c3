package io.ringpoll.mutation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A library with measured tests. */
enum Module {
    /** The bindings; the tests that need a device are in its dependents, on the loopback device. */
    NATIVE("native", "loopback", "poller", "pipeline"),
    /** Fault plans and synthetic queues of the loopback device. */
    LOOPBACK("loopback", "poller", "pipeline"),
    /** The duty cycle. */
    POLLER("poller", "pipeline"),
    /** The ring and the handlers. */
    PIPELINE("pipeline"),
    /** Messages over connections. */
    CONNECTIONS("connections"),
    /** The doctor and the plans of affinity. */
    TUNING("tuning"),
    /** The transport for Apache Ratis. */
    RATIS("ratis");

    private final String folder;
    private final List<String> dependents;

    Module(final String folder, final String... dependents) {
        this.folder = folder;
        this.dependents = List.of(dependents);
    }

    String folder() {
        return folder;
    }

    Path classes(final Path root) {
        return root.resolve(folder).resolve("target/classes");
    }

    Path sources(final Path root) {
        return root.resolve(folder).resolve("src/main/java");
    }

    /** The names of the test classes that may kill mutants of this module: its own and those of its dependents. */
    Set<String> tests(final Path root) {
        return Stream.concat(Stream.of(folder), dependents.stream())
            .flatMap(module -> classNames(root.resolve(module).resolve("target/test-classes")).stream())
            .collect(Collectors.toSet());
    }

    private static Set<String> classNames(final Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(file -> folder.relativize(file).toString()).filter(name -> name.endsWith(".class"))
                .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                .collect(Collectors.toSet());
        } catch (final IOException e) {
            throw new IllegalStateException("cannot list the tests in " + folder + ": " + e, e);
        }
    }
}
