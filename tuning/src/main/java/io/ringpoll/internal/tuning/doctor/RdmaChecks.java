package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.RdmaPort;
import io.ringpoll.verbs.DeviceAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks of the RDMA stack: libraries, devices, links, limits. */
final class RdmaChecks {
    /** The MTU of a RoCE path with jumbo frames; InfiniBand always supports it. */
    private static final int FULL_MTU = 4096;
    private static final int JUMBO_NET_MTU = 4200;
    /** A single busy connection needs about this number of entries. */
    private static final int SMALL_CQ = 4096;
    private static final String CLASS = "sys/class/infiniband/";

    private RdmaChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("librpma", "librpma",
                "All work requests and completions go through it; versions before 1.0 have another call for "
                + "completions.", RdmaChecks::librpma, OK, WARNING, BAD),
            new Check("verbs-provider", "libibverbs and its providers",
                "Without the provider of its adapter libibverbs does not see the adapter at all.",
                RdmaChecks::providers, OK, BAD),
            new Check("rdma-device", "RDMA devices",
                "Without one ringpoll runs on its loopback device: good for trying and measuring itself, no network.",
                RdmaChecks::devices, OK, WARNING),
            new Check("rdma-access", "access to RDMA devices",
                "A process needs to open /dev/infiniband/uverbs* and rdma_cm to use a device.",
                RdmaChecks::access, OK, BAD, UNKNOWN),
            new Check("port-state", "port state", "Only an active port connects; a port in INIT waits for a subnet manager.",
                RdmaChecks::ports, OK, WARNING, BAD, UNKNOWN),
            new Check("mtu", "path MTU",
                "A small MTU cuts a message into more packets: each costs the adapter time and the wire a header.",
                RdmaChecks::mtu, OK, WARNING, UNKNOWN),
            new Check("cq-limits", "completion queue limits",
                "Work requests in flight are budgeted against the depth of the completion queue, which the device bounds.",
                RdmaChecks::queueLimits, OK, WARNING, UNKNOWN),
            new Check("pcie-link", "PCIe link of the adapter",
                "A link that is narrower or slower than the adapter supports halves the rate and adds to each doorbell.",
                RdmaChecks::link, OK, WARNING, UNKNOWN));
    }

    private static Stream<String> libraryFolders(final MachineFiles files) {
        return Stream.of("usr/lib", "usr/lib64", "usr/local/lib").flatMap(folder -> Stream.concat(Stream.of(folder),
            files.names(folder).stream().filter(name -> name.endsWith("-linux-gnu")).map(name -> folder + "/" + name)));
    }

    private static Optional<String> library(final MachineFiles files, final String name) {
        return libraryFolders(files).map(folder -> folder + "/" + name).filter(files::exists).findFirst();
    }

    private static Finding librpma(final Examined machine) {
        final MachineFiles files = machine.files();
        final Optional<String> found = Stream.of("librpma.so.0", "librpma.so.1").flatMap(name -> library(files, name).stream())
            .findFirst();
        if (found.isEmpty()) {
            return Finding.bad("not found in the library folders",
                "sudo apt-get install librpma0   # Fedora, RHEL: dnf install librpma");
        }
        final String folder = found.get().substring(0, found.get().lastIndexOf('/'));
        final Optional<String> version = files.text(folder + "/pkgconfig/librpma.pc").stream().flatMap(String::lines)
            .filter(line -> line.startsWith("Version:")).map(line -> line.substring("Version:".length()).strip()).findFirst();
        if (version.isEmpty()) {
            return Finding.ok("/" + found.get() + " (version not shown: its development package is not installed)");
        }
        return version.get().startsWith("0.") ? Finding.warning(version.get() + ", /" + found.get(), "install librpma 1.2 or 1.3")
            : Finding.ok(version.get() + ", /" + found.get());
    }

    private static Finding providers(final Examined machine) {
        final MachineFiles files = machine.files();
        final Optional<String> verbs = library(files, "libibverbs.so.1");
        if (verbs.isEmpty()) {
            return Finding.bad("libibverbs.so.1 not found in the library folders",
                "sudo apt-get install libibverbs1 ibverbs-providers librdmacm1   # Fedora, RHEL: dnf install libibverbs "
                    + "librdmacm");
        }
        final List<String> providers = files.names("etc/libibverbs.d").stream().filter(name -> name.endsWith(".driver"))
            .map(name -> name.substring(0, name.length() - ".driver".length())).toList();
        for (final RdmaDevice device : machine.topology().rdmaDevices()) {
            final String provider = provider(device);
            if (!"unknown".equals(provider) && !providers.contains(provider)) {
                return Finding.bad("no provider '" + provider + "' for " + device.name(),
                    "sudo apt-get install ibverbs-providers");
            }
        }
        final String version = files.linkName(verbs.get()).map(name -> name.replace("libibverbs.so.", ""))
            .orElse("version not shown");
        final String devices = String.join(", ", machine.topology().rdmaDevices().stream().map(RdmaChecks::provider)
            .distinct().toList());
        return Finding.ok("libibverbs " + version + ", " + providers.size() + " providers"
            + (devices.isEmpty() ? "" : ", among them " + devices));
    }

    /** The name of the provider is derived from the kernel driver's: mlx5 from mlx5_core, rxe from rdma_rxe. */
    private static String provider(final RdmaDevice device) {
        return device.driver().replaceAll("^rdma_|_core$|_en$|_ib$", "");
    }

    private static Finding devices(final Examined machine) {
        final List<RdmaDevice> devices = machine.topology().rdmaDevices();
        if (devices.isEmpty()) {
            return Finding.warning("none",
                "./ringpoll run --device loopback   # with an adapter: load its kernel modules; to try a real "
                + "stack: ./ringpoll softroce");
        }
        final String all = String.join(", ", devices.stream().map(device -> device.name() + " (" + device.driver()
            + device.firmware().map(version -> ", firmware " + version).orElse("") + ")").toList());
        return machine.hardware().isEmpty() ? Finding.warning(all + ": software only, microseconds slower than an adapter",
            "./ringpoll tune plan   # Soft-RoCE needs CPUs other than the poller's") : Finding.ok(all);
    }

    private static Finding access(final Examined machine) {
        if (machine.topology().rdmaDevices().isEmpty()) {
            return Finding.unknown("no RDMA device");
        }
        final MachineFiles files = machine.files();
        final List<String> nodes = files.names("dev/infiniband").stream().filter(name -> name.startsWith("uverbs")).toList();
        if (nodes.isEmpty() || !files.exists("dev/infiniband/rdma_cm")) {
            return Finding.bad((nodes.isEmpty() ? "/dev/infiniband/uverbs*" : "/dev/infiniband/rdma_cm") + " is missing",
                "sudo modprobe -a ib_uverbs rdma_ucm   # in a container: --device /dev/infiniband");
        }
        final List<String> closed = Stream.concat(nodes.stream(), Stream.of("rdma_cm"))
            .filter(name -> !files.readableAndWritable("dev/infiniband/" + name)).toList();
        return closed.isEmpty() ? Finding.ok(nodes.size() + " device" + (nodes.size() == 1 ? "" : "s")
            + " and rdma_cm can be opened")
            : Finding.bad("this user may not open /dev/infiniband/" + String.join(", ", closed),
                "sudo usermod -aG rdma \"$USER\"   # where udev assigns the devices to that group; then log in again");
    }

    private static Finding ports(final Examined machine) {
        final List<String> active = new ArrayList<>();
        final List<String> down = new ArrayList<>();
        for (final RdmaDevice device : machine.topology().rdmaDevices()) {
            for (final RdmaPort port : device.ports()) {
                final String name = device.name() + "/" + port.number();
                if (port.active()) {
                    active.add(name + " active, " + port.rate() + ", " + port.linkLayer());
                } else {
                    down.add(name + " " + port.state() + " (" + port.physicalState() + ")"
                        + port.netDevice().map(net -> ", carried by " + net).orElse(""));
                }
            }
        }
        if (active.isEmpty() && down.isEmpty()) {
            return Finding.unknown("no RDMA port");
        }
        final String command = "rdma link   # then the cable, the switch port, `sudo ip link set DEVICE up`, or the subnet "
            + "manager";
        return down.isEmpty() ? Finding.ok(String.join("; ", active))
            : active.isEmpty() ? Finding.bad(String.join("; ", down), command)
            : Finding.warning(String.join("; ", down) + "; " + String.join("; ", active), command);
    }

    private static Finding mtu(final Examined machine) {
        final List<String> small = new ArrayList<>();
        final List<String> full = new ArrayList<>();
        String command = "";
        for (final RdmaDevice device : machine.topology().rdmaDevices()) {
            for (final RdmaPort port : device.ports()) {
                final Optional<Integer> active = machine.verbs().stream().flatMap(List::stream)
                    .filter(attributes -> attributes.name().equals(device.name()))
                    .flatMap(attributes -> attributes.activeMtuBytes(port.number()).stream().boxed()).findFirst();
                final boolean net = port.netMtuBytes().isPresent();
                if (active.isEmpty() && !net) {
                    continue;
                }
                final boolean enough = active.map(bytes -> bytes >= FULL_MTU)
                    .orElseGet(() -> port.netMtuBytes().getAsInt() >= JUMBO_NET_MTU);
                (enough ? full : small).add(device.name() + "/" + port.number() + active.map(bytes -> " " + bytes + " bytes")
                    .orElse("")
                    + (net ? " (" + port.netDevice().orElse("") + ": " + port.netMtuBytes().getAsInt() + ")" : ""));
                if (!enough) {
                    command = net ? "sudo ip link set " + port.netDevice().orElse("DEVICE")
                        + " mtu 9000   # the switches must carry it"
                        : "set an MTU of 4096 in the subnet manager's partition configuration";
                }
            }
        }
        if (small.isEmpty() && full.isEmpty()) {
            return Finding.unknown(machine.topology().rdmaDevices().isEmpty() ? "no RDMA device" : "no port reports its MTU");
        }
        return small.isEmpty() ? Finding.ok(String.join("; ", full)) : Finding.warning(String.join("; ", small), command);
    }

    private static Finding queueLimits(final Examined machine) {
        if (machine.verbs().isEmpty() || machine.verbs().get().isEmpty()) {
            return Finding.unknown(machine.topology().rdmaDevices().isEmpty() ? "no RDMA device"
                : "the device could not be asked (see rdma-access and verbs-provider)");
        }
        final List<DeviceAttributes> devices = machine.verbs().get();
        final String reading = String.join("; ", devices.stream().map(device -> device.name() + " " + device.maxCq()
            + " queues of up to "
            + device.maxCqe() + " entries, " + device.maxQpWr() + " work requests a queue pair").toList());
        return devices.stream().allMatch(device -> device.maxCqe() >= SMALL_CQ) ? Finding.ok(reading)
            : Finding.warning(reading, "./ringpoll run --ring-size " + SMALL_CQ
                + "   # keep fewer work requests in flight per connection");
    }

    private static Finding link(final Examined machine) {
        final List<String> good = new ArrayList<>();
        final List<String> poor = new ArrayList<>();
        for (final RdmaDevice device : machine.hardware()) {
            final String folder = CLASS + device.name() + "/device/";
            final Optional<String> speed = machine.files().text(folder + "current_link_speed");
            final Optional<String> width = machine.files().text(folder + "current_link_width");
            if (speed.isPresent() && width.isPresent()) {
                final String now = speed.get() + " x" + width.get();
                final String most = machine.files().text(folder + "max_link_speed").orElse(speed.get()) + " x"
                    + machine.files().text(folder + "max_link_width").orElse(width.get());
                (now.equals(most) ? good : poor).add(device.name() + " " + now + (now.equals(most) ? "" : " of " + most));
            }
        }
        if (good.isEmpty() && poor.isEmpty()) {
            return Finding.unknown("no adapter with a PCIe link is shown");
        }
        return poor.isEmpty() ? Finding.ok(String.join("; ", good)) : Finding.warning(String.join("; ", poor),
            "move the adapter to a slot with all lanes, then: sudo lspci -vv | grep LnkSta");
    }
}
