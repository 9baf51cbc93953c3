package io.ringpoll.internal.verbs;

import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.VerbsCompletionQueue;
import io.ringpoll.verbs.VerbsContext;
import java.lang.invoke.MethodHandles;

/** Makes objects of {@link io.ringpoll.verbs} for structs that C has made, by their addresses. Thread-safe. */
public interface VerbsAccess {
    /**
     * The access.
     *
     * @return always the same
     */
    static VerbsAccess get() {
        return Holder.ACCESS;
    }

    /**
     * Wraps a context that C has opened.
     *
     * @param address of its {@code struct ibv_context}, which the caller vouches for
     * @return the device
     */
    VerbsContext context(long address);

    /**
     * How many completions a queue holds.
     *
     * @param address of its {@code struct ibv_cq}, which the caller vouches for
     * @return entries
     */
    int capacity(long address);

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
    VerbsCompletionQueue borrow(
        long address, String name, NativeResource owner, CompletionQueue viewed, CompletionHandover handover);

    /** The implementation, which {@link VerbsContext} registers when it is initialized. */
    final class Holder {
        private static VerbsAccess registered;
        private static final VerbsAccess ACCESS = find();

        private Holder() {
        }

        /**
         * Registers the implementation.
         *
         * @param access the only one
         */
        public static void register(final VerbsAccess access) {
            registered = access;
        }

        private static VerbsAccess find() {
            try {
                MethodHandles.lookup().ensureInitialized(VerbsContext.class);
            } catch (final IllegalAccessException e) {
                throw new AssertionError(e);
            }
            return registered;
        }
    }
}
