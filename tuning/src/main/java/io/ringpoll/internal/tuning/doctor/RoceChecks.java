package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.RdmaPort;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Checks of RDMA over Ethernet: loss, priority, congestion, and the interface below a software device. */
final class RoceChecks {
    private static final String CLASS = "sys/class/infiniband/";
    private static final String NETS = "sys/class/net/";
    private static final String DEFAULTS = "sys/kernel/config/rdma_cm/";
    /** Counters of packets that were lost or arrived out of order. */
    private static final List<String> LOSSES = List.of("packet_seq_err", "out_of_sequence", "local_ack_timeout_err");
    /** The receiver of a marked packet, which notifies its sender, and the sender, which reacts. */
    private static final List<String> POINTS = List.of("roce_np", "roce_rp");
    /** DSCP 26, the usual code point of RoCE, and the mark of a transport that reacts to congestion. */
    private static final int TRAFFIC_CLASS = 106;

    private RoceChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("roce-loss", "lost packets of RoCE",
                "Each lost packet costs a retransmission, after a time-out of milliseconds if it was the last one of a message.",
                HIGH, MACHINE, RoceChecks::losses, OK, WARNING, UNKNOWN),
            new Check("roce-priority", "priority of RoCE in the network",
                "Flow control (PFC) and congestion marks (ECN) of switches apply to a priority: unmarked packets wait and are "
                    + "dropped with all others.", MEDIUM, MACHINE, RoceChecks::priority, OK, WARNING, UNKNOWN),
            new Check("roce-congestion", "congestion control of RoCE",
                "A receiver that reports congestion marks (ECN), and a sender that slows down for them, keep the queues of "
                    + "switches short: without it they fill until packets wait, stop or are dropped.",
                MEDIUM, MACHINE, RoceChecks::congestion, OK, WARNING, UNKNOWN),
            new Check("transmit-steering", "transmit packet steering (XPS)",
                "A software device sends through the interface: a CPU that shares a transmit queue waits for its lock.",
                LOW, MACHINE, RoceChecks::steering, OK, WARNING, UNKNOWN),
            new Check("interrupt-moderation", "interrupt moderation of the interface",
                "A software device gets its packets from the interface, which delays interrupts to collect several packets.",
                LOW, MACHINE, RoceChecks::moderation, OK, WARNING, UNKNOWN));
    }

    /** A port over Ethernet, and the path of its folder. */
    private record Port(RdmaDevice device, RdmaPort port) {
        String name() {
            return device.name() + "/" + port.number();
        }

        String folder() {
            return CLASS + device.name() + "/ports/" + port.number() + "/";
        }

        String net() {
            return port.netDevice().orElse("DEVICE");
        }
    }

    private static List<Port> ports(final Examined machine) {
        return machine.topology().rdmaDevices().stream().flatMap(device -> device.ports().stream()
            .filter(RdmaPort::ethernet).map(port -> new Port(device, port))).toList();
    }

    private static Finding none(final Examined machine) {
        return machine.topology().rdmaDevices().isEmpty() ? Finding.unknown("no RDMA device")
            : Finding.ok("no port over Ethernet");
    }

    private static Finding losses(final Examined machine) {
        if (ports(machine).isEmpty()) {
            return none(machine);
        }
        final List<String> few = new ArrayList<>();
        final List<String> many = new ArrayList<>();
        String net = "";
        for (final Port port : ports(machine)) {
            final MachineFiles files = machine.files();
            final OptionalLong packets = files.number(port.folder() + "counters/port_rcv_packets");
            final List<OptionalLong> read = LOSSES.stream()
                .map(name -> files.number(port.folder() + "hw_counters/" + name)).filter(OptionalLong::isPresent).toList();
            if (packets.isPresent() && !read.isEmpty()) {
                final long lost = read.stream().mapToLong(OptionalLong::getAsLong).sum();
                final boolean rare = lost <= packets.getAsLong() / 1_000_000;
                (rare ? few : many).add(String.format(Locale.ROOT, "%s %d for %d received", port.name(), lost,
                    packets.getAsLong()));
                net = rare ? net : port.net();
            }
        }
        if (few.isEmpty() && many.isEmpty()) {
            return Finding.unknown("no port shows its counters");
        }
        return many.isEmpty() ? Finding.ok(String.join("; ", few) + " since boot")
            : Finding.warning(String.join("; ", many) + " since boot", "sudo dcb pfc show dev " + net
                + "   # give RoCE a priority with flow control (PFC) or congestion marks (ECN), here and on all switches");
    }

    private static Finding priority(final Examined machine) {
        if (ports(machine).isEmpty()) {
            return none(machine);
        }
        final List<String> marked = new ArrayList<>();
        final List<Port> unmarked = new ArrayList<>();
        for (final Port port : ports(machine)) {
            final OptionalLong tos = machine.files().number(DEFAULTS + port.device().name() + "/ports/" + port.port().number()
                + "/default_roce_tos");
            if (tos.orElse(0) > 0) {
                marked.add(port.name() + " traffic class " + tos.getAsLong() + " (DSCP " + (tos.getAsLong() >> 2) + ")");
            } else if (tos.isPresent()) {
                unmarked.add(port);
            }
        }
        if (marked.isEmpty() && unmarked.isEmpty()) {
            return Finding.unknown("/" + DEFAULTS + " shows no default: it is 0 unless the application sets another");
        }
        if (unmarked.isEmpty()) {
            return Finding.ok(String.join("; ", marked));
        }
        final Port first = unmarked.getFirst();
        final String folder = "/" + DEFAULTS + first.device().name();
        return Finding.warning(first.name() + " traffic class 0", "sudo mkdir -p " + folder + " && echo " + TRAFFIC_CLASS
            + " | sudo tee " + folder + "/ports/" + first.port().number() + "/default_roce_tos   # and the priority of DSCP "
            + (TRAFFIC_CLASS >> 2) + " here and on the switches: sudo dcb app add dev " + first.net() + " dscp-prio "
            + (TRAFFIC_CLASS >> 2) + ":3; sudo dcb pfc set dev " + first.net() + " prio-pfc 3:on");
    }

    /** The files are those of NVIDIA's driver; that of the kernel shows congestion control only to root, in debugfs. */
    private static Finding congestion(final Examined machine) {
        if (ports(machine).isEmpty()) {
            return none(machine);
        }
        final List<String> on = new ArrayList<>();
        final List<String> off = new ArrayList<>();
        String command = "";
        for (final Port port : ports(machine)) {
            final int priority = priorityOf(machine, port);
            final String folder = NETS + port.net() + "/ecn/";
            final List<String> files = POINTS.stream().map(point -> folder + point + "/enable/" + priority).toList();
            final List<String> closed = files.stream().filter(file -> machine.files().number(file).orElse(1) == 0).toList();
            if (!closed.isEmpty()) {
                off.add(port.name() + " priority " + priority + ": off for "
                    + String.join(" and ", closed.stream().map(file -> file.contains("roce_np") ? "receiving" : "sending")
                        .toList()));
                command = Examined.write("1", closed.toArray(String[]::new));
            } else if (files.stream().allMatch(file -> machine.files().number(file).isPresent())) {
                on.add(port.name() + " priority " + priority + ": on");
            }
        }
        if (on.isEmpty() && off.isEmpty()) {
            return Finding.unknown("no file of the driver shows it, nor flow control (PFC) and trust", "sudo dcb pfc show dev "
                + ports(machine).getFirst().net() + "   # or, with NVIDIA's tools, mlnx_qos -i");
        }
        return off.isEmpty() ? Finding.ok(String.join("; ", on)) : Finding.warning(String.join("; ", off), command
            + "   # and mark packets (ECN) on all switches");
    }

    /** The priority of the packets: the upper three bits of the traffic class, unless the interface maps DSCP otherwise. */
    private static int priorityOf(final Examined machine, final Port port) {
        final long tos = machine.files().number(DEFAULTS + port.device().name() + "/ports/" + port.port().number()
            + "/default_roce_tos").orElse(0);
        return (int) ((tos > 0 ? tos : TRAFFIC_CLASS) >> 5 & 7);
    }

    private static Finding steering(final Examined machine) {
        final Optional<Port> soft = ports(machine).stream().filter(port -> port.device().software()).findFirst();
        if (soft.isEmpty()) {
            return machine.topology().rdmaDevices().isEmpty() ? Finding.unknown("no RDMA device")
                : Finding.ok("does not apply to the queues of an adapter");
        }
        final String folder = NETS + soft.get().net() + "/queues/";
        final Map<String, CpuSet> masks = new LinkedHashMap<>();
        for (final String queue : machine.files().names(folder)) {
            machine.files().cpuMask(folder + queue + "/xps_cpus").ifPresent(mask -> masks.put(queue, mask));
        }
        if (masks.size() < 2) {
            return Finding.unknown(soft.get().net() + " shows no masks: it has one transmit queue");
        }
        if (masks.values().stream().allMatch(CpuSet::isEmpty)) {
            return Finding.ok(soft.get().net() + " has no masks: the kernel chooses a queue for each flow");
        }
        final CpuSet cores = machine.hotCores();
        final List<String> shared = masks.entrySet().stream().filter(queue -> queue.getValue().intersects(cores)
            && !cores.containsAll(queue.getValue())).map(Map.Entry::getKey).toList();
        return shared.isEmpty() ? Finding.ok(soft.get().net() + ": hot " + machine.hot().named() + " share no queue with others")
            : Finding.warning(soft.get().net() + ": hot " + machine.hot().named() + " share " + String.join(", ", shared)
                + " with other CPUs", machine.others().isEmpty() ? "./ringpoll tune plan" : Examined.write(
                    machine.others().mask(), shared.stream().map(queue -> folder + queue + "/xps_cpus").toArray(String[]::new))
                + "   # and the mask of the hot CPUs, " + cores.mask() + ", to another queue");
    }

    /** The completion queues of an adapter are polled by the process itself: the interface's moderation does not apply. */
    private static Finding moderation(final Examined machine) {
        final List<Port> soft = ports(machine).stream().filter(port -> port.device().software()).toList();
        if (soft.isEmpty()) {
            return machine.topology().rdmaDevices().isEmpty() ? Finding.unknown("no RDMA device")
                : Finding.ok("does not apply to the completion queues of an adapter");
        }
        final String net = soft.getFirst().net();
        final String folder = NETS + net + "/";
        final long deferred = machine.files().number(folder + "napi_defer_hard_irqs").orElse(0);
        final long flushNs = machine.files().number(folder + "gro_flush_timeout").orElse(0);
        return deferred > 0 && flushNs > 0
            ? Finding.warning(net + " defers interrupts by up to " + deferred * flushNs / 1000 + " us", "echo 0 | sudo tee /"
                + folder + "napi_defer_hard_irqs")
            : Finding.unknown(net + ": only ethtool can read it", "ethtool -c " + net + "   # then: sudo ethtool -C " + net
                + " adaptive-rx off rx-usecs 0");
    }
}
