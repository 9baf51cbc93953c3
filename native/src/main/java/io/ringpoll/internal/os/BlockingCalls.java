package io.ringpoll.internal.os;

import io.ringpoll.os.WaitInterruptedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Makes calls that block in C on platform threads of its own, while the caller waits in Java: there an interrupt reaches it, and
 * a virtual thread releases its carrier. Each call that is under way occupies one thread; a thread ends after a minute without
 * work.
 */
public final class BlockingCalls {
    private static final Executor THREADS = Executors.newCachedThreadPool(
        Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false).name("ringpoll-call-", 1).factory());

    /**
     * A call into C that creates an object.
     *
     * @param <T> the object
     */
    @FunctionalInterface
    public interface Creation<T extends AutoCloseable> {
        /**
         * Makes the call.
         *
         * @param handover receives the object before this call leaves its parent
         * @return the result of the handover
         */
        T create(Handover handover);
    }

    /** Hands a created object to the caller, or closes it if the caller was interrupted before. */
    public static final class Handover {
        private final AtomicBoolean decided = new AtomicBoolean();

        private Handover() {
        }

        /**
         * Hands an object to the caller, or closes it.
         *
         * @param <T>    the object
         * @param object that was created
         * @return the same; null if the caller is gone
         */
        public <T extends AutoCloseable> T give(final T object) {
            if (decided.compareAndSet(false, true)) {
                return object;
            }
            try {
                object.close();
            } catch (final Exception e) {
                System.getLogger(BlockingCalls.class.getName()).log(System.Logger.Level.WARNING,
                    "the object created for an interrupted caller cannot be closed", e);
            }
            return null;
        }

        /**
         * Whether the caller was interrupted before, so that an object need not be made of the result of the call.
         *
         * @return true if {@link #give} would close it
         */
        public boolean isRefused() {
            return decided.get();
        }

        /** Makes the caller leave without the object; false if it was given already. */
        private boolean refuse() {
            return decided.compareAndSet(false, true);
        }
    }

    private BlockingCalls() {
    }

    /**
     * Creates an object by a call that cannot be cut short. If the caller is interrupted, the call goes on without it, and its
     * object is closed as soon as it is there.
     *
     * @param <T>      the object
     * @param what     the call, for the exception's message
     * @param creation the call
     * @return the object
     * @throws WaitInterruptedException if the caller is interrupted before or while it waits
     */
    public static <T extends AutoCloseable> T create(final String what, final Creation<T> creation) {
        if (Thread.currentThread().isInterrupted()) {
            throw new WaitInterruptedException(what);
        }
        final Handover handover = new Handover();
        final CompletableFuture<T> object = CompletableFuture.supplyAsync(() -> creation.create(handover), THREADS);
        try {
            return resultOf(object);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            if (handover.refuse()) {
                throw new WaitInterruptedException(what);
            }
            return object.join();
        }
    }

    /** Waits as {@link Wakeup#await} does, on behalf of a thread that must not block in C. */
    static int await(final Wakeup wakeup, final int fd, final int timeoutMs) {
        final CompletableFuture<Integer> wait = CompletableFuture.supplyAsync(() -> wakeup.await(fd, timeoutMs), THREADS);
        try {
            return resultOf(wait);
        } catch (final InterruptedException e) {
            wakeup.signal();
            // The wake-up is in use until then.
            wait.join();
            Thread.currentThread().interrupt();
            return Wakeup.INTERRUPTED;
        }
    }

    private static <T> T resultOf(final CompletableFuture<T> future) throws InterruptedException {
        try {
            return future.get();
        } catch (final ExecutionException e) {
            final Throwable cause = e.getCause();
            // As if the caller had made the call.
            cause.fillInStackTrace();
            if (cause instanceof final Error error) {
                throw error;
            }
            throw (RuntimeException) cause;
        }
    }
}
