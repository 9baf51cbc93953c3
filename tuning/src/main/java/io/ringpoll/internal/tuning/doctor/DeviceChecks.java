package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Scope.COMMAND;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Scope.PROCESS;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.completion.DeviceAttributes;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.RdmaPort;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Checks of RDMA devices: presence, access, ports, limits. */
final class DeviceChecks {
    /** A single busy connection needs about this number of entries. */
    private static final int SMALL_CQ = 4096;

    private DeviceChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("rdma-device", "RDMA devices",
                "Without one ringpoll runs on its loopback device: good for trying and measuring itself, no network.",
                HIGH, MACHINE, DeviceChecks::devices, OK, WARNING),
            new Check("rdma-access", "access to RDMA devices",
                "A process needs to open /dev/infiniband/uverbs* and rdma_cm to use a device.",
                HIGH, PROCESS, DeviceChecks::access, OK, BAD, UNKNOWN),
            new Check("port-state", "port state", "Only an active port connects; a port in INIT waits for a subnet manager.",
                HIGH, MACHINE, DeviceChecks::ports, OK, WARNING, BAD, UNKNOWN),
            new Check("cq-limits", "completion queue limits",
                "Work requests in flight are budgeted against the depth of the completion queue, which the device bounds.",
                LOW, COMMAND, DeviceChecks::queueLimits, OK, WARNING, UNKNOWN));
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
}
