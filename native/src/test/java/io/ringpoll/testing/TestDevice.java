package io.ringpoll.testing;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;

/**
 * Where the device under test is. The same tests run on every device: {@code -Dringpoll.device=rdma} and
 * {@code -Dringpoll.address=...} choose another than the loopback device.
 */
public final class TestDevice {
    /** JUnit tag of the tests that need a device and run on any. */
    public static final String TAG = "device";
    /** System property with the device's IP address. */
    public static final String ADDRESS_PROPERTY = "ringpoll.address";
    /** Any free port. */
    public static final String ANY_PORT = "0";

    private TestDevice() {
    }

    /** The device's IP address. */
    public static String address() {
        return System.getProperty(ADDRESS_PROPERTY, "127.0.0.1");
    }

    /** Whether the device is the loopback device, whose limits and counters are known. */
    public static boolean isLoopback() {
        return Device.current().kind() == DeviceKind.LOOPBACK;
    }
}
