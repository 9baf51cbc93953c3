package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionBudget;
import java.util.Arrays;

/**
 * The queues that are polled in each duty cycle, in order, and the position at which the next round starts.
 *
 * <p>Owned by the polling thread; other threads change it by commands only.
 */
final class QueueRound {
    private static final int INITIAL_CAPACITY = 16;

    PolledQueue[] queues = new PolledQueue[INITIAL_CAPACITY];
    int size;
    /** Position at which the next round starts: the first queue that was not polled because the ring was full. */
    int first;
    /** The queues that a large round polls more often. */
    final RecentQueues recent = new RecentQueues(INITIAL_CAPACITY);
    /** Number of additions and removals. */
    int changes;
    /** Posts refused by the budgets of queues that have left the round. */
    private long refusedBefore;
    /** The event-driven idle strategy; null if the poller has another. */
    EventSleeper sleeper;

    /** Adds a queue, unless it has been removed meanwhile. */
    void add(final PolledQueue polled) {
        if (polled.state == QueueState.ADDING) {
            polled.state = QueueState.POLLED;
            if (size == queues.length) {
                queues = Arrays.copyOf(queues, 2 * size);
                recent.ensureCapacity(queues.length);
            }
            queues[size++] = polled;
            changes++;
            if (sleeper != null) {
                sleeper.onAdded(polled);
            }
        }
    }

    /** Removes a queue permanently, whether it is in the round, has failed, or has not been added yet. */
    void remove(final PolledQueue polled) {
        polled.state = QueueState.REMOVED;
        for (int i = 0; i < size; i++) {
            if (queues[i] == polled) {
                removeAt(i);
                return;
            }
        }
    }

    /** Makes the calling thread the one that polls the queues, after another one. */
    void onHandOver() {
        for (int i = 0; i < size; i++) {
            queues[i].onHandOver();
        }
    }

    /** Removes the failed queues after the publication of their faults. */
    void removeFailed() {
        for (int i = size - 1; i >= 0; i--) {
            if (queues[i].state == QueueState.FAILED) {
                removeAt(i);
            }
        }
    }

    /** Starts the next round after a queue, at its present position, or at its former position if it has left. */
    void startAfter(final PolledQueue polled, final int place) {
        int next = place;
        for (int i = 0; i < size; i++) {
            if (queues[i] == polled) {
                next = i + 1;
            }
        }
        first = next < size ? next : 0;
    }

    /** Updates the budget counters with the sums over all queues. */
    void sumBudgets(final PollerCounterSet counters) {
        long depth = 0;
        long inFlight = 0;
        long refused = 0;
        for (int i = 0; i < size; i++) {
            final CompletionBudget budget = queues[i].added.budget();
            if (budget != null) {
                depth += budget.depth();
                inFlight += budget.inFlight();
                refused += budget.refused();
            }
        }
        counters.budgetDepth.setRelease(depth);
        counters.budgetInFlight.setRelease(inFlight);
        counters.budgetRefused.setRelease(refusedBefore + refused);
        // An error of the counters is thrown here at the latest, and not in the runner of an agent, which would continue.
        MemoryFault.check();
    }

    private void removeAt(final int position) {
        if (sleeper != null) {
            sleeper.onRemoved(queues[position]);
        }
        recent.remove(queues[position]);
        final CompletionBudget budget = queues[position].added.budget();
        if (budget != null) {
            refusedBefore += budget.refused();
        }
        size--;
        System.arraycopy(queues, position + 1, queues, position, size - position);
        queues[size] = null;
        changes++;
        if (position < first) {
            first--;
        }
        if (first >= size) {
            first = 0;
        }
    }
}
