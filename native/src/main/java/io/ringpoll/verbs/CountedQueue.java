package io.ringpoll.verbs;

/**
 * A completion queue that leaves the accounting to its poller: a poller that classifies every completion anyway spares the queue
 * a second pass.
 *
 * <p>Owned by the one thread that polls it, as every {@link CompletionQueue}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public interface CountedQueue extends CompletionQueue {
    /**
     * As {@link #poll}, but to an unchecked address; the caller must pass the counts to the queue's {@link #budget()}, if there
     * is one, by {@link CompletionBudget#onPolled(int, int, int)}, before it polls again. Only for the poller, which polls into
     * claimed slots; other callers use {@link #poll}.
     *
     * @param wcAddress  address of an array of at least {@code maxEntries} {@link IbvWc} records, 8-byte aligned
     * @param maxEntries as for {@link #poll}
     * @return as {@link #poll}
     */
    int pollUncounted(long wcAddress, int maxEntries);
}
