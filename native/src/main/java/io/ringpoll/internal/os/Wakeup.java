package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.OsException;
import java.lang.foreign.Arena;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A wait on a file descriptor that another thread can end: poll(2) on that descriptor and on an eventfd.
 *
 * <p>{@link Thread#interrupt()} signals the eventfd, too, through the hook by which java.nio makes its channels interruptible; so
 * an interrupt ends a wait immediately, and a wait needs no periodic wake-ups. A virtual thread waits in Java, while a platform
 * thread polls for it.
 *
 * <p>Acquired from a pool and released by the waiting thread; a platform thread allocates nothing once the pool has one for each
 * concurrent waiter. Other threads may only call {@link #signal()}, and only while it is acquired.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/poll.2.html">poll(2)</a>
 */
public final class Wakeup {
    /** Result of {@link #await}: the descriptor is readable. */
    public static final int READABLE = 1;
    /** Result of {@link #await}: the descriptor is in an error state or invalid and will never be readable. */
    public static final int BROKEN = 2;
    /** Result of {@link #await}: the time is over. */
    public static final int TIMED_OUT = 0;
    /** Result of {@link #await}: another thread has ended the wait. */
    public static final int SIGNALLED = -1;
    /** Result of {@link #awaitInterruptibly}: the waiting thread was interrupted. */
    public static final int INTERRUPTED = -2;

    private static final int EFD_NONBLOCK = 0x800;
    private static final int EFD_CLOEXEC = 0x80000;
    private static final short POLLIN = 1;
    private static final int POLLFD_BYTES = 8;
    private static final int EVENTS_OFFSET = 4;
    private static final int REVENTS_OFFSET = 6;
    private static final int COUNTER_OFFSET = 2 * POLLFD_BYTES;
    private static final int ONE_OFFSET = COUNTER_OFFSET + Long.BYTES;
    private static final ArrayDeque<Wakeup> POOL = new ArrayDeque<>();

    private final int eventFd;
    private final UnsafeBuffer memory =
        new UnsafeBuffer(Arena.global().allocate(ONE_OFFSET + Long.BYTES, Long.BYTES).asByteBuffer());

    private Interruption interruption = new Interruption(this);
    private volatile boolean signalled;

    private Wakeup() {
        eventFd = POSIX.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (eventFd < 0) {
            throw new OsException("eventfd", CallState.current().errno());
        }
        memory.putShort(EVENTS_OFFSET, POLLIN);
        memory.putInt(POLLFD_BYTES, eventFd);
        memory.putShort(POLLFD_BYTES + EVENTS_OFFSET, POLLIN);
        memory.putLong(ONE_OFFSET, 1);
    }

    /**
     * Takes one from the pool.
     *
     * @return not signalled
     * @throws OsException if the process has no file descriptor left
     */
    public static Wakeup take() {
        synchronized (POOL) {
            final Wakeup pooled = POOL.pollLast();
            if (pooled != null) {
                return pooled;
            }
        }
        return new Wakeup();
    }

    /** Releases it to the pool; it must not be signalled any more. */
    public void release() {
        if (signalled) {
            POSIX.read(eventFd, memory.addressOffset() + COUNTER_OFFSET, Long.BYTES);
            signalled = false;
        }
        synchronized (POOL) {
            POOL.addLast(this);
        }
    }

    /** Ends the wait of the thread that holds this, now or when it begins to wait; any thread may call it. */
    public void signal() {
        signalled = true;
        POSIX.write(eventFd, memory.addressOffset() + ONE_OFFSET, Long.BYTES);
    }

    /**
     * Waits until a descriptor is readable, or the calling thread is interrupted.
     *
     * @param fd        the descriptor
     * @param timeoutMs how long at most, in milliseconds; 0 looks without waiting, whether the thread is interrupted or not;
     *     negative waits without a bound
     * @return as {@link #await}, or {@link #INTERRUPTED}; the thread's interrupt status is set then, and this is to be given back
     * @throws OsException if poll(2) fails
     */
    public int awaitInterruptibly(final int fd, final int timeoutMs) {
        if (timeoutMs == 0) {
            return await(fd, 0);
        }
        if (Thread.currentThread().isVirtual()) {
            return BlockingCalls.await(this, fd, timeoutMs);
        }
        final int outcome = interruption.await(fd, timeoutMs);
        if (outcome == INTERRUPTED) {
            interruption = new Interruption(this);
        }
        return outcome;
    }

    /**
     * Waits until a descriptor is readable. An interrupt does not end the wait.
     *
     * @param fd        the descriptor
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits without a bound
     * @return {@link #READABLE}, {@link #BROKEN}, {@link #TIMED_OUT} or {@link #SIGNALLED}
     * @throws OsException if poll(2) fails
     */
    public int await(final int fd, final int timeoutMs) {
        final long startNs = timeoutMs > 0 ? System.nanoTime() : 0;
        memory.putInt(0, fd);
        int remainingMs = timeoutMs;
        while (true) {
            final int ready = POSIX.poll(memory.addressOffset(), 2, remainingMs);
            if (ready > 0) {
                if (memory.getShort(POLLFD_BYTES + REVENTS_OFFSET) != 0) {
                    return SIGNALLED;
                }
                return (memory.getShort(REVENTS_OFFSET) & POLLIN) != 0 ? READABLE : BROKEN;
            }
            if (ready == 0) {
                return TIMED_OUT;
            }
            if (POSIX.poll_errno(memory.addressOffset(), 2, 0) < 0) {
                throw new OsException("poll", CallState.current().errno());
            }
            if (timeoutMs > 0) {
                final long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
                remainingMs = (int) Math.max(0, timeoutMs - elapsedMs);
            }
        }
    }

    /** Signals a wait when its thread is interrupted; good for one interrupt. */
    private static final class Interruption extends AbstractInterruptibleChannel {
        private final Wakeup wakeup;

        Interruption(final Wakeup wakeup) {
            this.wakeup = wakeup;
        }

        int await(final int fd, final int timeoutMs) {
            int outcome = INTERRUPTED;
            begin();
            try {
                outcome = wakeup.await(fd, timeoutMs);
            } finally {
                outcome = isEndedInTime() ? outcome : INTERRUPTED;
            }
            return outcome;
        }

        /** Removes the hook; false if the interrupt was earlier. */
        private boolean isEndedInTime() {
            try {
                end(true);
                return true;
            } catch (final AsynchronousCloseException interrupted) {
                return false;
            }
        }

        @Override
        protected void implCloseChannel() {
            wakeup.signal();
        }
    }
}
