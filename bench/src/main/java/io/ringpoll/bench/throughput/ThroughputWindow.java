package io.ringpoll.bench.throughput;

import io.ringpoll.bench.measure.CpuLoss;

/**
 * One hand-off's turn.
 *
 * @param round         in which it was
 * @param label         of the hand-off
 * @param asked         the regime that it was started in
 * @param nsPerCompletion what a completion cost
 * @param occupiedShare of the ring that was waiting to be handled, on average
 * @param loss          what CPU time its threads lost
 * @param fault         why it does not count; empty if it does
 */
public record ThroughputWindow(int round, String label, Regime asked, double nsPerCompletion, double occupiedShare, CpuLoss loss,
                               String fault) {
    /**
     * What is lost of a window changes its figure by as much. A virtual machine always loses something, in the turns of all
     * alike, and the median leaves out what is out of line; one that lost more than this is the machine's and not the program's.
     */
    private static final double LOST_SHARE = 0.10;

    /**
     * The regime that it ran in.
     *
     * @return by what was waiting
     */
    public Regime regime() {
        return Regime.of(occupiedShare);
    }

    /**
     * Whether it counts.
     *
     * @return false if completions were lost, or its threads did not have their CPUs
     */
    public boolean counts() {
        return fault.isEmpty() && loss.lostShare() < LOST_SHARE;
    }
}
