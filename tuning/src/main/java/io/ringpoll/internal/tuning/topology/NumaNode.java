package io.ringpoll.internal.tuning.topology;

import java.util.List;

/**
 * One NUMA node.
 *
 * @param id        its number
 * @param cpus      its online CPUs
 * @param distances its distance to each node according to the firmware, 10 to itself; empty if unknown
 */
public record NumaNode(int id, CpuSet cpus, List<Integer> distances) {
    /** Copies the list. */
    public NumaNode {
        distances = List.copyOf(distances);
    }
}
