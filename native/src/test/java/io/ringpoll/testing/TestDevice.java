package io.ringpoll.testing;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;

/**
 * The device under test. The same tests run on every device: {@code -Dringpoll.device=rdma} and {@code -Dringpoll.address=...}
 * select another one than the loopback device; the Soft-RoCE guest does so by its environment.
 */
public final class TestDevice {
    /** JUnit tag of the tests that need a device and run on any. */
    public static final String TAG = "device";
    /**
     * JUnit tag of those tests among them that check compiled code, such as its allocation or CPU use; on the loopback device
     * only, since an emulated CPU takes too long to compile.
     */
    public static final String STEADY_STATE_TAG = "steady-state";
    /** System property that decides whether tests are short; both runs of a comparison are. */
    public static final String SHORT_PROPERTY = "ringpoll.short";
    /** System property with the device's IP address. */
    public static final String ADDRESS_PROPERTY = "ringpoll.address";
    /** Environment variable with the device's IP address, which the Soft-RoCE guest sets. */
    public static final String ADDRESS_VARIABLE = "RINGPOLL_ADDRESS";

    private static final String LOOPBACK_ADDRESS = "127.0.0.1";

    private TestDevice() {
    }

    /** The device's IP address. */
    public static String address() {
        final String property = System.getProperty(ADDRESS_PROPERTY);
        return property != null ? property : System.getenv().getOrDefault(ADDRESS_VARIABLE, LOOPBACK_ADDRESS);
    }

    /** Whether the device is the loopback device, with known limits and counters. */
    public static boolean isLoopback() {
        return Device.current().kind() == DeviceKind.LOOPBACK;
    }

    /**
     * Whether tests have fewer messages, tries and cases: by default on other devices than loopback. Where every instruction is
     * emulated, a message takes milliseconds.
     */
    public static boolean isShort() {
        final String property = System.getProperty(SHORT_PROPERTY);
        return property == null ? !isLoopback() : Boolean.parseBoolean(property);
    }
}
