package io.ringpoll.cli.options;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.measure.NodeCensus;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.os.MemoryPolicy;
import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.NumaNode;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.os.OsException;
import io.ringpoll.pipeline.WaitMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The CPUs and the wait strategy of the hot threads: the same for ringpoll and for its baselines. */
public final class HotThreadOptions {
    private static final String AUTO = "auto";
    private static final String NONE = "none";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(names = "--pin", paramLabel = "CPUS", defaultValue = AUTO,
        description = "CPU of the poller and of each handler, as in 2,3 (${DEFAULT-VALUE}: by the affinity plan; or none).")
    private String pin;

    @Option(names = "--numa-node", paramLabel = "N",
        description = "Allocate memory on this NUMA node only, like numactl --membind, and plan on its CPUs unless --pin is "
            + "given.")
    private Integer numaNode;

    @Option(names = "--wait", paramLabel = "HOW", defaultValue = AUTO,
        description = "Wait of threads: busy-spin, yield, sleep or block (${DEFAULT-VALUE}: spin if each has a CPU).")
    private String waitStrategy;

    private List<String> compromises = List.of();

    /** Created by picocli. */
    public HotThreadOptions() {
    }

    /**
     * Rejects invalid CPUs, nodes and wait strategies.
     *
     * @param handlers number of handlers
     * @throws ParameterException in one line
     */
    public void check(final int handlers) {
        final Topology topology = Topology.ofThisMachine();
        if (numaNode != null) {
            requireNode(topology);
        }
        if (!AUTO.equals(pin) && !NONE.equals(pin)) {
            parse(handlers, topology);
        }
        if (!AUTO.equals(waitStrategy)) {
            chosenWait();
        }
    }

    /**
     * The CPUs of the hot threads.
     *
     * @param handlers number of handlers
     * @return a CPU for each, or none
     */
    public HotCpus cpus(final int handlers) {
        if (NONE.equals(pin)) {
            return HotCpus.unpinned();
        }
        return AUTO.equals(pin) ? plan(handlers) : parse(handlers, Topology.ofThisMachine());
    }

    /**
     * The CPUs of the hot threads of one of two processes. They share this machine on the loopback device: a plan for each would
     * have the same CPUs.
     *
     * @param handlers number of handlers of this process
     * @return the given CPUs; none by default, unless the device is an RDMA device
     */
    public HotCpus cpusOfRole(final int handlers) {
        return AUTO.equals(pin) && isShared() ? HotCpus.unpinned() : cpus(handlers);
    }

    /**
     * The wait strategy of the hot threads of one of two processes.
     *
     * @param cpus     CPUs of the threads of this process
     * @param handlers number of handlers of this process
     * @return the requested one; by default spinning if each thread of both processes has a CPU, else yielding
     */
    public WaitMode waitStrategyOfRole(final HotCpus cpus, final int handlers) {
        return waitStrategy(cpus, handlers, isShared() ? handlers + 1 : 0);
    }

    private static boolean isShared() {
        return Device.current().kind() == DeviceKind.LOOPBACK;
    }

    /**
     * Binds the memory of the calling thread, and of threads and processes that it starts later, to the requested NUMA node, if
     * there is one; to be called before the first allocation.
     *
     * @return the census of memory placement; empty if no node was requested
     * @throws OsException if the system call fails
     */
    public Optional<NodeCensus> bindMemory() {
        if (numaNode == null) {
            return Optional.empty();
        }
        requireNode(Topology.ofThisMachine());
        MemoryPolicy.bind(numaNode);
        return Optional.of(new NodeCensus(numaNode));
    }

    /**
     * The requested NUMA node.
     *
     * @return empty if memory may be on any node
     */
    public Optional<Integer> numaNode() {
        return Optional.ofNullable(numaNode);
    }

    /**
     * The wait strategy of the hot threads.
     *
     * @param cpus     CPUs of the threads
     * @param handlers number of handlers
     * @param posters  number of further hot threads, not pinned
     * @return the requested one; by default spinning if each thread has a CPU, else yielding
     */
    public WaitMode waitStrategy(final HotCpus cpus, final int handlers, final int posters) {
        if (AUTO.equals(waitStrategy)) {
            final boolean enough = Runtime.getRuntime().availableProcessors() > handlers + posters;
            final boolean exclusive = cpus.areExclusive(handlers) || cpus.equals(HotCpus.unpinned());
            return enough && exclusive ? WaitMode.BUSY_SPIN : WaitMode.YIELD;
        }
        return chosenWait();
    }

    private WaitMode chosenWait() {
        for (final WaitMode candidate : WaitMode.values()) {
            if (candidate.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(waitStrategy)) {
                return candidate;
            }
        }
        throw refused("--wait '" + waitStrategy + "' is not auto, busy-spin, yield, sleep or block");
    }

    /**
     * The compromises of the affinity plan, if there is one.
     *
     * @return one sentence each; known after {@link #cpus}
     */
    public List<String> compromises() {
        return compromises;
    }

    private void requireNode(final Topology topology) {
        final List<Integer> nodes = topology.nodes().stream().map(NumaNode::id).toList();
        if (numaNode < 0 || !nodes.isEmpty() && !nodes.contains(numaNode)) {
            throw refused("--numa-node " + numaNode + ": no such node; there are " + nodes);
        }
    }

    private HotCpus plan(final int handlers) {
        final Topology topology = Topology.ofThisMachine();
        PlanRequest request = HotCpus.request(handlers);
        if (numaNode != null) {
            request = request.onCpus(cpusOf(topology, numaNode));
        }
        final AffinityPlan plan;
        try {
            plan = AffinityPlan.plan(topology, request);
        } catch (final IllegalArgumentException e) {
            throw refused("--numa-node: " + e.getMessage());
        }
        compromises = plan.givenUp();
        return HotCpus.of(plan, handlers);
    }

    private CpuSet cpusOf(final Topology topology, final int node) {
        return topology.node(node).map(NumaNode::cpus).map(topology.usable()::and).filter(set -> !set.isEmpty())
            .orElseThrow(() -> refused(
                "--numa-node " + node + ": it has no CPU that this process may use; select CPUs with --pin"));
    }

    private HotCpus parse(final int handlers, final Topology topology) {
        final List<Integer> cpus = new ArrayList<>();
        for (final String part : pin.split(",", -1)) {
            try {
                cpus.add(Integer.parseInt(part.strip()));
            } catch (final NumberFormatException notANumber) {
                throw refused("--pin '" + pin + "': '" + part + "' is no number of a CPU");
            }
        }
        if (cpus.size() != handlers + 1) {
            throw refused("--pin '" + pin + "' names " + cpus.size() + " CPUs; needed are " + (handlers + 1) +
                ": the poller's and each handler's");
        }
        final CpuSet usable = topology.usable();
        for (final int cpu : cpus) {
            if (!usable.contains(cpu)) {
                throw refused("--pin: CPU " + cpu + " cannot be used; this process may use " + usable);
            }
        }
        return new HotCpus(cpus.getFirst(), cpus.subList(1, cpus.size()));
    }

    private ParameterException refused(final String message) {
        return new ParameterException(command.commandLine(), message);
    }
}
