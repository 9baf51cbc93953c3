package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionQueue;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * The queues of a poller's round, as they are added and removed while it runs.
 *
 * <p>Threads other than the poller's change the round: each change makes a new array, which the poller takes over between two
 * duty cycles with one acquire load and no lock. {@link #remove} returns only when the poller can no longer touch the queue, so
 * that the caller may destroy it.
 */
public final class QueueRegistry {
    /** How many queues a poller may have at once: the index has 16 bits. */
    public static final int MAX_QUEUES = 1 << 16;

    private static final PolledQueue[] NONE = {};
    private static final long TAKEOVER_PARK_NS = 50_000;

    /** A round and its number; numbers grow by one with each change. */
    private record Round(long number, PolledQueue[] queues) {
    }

    private final PolledQueue[] byIndex = new PolledQueue[MAX_QUEUES];
    private int nextIndex;
    private volatile Round latest = new Round(0, NONE);
    private volatile long takenOver;
    private volatile boolean running;

    /** Owned by the polling thread. */
    private Round current = latest;

    QueueRegistry() {
    }

    /**
     * Adds a queue to the round; the poller polls it from its next duty cycle on. Any thread.
     *
     * @param queue to be polled, by this poller only
     * @return the index that its completions carry; an index is not given again until all others have been
     * @throws IllegalStateException if the queue is there already or {@link #MAX_QUEUES} are
     */
    public synchronized int add(final CompletionQueue queue) {
        final PolledQueue[] queues = latest.queues;
        if (queues.length == MAX_QUEUES) {
            throw new IllegalStateException("a poller has room for " + MAX_QUEUES + " completion queues");
        }
        if (find(queues, queue) >= 0) {
            throw new IllegalStateException(queue.name() + " is polled already");
        }
        while (isPolled(byIndex[nextIndex])) {
            nextIndex = nextIndex + 1 & MAX_QUEUES - 1;
        }
        final PolledQueue polled = new PolledQueue(queue, nextIndex);
        byIndex[nextIndex] = polled;
        nextIndex = nextIndex + 1 & MAX_QUEUES - 1;
        final PolledQueue[] changed = Arrays.copyOf(queues, queues.length + 1);
        changed[queues.length] = polled;
        latest = new Round(latest.number + 1, changed);
        return polled.index;
    }

    /**
     * Takes a queue out of the round and waits until the poller can no longer touch it. Any thread but the poller's.
     *
     * @param queue     that was added; one that is not in the round is removed already
     * @param timeoutNs how long to wait for the poller, in nanoseconds
     * @throws TimeoutException if the poller did not finish its duty cycle in time; the queue must not be destroyed then
     */
    public void remove(final CompletionQueue queue, final long timeoutNs) throws TimeoutException {
        final long number;
        synchronized (this) {
            final PolledQueue[] queues = latest.queues;
            final int position = find(queues, queue);
            if (position >= 0) {
                final PolledQueue[] changed = new PolledQueue[queues.length - 1];
                System.arraycopy(queues, 0, changed, 0, position);
                System.arraycopy(queues, position + 1, changed, position, changed.length - position);
                latest = new Round(latest.number + 1, changed);
            }
            number = latest.number;
        }
        final long deadlineNs = System.nanoTime() + timeoutNs;
        while (running && takenOver < number) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new TimeoutException("the poller did not let go of " + queue.name() + " within " +
                    TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms");
            }
            LockSupport.parkNanos(TAKEOVER_PARK_NS);
        }
    }

    /**
     * The name of the queue that had or has an index.
     *
     * @param index that a completion carries
     * @return the queue's name, also after its removal until the index is given again
     */
    public synchronized String name(final int index) {
        final PolledQueue polled = byIndex[index & MAX_QUEUES - 1];
        return polled == null ? "completion queue " + index : polled.queue.name();
    }

    /**
     * Number of queues in the round.
     *
     * @return queues, failed ones included
     */
    public int size() {
        return latest.queues.length;
    }

    /** The round of this duty cycle; polling thread only. */
    PolledQueue[] takeOver() {
        final Round round = latest;
        if (round != current) {
            current = round;
            takenOver = round.number;
        }
        return round.queues;
    }

    /** From here on removals wait for the poller; polling thread only. */
    void onStart() {
        running = true;
    }

    /** From here on nothing is polled; polling thread only. */
    void onClose() {
        running = false;
    }

    private boolean isPolled(final PolledQueue polled) {
        if (polled != null) {
            for (final PolledQueue other : latest.queues) {
                if (other == polled) {
                    return true;
                }
            }
        }
        return false;
    }

    private static int find(final PolledQueue[] queues, final CompletionQueue queue) {
        for (int i = 0; i < queues.length; i++) {
            if (queues[i].queue == queue) {
                return i;
            }
        }
        return -1;
    }
}
