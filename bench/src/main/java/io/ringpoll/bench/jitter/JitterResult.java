package io.ringpoll.bench.jitter;

import java.util.List;

/**
 * The results of the jitter meter.
 *
 * @param durationNs running time of each loop, in nanoseconds
 * @param clockNs    cost of a clock read, in nanoseconds
 * @param floorNs    the shortest counted gap, in nanoseconds
 * @param java       results of the loop in Java, by CPU
 * @param c          results of the loop in C, by CPU; empty if it did not run
 */
public record JitterResult(long durationNs, long clockNs, long floorNs, List<CpuJitter> java, List<CpuJitter> c) {
    /** Copies the lists. */
    public JitterResult {
        java = List.copyOf(java);
        c = List.copyOf(c);
    }
}
