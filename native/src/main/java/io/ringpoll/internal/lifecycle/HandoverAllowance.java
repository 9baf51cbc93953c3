package io.ringpoll.internal.lifecycle;

import java.util.concurrent.TimeUnit;

/**
 * Limits how often ownership of {@link HotCalls} moves between live threads: {@value #BURST} times together, and once a second in
 * the long run.
 *
 * <p>The long run matters to a queue that is polled for months: each pipeline that is restarted on it, and each poll by hand of
 * an administrator, moves the ownership once.
 *
 * <p>Not thread-safe: its owner synchronizes.
 */
final class HandoverAllowance {
    /** Moves in immediate succession. */
    static final int BURST = 8;

    private static final long PERIOD_NS = TimeUnit.SECONDS.toNanos(1);

    private int left = BURST;
    private long renewedNs;

    /**
     * Takes one move.
     *
     * @param nowNs any clock that does not go backwards
     * @return false if there have been too many
     */
    boolean take(final long nowNs) {
        renew(nowNs);
        if (left == 0) {
            return false;
        }
        left--;
        return true;
    }

    private void renew(final long nowNs) {
        final long renewed = (nowNs - renewedNs) / PERIOD_NS;
        if (left == BURST || renewed >= BURST - left) {
            left = BURST;
            renewedNs = nowNs;
        } else {
            left += (int) renewed;
            renewedNs += renewed * PERIOD_NS;
        }
    }
}
