package io.ringpoll.poller;

import io.ringpoll.verbs.CompletionBudget;
import java.util.Arrays;

/**
 * The queues that are polled in each duty cycle, in their order, and where the next round begins.
 *
 * <p>Owned by the polling thread; others change it by commands only.
 */
final class QueueRound {
    private static final int INITIAL_CAPACITY = 16;

    PolledQueue[] queues = new PolledQueue[INITIAL_CAPACITY];
    int size;
    /** Position at which the next round begins: the queue that missed its turn when the ring became full. */
    int first;
    /** How often a queue has come or gone. */
    int changes;
    /** Posts that were refused by the budgets of queues that have left. */
    private long refusedBefore;
    /** Sleeps on the queues' events; null if the poller does not sleep so. */
    EventDrivenIdle sleeper;

    /** Takes a queue in, unless it has been removed meanwhile. */
    void add(final PolledQueue polled) {
        if (polled.state == QueueState.ADDING) {
            polled.state = QueueState.POLLED;
            if (size == queues.length) {
                queues = Arrays.copyOf(queues, 2 * size);
            }
            queues[size++] = polled;
            changes++;
            if (sleeper != null) {
                sleeper.onAdded(polled);
            }
        }
    }

    /** Takes a queue out for good, whether it is there, has failed, or has not come yet. */
    void remove(final PolledQueue polled) {
        polled.state = QueueState.REMOVED;
        for (int i = 0; i < size; i++) {
            if (queues[i] == polled) {
                removeAt(i);
                return;
            }
        }
    }

    /** Takes all queues out whose fault has been published. */
    void removeFailed() {
        for (int i = size - 1; i >= 0; i--) {
            if (queues[i].state == QueueState.FAILED) {
                removeAt(i);
            }
        }
    }

    /** Lets the next round begin behind a queue, wherever it is by now, or at its place if it has left. */
    void beginBehind(final PolledQueue polled, final int place) {
        int next = place;
        for (int i = 0; i < size; i++) {
            if (queues[i] == polled) {
                next = i + 1;
            }
        }
        first = next < size ? next : 0;
    }

    /** Sums the budgets of the queues up. */
    void sumBudgets(final PollerCounters counters) {
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
    }

    private void removeAt(final int position) {
        if (sleeper != null) {
            sleeper.onRemoved(queues[position]);
        }
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
