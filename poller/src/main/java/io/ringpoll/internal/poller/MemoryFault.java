package io.ringpoll.internal.poller;

/**
 * The fault of an access to counters in a mapped file that has been truncated.
 *
 * <p>The JVM throws an InternalError for it, but only interpreted code throws it at the access. In compiled code the access ends
 * without a result, and the thread throws the error at a later safepoint poll: at the end of a loop's turn, in a calling method,
 * or on its return from a native method. A try block around the access alone does not catch it. Therefore code that must not be
 * interrupted calls {@link #check} first, and code that must catch the error calls it at the end of its try block.
 */
public final class MemoryFault {
    private MemoryFault() {
    }

    /**
     * Returns if no access of the calling thread has faulted; takes some ten nanoseconds.
     *
     * @throws InternalError of a fault that the thread has not thrown yet
     */
    public static void check() {
        // Any native method serves: the JVM throws pending errors on the return from it.
        Thread.holdsLock(MemoryFault.class);
    }
}
