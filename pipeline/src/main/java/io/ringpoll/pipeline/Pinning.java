package io.ringpoll.pipeline;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds a CPU for each thread of a pipeline that has none yet, for instance by a plan made from the machine's topology.
 *
 * <p>Asked once, on the thread that starts the pipeline.
 */
@FunctionalInterface
public interface Pinning {
    /** Says which CPU a thread gets if it may run wherever the operating system likes. */
    int ANY_CPU = -1;

    /**
     * A thread that wants a CPU.
     *
     * @param name  unique in the pipeline
     * @param polls whether it polls completion queues; it handles completions otherwise
     */
    record Candidate(String name, boolean polls) {
    }

    /**
     * Where a thread is to run.
     *
     * @param cpu    number as in {@code /proc/cpuinfo}, or {@link #ANY_CPU}
     * @param waitBy how it should wait there, unless the user has said
     */
    record Place(int cpu, HandlerWait waitBy) {
    }

    /**
     * Finds the places.
     *
     * @param candidates the threads without a CPU, pollers first
     * @param taken      the CPUs that the user has given to other threads of the pipeline
     * @return a place for each name; a thread without one stays unpinned
     * @throws IllegalArgumentException that names what cannot be had; the pipeline does not start then
     */
    Map<String, Place> places(List<Candidate> candidates, Set<Integer> taken);
}
