package io.ringpoll.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.loopback.LoopbackDevice;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.CCompiler;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The device that a process selects, and the message if there is none. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class DeviceTest {
    private static final String LOOPBACK = "device: loopback \\(as asked\\); librpma \\d.*, /.*librpma\\.so.*";

    @TempDir
    private Path folder;

    @Test
    @Tag(TestDevice.TAG)
    void shouldOpenTheDeviceByItsAddress() {
        final DeviceAddress address = Device.current().address();
        try (Peer peer = Peer.ofLocal(address.host())) {
            assertTrue(address.origin().startsWith(TestDevice.isLoopback() ? "loopback device" : peer.context().name()),
                address::toString);
        }
    }

    @Test
    void shouldUseTheLoopbackDeviceWhereThereIsNoOther() {
        assumeNoHardware();
        assertMatches("device: loopback \\(no RDMA device found\\); librpma \\d.*, /.*librpma\\.so.*",
            process().run(DeviceProgram.class));
    }

    @Test
    void shouldObeyThePropertyTheVariableAndTheProgramInTheRightOrder() {
        assertMatches(LOOPBACK, process().variable(Device.DEVICE_VARIABLE, "loopback").run(DeviceProgram.class));
        assertMatches(LOOPBACK, process().variable(Device.DEVICE_VARIABLE, "rdma").property(Device.DEVICE_PROPERTY, "Loopback")
            .run(DeviceProgram.class));
        assertMatches(LOOPBACK, process().property(Device.DEVICE_PROPERTY, "rdma").run(DeviceProgram.class, "loopback"));
    }

    @Test
    void shouldNameTheRemedyIfTheRequestedDeviceIsMissing() {
        assumeNoHardware();
        assertEquals("device rdma: no RDMA device found; load the card's driver or Soft-RoCE (rdma link add), " +
            "or choose the device loopback", process().property(Device.DEVICE_PROPERTY, "rdma").run(DeviceProgram.class));
    }

    @Test
    void shouldRefuseADeviceThatDoesNotExist() {
        assertEquals(Device.DEVICE_PROPERTY + ": unknown device 'hardware'; choose auto, loopback or rdma",
            process().property(Device.DEVICE_PROPERTY, "hardware").run(DeviceProgram.class));
    }

    @Test
    void shouldRefuseAnotherDeviceAfterTheFirstUse() {
        final String output = process().run(DeviceProgram.class, "loopback", "auto", "rdma");
        final List<String> lines = output.lines().toList();
        assertEquals(lines.get(0), lines.get(1), output);
        assertMatches("device loopback is in use already; choose rdma before the first use.*", lines.get(2));
    }

    @Test
    void shouldNameThePackageOfAMissingLibrary() {
        final String missing = folder.resolve("librpma.so.0").toString();
        final String output = process().property(Device.LIBRPMA_PROPERTY, missing).run(DeviceProgram.class, "loopback");
        assertTrue(output.startsWith("cannot load librpma from " + missing + ", which the property ringpoll.librpma names"),
            output);
        assertEquals(1, output.lines().count(), output);
    }

    @Test
    void shouldLoadTheLibraryThatThePropertyNames() throws IOException {
        final String installed = Libraries.current().rpma().description().replaceAll(".*, ", "");
        final Path copy = Files.copy(Path.of(installed), folder.resolve("librpma.so.0"));
        assertTrue(process().property(Device.LIBRPMA_PROPERTY, copy.toString()).run(DeviceProgram.class, "loopback")
            .endsWith(", " + copy));
    }

    @Test
    void shouldUnpackItsLibrariesFromAJarForThisUserAlone() throws IOException {
        final Path temporary = Files.createDirectory(folder.resolve("tmp"));
        final JavaProcess process = process().property("java.io.tmpdir", temporary.toString())
            .classPath(packed(Device.class, packed(LoopbackDevice.class, System.getProperty("java.class.path"))));
        assertMatches(LOOPBACK, process.run(DeviceProgram.class, "loopback"));
        // As the JVM has it for a uid that /etc/passwd does not list.
        assertMatches(LOOPBACK, process.property("user.name", "?").run(DeviceProgram.class, "loopback"));
        try (var files = Files.walk(temporary)) {
            final List<Path> unpacked = files.filter(Files::isRegularFile).toList();
            assertEquals(List.of("libibverbs.so.1", "librdmacm.so.1", "libringpoll.so"),
                unpacked.stream().map(path -> path.getFileName().toString()).sorted().toList());
            for (final Path path : unpacked) {
                assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path.getParent())));
            }
        }
    }

    /** A class path that has the classes of this build in a jar. */
    private String packed(final Class<?> one, final String classPath) {
        final Path classes = Path.of(URI.create(one.getProtectionDomain().getCodeSource().getLocation().toString()));
        if (!Files.isDirectory(classes)) {
            return classPath;
        }
        final Path jar = folder.resolve(one.getSimpleName() + ".jar");
        CCompiler.execute(List.of(Path.of(System.getProperty("java.home"), "bin", "jar").toString(), "--create", "--file",
            jar.toString(), "-C", classes.toString(), "."));
        return classPath.replaceAll("(^|:)" + Pattern.quote(classes.toString()) + "/?(?=:|$)", "$1" + jar);
    }

    private JavaProcess process() {
        return JavaProcess.create();
    }

    private static void assumeNoHardware() {
        assumeTrue(!RdmaHardware.find(Device.SYS_CLASS, Device.DEV).isPresent(), "this machine has an RDMA device");
    }

    private static void assertMatches(final String pattern, final String text) {
        assertTrue(text.matches(pattern), text);
    }
}
