package io.ringpoll.verbs;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The queue pairs that use each completion queue: one with a budget, or any number without. Both together could overrun the
 * queue, as the budget does not count the requests of the others.
 *
 * <p>Not thread-safe: each caller holds the lock of all queue pairs.
 */
final class QueueUsers {
    private static final int COUNTED = -1;
    /** By the queue below views: {@link #COUNTED}, or the number of users that are not counted. */
    private static final Map<Object, Integer> USERS = new IdentityHashMap<>();

    private QueueUsers() {
    }

    /**
     * Checks that a queue can have one more user.
     *
     * @param counted whether a budget counts its requests
     * @throws IllegalStateException if the queue could overrun
     */
    static void require(final VerbsCompletionQueue queue, final boolean counted) {
        final Object underlying = queue.underlying();
        final int users = USERS.getOrDefault(underlying, 0);
        if (users == COUNTED || counted && queue.budget() != null || isCountedByLibrpma(queue)) {
            throw new IllegalStateException(queue.name() +
                " is counted for another queue pair: queue pairs that share it need completionBudget(false), each of them");
        }
        if (counted && (users > 0 || underlying != queue)) {
            throw new IllegalStateException(queue.name() + " completes requests of another queue pair, which a budget would not" +
                " count: queue pairs that share it need completionBudget(false)");
        }
    }

    /** A view has no budget, but the viewed queue may have one. */
    private static boolean isCountedByLibrpma(final VerbsCompletionQueue queue) {
        final Object underlying = queue.underlying();
        return underlying != queue && underlying instanceof final CompletionQueue viewed && viewed.budget() != null;
    }

    /** Adds a user after the check. */
    static void add(final VerbsCompletionQueue queue, final boolean counted) {
        USERS.merge(queue.underlying(), counted ? COUNTED : 1, Integer::sum);
    }

    /** Removes a user. */
    static void remove(final VerbsCompletionQueue queue) {
        USERS.computeIfPresent(queue.underlying(), (key, users) -> users == COUNTED || users == 1 ? null : users - 1);
    }
}
