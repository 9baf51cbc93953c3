package io.ringpoll.bench.measure;

/**
 * The CPU time that hot threads lost in a time.
 *
 * @param windowNs            the time
 * @param runDelayNs          time that they were runnable while another thread had their CPU, in total
 * @param stealNs             steal time of the hypervisor; the kernel counts it in steps of 10 ms
 * @param involuntarySwitches involuntary context switches of the threads
 */
public record CpuLoss(long windowNs, long runDelayNs, long stealNs, long involuntarySwitches) {
    /** A thousandth of the time: enough to change p99.9. */
    private static final int SIGNIFICANT_PARTS = 1000;

    /**
     * The loss without the run delay: for hot threads that share CPUs, which wait for each other by design.
     *
     * @return the loss by the machine
     */
    public CpuLoss stolenOnly() {
        return new CpuLoss(windowNs, 0, stealNs, involuntarySwitches);
    }

    /**
     * The total loss.
     *
     * @return nanoseconds
     */
    public long lostNs() {
        return runDelayNs + stealNs;
    }

    /**
     * The losses of all threads, added, as a share of the time: 0.1 is a tenth of one CPU.
     *
     * @return from 0 on; above 1 if several threads lost their CPU
     */
    public double lostShare() {
        return lostNs() / (double) Math.max(1, windowNs);
    }

    /**
     * Whether the loss is so high that the figures of this time depend more on the machine than on the program.
     *
     * @return true from a thousandth of the time on
     */
    public boolean isSignificant() {
        return lostNs() >= windowNs / SIGNIFICANT_PARTS;
    }
}
