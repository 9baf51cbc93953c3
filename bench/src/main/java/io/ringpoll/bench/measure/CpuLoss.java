package io.ringpoll.bench.measure;

/**
 * CPU time that hot threads wanted and did not get in a time.
 *
 * @param windowNs            the time
 * @param runDelayNs          how long they could have run and another thread had their CPU, all together
 * @param stealNs             how long the hypervisor had a CPU; the kernel counts it by 10 ms
 * @param involuntarySwitches how often the scheduler took the CPU from one of them
 */
public record CpuLoss(long windowNs, long runDelayNs, long stealNs, long involuntarySwitches) {
    /** A thousandth of the time: what moves a p99.9. */
    private static final int SIGNIFICANT_PARTS = 1000;

    /**
     * What the machine took, where hot threads share CPUs: that they wait for each other is the arrangement's doing.
     *
     * @return without what they waited for a CPU
     */
    public CpuLoss stolenOnly() {
        return new CpuLoss(windowNs, 0, stealNs, involuntarySwitches);
    }

    /**
     * All of it.
     *
     * @return nanoseconds
     */
    public long lostNs() {
        return runDelayNs + stealNs;
    }

    /**
     * How much of the time that is.
     *
     * @return from 0 on; above 1 if several threads lost theirs
     */
    public double lostShare() {
        return lostNs() / (double) Math.max(1, windowNs);
    }

    /**
     * Whether so much was lost that the figures of this time say more about the machine than about the program.
     *
     * @return true from a thousandth of the time on
     */
    public boolean isSignificant() {
        return lostNs() >= windowNs / SIGNIFICANT_PARTS;
    }
}
