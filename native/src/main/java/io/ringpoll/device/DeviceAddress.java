package io.ringpoll.device;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An IP address of this machine by which connections reach its RDMA device: librpma opens a device by such an address.
 *
 * <p>Of a machine with several devices or ports it is that of the first active port; {@link #others()} are those of the further
 * active ports. Immutable.
 *
 * @param host   the address, IPv4 if the port has one
 * @param origin the device, the port and the network interface, for instance {@code rxe0 port 1, interface eth0}
 * @param others the addresses of the further active ports, without others of their own
 */
public record DeviceAddress(String host, String origin, List<DeviceAddress> others) {
    private static final DeviceAddress LOOPBACK = new DeviceAddress("127.0.0.1", "loopback device", List.of());

    /** Copies the list. */
    public DeviceAddress {
        others = List.copyOf(others);
    }

    /** The address of a device. */
    static DeviceAddress of(final DeviceKind kind) {
        return kind == DeviceKind.LOOPBACK ? LOOPBACK : of(RdmaPort.all(Device.SYS_CLASS), DeviceAddress::ofInterface);
    }

    /** The address of the ports in a tree such as /sys/class/infiniband. */
    static DeviceAddress of(final Path sysClass, final Function<String, List<InetAddress>> interfaces) {
        return of(RdmaPort.all(sysClass), interfaces);
    }

    /**
     * One line for people.
     *
     * @return for instance {@code "address: 192.0.2.1 (rxe0 port 1, interface eth0); others: 192.0.2.9 (rxe1 port 1, ...)"}
     */
    public String description() {
        final String rest = others.stream().map(DeviceAddress::toString).collect(Collectors.joining(", "));
        return "address: " + this + (rest.isEmpty() ? "" : "; others: " + rest);
    }

    @Override
    public String toString() {
        return host + " (" + origin + ")";
    }

    private static DeviceAddress of(final List<RdmaPort> ports, final Function<String, List<InetAddress>> interfaces) {
        final List<DeviceAddress> found = new ArrayList<>();
        final List<String> reasons = new ArrayList<>();
        for (final RdmaPort port : ports) {
            final String reason = port.isActive() ? search(port, interfaces, found) : inactive(port);
            if (!reason.isEmpty()) {
                reasons.add(port.name() + " " + reason);
            }
        }
        if (found.isEmpty()) {
            throw new DeviceException("no port of an RDMA device has an address to connect by: " +
                (reasons.isEmpty() ? "there is no port" : String.join("; ", reasons)) + "; or choose the device loopback");
        }
        final DeviceAddress first = found.getFirst();
        return new DeviceAddress(first.host, first.origin, found.subList(1, found.size()));
    }

    /** Adds the address of an active port, or returns why it has none, with the remedy. */
    private static String search(
        final RdmaPort port, final Function<String, List<InetAddress>> interfaces, final List<DeviceAddress> found) {
        if (port.interfaces().isEmpty()) {
            return "has no network interface" + (port.infiniBand() ? " (load the module ib_ipoib)" : "");
        }
        final List<InetAddress> all = new ArrayList<>();
        for (final String name : port.interfaces()) {
            final List<InetAddress> addresses = interfaces.apply(name);
            all.addAll(addresses);
            // IPv4 first: every tool and every log shows it in one way.
            addresses.stream().filter(address -> !address.isLinkLocalAddress() && port.carries(address))
                .min(Comparator.comparingInt(address -> address.getAddress().length))
                .ifPresent(address -> found.add(
                    new DeviceAddress(address.getHostAddress(), port.name() + ", interface " + name, List.of())));
        }
        final String names = String.join(", ", port.interfaces());
        final String first = port.interfaces().iterator().next();
        if (found.stream().anyMatch(address -> address.origin.startsWith(port.name() + ","))) {
            return "";
        }
        if (all.stream().anyMatch(address -> !address.isLinkLocalAddress())) {
            return "has none of the addresses of its interface " + names +
                " in its GID table (set the interface down and up again, or use its network namespace)";
        }
        return "has no " + (all.isEmpty() ? "" : "other than a link-local ") + "IP address on its interface " + names +
            " (ip address add ADDRESS/PREFIX dev " + first + ")";
    }

    private static String inactive(final RdmaPort port) {
        return "is " + port.state() + (port.infiniBand() ? " (check the cable and the subnet manager)" :
            port.interfaces().stream().findFirst().map(name -> " (ip link set " + name + " up)").orElse(" (check the cable)"));
    }

    static List<InetAddress> ofInterface(final String name) {
        try {
            final NetworkInterface found = NetworkInterface.getByName(name);
            // An address with a label, such as eth0:1, is a sub-interface's.
            return found == null ? List.of() :
                Stream.concat(Stream.of(found), found.subInterfaces()).flatMap(NetworkInterface::inetAddresses).toList();
        } catch (final SocketException e) {
            throw new DeviceException("cannot read the addresses of the network interface " + name + ": " + e.getMessage(), e);
        }
    }
}
