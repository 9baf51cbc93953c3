package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.RdmaPort;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Checks of the network between RDMA devices. */
final class NetworkChecks {
    /** The largest MTU of RDMA. */
    private static final int FULL_MTU = 4096;
    /** The smallest MTU of an Ethernet interface with room for it and the headers. */
    private static final int JUMBO_NET_MTU = 4200;

    private NetworkChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("mtu", "path MTU",
                "A small MTU cuts a message into more packets: each costs the adapter time and the wire a header.",
                LOW, MACHINE, NetworkChecks::mtu, OK, WARNING, UNKNOWN));
    }

    private static Finding mtu(final Examined machine) {
        final List<String> small = new ArrayList<>();
        final List<String> full = new ArrayList<>();
        String command = "";
        for (final RdmaDevice device : machine.topology().rdmaDevices()) {
            for (final RdmaPort port : device.ports()) {
                final OptionalInt active = activeMtuBytes(machine, device, port);
                // The MTU of an IP over InfiniBand interface is independent of the path's.
                final OptionalInt net = port.ethernet() ? port.netMtuBytes() : OptionalInt.empty();
                if (active.isEmpty() && net.isEmpty()) {
                    continue;
                }
                final boolean enough = active.isPresent() ? active.getAsInt() >= FULL_MTU : net.getAsInt() >= JUMBO_NET_MTU;
                final String bytes = active.isPresent() ? " " + active.getAsInt() + " bytes" : "";
                final String carrier = net.isPresent() ? " (" + port.netDevice().orElse("") + ": " + net.getAsInt() + ")" : "";
                (enough ? full : small).add(device.name() + "/" + port.number() + bytes + carrier);
                if (!enough) {
                    command = port.ethernet() ? "sudo ip link set " + port.netDevice().orElse("DEVICE")
                        + " mtu 9000   # the switches must carry it"
                        : "set an MTU of 4096 in the subnet manager's partition configuration (opensm: mtu=5)";
                }
            }
        }
        if (small.isEmpty() && full.isEmpty()) {
            return Finding.unknown(machine.topology().rdmaDevices().isEmpty() ? "no RDMA device" : "no port reports its MTU");
        }
        return small.isEmpty() ? Finding.ok(String.join("; ", full)) : Finding.warning(String.join("; ", small), command);
    }

    private static OptionalInt activeMtuBytes(final Examined machine, final RdmaDevice device, final RdmaPort port) {
        return machine.verbs().stream().flatMap(List::stream).filter(attributes -> attributes.name().equals(device.name()))
            .flatMapToInt(attributes -> attributes.activeMtuBytes(port.number()).stream()).findFirst();
    }
}
