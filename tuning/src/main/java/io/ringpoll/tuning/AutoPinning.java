package io.ringpoll.tuning;

import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.plan.PlannedThread;
import io.ringpoll.internal.tuning.plan.ThreadRole;
import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.pipeline.Pinning;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Pins a pipeline's threads by an affinity plan, as printed by {@code ./ringpoll tune plan}: {@code builder.pin(auto())}.
 *
 * <p>Immutable.
 */
public final class AutoPinning implements Pinning {
    private final Topology topology;
    private final Optional<String> device;

    private AutoPinning(final Topology topology, final Optional<String> device) {
        this.topology = topology;
        this.device = device;
    }

    /**
     * Pins by a plan for this machine, near its first active RDMA device.
     *
     * @return for {@code PipelineBuilder.pin}
     * @throws IllegalStateException if {@code /proc} and {@code /sys} list no CPU
     */
    public static AutoPinning auto() {
        return of(Topology.ofThisMachine());
    }

    /** Pins by a plan for a machine. */
    static AutoPinning of(final Topology topology) {
        return new AutoPinning(topology, Optional.empty());
    }

    /**
     * The same near another device.
     *
     * @param name the RDMA device's name
     * @return a new pinning
     */
    public AutoPinning nearDevice(final String name) {
        return new AutoPinning(topology, Optional.of(name));
    }

    @Override
    public Map<String, Assignment> assign(final List<Candidate> candidates, final Set<Integer> taken) {
        final CpuSet free = topology.usable().minus(CpuSet.of(taken));
        if (free.isEmpty()) {
            throw new IllegalArgumentException("no CPU is left to pin threads to: " + topology.usable().named() +
                " can be used, and threads with a CPU of their own have all of it");
        }
        final List<ThreadRole> roles = new ArrayList<>();
        for (final Candidate candidate : candidates) {
            // Thread names are arbitrary; the name of a role must be valid in an option.
            final String name = "thread-" + roles.size();
            roles.add(candidate.polls() ? ThreadRole.poller(name) : ThreadRole.handler(name));
        }
        final Optional<CpuSet> only = taken.isEmpty() ? Optional.empty() : Optional.of(free);
        final AffinityPlan plan = AffinityPlan.plan(topology, new PlanRequest(roles, device, only));
        final Map<String, Assignment> assignments = new LinkedHashMap<>();
        for (int i = 0; i < roles.size(); i++) {
            final PlannedThread planned = plan.threads().get(i);
            assignments.put(
                candidates.get(i).name(), new Assignment(planned.cpu().orElse(ANY_CPU), planned.waitMode()));
        }
        return assignments;
    }
}
