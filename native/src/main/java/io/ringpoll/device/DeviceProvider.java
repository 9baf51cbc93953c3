package io.ringpoll.device;

import java.nio.file.Path;

/**
 * A device in user space that another artifact adds to the process: its libraries take the place of the installed libibverbs and
 * librdmacm. Found by {@link java.util.ServiceLoader}.
 */
public interface DeviceProvider {
    /**
     * The kind that chooses this device.
     *
     * @return for instance {@link DeviceKind#LOOPBACK}
     */
    DeviceKind kind();

    /**
     * The device's verbs library.
     *
     * @return a file with the SONAME {@code libibverbs.so.1}
     * @throws DeviceException if there is none for this machine; the message contains the remedy
     */
    Path libibverbs();

    /**
     * The device's connection manager.
     *
     * @return a file with the SONAME {@code librdmacm.so.1}
     * @throws DeviceException if there is none for this machine; the message contains the remedy
     */
    Path librdmacm();
}
