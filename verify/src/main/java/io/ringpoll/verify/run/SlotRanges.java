package io.ringpoll.verify.run;

import java.util.ArrayDeque;

/**
 * Ranges of ledger slots for temporary connections: each has as many slots as a connection has work requests in flight.
 *
 * <p>Any thread.
 */
final class SlotRanges {
    private final Ledger ledger;
    private final int length;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();

    SlotRanges(final Ledger ledger, final int length) {
        this.ledger = ledger;
        this.length = length;
    }

    /** The first slot of a range in which all are closed. */
    synchronized int take() {
        return free.isEmpty() ? ledger.assign(length) : free.poll();
    }

    /** Releases a range after all its work requests have completed. */
    synchronized void give(final int first) {
        free.add(first);
    }
}
