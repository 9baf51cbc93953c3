package io.ringpoll.internal.access;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Owner;
import io.ringpoll.internal.verbs.CompletionHandover;
import io.ringpoll.internal.verbs.StructAccess;
import java.lang.invoke.MethodHandles;
import java.util.function.LongFunction;

/** Wraps C structs, by their addresses, in objects of {@link io.ringpoll.completion}. Thread-safe. */
public final class VerbsAccess {
    private static final StructAccess<VerbsContext, CompletionQueue, VerbsCompletionQueue> ACCESS = find();

    private VerbsAccess() {
    }

    /**
     * Wraps a context that C has opened for as long as the process lives.
     *
     * @param address of its {@code struct ibv_context}; must be valid
     * @return the device
     */
    public static VerbsContext context(final long address) {
        return ACCESS.context(address, Owner.PROCESS);
    }

    /**
     * Wraps a context that C has opened, and that is closed with an object.
     *
     * @param address of its {@code struct ibv_context}; must be valid
     * @param owner   closes it
     * @return the device
     */
    public static VerbsContext context(final long address, final NativeResource owner) {
        return ACCESS.context(address, Owner.of(owner));
    }

    /**
     * Creates an object that a context is kept for.
     *
     * @param <T>      the object's class
     * @param context  the device
     * @param creation gets the address of its {@code struct ibv_context}
     * @return the object
     * @throws IllegalStateException if the device is a synthetic one that is closed
     */
    public static <T extends NativeResource> T create(final VerbsContext context, final LongFunction<T> creation) {
        return ACCESS.create(context, creation);
    }

    /**
     * The address of a context, for an object that the context is kept for.
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
