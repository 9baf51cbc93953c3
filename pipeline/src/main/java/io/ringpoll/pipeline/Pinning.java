package io.ringpoll.pipeline;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Assigns CPUs to the threads of a pipeline that have none, for instance by a plan for the machine's topology.
 *
 * <p>Called once, on the thread that starts the pipeline.
 */
@FunctionalInterface
public interface Pinning {
    /** CPU number of a thread that the operating system may schedule anywhere. */
    int ANY_CPU = -1;

    /**
     * A thread without a CPU.
     *
     * @param name  unique in the pipeline
     * @param polls true for a poller, false for a handler
     */
    record Candidate(String name, boolean polls) {
    }

    /**
     * The CPU and the wait of a thread.
     *
     * @param cpu      number as in {@code /proc/cpuinfo}, or {@link #ANY_CPU}
     * @param waitMode its wait there, unless the user has set one
     */
    record Assignment(int cpu, WaitMode waitMode) {
        /** Refuses an assignment without a wait. */
        public Assignment {
            Objects.requireNonNull(waitMode, "the wait of an assignment is null");
        }
    }

    /**
     * Assigns CPUs.
     *
     * @param candidates the threads without a CPU, pollers first
     * @param taken      the CPUs that the user has assigned to other threads of the pipeline
     * @return an assignment per name, not null; threads without one are not pinned
     * @throws IllegalArgumentException if the threads cannot be pinned, with the reason; the pipeline does not start
     */
    Map<String, Assignment> assign(List<Candidate> candidates, Set<Integer> taken);
}
