package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.TestDevice;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Tag(TestDevice.TAG)
class DeviceAttributesTest {
    @Test
    void shouldAskTheDeviceForItsLimitsAndMtu() {
        final List<DeviceAttributes> devices = DeviceAttributes.ofAll();
        assertFalse(devices.isEmpty());
        for (final DeviceAttributes device : devices) {
            assertFalse(device.name().isBlank());
            assertTrue(device.maxCq() >= 1, device::toString);
            assertTrue(device.maxCqe() >= 16, device::toString);
            assertTrue(device.maxQpWr() >= 16, device::toString);
            assertFalse(device.activeMtuOfPorts().isEmpty(), device::toString);
            final int mtu = device.activeMtuBytes(1).orElseThrow();
            assertTrue(List.of(256, 512, 1024, 2048, 4096).contains(mtu), device::toString);
            assertEquals(OptionalInt.empty(), device.activeMtuBytes(0));
            assertEquals(OptionalInt.empty(), device.activeMtuBytes(device.activeMtuOfPorts().size() + 1));
        }
    }

    @Test
    void shouldCloseWhatItOpens() {
        final long before = openFiles();
        for (int i = 0; i < 50; i++) {
            DeviceAttributes.ofAll();
        }
        assertTrue(openFiles() < before + 40, "file descriptors leaked");
    }

    private static long openFiles() {
        final String[] names = new java.io.File("/proc/self/fd").list();
        return names == null ? 0 : names.length;
    }
}
