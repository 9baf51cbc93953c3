package io.ringpoll.verify.torture.supervised;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The kinds of child JVMs that play scenes, by their JVM options. */
public enum JvmKind {
    /** Like the parent. */
    PLAIN(List.of(), List.of()),
    /** All threads on one CPU. */
    ONE_CPU(List.of("taskset", "-c", "0"), List.of()),
    /** Without C1: code is interpreted until C2 has compiled it. */
    C2_ONLY(List.of(), List.of("-XX:-TieredCompilation")),
    /** Freed memory is protected: the first late touch is a fault. */
    GUARDED_MEMORY(List.of(), List.of("-Dringpoll.memory.debug=true"));

    private final List<String> launcher;
    private final List<String> options;

    JvmKind(final List<String> launcher, final List<String> options) {
        this.launcher = launcher;
        this.options = options;
    }

    /** Whether this machine has the program that starts it. */
    boolean isAvailable() {
        return launcher.isEmpty() || Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, launcher.getFirst())));
    }

    /** The words before the command. */
    List<String> launcher() {
        return launcher;
    }

    /** Options of the JVM. */
    List<String> options() {
        return options;
    }
}
