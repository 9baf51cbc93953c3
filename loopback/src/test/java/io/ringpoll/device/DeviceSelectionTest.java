package io.ringpoll.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.internal.device.DeviceLibraries;
import io.ringpoll.loopback.LoopbackDevice;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The steps of the selection, in this process: which device is asked for, which is there, and its libraries. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DeviceSelectionTest {
    private static final String LIBRARY = "librpma \\d.*, /.*librpma\\.so.*";

    @TempDir
    private Path sysClass;
    @TempDir
    private Path dev;

    @BeforeEach
    void requireLoopback() {
        assumeTrue(TestDevice.isLoopback(), "a process with an RDMA device cannot load the loopback device, too");
    }

    @Test
    void shouldPreferTheProgramsChoiceToThePropertyAndThatToTheVariable() {
        assertEquals(DeviceKind.AUTO, Device.asked(null, null, null));
        assertEquals(DeviceKind.AUTO, Device.asked(null, " ", " "));
        assertEquals(DeviceKind.LOOPBACK, Device.asked(null, null, " loopback "));
        assertEquals(DeviceKind.LOOPBACK, Device.asked(null, "", "loopback"));
        assertEquals(DeviceKind.RDMA, Device.asked(null, " RDMA ", "loopback"));
        assertEquals(DeviceKind.LOOPBACK, Device.asked(DeviceKind.LOOPBACK, "rdma", "rdma"));
    }

    @Test
    void shouldUseTheLoopbackDeviceAsAskedOrWhereThereIsNoOther() throws IOException {
        final Device none = Device.load(DeviceKind.AUTO, sysClass, dev);
        assertEquals(DeviceKind.LOOPBACK, none.kind());
        assertMatches("device: loopback \\(no RDMA device found\\); " + LIBRARY, none.description());
        assertEquals("127.0.0.1", none.address().host());
        addHardware();
        assertMatches("device: loopback \\(as asked\\); " + LIBRARY,
            Device.load(DeviceKind.LOOPBACK, sysClass, dev).description());
    }

    @Test
    void shouldUseTheMachinesDeviceWhereThereIsOne() throws IOException {
        addHardware();
        for (final DeviceKind kind : new DeviceKind[] {DeviceKind.AUTO, DeviceKind.RDMA}) {
            final Device device = Device.load(kind, sysClass, dev);
            assertEquals(DeviceKind.RDMA, device.kind());
            assertMatches("device: rdma \\(mlx5_0\\); " + LIBRARY, device.description());
        }
    }

    @Test
    void shouldNameTheReasonAndTheRemedyWhereTheMachinesDeviceIsMissing() {
        final DeviceException missing =
            assertThrows(DeviceException.class, () -> Device.load(DeviceKind.RDMA, sysClass, dev));
        assertEquals("device rdma: no RDMA device found; load the card's driver or Soft-RoCE (rdma link add), or choose the " +
            "device loopback", missing.getMessage());
    }

    @Test
    void shouldKeepTheDeviceOfTheFirstUse() {
        final Device used = Device.current();
        Device.choose(DeviceKind.AUTO);
        Device.choose(DeviceKind.LOOPBACK);
        final IllegalStateException late = assertThrows(IllegalStateException.class, () -> Device.choose(DeviceKind.RDMA));
        assertEquals("device loopback is in use already; choose rdma before the first use, or by the property ringpoll.device",
            late.getMessage());
        assertSame(used, Device.current());
    }

    @Test
    void shouldLoadLibrpmaFromThePathOfItsProperty() throws IOException {
        final Path copy = Files.copy(Path.of(installed().rpma().description().replaceAll(".*, ", "")),
            dev.resolve("librpma.so.0"));
        final String before = System.getProperty(Device.LIBRPMA_PROPERTY);
        try {
            System.setProperty(Device.LIBRPMA_PROPERTY, " " + copy + " ");
            assertTrue(installed().rpma().has("rpma_peer_new"));
            final Path missing = dev.resolve("missing.so");
            System.setProperty(Device.LIBRPMA_PROPERTY, missing.toString());
            final String message = assertThrows(DeviceException.class, DeviceSelectionTest::installed).getMessage();
            assertTrue(message.startsWith(
                "cannot load librpma from " + missing + ", which the property ringpoll.librpma names: "), message);
            System.setProperty(Device.LIBRPMA_PROPERTY, " ");
            assertTrue(installed().rpma().has("rpma_peer_new"), "a blank property is none");
        } finally {
            if (before == null) {
                System.clearProperty(Device.LIBRPMA_PROPERTY);
            } else {
                System.setProperty(Device.LIBRPMA_PROPERTY, before);
            }
        }
    }

    @Test
    void shouldDescribeEachLibraryByItsFile() {
        final DeviceLibraries libraries = installed();
        assertEquals(new LoopbackDevice().libibverbs().toString(), libraries.ibverbs().description());
        assertMatches(LIBRARY, libraries.rpma().description());
        assertMatches("/.*/libringpoll\\.so", libraries.ringpoll().orElseThrow().description());
        final String missing = assertThrows(MissingFunctionException.class, () -> libraries.rpma()
            .plain("rpma_no_such", FunctionDescriptor.ofVoid()).invoke()).getMessage();
        assertEquals("rpma_no_such is not in " + libraries.rpma().description(), missing);
    }

    private static DeviceLibraries installed() {
        final LoopbackDevice device = new LoopbackDevice();
        return DeviceLibraries.of(device.libibverbs(), device.librdmacm(),
            new DeviceLibraries.Errors(DeviceException::new, MissingFunctionException::new));
    }

    private void addHardware() throws IOException {
        Files.createDirectory(sysClass.resolve("mlx5_0"));
        Files.createFile(dev.resolve("uverbs0"));
    }

    private static void assertMatches(final String pattern, final String text) {
        assertTrue(text.matches(pattern), text);
    }
}
