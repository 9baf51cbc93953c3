package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.internal.verbs.PollTable;
import io.ringpoll.poller.QueueFault;
import java.util.Arrays;
import org.agrona.ErrorHandler;

/**
 * The queues that are polled in each duty cycle, in order, and the position at which the next round starts.
 *
 * <p>Owned by the polling thread; other threads change it by commands only.
 */
final class QueueRound {
    /** Maximum number of full batches in the cycle of one queue: they share the fixed cost of a cycle. */
    static final int FULL_BATCHES_OF_SINGLE_QUEUE = 8;
    /**
     * Maximum number of empty polls in the cycle of a round's only queue, so that the thread polls for most of its time. One call
     * into C makes all of them: the order of the table contains the queue as many times.
     */
    static final int EMPTY_POLLS_OF_SINGLE_QUEUE = 32;

    /** Duty cycles between two reads of the budgets: limits cache-line transfers from posting threads. */
    private static final int BUDGET_CYCLES = 1024;
    private static final int INITIAL_CAPACITY = 16;

    PolledQueue[] queues = new PolledQueue[0];
    int size;
    /** Position at which the next round starts: the first queue that was not polled because the ring was full. */
    int first;
    /**
     * Places in {@link #byPlace}: those of the queues, by position, then the free ones. A queue keeps its place when others
     * leave.
     */
    int[] places = new int[0];
    /** The place of the only queue, for each of its polls. */
    private final int[] onlyPlace = new int[EMPTY_POLLS_OF_SINGLE_QUEUE];
    /** The queues by place. */
    PolledQueue[] byPlace = new PolledQueue[0];
    /** Polls several queues by one call; null until a queue has joined whose class offers such a table. */
    PollTable table;
    /** The queues that a large round polls more often. */
    final RecentQueues recent = new RecentQueues();
    /** Number of additions and removals. */
    int changes;
    /** Set before the poller starts. */
    private ErrorHandler queueErrors = error -> { };
    /** Posts refused by the budgets of queues that have left the round. */
    private long refusedBefore;
    /** The event-driven idle strategy; null if the poller has another. */
    EventSleeper sleeper;

    QueueRound() {
        ensureCapacity(INITIAL_CAPACITY);
    }

    /** Sets the receiver of exceptions of queues, except those of polls; before the poller starts. */
    void onQueueError(final ErrorHandler handler) {
        queueErrors = handler;
    }

    /** Passes on the exception of a queue; any thread. */
    void onQueueError(final Throwable thrown) {
        queueErrors.onError(thrown);
    }

    private void ensureCapacity(final int capacity) {
        final int before = places.length;
        queues = Arrays.copyOf(queues, capacity);
        places = Arrays.copyOf(places, capacity);
        for (int place = before; place < capacity; place++) {
            places[place] = place;
        }
        byPlace = Arrays.copyOf(byPlace, capacity);
        recent.ensureCapacity(capacity);
        resizeTable();
    }

    /** Adds a queue, unless it has been removed meanwhile. */
    void add(final PolledQueue polled) {
        if (polled.state == QueueState.ADDING) {
            polled.state = QueueState.POLLED;
            if (size == queues.length) {
                ensureCapacity(2 * size);
            }
            putInTable(polled, places[size]);
            byPlace[places[size]] = polled;
            queues[size++] = polled;
            setOrder();
            changes++;
            if (sleeper != null) {
                sleeper.onAdded(polled);
            }
        }
    }

    private void putInTable(final PolledQueue polled, final int place) {
        if (table == null) {
            table = polled.newTable();
            resizeTable();
        }
        polled.moveTo(table, place);
    }

    private void setOrder() {
        if (table != null && size == 1) {
            Arrays.fill(onlyPlace, places[0]);
            table.order(onlyPlace, EMPTY_POLLS_OF_SINGLE_QUEUE);
        } else if (table != null) {
            table.order(places, size);
        }
    }

    /** All queues lease their addresses again. */
    private void resizeTable() {
        if (table != null) {
            table.resize(places.length);
            for (int i = 0; i < size; i++) {
                queues[i].moveTo(table, places[i]);
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

    /** Updates the budget counters if this is such a duty cycle. */
    void sumBudgetsNowAndThen(final long cycles, final PollerCounterSet counters) {
        if ((cycles & BUDGET_CYCLES - 1) == 0) {
            sumBudgets(counters);
        }
    }

    /** Updates the budget counters with the sums over all queues. */
    void sumBudgets(final PollerCounterSet counters) {
        long depth = 0;
        long inFlight = 0;
        long refused = 0;
        // An error of the counters is not one of a queue.
        MemoryFault.check();
        for (int i = 0; i < size; i++) {
            final CompletionBudget budget = budgetOf(queues[i]);
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

    /** The account of a queue, which may be the user's own; null if it keeps none, or throws, which is its fault. */
    private CompletionBudget budgetOf(final PolledQueue polled) {
        try {
            return polled.added.budget();
        } catch (final Throwable thrown) {
            onQueueError(thrown);
            polled.fail(QueueFault.POLL_THREW);
            return null;
        }
    }

    private void removeAt(final int position) {
        if (sleeper != null) {
            sleeper.onRemoved(queues[position]);
        }
        final int place = places[position];
        recent.remove(place);
        byPlace[place] = null;
        queues[position].moveTo(null, 0);
        final CompletionBudget budget = budgetOf(queues[position]);
        if (budget != null) {
            refusedBefore += budget.refused();
        }
        size--;
        System.arraycopy(queues, position + 1, queues, position, size - position);
        queues[size] = null;
        System.arraycopy(places, position + 1, places, position, size - position);
        places[size] = place;
        setOrder();
        changes++;
        if (position < first) {
            first--;
        }
        if (first >= size) {
            first = 0;
        }
    }
}
