package io.ringpoll.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Looking for RDMA devices in the file tree of a machine. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RdmaHardwareTest {
    @TempDir
    private Path sysClass;
    @TempDir
    private Path dev;

    @Test
    void shouldFindNothingWhereThereAreNoFolders() {
        final RdmaHardware none = RdmaHardware.find(sysClass.resolve("missing"), dev.resolve("missing"));
        assertFalse(none.isPresent());
        assertEquals("no RDMA device found", none.reasonForNone());
    }

    @Test
    void shouldFindADeviceThatMayBeOpened() throws IOException {
        Files.createDirectory(sysClass.resolve("rxe0"));
        Files.createDirectory(sysClass.resolve("mlx5_0"));
        Files.createFile(dev.resolve("uverbs0"));
        final RdmaHardware found = RdmaHardware.find(sysClass, dev);
        assertTrue(found.isPresent());
        assertEquals("mlx5_0, rxe0", found.names());
    }

    @Test
    void shouldReportThatADeviceHasNoNode() throws IOException {
        Files.createDirectory(sysClass.resolve("rxe0"));
        Files.createFile(dev.resolve("rdma_cm"));
        final RdmaHardware none = RdmaHardware.find(sysClass, dev);
        assertFalse(none.isPresent());
        assertEquals("rxe0 has no " + dev + "/uverbs*; is the module ib_uverbs loaded?", none.reasonForNone());
    }

    @Test
    void shouldReportThatADeviceMayNotBeOpened() throws IOException {
        assumeTrue(!"root".equals(System.getProperty("user.name")), "root may open everything");
        Files.createDirectory(sysClass.resolve("rxe0"));
        Files.createFile(dev.resolve("uverbs0")).toFile().setReadable(false);
        assertTrue(RdmaHardware.find(sysClass, dev).reasonForNone().contains("may not be opened by this user"));
    }
}
