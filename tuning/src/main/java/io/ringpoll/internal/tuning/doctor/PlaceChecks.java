package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Scope.PROCESS;
import static io.ringpoll.internal.tuning.doctor.Verdict.BAD;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.ControlGroup;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.RdmaDevice;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Checks of the CPUs and the CPU time available to the process: the container's quota and CPU set, the device's node. */
final class PlaceChecks {
    private PlaceChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("cpu-quota", "CPU quota of the control group",
                "Spinning threads use a quota up within each period, and then the kernel stops all of them until the next.",
                HIGH, PROCESS, PlaceChecks::quota, OK, WARNING, BAD, UNKNOWN),
            new Check("cpu-set", "CPUs that this process may use",
                "With fewer CPUs than hot threads each hand-off waits for a context switch.",
                HIGH, PROCESS, PlaceChecks::cpus, OK, WARNING, BAD),
            new Check("device-node", "NUMA node of the device",
                "From another node each completion that is polled and each doorbell that is rung crosses the sockets.",
                HIGH, PROCESS, PlaceChecks::node, OK, WARNING, BAD, UNKNOWN));
    }

    private static Finding quota(final Examined machine) {
        final ControlGroup group = machine.topology().controlGroup();
        if (group.version() == 0) {
            return Finding.unknown("no control group with a cpu controller is visible");
        }
        if (group.quotaCpus().isEmpty()) {
            return Finding.ok("none");
        }
        final double quota = group.quotaCpus().getAsDouble();
        final String reading = String.format(Locale.ROOT, "%.2f CPUs' time in each period of %d us", quota,
            group.periodUs().orElse(0)) + (group.throttled().orElse(0) > 0 ? ", stopped in " + group.throttled().getAsLong()
            + " periods so far" : "");
        final String command = "raise or remove the container's limit (docker: --cpus, Kubernetes: limits.cpu, systemd: "
            + "CPUQuota=); "
            + "until then: ./ringpoll tune plan";
        return quota < machine.hotThreads() + 1 || group.throttled().orElse(0) > 0 ? Finding.bad(reading, command)
            : Finding.warning(reading, command);
    }

    private static Finding cpus(final Examined machine) {
        final CpuSet usable = machine.topology().usable();
        final int wanted = machine.hotThreads() + 1;
        final String reading = usable + " (" + usable.size() + " of " + machine.topology().online().size() + " online)";
        if (usable.size() >= wanted) {
            return Finding.ok(reading);
        }
        final String scarce = reading + " for " + machine.hotThreads() + " hot threads and the JVM's own";
        final String command = "./ringpoll tune plan   # shows which threads share a CPU, and their waits";
        return usable.size() == 1 ? Finding.bad(scarce, command) : Finding.warning(scarce, command);
    }

    private static Finding node(final Examined machine) {
        final Topology topology = machine.topology();
        if (topology.cpuNodes().size() == 1) {
            return Finding.ok("the machine has one NUMA node");
        }
        final Optional<RdmaDevice> device = machine.hardware().stream().findFirst();
        if (device.isEmpty()) {
            return Finding.ok("no RDMA adapter is there to be near to");
        }
        if (device.get().node().isEmpty()) {
            return Finding.unknown("the firmware does not report the node of " + device.get().name(),
                "./ringpoll latency on each node in turn, by taskset");
        }
        final int node = device.get().node().getAsInt();
        final CpuSet local = topology.node(node).map(found -> found.cpus()).orElse(CpuSet.EMPTY);
        final String reading = device.get().name() + " is on node " + node + " (CPUs " + local + ")";
        if (!local.intersects(topology.usable())) {
            return Finding.bad(reading + ", and this process may use none of them",
                "assign CPUs of node " + node + " (docker: --cpuset-cpus " + local + ", systemd: AllowedCPUs="
                    + local + ")");
        }
        final CpuSet away = machine.hot().minus(local);
        return away.isEmpty() ? Finding.ok(reading) : Finding.warning(reading + ", hot " + away.named() + (away.size() == 1
            ? " is not" : " are not"),
            "./ringpoll tune plan");
    }
}
