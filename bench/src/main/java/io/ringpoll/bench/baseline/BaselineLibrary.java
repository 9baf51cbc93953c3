package io.ringpoll.bench.baseline;

import io.ringpoll.internal.device.BundledLibraries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Selects one of the two builds of the C baseline: for the CPU of the build machine, or for any CPU of the architecture.
 *
 * <p>The first may contain instructions that this CPU lacks, for instance in an emulated machine that uses the files of its host.
 * A file next to the library lists the CPU features.
 */
final class BaselineLibrary {
    private static final String NATIVE = "libringpoll_baseline_native.so";
    private static final String FEATURES = "libringpoll_baseline_native.features";
    private static final String PORTABLE = "libringpoll_baseline.so";

    private BaselineLibrary() {
    }

    static Path find() {
        final String features = BundledLibraries.find(FEATURES, IllegalStateException::new).map(BaselineLibrary::read).orElse("");
        return BundledLibraries.find(choose(features, read(Path.of("/proc/cpuinfo"))), IllegalStateException::new)
            .orElseThrow(() -> new IllegalStateException(
                PORTABLE + " was not built for this architecture: make -C bench/src/main/c"));
    }

    /** The file name of the library for a CPU. */
    static String choose(final String neededFeatures, final String cpuinfo) {
        final Set<String> present = cpuinfo.lines().filter(BaselineLibrary::listsFeatures).findFirst()
            .map(line -> words(line.substring(line.indexOf(':') + 1))).orElse(Set.of());
        final Set<String> needed = words(neededFeatures);
        return !needed.isEmpty() && present.containsAll(needed) ? NATIVE : PORTABLE;
    }

    private static boolean listsFeatures(final String line) {
        final String key = line.toLowerCase(Locale.ROOT);
        return key.startsWith("flags") || key.startsWith("features");
    }

    private static Set<String> words(final String text) {
        return Set.copyOf(Stream.of(text.split("\\s+")).filter(word -> !word.isEmpty()).distinct().toList());
    }

    private static String read(final Path file) {
        try {
            return Files.readString(file);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
