package io.ringpoll.internal.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.internal.os.ProcessOwner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where libraries from a jar are unpacked to. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BundledLibrariesTest {
    private static final int OTHER_USER = 12_345;

    @TempDir
    private Path folder;

    @Test
    void shouldUnpackOnceIntoAFolderOfThisUserAlone() throws IOException {
        final Path file = Files.writeString(folder.resolve("library"), "content");
        final Path cache = folder.resolve("cache");
        final Path unpacked = BundledLibraries.unpack(file.toUri().toURL(), "lib.so.1", cache);
        assertEquals("content", Files.readString(unpacked));
        assertEquals("lib.so.1", unpacked.getFileName().toString());
        assertEquals(cache, unpacked.getParent().getParent());
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(cache)));
        final Object inode = Files.getAttribute(unpacked, "unix:ino");
        assertEquals(unpacked, BundledLibraries.unpack(file.toUri().toURL(), "lib.so.1", cache));
        assertEquals(inode, Files.getAttribute(unpacked, "unix:ino"), "it was written again");
        Files.writeString(file, "other content");
        assertNotEquals(unpacked, BundledLibraries.unpack(file.toUri().toURL(), "lib.so.1", cache));
    }

    @Test
    void shouldFindTheLibrariesOfThisArchitectureOnly() {
        assertEquals(Optional.empty(), BundledLibraries.find("no-such.so", IllegalStateException::new));
        assertTrue(BundledLibraries.folder().matches("native/linux-(x86_64|aarch64)"), BundledLibraries::folder);
    }

    @Test
    void shouldNotUnpackIntoAFolderThatOthersMayWriteTo() throws IOException {
        final Path open = Files.createDirectory(folder.resolve("open"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        final Path file = Files.writeString(folder.resolve("library"), "content");
        final IOException refused =
            assertThrows(IOException.class, () -> BundledLibraries.unpack(file.toUri().toURL(), "library", open));
        assertEquals(open + " is not private to this user", refused.getMessage());
    }

    @Test
    void shouldNotUnpackIntoAFolderOfAnotherUser() throws IOException {
        assumeTrue(ProcessOwner.uid() == 0, "only the superuser makes a folder another user's");
        final Path foreign = Files.createDirectory(folder.resolve("foreign"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.setAttribute(foreign, "unix:uid", OTHER_USER);
        final Path file = Files.writeString(folder.resolve("library"), "content");
        final IOException refused =
            assertThrows(IOException.class, () -> BundledLibraries.unpack(file.toUri().toURL(), "library", foreign));
        assertEquals(foreign + " is not private to this user", refused.getMessage());
    }
}
