package io.ringpoll.internal.access;

import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.verbs.CompletionHandover;
import io.ringpoll.internal.verbs.StructAccess;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.VerbsCompletionQueue;
import io.ringpoll.verbs.VerbsContext;
import java.lang.invoke.MethodHandles;

/** Makes objects of {@link io.ringpoll.verbs} for structs that C has made, by their addresses. Thread-safe. */
public final class VerbsAccess {
    private static final StructAccess<VerbsContext, CompletionQueue, VerbsCompletionQueue> ACCESS = find();

    private VerbsAccess() {
    }

    /**
     * Wraps a context that C has opened.
     *
     * @param address of its {@code struct ibv_context}, which the caller vouches for
     * @return the device
     */
    public static VerbsContext context(final long address) {
        return ACCESS.context(address);
    }

    /**
     * How many completions a queue holds.
     *
     * @param address of its {@code struct ibv_cq}, which the caller vouches for
     * @return entries
     */
    public static int capacity(final long address) {
        return ACCESS.capacity(address);
    }

    /**
     * Wraps a queue that something else has created and will destroy.
     *
     * @param address  of its {@code struct ibv_cq}, which the caller vouches for
     * @param name     for reports
     * @param owner    which the queue ends with, and which cannot be closed before it
     * @param viewed   the queue of the binding that it is a view of, with the budget that its polls update
     * @param handover whose completions its polls give first; null if the queue is not shared
     * @return to be closed before the owner
     */
    public static VerbsCompletionQueue borrow(final long address, final String name, final NativeResource owner,
        final CompletionQueue viewed, final CompletionHandover handover) {
        return ACCESS.borrow(address, name, owner, viewed, handover);
    }

    @SuppressWarnings("unchecked")
    private static StructAccess<VerbsContext, CompletionQueue, VerbsCompletionQueue> find() {
        try {
            MethodHandles.lookup().ensureInitialized(VerbsContext.class);
        } catch (final IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return (StructAccess<VerbsContext, CompletionQueue, VerbsCompletionQueue>) StructAccess.Holder.registered();
    }
}
