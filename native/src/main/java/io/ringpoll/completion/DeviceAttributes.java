package io.ringpoll.completion;

import io.ringpoll.device.Device;
import io.ringpoll.internal.binding.Libraries;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Attributes of an RDMA device: its limits, and the MTU of each port.
 *
 * @param name               the device's name, for instance {@code mlx5_0}
 * @param maxCq              most completion queues
 * @param maxCqe             most entries of a completion queue
 * @param maxQpWr            most work requests outstanding on a queue pair's side
 * @param maxSrqWr           most receives outstanding in a shared receive queue
 * @param activeMtuOfPorts   the MTU in use on each port, in bytes, from port 1 on; 0 if unknown
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_query_device.3.html">ibv_query_device(3)</a>
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_query_port.3.html">ibv_query_port(3)</a>
 */
public record DeviceAttributes(String name, int maxCq, int maxCqe, int maxQpWr, int maxSrqWr, List<Integer> activeMtuOfPorts) {
    /** Copies the list. */
    public DeviceAttributes {
        Objects.requireNonNull(name, "name");
        activeMtuOfPorts = List.copyOf(activeMtuOfPorts);
    }

    /**
     * Asks every device that the loaded libibverbs sees: opens it, queries it and closes it again.
     *
     * <p>Loads the libraries of {@link Device#current()} at the first use.
     *
     * @return the devices that could be opened
     * @throws VerbsException                    if the devices cannot be listed
     * @throws io.ringpoll.device.DeviceException if a library is missing
     */
    public static List<DeviceAttributes> ofAll() {
        return new DeviceQuery(Libraries.current().ibverbs()).all();
    }

    /**
     * Asks an open device for its limits.
     *
     * @param context the device
     * @return its attributes; empty if it does not answer
     */
    public static Optional<DeviceAttributes> of(final VerbsContext context) {
        return new DeviceQuery(Libraries.current().ibverbs()).of(context);
    }

    /**
     * The MTU in use on a port.
     *
     * @param port the port's number, from 1
     * @return bytes; empty if there is no such port or it is unknown
     */
    public OptionalInt activeMtuBytes(final int port) {
        return port >= 1 && port <= activeMtuOfPorts.size() && activeMtuOfPorts.get(port - 1) > 0
            ? OptionalInt.of(activeMtuOfPorts.get(port - 1)) : OptionalInt.empty();
    }
}
