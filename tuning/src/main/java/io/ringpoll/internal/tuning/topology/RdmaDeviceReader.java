package io.ringpoll.internal.tuning.topology;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Reads the RDMA devices from {@code /sys/class/infiniband}.
 *
 * @see <a href="https://www.kernel.org/doc/Documentation/ABI/stable/sysfs-class-infiniband">sysfs-class-infiniband</a>
 */
final class RdmaDeviceReader {
    private static final String FOLDER = "sys/class/infiniband/";

    private final MachineFiles files;

    RdmaDeviceReader(final MachineFiles files) {
        this.files = files;
    }

    List<RdmaDevice> read() {
        return files.names(FOLDER).stream().map(this::device).toList();
    }

    private RdmaDevice device(final String name) {
        final String folder = FOLDER + name;
        final Optional<String> pciAddress = uevent(folder, "PCI_SLOT_NAME");
        final List<RdmaPort> ports = new ArrayList<>();
        for (final String port : files.names(folder + "/ports")) {
            ports.add(port(folder, Integer.parseInt(port), pciAddress.isPresent()));
        }
        // A software device has no device folder: the node of its network interface applies.
        final OptionalLong node = pciAddress.isPresent() ? files.number(folder + "/device/numa_node")
            : ports.stream().flatMap(port -> port.netDevice().stream()).findFirst()
                .map(net -> files.number("sys/class/net/" + net + "/device/numa_node")).orElse(OptionalLong.empty());
        return new RdmaDevice(name, driver(folder, name), pciAddress,
            node.isPresent() && node.getAsLong() >= 0 ? OptionalInt.of((int) node.getAsLong()) : OptionalInt.empty(),
            pciAddress.isPresent() ? files.names(folder + "/device/msi_irqs") : List.of(), ports, files.text(folder + "/fw_ver"));
    }

    private String driver(final String folder, final String name) {
        return uevent(folder, "DRIVER")
            .orElseGet(() -> files.exists(folder + "/parent") ? name.startsWith("siw") ? "siw" : "rdma_rxe" : "unknown");
    }

    private Optional<String> uevent(final String folder, final String key) {
        return files.text(folder + "/device/uevent").stream().flatMap(String::lines)
            .filter(line -> line.startsWith(key + "=")).map(line -> line.substring(key.length() + 1)).findFirst();
    }

    private RdmaPort port(final String deviceFolder, final int number, final boolean pci) {
        final String folder = deviceFolder + "/ports/" + number;
        final Optional<String> net = files.text(folder + "/gid_attrs/ndevs/0")
            .or(() -> files.text(deviceFolder + "/parent"))
            .or(() -> pci ? files.names(deviceFolder + "/device/net").stream().findFirst() : Optional.empty());
        final OptionalLong mtu = net.map(name -> files.number("sys/class/net/" + name + "/mtu")).orElse(OptionalLong.empty());
        return new RdmaPort(number, afterColon(folder + "/state"), afterColon(folder + "/phys_state"),
            files.text(folder + "/link_layer").orElse("unknown"), files.text(folder + "/rate").orElse("unknown"), net,
            mtu.isPresent() ? OptionalInt.of((int) mtu.getAsLong()) : OptionalInt.empty());
    }

    /** The text after the colon of a state such as {@code 4: ACTIVE}. */
    private String afterColon(final String path) {
        final String text = files.text(path).orElse("unknown");
        return text.substring(text.indexOf(':') + 1).strip();
    }
}
