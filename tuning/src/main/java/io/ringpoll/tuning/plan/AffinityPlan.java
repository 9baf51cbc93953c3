package io.ringpoll.tuning.plan;

import io.ringpoll.tuning.topology.CpuSet;
import io.ringpoll.tuning.topology.Topology;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * The CPU of each thread of a pipeline, how it should wait there, and what had to be given up.
 *
 * <p>Rules, the weightier first: inside what the process may use; near the device; a core for each hot thread, whose SMT
 * sibling stays idle; isolated CPUs before others; poller and handlers under one shared cache; auxiliary threads (garbage
 * collector, compiler, flight recorder) on other CPUs.
 *
 * @param placements the threads in the order of the request
 * @param auxiliary  the CPUs for the JVM's own threads
 * @param idle       the SMT siblings of the pinned threads' CPUs, to be left idle
 * @param node       the NUMA node the plan is built around
 * @param device     the RDMA device it is near to; nothing if there is none
 * @param facts      what was found and followed, one sentence each
 * @param givenUp    what could not be had, one sentence each; empty for a plan without compromise
 */
public record AffinityPlan(List<Placement> placements, CpuSet auxiliary, CpuSet idle, int node, Optional<String> device,
                           List<String> facts, List<String> givenUp) {
    /** Copies the lists. */
    public AffinityPlan {
        placements = List.copyOf(placements);
        facts = List.copyOf(facts);
        givenUp = List.copyOf(givenUp);
    }

    /**
     * Plans.
     *
     * @param topology the machine
     * @param request  the threads
     * @return the plan
     * @throws IllegalArgumentException if the request names a device that is not there, or CPUs that the process may not
     *                                  use; the message says which and what there is
     */
    public static AffinityPlan plan(final Topology topology, final PlanRequest request) {
        return new Planner(topology, request).plan();
    }

    /**
     * The CPU of one thread.
     *
     * @param thread the thread's name
     * @return its CPU; nothing if it is not pinned or not in the plan
     */
    public OptionalInt cpu(final String thread) {
        return placements.stream().filter(placement -> placement.role().name().equals(thread))
            .findFirst().map(Placement::cpu).orElse(OptionalInt.empty());
    }

    /**
     * How one thread should wait.
     *
     * @param thread the thread's name
     * @return the hint; {@link WaitHint#SLEEP} for a thread that is not in the plan
     */
    public WaitHint waitHint(final String thread) {
        return placements.stream().filter(placement -> placement.role().name().equals(thread))
            .findFirst().map(Placement::waitHint).orElse(WaitHint.SLEEP);
    }

    /**
     * The one hint that suits all threads of a kind: the most modest of theirs.
     *
     * @param kind the kind
     * @return the hint; {@link WaitHint#BUSY_SPIN} if there is no such thread
     */
    public WaitHint waitHint(final ThreadRole.Kind kind) {
        return placements.stream().filter(placement -> placement.role().kind() == kind).map(Placement::waitHint)
            .max(Enum::compareTo).orElse(WaitHint.BUSY_SPIN);
    }

    /**
     * The CPUs that threads are pinned to.
     *
     * @return the set
     */
    public CpuSet hotCpus() {
        return CpuSet.of(placements.stream().flatMapToInt(placement -> placement.cpu().stream()).toArray());
    }

    /**
     * The pinned threads with their CPUs.
     *
     * @return CPU by thread name, in the order of the request; none where there is one CPU only
     */
    public Map<String, Integer> cpus() {
        final Map<String, Integer> cpus = new LinkedHashMap<>();
        placements.forEach(placement -> placement.cpu().ifPresent(cpu -> cpus.put(placement.role().name(), cpu)));
        return cpus;
    }

    /**
     * The plan as the value of the option {@code --pin}.
     *
     * @return for instance {@code poller=2,send-write=3}; {@code none} if no thread is pinned
     */
    public String pinOption() {
        return cpus().isEmpty() ? "none" : cpus().entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue()).collect(Collectors.joining(","));
    }
}
