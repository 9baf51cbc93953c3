package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.CpuSet;
import io.ringpoll.internal.tuning.topology.Topology;
import io.ringpoll.pipeline.WaitMode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * The CPU and the wait of each thread of a pipeline, and the compromises of the plan.
 *
 * <p>Rules, in descending priority: within the CPUs available to the process; near the device; a core for each hot thread, with
 * an idle SMT sibling; isolated CPUs before others; poller and handlers under one shared cache; auxiliary threads (garbage
 * collector, compiler, flight recorder) on other CPUs.
 *
 * @param threads   the threads in the order of the request
 * @param auxiliary the CPUs for the JVM's own threads
 * @param idle      the SMT siblings of the pinned threads' CPUs, which should remain idle
 * @param node      the NUMA node of the plan
 * @param device    the RDMA device near that node; empty if there is none
 * @param facts     the facts on which the plan is based, one sentence each
 * @param givenUp   the compromises, one sentence each; empty for a plan without compromise
 */
public record AffinityPlan(List<PlannedThread> threads, CpuSet auxiliary, CpuSet idle, int node, Optional<String> device,
                           List<String> facts, List<String> givenUp) {
    /** Copies the lists. */
    public AffinityPlan {
        threads = List.copyOf(threads);
        facts = List.copyOf(facts);
        givenUp = List.copyOf(givenUp);
    }

    /**
     * Computes a plan.
     *
     * @param topology the machine
     * @param request  the threads
     * @return the plan
     * @throws IllegalArgumentException if the requested device does not exist, or the process may not use the requested CPUs; the
     *     message lists the available ones
     */
    public static AffinityPlan plan(final Topology topology, final PlanRequest request) {
        return new Planner(topology, request).plan();
    }

    /**
     * The CPU of a thread.
     *
     * @param thread the thread's name
     * @return its CPU; empty if it is not pinned or not in the plan
     */
    public OptionalInt cpu(final String thread) {
        return threads.stream().filter(planned -> planned.role().name().equals(thread))
            .findFirst().map(PlannedThread::cpu).orElse(OptionalInt.empty());
    }

    /**
     * The wait of a thread.
     *
     * @param thread the thread's name
     * @return the hint; {@link WaitMode#SLEEP} for a thread that is not in the plan
     */
    public WaitMode waitMode(final String thread) {
        return threads.stream().filter(planned -> planned.role().name().equals(thread))
            .findFirst().map(PlannedThread::waitMode).orElse(WaitMode.SLEEP);
    }

    /**
     * The wait that suits all threads of a kind: the one with the lowest CPU use.
     *
     * @param kind the kind
     * @return the hint; {@link WaitMode#BUSY_SPIN} if there is no such thread
     */
    public WaitMode waitMode(final ThreadRole.Kind kind) {
        return threads.stream().filter(planned -> planned.role().kind() == kind).map(PlannedThread::waitMode)
            .max(Enum::compareTo).orElse(WaitMode.BUSY_SPIN);
    }

    /**
     * The CPUs that threads are pinned to.
     *
     * @return the set
     */
    public CpuSet hotCpus() {
        return CpuSet.of(threads.stream().flatMapToInt(planned -> planned.cpu().stream()).toArray());
    }

    /**
     * The pinned threads with their CPUs.
     *
     * @return CPU by thread name, in the order of the request; none where there is one CPU only
     */
    public Map<String, Integer> cpus() {
        final Map<String, Integer> cpus = new LinkedHashMap<>();
        threads.forEach(planned -> planned.cpu().ifPresent(cpu -> cpus.put(planned.role().name(), cpu)));
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
