package io.ringpoll.bench.growth;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.plan.ThreadRole;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.pipeline.WaitMode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The CPUs of pollers with one handler each, and their wait: the same for ringpoll and for C.
 *
 * @param pairs        for each poller its CPU and that of its handler
 * @param waitStrategy of all threads
 */
record GrowthCpus(List<HotCpus> pairs, WaitMode waitStrategy) {
    /** Copies the list. */
    GrowthCpus {
        pairs = List.copyOf(pairs);
    }

    /** Each thread spins on its own CPU by the affinity plan; where there are too few, the threads are not pinned, and yield. */
    static GrowthCpus planned(final Topology topology, final int pollers) {
        final List<ThreadRole> roles = new ArrayList<>();
        for (int i = 0; i < pollers; i++) {
            roles.add(ThreadRole.poller("poller-" + i));
            roles.add(ThreadRole.handler("handler-" + i));
        }
        final AffinityPlan plan = AffinityPlan.plan(topology, PlanRequest.of(roles.toArray(new ThreadRole[0])));
        final List<HotCpus> pairs = new ArrayList<>();
        final Set<Integer> distinct = new HashSet<>();
        for (int i = 0; i < pollers; i++) {
            final int poller = plan.cpu("poller-" + i).orElse(HotCpus.ANY);
            final int handler = plan.cpu("handler-" + i).orElse(HotCpus.ANY);
            pairs.add(new HotCpus(poller, List.of(handler)));
            distinct.add(poller);
            distinct.add(handler);
        }
        if (distinct.size() == 2 * pollers && !distinct.contains(HotCpus.ANY)) {
            return new GrowthCpus(pairs, WaitMode.BUSY_SPIN);
        }
        pairs.replaceAll(unused -> HotCpus.unpinned());
        return new GrowthCpus(pairs, WaitMode.YIELD);
    }

    /** Whether each thread has a CPU. */
    boolean areExclusive() {
        return waitStrategy == WaitMode.BUSY_SPIN;
    }
}
