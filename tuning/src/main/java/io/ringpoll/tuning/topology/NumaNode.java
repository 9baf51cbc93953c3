package io.ringpoll.tuning.topology;

import java.util.List;

/**
 * One NUMA node.
 *
 * @param id        its number
 * @param cpus      its CPUs that are online
 * @param distances its distance to each node as the firmware tells it, 10 to itself; empty if unknown
 */
public record NumaNode(int id, CpuSet cpus, List<Integer> distances) {
    /** Copies the list. */
    public NumaNode {
        distances = List.copyOf(distances);
    }
}
