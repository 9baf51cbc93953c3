package io.ringpoll.bench.handoff;

import io.ringpoll.internal.tuning.plan.AffinityPlan;
import io.ringpoll.internal.tuning.plan.PlanRequest;
import io.ringpoll.internal.tuning.plan.ThreadRole;
import io.ringpoll.internal.tuning.topology.Topology;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The CPUs of the hot threads of a measurement: the same for ringpoll and for its baselines.
 *
 * @param poller   CPU of the polling thread, or {@link #ANY}
 * @param handlers CPU of each handler thread, or {@link #ANY}
 */
public record HotCpus(int poller, List<Integer> handlers) {
    /** Not pinned. */
    public static final int ANY = -1;

    private static final String POLLER = "poller";
    private static final String HANDLER = "handler-";

    /** Copies the list. */
    public HotCpus {
        handlers = List.copyOf(handlers);
    }

    /**
     * No thread pinned.
     *
     * @return valid for any number of handlers
     */
    public static HotCpus unpinned() {
        return new HotCpus(ANY, List.of());
    }

    /**
     * The CPUs of the affinity plan of this machine.
     *
     * @param handlerCount number of handlers
     * @return a CPU for each thread
     */
    public static HotCpus planned(final int handlerCount) {
        return of(AffinityPlan.plan(Topology.ofThisMachine(), request(handlerCount)), handlerCount);
    }

    /**
     * The request to the planner.
     *
     * @param handlerCount number of handlers
     * @return a poller and the handlers
     */
    public static PlanRequest request(final int handlerCount) {
        final List<ThreadRole> roles = new ArrayList<>(List.of(ThreadRole.poller(POLLER)));
        for (int i = 1; i <= handlerCount; i++) {
            roles.add(ThreadRole.handler(HANDLER + i));
        }
        return PlanRequest.of(roles.toArray(new ThreadRole[0]));
    }

    /**
     * The CPUs of a plan.
     *
     * @param plan         a plan for a {@link #request}
     * @param handlerCount number of handlers
     * @return a CPU for each thread
     */
    public static HotCpus of(final AffinityPlan plan, final int handlerCount) {
        final List<Integer> cpus = new ArrayList<>();
        for (int i = 1; i <= handlerCount; i++) {
            cpus.add(plan.cpu(HANDLER + i).orElse(ANY));
        }
        return new HotCpus(plan.cpu(POLLER).orElse(ANY), cpus);
    }

    /**
     * The CPU of a handler.
     *
     * @param index index of the handler, from 0
     * @return the CPU, or {@link #ANY}
     */
    public int handler(final int index) {
        return index < handlers.size() ? handlers.get(index) : ANY;
    }

    /**
     * Whether every thread has a dedicated CPU.
     *
     * @param handlerCount number of handlers
     * @return false if one is not pinned or two share a CPU
     */
    public boolean areExclusive(final int handlerCount) {
        final Set<Integer> distinct = new HashSet<>();
        distinct.add(poller);
        for (int i = 0; i < handlerCount; i++) {
            distinct.add(handler(i));
        }
        return isPinned(handlerCount) && distinct.size() == handlerCount + 1;
    }

    /**
     * Whether every thread is pinned.
     *
     * @param handlerCount number of handlers
     * @return false if one is not
     */
    public boolean isPinned(final int handlerCount) {
        boolean pinned = poller != ANY;
        for (int i = 0; i < handlerCount; i++) {
            pinned &= handler(i) != ANY;
        }
        return pinned;
    }

    @Override
    public String toString() {
        if (poller == ANY && handlers.isEmpty()) {
            return "not pinned";
        }
        final List<String> places = new ArrayList<>();
        places.add("poller on " + place(poller));
        for (int i = 0; i < handlers.size(); i++) {
            places.add("handler " + (i + 1) + " on " + place(handlers.get(i)));
        }
        return String.join(", ", places);
    }

    private static String place(final int cpu) {
        return cpu == ANY ? "any CPU" : "CPU " + cpu;
    }
}
