package io.ringpoll.bench.measure;

import io.ringpoll.internal.device.BundledLibraries;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/** A C program that is built with the benchmarks, as a file that can be executed. */
public final class BundledProgram {
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");

    private BundledProgram() {
    }

    /**
     * Finds a program.
     *
     * @param name its file name
     * @return its path; empty if it was not built for this architecture
     * @throws IOException if it is in a jar and cannot be copied to a file
     */
    public static Optional<Path> find(final String name) throws IOException {
        final URL url = BundledProgram.class.getClassLoader().getResource(BundledLibraries.folder() + "/" + name);
        return url == null ? Optional.empty() : Optional.of(program(url, name));
    }

    private static Path program(final URL url, final String name) throws IOException {
        try {
            if ("file".equals(url.getProtocol()) && Files.isExecutable(Path.of(url.toURI()))) {
                return Path.of(url.toURI());
            }
        } catch (final URISyntaxException e) {
            throw new IOException("no file: " + url, e);
        }
        // From a jar it is copied to a file with access for this user only, which is deleted when the JVM exits.
        final Path copy = Files.createTempFile(name, "", PosixFilePermissions.asFileAttribute(PRIVATE));
        copy.toFile().deleteOnExit();
        try (InputStream in = url.openStream()) {
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
        }
        Files.setPosixFilePermissions(copy, PRIVATE);
        return copy;
    }
}
