package io.ringpoll.loopback;

import io.ringpoll.device.DeviceException;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.device.DeviceProvider;
import io.ringpoll.internal.device.BundledLibraries;
import java.nio.file.Path;

/** The libraries of the loopback device in this artifact. */
public final class LoopbackDevice implements DeviceProvider {
    /** For {@link java.util.ServiceLoader}. */
    public LoopbackDevice() {
    }

    @Override
    public DeviceKind kind() {
        return DeviceKind.LOOPBACK;
    }

    @Override
    public Path libibverbs() {
        return bundled("libibverbs.so.1");
    }

    @Override
    public Path librdmacm() {
        return bundled("librdmacm.so.1");
    }

    private static Path bundled(final String name) {
        return BundledLibraries.find(name, DeviceException::new).orElseThrow(() -> new DeviceException(
            "the loopback device's " + name + " was not built for this machine (" + BundledLibraries.folder() +
            "); build it with `make -C loopback/src/main/c`"));
    }
}
