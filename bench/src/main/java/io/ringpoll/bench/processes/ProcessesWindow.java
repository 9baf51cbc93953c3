package io.ringpoll.bench.processes;

import java.util.List;

/**
 * The result of one turn of a contestant between processes.
 *
 * @param round     its round
 * @param subject   the contestant
 * @param costsNs   p50, p90 and p99 of half round trips, or the time of a transfer; empty if nothing was recorded
 * @param lostShare CPU time that a hot thread lost, as a share of the turn: the higher one of the two processes
 */
record ProcessesWindow(int round, ProcessesSubject subject, List<Double> costsNs, double lostShare) {
    /** As for hand-offs: a window with a higher loss measures the machine and not the program. */
    private static final double LOST_SHARE = 0.10;

    ProcessesWindow {
        costsNs = List.copyOf(costsNs);
    }

    /** Whether it is valid. */
    boolean counts() {
        return !costsNs.isEmpty() && lostShare < LOST_SHARE;
    }
}
