package io.ringpoll.internal.poller;

import java.util.Arrays;

/**
 * The queues of a round that have had completions recently. A large round polls them in turns, between its other queues.
 *
 * <p>A queue joins with its first completions. It leaves when it was empty in {@value #ROUNDS} rounds, one after another, or with
 * the round. Joining and leaving take constant time: after the end of a load, all queues of a round leave in the same duty cycle.
 * Belongs to the polling thread.
 */
final class RecentQueues {
    /** First polls of a round between two groups of second polls. */
    static final int INTERVAL = 64;
    /** Maximum number of second polls in a group, each of another queue. */
    static final int POLLS = 8;
    /** Empty rounds after which a queue leaves: longer than the gaps between the completions of a busy queue. */
    static final int ROUNDS = 256;

    /** Index of a queue that is not in this list. */
    static final int NONE = -1;

    private PolledQueue[] queues;
    private int size;
    private int next;
    /** First polls before the next group; continues over the ends of the rounds. */
    int firstPollsLeft = INTERVAL;

    RecentQueues(final int capacity) {
        queues = new PolledQueue[capacity];
    }

    /** Makes room for all queues of a round, so that the duty cycle does not allocate. */
    void ensureCapacity(final int capacity) {
        if (capacity > queues.length) {
            queues = Arrays.copyOf(queues, capacity);
        }
    }

    /** Number of second polls in a group that begins now. */
    int group() {
        return Math.min(POLLS, size);
    }

    /** The next queue in turn; only within a group. */
    PolledQueue next() {
        final PolledQueue polled = queues[next];
        next = next + 1 == size ? 0 : next + 1;
        return polled;
    }

    /** Notes a poll with completions, after their publication. */
    void onCompletions(final PolledQueue polled) {
        polled.emptyRounds = 0;
        // A handler in place may have removed the queue, and a fault is published like a completion.
        if (polled.recentIndex == NONE && polled.state == QueueState.POLLED) {
            polled.recentIndex = size;
            queues[size++] = polled;
        }
    }

    /** Notes that the first poll of a round was empty. */
    void onEmpty(final PolledQueue polled) {
        if (polled.recentIndex != NONE && ++polled.emptyRounds == ROUNDS) {
            remove(polled);
        }
    }

    /** Removes a queue, if it is in this list. */
    void remove(final PolledQueue polled) {
        final int index = polled.recentIndex;
        if (index != NONE) {
            final PolledQueue last = queues[--size];
            queues[index] = last;
            last.recentIndex = index;
            polled.recentIndex = NONE;
            queues[size] = null;
            if (next >= size) {
                next = 0;
            }
        }
    }
}
