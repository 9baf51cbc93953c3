package io.ringpoll.device;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One port of an RDMA device and its network interfaces, as sysfs shows them.
 *
 * @param device     name of the device, for instance {@code mlx5_0}
 * @param number     number of the port, from 1
 * @param state      logical state, for instance {@code ACTIVE} or {@code DOWN}; empty if it cannot be read
 * @param infiniBand whether the link layer is InfiniBand; Ethernet otherwise
 * @param iWarp      whether the device is an RNIC; its GIDs hold no IP addresses
 * @param interfaces names of the network interfaces that carry IP addresses for the port
 * @param gids       the entries of its GID table; of a RoCE port these are its IP addresses
 * @see <a href="https://www.kernel.org/doc/Documentation/ABI/stable/sysfs-class-infiniband">sysfs-class-infiniband</a>
 */
record RdmaPort(
    String device, int number, String state, boolean infiniBand, boolean iWarp, Set<String> interfaces, Set<InetAddress> gids) {

    private static final String ACTIVE = "ACTIVE";
    private static final String UNUSED_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

    /** The ports of all devices: in the order of the devices' names, numbers in them by value. */
    static List<RdmaPort> all(final Path sysClass) {
        final List<RdmaPort> ports = new ArrayList<>();
        for (final Path device : list(sysClass)) {
            for (final Path port : list(device.resolve("ports"))) {
                ports.add(read(device, port));
            }
        }
        return ports;
    }

    /** Whether the port can carry traffic; assumed of a port that shows no state. */
    boolean isActive() {
        return state.isEmpty() || ACTIVE.equals(state);
    }

    /** Whether connections can be made by an address: on RoCE only if the GID table holds it. */
    boolean carries(final InetAddress address) {
        return infiniBand || iWarp || gids.contains(address);
    }

    String name() {
        return device + " port " + number;
    }

    private static RdmaPort read(final Path device, final Path port) {
        final Set<InetAddress> gids = new LinkedHashSet<>();
        final Set<String> names = new LinkedHashSet<>();
        readGids(port, gids, names);
        final String state = text(port.resolve("state")).orElse("");
        final int number = Integer.parseInt(port.getFileName().toString());
        return new RdmaPort(
            device.getFileName().toString(), number, state.substring(state.indexOf(':') + 1).strip(),
            "InfiniBand".equals(text(port.resolve("link_layer")).orElse("")),
            text(device.resolve("node_type")).orElse("").endsWith("RNIC"), interfaces(device, number, names), gids);
    }

    /** Reads the GID table: a file for each of up to 1024 entries, few of them in use. */
    private static void readGids(final Path port, final Set<InetAddress> gids, final Set<String> names) {
        final Path table = port.resolve("gids");
        final Path interfaces = port.resolve("gid_attrs/ndevs");
        for (int i = 0; ; i++) {
            final String index = Integer.toString(i);
            final Path entry = table.resolve(index);
            final Optional<String> gid = text(entry);
            if (gid.isEmpty() && Files.notExists(entry)) {
                return;
            }
            // An unused entry has no interface: the kernel fails the reading of its file with EINVAL.
            if (gid.isPresent() && !UNUSED_GID.equals(gid.get())) {
                gid.flatMap(RdmaPort::address).ifPresent(gids::add);
                text(interfaces.resolve(index)).ifPresent(names::add);
            }
        }
    }

    /** Those of the GID table; where it names none, as on InfiniBand: those of the same device, or of a software device. */
    private static Set<String> interfaces(final Path device, final int number, final Set<String> names) {
        if (names.isEmpty()) {
            text(device.resolve("parent")).ifPresent(names::add);
        }
        if (names.isEmpty()) {
            for (final Path net : list(device.resolve("device/net"))) {
                if (portOf(net) == number) {
                    names.add(net.getFileName().toString());
                }
            }
        }
        return names;
    }

    /** Which port of its device an interface belongs to; older drivers write it to dev_id, in hexadecimal. */
    private static int portOf(final Path net) {
        final int port = text(net.resolve("dev_port")).map(Integer::decode).orElse(0);
        return 1 + (port > 0 ? port : text(net.resolve("dev_id")).map(Integer::decode).orElse(0));
    }

    private static Optional<InetAddress> address(final String gid) {
        try {
            return gid.indexOf(':') < 0 ? Optional.empty() : Optional.of(InetAddress.getByName(gid));
        } catch (final UnknownHostException notAnAddress) {
            return Optional.empty();
        }
    }

    private static Optional<String> text(final Path file) {
        try {
            return Optional.of(Files.readString(file).strip()).filter(text -> !text.isEmpty());
        } catch (final IOException unreadable) {
            return Optional.empty();
        }
    }

    private static List<Path> list(final Path folder) {
        final List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            stream.forEach(entries::add);
        } catch (final IOException missing) {
            return List.of();
        }
        // Shorter names first within a folder: mlx5_2 before mlx5_10.
        entries.sort(Comparator.comparingInt((Path path) -> path.getFileName().toString().length()).thenComparing(path -> path));
        return entries;
    }
}
