package io.ringpoll.internal.device;

import io.ringpoll.internal.os.ProcessOwner;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The C libraries in the artifacts of ringpoll, as files that the dynamic linker can load.
 *
 * <p>On the class path they lie in {@code native/linux-ARCH}. From a folder they are loaded in place; from a jar they are copied
 * to a folder of this user alone, under a name that holds the hash of the content, so that several versions and several
 * processes never meet half a file.
 */
public final class BundledLibraries {
    private static final String ARCH = switch (System.getProperty("os.arch")) {
        case "amd64" -> "x86_64";
        case final String other -> other;
    };

    private BundledLibraries() {
    }

    /**
     * The folder of the libraries for this machine.
     *
     * @return {@code native/linux-ARCH}
     */
    public static String folder() {
        return "native/linux-" + ARCH;
    }

    /**
     * Finds a library in {@code native/linux-ARCH} on the class path.
     *
     * @param name    of the file
     * @param failure makes the exception if it cannot be unpacked from its jar
     * @return a file to be loaded by its path, or empty if there is none for this architecture
     */
    public static Optional<Path> find(final String name, final DeviceFailure failure) {
        final URL url = BundledLibraries.class.getClassLoader().getResource(folder() + "/" + name);
        if (url == null) {
            return Optional.empty();
        }
        try {
            return Optional.of("file".equals(url.getProtocol()) ? Path.of(url.toURI()) : unpack(url, name, cacheFolder()));
        } catch (final IOException | URISyntaxException e) {
            throw failure.of("cannot unpack " + name + ": " + e.getMessage() +
                // Its message is the path.
                (e instanceof AccessDeniedException ? ": access denied" : "") +
                "; set the property java.io.tmpdir to a folder that can be written and executed from", e);
        }
    }

    static Path unpack(final URL url, final String name, final Path folder) throws IOException {
        final byte[] content;
        try (InputStream in = url.openStream()) {
            content = in.readAllBytes();
        }
        // The name of the file itself must stay: the loader finds it by SONAME, people find it by name.
        final Path target = privateFolder(privateFolder(folder).resolve(hash(content))).resolve(name);
        if (!Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
            final Path part = Files.createTempFile(target.getParent(), name, ".part");
            try {
                Files.write(part, content);
                Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                // It is there still if the file system is full.
                Files.deleteIfExists(part);
            }
        }
        return target;
    }

    private static Path cacheFolder() {
        return Path.of(System.getProperty("java.io.tmpdir"), "ringpoll-" + ProcessOwner.uid());
    }

    private static Path privateFolder(final Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(folder,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        }
        // Someone else may have made it first, in a folder that all may write to.
        final boolean mine = ProcessOwner.uidOf(folder) == ProcessOwner.uid();
        final String permissions = PosixFilePermissions.toString(
            Files.getPosixFilePermissions(folder, LinkOption.NOFOLLOW_LINKS));
        if (!mine || !"rwx------".equals(permissions)) {
            throw new IOException(folder + " is not private to this user");
        }
        return folder;
    }

    private static String hash(final byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content), 0, 8);
        } catch (final NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
