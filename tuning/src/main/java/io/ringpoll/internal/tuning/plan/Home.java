package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.NumaNode;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The NUMA node of a plan, and the reason for its choice.
 *
 * @param node   the node
 * @param device the device near the node
 * @param fact   the reason, one sentence
 * @param lost   the compromise, if any
 */
record Home(NumaNode node, Optional<RdmaDevice> device, String fact, Optional<String> lost) {
    static Home choose(final Topology topology, final PlanRequest request, final CpuSet usable) {
        final Optional<RdmaDevice> device = device(topology, request);
        final NumaNode roomiest = roomiest(topology, usable);
        if (device.isEmpty()) {
            return new Home(roomiest, device, topology.cpuNodes().size() == 1 ? "no RDMA device, one NUMA node"
                : "no RDMA device: node " + roomiest.id() + " has the most CPUs to offer", Optional.empty());
        }
        final String name = device.get().name();
        if (device.get().node().isEmpty()) {
            final boolean one = topology.cpuNodes().size() == 1;
            return new Home(roomiest, device, one ? name + ": the machine has one NUMA node" : name +
                " reports no NUMA node: node "
                + roomiest.id() + " has the most CPUs to offer", one || device.get().software() ? Optional.empty() : Optional.of(
                    "the firmware does not report the node of " + name + ": measure on each node and choose with --cpus"));
        }
        final int id = device.get().node().getAsInt();
        final Optional<NumaNode> near = topology.node(id);
        if (near.isPresent() && near.get().cpus().intersects(usable)) {
            return new Home(near.get(), device, name + " is on node " + id, Optional.empty());
        }
        final NumaNode nearest = topology.cpuNodes().stream().filter(node -> node.cpus().intersects(usable))
            .min(Comparator.comparingInt((NumaNode node) -> distance(near, node)).thenComparingInt(NumaNode::id))
            .orElse(roomiest);
        return new Home(nearest, device, name + " is on node " + id + ", the nearest usable CPUs on node " + nearest.id(),
            Optional.of("no usable CPU is on node " + id + ", where " + name + " is: every completion crosses between nodes; "
                + "assign CPUs of node " + id + near.map(node -> " (" + node.cpus() + ")").orElse("")));
    }

    private static Optional<RdmaDevice> device(final Topology topology, final PlanRequest request) {
        final List<RdmaDevice> devices = topology.rdmaDevices();
        if (request.device().isPresent()) {
            final String name = request.device().get();
            return Optional.of(topology.rdmaDevice(name).orElseThrow(() -> new IllegalArgumentException(
                "no RDMA device '" + name + "' (there " + (devices.isEmpty() ? "is none"
                    : "are: " + String.join(", ", devices.stream().map(RdmaDevice::name).toList())) + ")")));
        }
        return devices.stream().filter(device -> !device.software() && active(device)).findFirst()
            .or(() -> devices.stream().filter(Home::active).findFirst())
            .or(() -> devices.stream().findFirst());
    }

    private static boolean active(final RdmaDevice device) {
        return device.ports().stream().anyMatch(port -> port.active());
    }

    private static NumaNode roomiest(final Topology topology, final CpuSet usable) {
        return topology.cpuNodes().stream()
            .max(Comparator.comparingInt((NumaNode node) -> node.cpus().and(usable).and(topology.isolated()).size())
                .thenComparingInt(node -> topology.cores(node.cpus().and(usable)).size())
                .thenComparingInt(node -> -node.id()))
            .orElseThrow();
    }

    private static int distance(final Optional<NumaNode> from, final NumaNode to) {
        return from.filter(node -> to.id() < node.distances().size()).map(node -> node.distances().get(to.id()))
            .orElse(Integer.MAX_VALUE);
    }
}
