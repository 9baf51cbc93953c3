package io.ringpoll.verbs;

/**
 * A completion queue whose budget can be told by its poller what has been polled: a poller that looks at every completion anyway
 * spares the queue a look of its own.
 *
 * <p>Owned by the one thread that polls it, as every {@link CompletionQueue}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>
 */
public interface CountedQueue extends CompletionQueue {
    /**
     * As {@link #poll}, but to an address that nothing checks; and the caller must tell the queue's {@link #budget()}, if there
     * is one, what came, by {@link CompletionBudget#onPolled(int, int, int)}, before it polls again. For the poller, which
     * claims what it polls into; anything else uses {@link #poll}.
     *
     * @param wcAddress  address of an array of at least {@code maxEntries} {@link IbvWc} records, 8-byte aligned
     * @param maxEntries as for {@link #poll}
     * @return as {@link #poll}
     */
    int pollUncounted(long wcAddress, int maxEntries);
}
