package io.ringpoll.bench.jitter;

import java.util.List;

/**
 * What the meter saw.
 *
 * @param durationNs how long each loop ran, in nanoseconds
 * @param clockNs    what reading the clock costs, in nanoseconds
 * @param floorNs    the shortest gap that counts, in nanoseconds
 * @param java       what the loop in Java saw, CPU by CPU
 * @param c          what the loop in C saw, CPU by CPU; empty if it did not run
 */
public record JitterResult(long durationNs, long clockNs, long floorNs, List<CpuJitter> java, List<CpuJitter> c) {
    /** Copies the lists. */
    public JitterResult {
        java = List.copyOf(java);
        c = List.copyOf(c);
    }
}
