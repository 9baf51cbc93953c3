package io.ringpoll.internal.verbs;

import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.lifecycle.Owner;
import java.util.function.LongFunction;

/**
 * Wraps C structs, by their addresses, in objects of the binding, and returns addresses. Thread-safe.
 *
 * <p>Its types are parameters, because the package of those types depends on this one.
 *
 * @param <C> the context
 * @param <Q> any queue
 * @param <V> a queue of verbs
 */
public interface StructAccess<C, Q, V extends Q> {
    /**
     * Wraps a context that C has opened.
     *
     * @param address of its {@code struct ibv_context}
     * @param owner   closes it
     * @return the device
     */
    C context(long address, Owner owner);

    /**
     * Creates an object that the context is kept for.
     *
     * @param <T>      the object's class
     * @param context  the device
     * @param creation gets the address of its {@code struct ibv_context}
     * @return the object
     */
    <T extends NativeResource> T create(C context, LongFunction<T> creation);

    /**
     * The address of a context, for an object that the context is kept for.
     *
     * @param context the device
     * @return address of its {@code struct ibv_context}
     */
    long address(C context);

    /**
     * Whether a device is one of iWARP.
     *
     * @param context the device
     * @return whether its reads need targets that the peer may write
     */
    boolean isIwarp(C context);

    /**
     * The capacity of a queue.
     *
     * @param address of its {@code struct ibv_cq}
     * @return entries
     */
    int capacity(long address);

    /**
     * Wraps a queue that its owner creates and destroys.
     *
     * @param address  of its {@code struct ibv_cq}
     * @param name     for reports
     * @param owner    of the struct; cannot be closed before the returned object
     * @param viewed   the queue of the binding that it is a view of, with the budget that its polls update
     * @param handover its completions are returned first; null if the queue is not shared
     * @return to be closed before the owner
     */
    V borrow(long address, String name, NativeResource owner, Q viewed, CompletionHandover handover);

    /** The implementation. */
    final class Holder {
        private static volatile StructAccess<?, ?, ?> registered;

        private Holder() {
        }

        /**
         * Registers the implementation, when the class of contexts is initialized.
         *
         * @param access the only one
         */
        public static void register(final StructAccess<?, ?, ?> access) {
            registered = access;
        }

        /**
         * The implementation.
         *
         * @return null until the class of contexts is initialized
         */
        public static StructAccess<?, ?, ?> registered() {
            return registered;
        }
    }
}
