package io.ringpoll.bench.throughput;

import io.ringpoll.bench.measure.CpuLoss;

/**
 * The window of a hand-off in one round.
 *
 * @param round           its round
 * @param label           label of the hand-off
 * @param asked           the regime in which it was started
 * @param nsPerCompletion cost of a completion; infinite if none was handled
 * @param occupiedShare   share of the ring that was waiting to be handled, on average
 * @param loss            CPU time that its threads lost
 * @param allocatedBytes  bytes that its Java threads allocated for each completion; NaN if that is not known
 * @param fault           reason why it is invalid; empty if it is valid
 */
public record ThroughputWindow(int round, String label, Regime asked, double nsPerCompletion, double occupiedShare, CpuLoss loss,
                               double allocatedBytes, String fault) {
    /**
     * The maximum loss of a valid window: the losses of its hot threads, added, are less than a tenth of its length, for instance
     * 50 ms of 500. Lost time changes the figure by at most the same share. A virtual machine always loses some time, equally in
     * all turns, and the median excludes outliers; a window with a higher loss measures the machine and not the program.
     */
    private static final double LOST_SHARE = 0.10;

    /**
     * The regime in which it ran.
     *
     * @return by the occupied share
     */
    public Regime regime() {
        return Regime.of(occupiedShare);
    }

    /**
     * Whether it is valid.
     *
     * @return false if completions were lost, none was handled, or its threads did not have their CPUs
     */
    public boolean counts() {
        return fault.isEmpty() && Double.isFinite(nsPerCompletion) && loss.lostShare() < LOST_SHARE;
    }
}
