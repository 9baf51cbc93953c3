package io.ringpoll.internal.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceException;
import io.ringpoll.device.MissingFunctionException;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A machine without librpma: the device can be used, and each use of librpma names the package. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DeviceLibrariesTest {
    private static final DeviceLibraries.Errors ERRORS =
        new DeviceLibraries.Errors(DeviceException::new, MissingFunctionException::new);

    private final NativeLibrary absent = DeviceLibraries.rpma(ERRORS, List.of("librpma-that-nobody-has.so.0"));

    /** As from a file system that is mounted with the option noexec. */
    @Test
    void shouldNameTheRemedyIfItsOwnLibraryCannotBeLoaded(@TempDir final Path folder) throws IOException {
        final Path file = Files.writeString(folder.resolve("libibverbs.so.1"), "not a library");
        final DeviceException refused =
            assertThrows(DeviceException.class, () -> DeviceLibraries.of(file, file, ERRORS));
        assertTrue(refused.getMessage().startsWith("cannot load " + file + ": "), refused::getMessage);
        assertTrue(refused.getMessage().contains("noexec"), refused::getMessage);
        assertTrue(refused.getMessage().contains("java.io.tmpdir"), refused::getMessage);
    }

    @Test
    void shouldDescribeThatLibrpmaIsNotInstalled() {
        assertEquals("librpma is not installed", absent.description());
        assertFalse(absent.has("rpma_peer_new"));
    }

    @Test
    void shouldNameThePackageWhenAFunctionIsRequiredOrCalled() {
        final MethodHandle function = absent.plain("rpma_peer_new", FunctionDescriptor.of(ValueLayout.JAVA_INT));
        for (final DeviceException refused : List.of(
            assertThrows(DeviceException.class, () -> absent.require("rpma_peer_new")),
            assertThrows(DeviceException.class, () -> {
                final int result = (int) function.invokeExact();
                assertEquals(0, result);
            }))) {
            assertTrue(refused.getMessage().startsWith("librpma is not installed: `apt-get install librpma0`"),
                refused::getMessage);
            assertTrue(refused.getMessage().contains(Device.LIBRPMA_PROPERTY), refused::getMessage);
        }
    }
}
