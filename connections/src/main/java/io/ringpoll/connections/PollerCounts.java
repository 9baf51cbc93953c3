package io.ringpoll.connections;

import io.ringpoll.internal.pipeline.SetCounters;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.status.CountersManager;

/**
 * Publishes the counts of a set among the counters of one pipeline. Only the polling thread may write these counters: the thread
 * of connection events checks for changes, and then schedules this as a task of the polling thread.
 */
final class PollerCounts implements Runnable {
    private static final int VALUES = 4;

    private final ConnectionPoller poller;
    private final ConnectionSet set;
    private final boolean isFirst;
    /** Written by the polling thread. */
    private final AtomicLong refusedSends = new AtomicLong();
    private volatile SetCounters counters;
    /** Event thread. */
    private final long[] seen = new long[VALUES];
    private volatile boolean asked;

    PollerCounts(final ConnectionPoller poller, final ConnectionSet set, final boolean isFirst) {
        this.poller = poller;
        this.set = set;
        this.isFirst = isFirst;
    }

    /** Allocates the counters; before the start of the pipeline. */
    void allocate(final CountersManager manager) {
        counters = new SetCounters(manager, set.name());
    }

    /** Counts a send that was refused for lack of credit; polling thread. */
    void onRefusedSend() {
        refusedSends.setRelease(refusedSends.getPlain() + 1);
    }

    /** Asks the polling thread to publish what has changed; event thread. */
    void requestPublication() {
        boolean isChanged = false;
        for (int i = 0; i < VALUES; i++) {
            final long value = value(i);
            isChanged |= value != seen[i];
            seen[i] = value;
        }
        if (isChanged && !asked) {
            asked = true;
            poller.execute(this);
        }
    }

    /**
     * Publishes the values; polling thread. Does nothing after the end of the pipeline, which has freed its counters then: in a
     * user's manager of counters, other counters may have their places, and the memory of the manager may be unmapped.
     */
    @Override
    public void run() {
        asked = false;
        if (!poller.hasEnded()) {
            counters.publish(value(0), value(1), value(2), value(3));
        }
    }

    private long value(final int index) {
        return switch (index) {
            case 0 -> poller.connections().get();
            case 1 -> isFirst ? set.rejectedRequests() : 0;
            case 2 -> isFirst ? set.listenerExceptions() : 0;
            default -> refusedSends.get();
        };
    }
}
