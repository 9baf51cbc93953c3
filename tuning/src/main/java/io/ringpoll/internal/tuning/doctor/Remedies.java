package io.ringpoll.internal.tuning.doctor;

import io.ringpoll.internal.tuning.topology.Surroundings;
import java.util.List;
import java.util.Map;

/**
 * Adapts the command of a finding to the surroundings of the process.
 *
 * <p>The limits of a container or service are set when it is started, and the settings of the machine can be changed on the
 * host only.
 */
final class Remedies {
    private static final String STATIC_CPUS = "cpuManagerPolicy: static of the kubelet, and whole CPUs in the container's "
        + "limits, equal to its requests";

    /** The options of each manager: Docker and Podman, Kubernetes, systemd; LIST is a list of CPUs. */
    private record Options(String docker, String kubernetes, String systemd) {
        String of(final Surroundings.Kind kind) {
            return switch (kind) {
                case DOCKER -> "docker run " + docker;
                case PODMAN -> "podman run " + docker;
                case KUBERNETES -> kubernetes;
                case NSPAWN -> systemd + " in the container's unit, systemd-nspawn@NAME.service";
                case SERVICE -> systemd + " in the unit: sudo systemctl edit NAME";
                case CONTAINER, SESSION -> "the container's manager: the equivalent of " + systemd;
            };
        }
    }

    private static final Map<String, Options> BY_CHECK = Map.of(
        "locked-memory", new Options("--ulimit memlock=-1", "add IPC_LOCK to the container's securityContext.capabilities; pods "
            + "have no ulimits", "LimitMEMLOCK=infinity"),
        "cpu-set", new Options("--cpuset-cpus LIST", STATIC_CPUS, "AllowedCPUs=LIST"),
        "cpu-quota", new Options("--cpuset-cpus LIST, without --cpus and --cpu-quota", STATIC_CPUS + "; or cpuCFSQuota: false",
            "CPUQuota= (empty) and AllowedCPUs=LIST"),
        "device-node", new Options("--cpuset-cpus LIST --cpuset-mems NODE", "topologyManagerPolicy: single-numa-node and "
            + STATIC_CPUS, "AllowedCPUs=LIST and AllowedMemoryNodes=NODE"),
        "rdma-access", new Options("--device /dev/infiniband   # and --group-add for its group, unless it runs as root",
            "an RDMA device plugin on the node, and its resource in the container's limits",
            "DeviceAllow=char-infiniband_verbs rw, and the same for /dev/infiniband/rdma_cm"));
    /** Commands for the process itself, wherever it runs. */
    private static final List<String> INSIDE = List.of("./ringpoll", "sudo ./ringpoll", "measure it: ./ringpoll");

    private Remedies() {
    }

    static Finding adapted(final Check check, final Finding finding, final Surroundings surroundings) {
        final Surroundings.Kind kind = surroundings.kind();
        final String command = finding.command();
        if (kind == Surroundings.Kind.SESSION || command.isEmpty() || INSIDE.stream().anyMatch(command::startsWith)) {
            return finding;
        }
        if (check.scope() == Scope.PROCESS && BY_CHECK.containsKey(check.id())) {
            return finding.with(BY_CHECK.get(check.id()).of(kind).replace("edit NAME", "edit " + surroundings.evidence()));
        }
        return check.scope() == Scope.MACHINE && kind.isContainer() ? finding.with("on the host: " + command) : finding;
    }
}
