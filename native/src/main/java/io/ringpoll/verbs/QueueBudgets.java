package io.ringpoll.verbs;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.VerbsCompletionQueue;

/**
 * The use of its completion queues by one queue pair, and their budgets, if it counts its requests: both queues can have it as a
 * user, or the queue pair is not created. Thread-safe.
 */
final class QueueBudgets {
    /** Guards users and budgets of all completion queues. */
    private static final Object LOCK = new Object();

    private final VerbsCompletionQueue sendQueue;
    private final VerbsCompletionQueue receiveQueue;
    private final boolean sharesReceives;
    private final boolean counts;
    /** Null if none is kept, as is the next field. */
    private CompletionBudget ofSends;
    private CompletionBudget ofReceives;

    private QueueBudgets(final QueuePairAttributes attributes) {
        sendQueue = attributes.sendQueue();
        receiveQueue = attributes.receiveQueue();
        sharesReceives = attributes.sharedReceiveQueue() != null;
        counts = attributes.completionBudget();
    }

    /**
     * Begins the use.
     *
     * @param attributes of the queue pair
     * @return to be closed when the queue pair is gone
     * @throws IllegalStateException if a queue could overrun
     */
    static QueueBudgets open(final QueuePairAttributes attributes) {
        final QueueBudgets budgets = new QueueBudgets(attributes);
        synchronized (LOCK) {
            budgets.useQueues();
        }
        return budgets;
    }

    private void useQueues() {
        QueueUsers.require(sendQueue, counts);
        QueueUsers.require(receiveQueue, countsReceives());
        if (counts) {
            openBudgets();
        }
        // Nothing fails from here on.
        QueueUsers.add(sendQueue, counts);
        if (receiveQueue != sendQueue) {
            QueueUsers.add(receiveQueue, countsReceives());
        }
    }

    private boolean countsReceives() {
        return counts && (!sharesReceives || receiveQueue == sendQueue);
    }

    /** Opens both budgets or none: a queue that another thread is about to close has no capacity. */
    private void openBudgets() {
        final boolean hasTwo = receiveQueue != sendQueue && !sharesReceives;
        final CompletionBudget sends = new CompletionBudget(sendQueue.capacity());
        final CompletionBudget receives = hasTwo ? new CompletionBudget(receiveQueue.capacity()) : null;
        sendQueue.budget(sends);
        if (hasTwo) {
            receiveQueue.budget(receives);
        } else if (sharesReceives && receiveQueue == sendQueue) {
            sends.classify();
        }
        ofSends = sends;
        ofReceives = receiveQueue.budget();
    }

    /** The budget that requests to the send queue reserve from; null if there is none. A user's own is not it. */
    CompletionBudget ofSends() {
        return ofSends;
    }

    /** The same for receives; that of sends if both have one completion queue. */
    CompletionBudget ofReceives() {
        return ofReceives;
    }

    /** Ends the use. */
    void close() {
        synchronized (LOCK) {
            QueueUsers.remove(sendQueue);
            if (receiveQueue != sendQueue) {
                QueueUsers.remove(receiveQueue);
            }
            if (counts) {
                sendQueue.budget(null);
                if (!sharesReceives) {
                    receiveQueue.budget(null);
                }
            }
        }
    }
}
