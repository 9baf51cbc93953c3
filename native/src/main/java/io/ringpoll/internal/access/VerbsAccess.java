package io.ringpoll.internal.access;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.verbs.CompletionHandover;
import io.ringpoll.internal.verbs.StructAccess;
import java.lang.invoke.MethodHandles;

/** Wraps C structs, by their addresses, in objects of {@link io.ringpoll.completion}. Thread-safe. */
public final class VerbsAccess {
    private static final StructAccess<VerbsContext, CompletionQueue, VerbsCompletionQueue> ACCESS = find();

    private VerbsAccess() {
    }

    /**
     * Wraps a context that C has opened.
     *
     * @param address of its {@code struct ibv_context}; must be valid
     * @return the device
     */
    public static VerbsContext context(final long address) {
        return ACCESS.context(address);
    }

    /**
     * The address of a context.
     *
     * @param context the device
     * @return address of its {@code struct ibv_context}
     */
    public static long address(final VerbsContext context) {
        return ACCESS.address(context);
    }

    /**
     * Whether a device is one of iWARP.
     *
     * @param context the device
     * @return whether its reads need targets that the peer may write
     */
    public static boolean isIwarp(final VerbsContext context) {
        return ACCESS.isIwarp(context);
    }

    /**
     * The capacity of a queue.
     *
     * @param address of its {@code struct ibv_cq}; must be valid
     * @return entries
     */
    public static int capacity(final long address) {
        return ACCESS.capacity(address);
    }

    /**
     * Wraps a queue that its owner creates and destroys.
     *
     * @param address  of its {@code struct ibv_cq}; must be valid
     * @param name     for reports
     * @param owner    of the struct; cannot be closed before the returned object
     * @param viewed   the queue of the binding that it is a view of, with the budget that its polls update
     * @param handover its completions are returned first; null if the queue is not shared
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
