package io.ringpoll.internal.binding;

import io.ringpoll.device.Device;
import io.ringpoll.internal.device.DeviceLibraries;

/** The C libraries of this process's device. Thread-safe. */
public final class Libraries {
    private Libraries() {
    }

    /**
     * The libraries, loaded with the device at the first call.
     *
     * @return always the same
     * @throws io.ringpoll.device.DeviceException as {@link Device#current()} does
     */
    public static DeviceLibraries current() {
        Device.current();
        return DeviceLibraries.loaded();
    }
}
