package io.ringpoll.device;

import io.ringpoll.internal.device.DeviceLibraries;
import io.ringpoll.internal.ffm.JvmFlags;
import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * The RDMA device of this process, chosen once, at the first use of the binding.
 *
 * <p>Selected by the first of these that is set: {@link #choose}, the system property {@value #DEVICE_PROPERTY}, the environment
 * variable {@value #DEVICE_VARIABLE}; else {@link DeviceKind#AUTO}. It cannot change after the first use, because the C libraries
 * of two devices cannot be loaded into one process. Thread-safe.
 */
public final class Device {
    /** System property that chooses the device: {@code auto}, {@code loopback} or {@code rdma}. */
    public static final String DEVICE_PROPERTY = "ringpoll.device";
    /** Environment variable that chooses the device: {@code auto}, {@code loopback} or {@code rdma}. */
    public static final String DEVICE_VARIABLE = "RINGPOLL_DEVICE";
    /** System property with the path of the librpma to load instead of the installed one. */
    public static final String LIBRPMA_PROPERTY = "ringpoll.librpma";

    static final Path SYS_CLASS = Path.of("/sys/class/infiniband");
    static final Path DEV = Path.of("/dev/infiniband");

    private static final String LOOPBACK_ARTIFACT = "io.ringpoll:ringpoll-loopback";

    private static final DeviceLibraries.Errors ERRORS =
        new DeviceLibraries.Errors(DeviceException::new, MissingFunctionException::new);

    private static DeviceKind chosen;
    private static Device loaded;

    private final DeviceKind kind;
    private final String reason;
    private final DeviceLibraries libraries;

    private Device(final DeviceKind kind, final String reason, final DeviceLibraries libraries) {
        this.kind = kind;
        this.reason = reason;
        this.libraries = libraries;
    }

    /**
     * Chooses the device of this process; to be called before the first use of the binding.
     *
     * @param kind which one; {@link DeviceKind#AUTO} leaves the choice to the machine
     * @throws IllegalStateException if another device is in use already
     */
    public static synchronized void choose(final DeviceKind kind) {
        if (loaded != null && kind != DeviceKind.AUTO && kind != loaded.kind) {
            throw new IllegalStateException("device " + loaded.kind + " is in use already; choose " + kind +
                " before the first use, or by the property " + DEVICE_PROPERTY);
        }
        chosen = kind;
    }

    /**
     * The device of this process. Loads its libraries at the first call.
     *
     * @return the device; constant
     * @throws DeviceException if there is no such device, or a library or a JVM flag is missing; the message names the remedy
     */
    public static synchronized Device current() {
        if (loaded == null) {
            JvmFlags.require(DeviceException::new);
            loaded = load(asked(chosen, System.getProperty(DEVICE_PROPERTY), System.getenv(DEVICE_VARIABLE)), SYS_CLASS, DEV);
            DeviceLibraries.use(loaded.libraries);
        }
        return loaded;
    }

    /**
     * The kind of device in use.
     *
     * @return {@link DeviceKind#LOOPBACK} or {@link DeviceKind#RDMA}
     */
    public DeviceKind kind() {
        return kind;
    }

    /**
     * Describes the selected device and the reason in one line, for programs that do not use librpma.
     *
     * @return for instance {@code "device: loopback (no RDMA device found)"}
     */
    public String selection() {
        return "device: " + kind + " (" + reason + ")";
    }

    /**
     * Describes the selected device, the reason, and the library in use in one line.
     *
     * @return for instance {@code "device: loopback (no RDMA device found); librpma 1.2 or 1.3, /usr/lib/.../librpma.so.0"}
     */
    public String description() {
        return selection() + "; " + libraries.rpma().description();
    }

    /**
     * An address of this machine by which connections reach the device: the default address of a server. Reads the state of the
     * machine at each call.
     *
     * @return that of the first active port, and those of the others; {@code 127.0.0.1} on the loopback device
     * @throws DeviceException if no port is active and has an address; the message has the reason for each port, and the remedy
     */
    public DeviceAddress address() {
        return DeviceAddress.of(kind);
    }

    static DeviceKind asked(final DeviceKind chosen, final String property, final String variable) {
        if (chosen != null) {
            return chosen;
        }
        if (property != null && !property.isBlank()) {
            return kindIn(property, DEVICE_PROPERTY);
        }
        return variable != null && !variable.isBlank() ? kindIn(variable, DEVICE_VARIABLE) : DeviceKind.AUTO;
    }

    private static DeviceKind kindIn(final String text, final String setting) {
        try {
            return DeviceKind.parse(text.strip());
        } catch (final DeviceException unknown) {
            throw new DeviceException(setting + ": " + unknown.getMessage(), unknown);
        }
    }

    /** Loads the libraries of a device; those of a device that was loaded before stay in use. */
    static Device load(final DeviceKind asked, final Path sysClass, final Path dev) {
        if (asked == DeviceKind.LOOPBACK) {
            return loopback("as asked").orElseThrow(() -> new DeviceException(
                "device loopback: it is not on the class path or module path; add the artifact " + LOOPBACK_ARTIFACT));
        }
        final RdmaHardware hardware = RdmaHardware.find(sysClass, dev);
        if (hardware.isPresent()) {
            return new Device(DeviceKind.RDMA, hardware.names(), DeviceLibraries.ofRdma(ERRORS));
        }
        if (asked == DeviceKind.RDMA) {
            throw new DeviceException("device rdma: " + hardware.reasonForNone() +
                "; load the card's driver or Soft-RoCE (rdma link add), or choose the device loopback");
        }
        return loopback(hardware.reasonForNone()).orElseThrow(() -> new DeviceException(hardware.reasonForNone() +
            "; load the card's driver or Soft-RoCE (rdma link add), or add the artifact " + LOOPBACK_ARTIFACT +
            " for a device in this process"));
    }

    private static Optional<Device> loopback(final String reason) {
        return ServiceLoader.load(DeviceProvider.class, Device.class.getClassLoader()).stream().map(ServiceLoader.Provider::get)
            .filter(provider -> provider.kind() == DeviceKind.LOOPBACK).findFirst()
            .map(provider -> new Device(DeviceKind.LOOPBACK, reason,
                DeviceLibraries.of(provider.libibverbs(), provider.librdmacm(), ERRORS)));
    }
}
