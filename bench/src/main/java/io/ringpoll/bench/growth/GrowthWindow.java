package io.ringpoll.bench.growth;

import io.ringpoll.bench.measure.CpuLoss;

/**
 * A turn of a contestant at a point.
 *
 * @param round its round
 * @param point the point
 * @param label label of the contestant
 * @param ns    the measured nanoseconds; not finite if nothing was handled
 * @param loss  CPU time that its threads lost
 * @param fault reason why it is invalid; empty if it is valid
 */
record GrowthWindow(int round, GrowthPoint point, String label, double ns, CpuLoss loss, String fault) {
    /** As in {@code throughput}: a window with a higher loss measures the machine. */
    private static final double LOST_SHARE = 0.10;

    /** Whether it has a figure: false if completions were lost, or none was handled. */
    boolean isSound() {
        return fault.isEmpty() && Double.isFinite(ns);
    }

    /** Whether it has a figure and its threads had their CPUs. */
    boolean isUndisturbed() {
        return isSound() && loss.lostShare() < LOST_SHARE;
    }
}
