package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The devices that connections can use: those that librdmacm has opened, which stay open as long as the process lives.
 * Thread-safe.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_devices.3.html">rdma_get_devices(3)</a>
 */
public final class RdmaDevices {
    private RdmaDevices() {
    }

    /**
     * All devices.
     *
     * @return at least one
     * @throws VerbsException                     with the errno of rdma_get_devices(3)
     * @throws io.ringpoll.device.DeviceException if there is no device, or a library or a JVM flag is missing
     */
    public static List<VerbsContext> all() {
        Loading.require();
        final CallState state = CallState.current();
        final long list = ConnectionFunctions.rdma_get_devices(state.scratch());
        if (list == 0) {
            throw new VerbsException("rdma_get_devices", state.errno());
        }
        try {
            final List<VerbsContext> devices = new ArrayList<>();
            for (long entry = list; Memory.longAt(entry) != 0; entry += Long.BYTES) {
                devices.add(VerbsAccess.context(Memory.longAt(entry)));
            }
            return List.copyOf(devices);
        } finally {
            ConnectionFunctions.rdma_free_devices(list);
        }
    }

    /**
     * The device that has an address of this machine.
     *
     * @param address of a network interface of the device
     * @return the device
     * @throws VerbsException        with the errno of rdma_bind_addr(3)
     * @throws IllegalStateException if the address belongs to no device
     */
    public static VerbsContext ofLocal(final InetAddress address) {
        Objects.requireNonNull(address, "the address is null");
        try (ConnectionId id = ConnectionId.create()) {
            id.bind(new InetSocketAddress(address, 0));
            return id.context();
        }
    }
}
