package io.ringpoll.internal.lifecycle;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.os.Wakeup;
import io.ringpoll.os.WaitInterruptedException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;

/**
 * A C object that Java holds by its address: tracks calls in flight and drains them on close.
 *
 * <ul>
 * <li>Calls off the hot path are made between {@link #enter()} and {@link #exit()}; {@link #end()} waits for them.</li>
 * <li>Waits use {@link #awaitReadable}; {@link #end()} ends them.</li>
 * <li>Calls on the hot path are made between {@link HotCalls#enter()} and {@link HotMark#leave()} and read the address in
 * between; after {@link #end()} they read none, and after {@link HotCalls#awaitQuiescence()} no thread holds the old one.</li>
 * </ul>
 */
public abstract class NativeObject {
    private static final int CLOSING = 1 << 31;
    private static final long END_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long END_POLL_NS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final VarHandle ADDRESS;
    private static final VarHandle CALLERS;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            ADDRESS = lookup.findVarHandle(NativeObject.class, "address", long.class);
            CALLERS = lookup.findVarHandle(NativeObject.class, "callers", int.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private final List<Wakeup> waits = new ArrayList<>(2);
    @SuppressWarnings("unused")
    private int callers;
    @SuppressWarnings("unused")
    private long address;

    /**
     * Takes an object that C has just created.
     *
     * @param name    name of the object in error messages
     * @param address of the C object
     */
    protected NativeObject(final String name, final long address) {
        this.name = name;
        this.address = address;
    }

    /**
     * Name of the object in messages.
     *
     * @return the name; constant
     */
    public String name() {
        return name;
    }

    /**
     * Whether this object's life has ended, or is about to.
     *
     * @return true if it can be used no more
     */
    public final boolean isClosed() {
        return (int) CALLERS.getVolatile(this) < 0;
    }

    /**
     * Begins a call off the hot path.
     *
     * @return the object's address, valid until {@link #exit()}
     * @throws IllegalStateException if the object is closed
     */
    protected final long enter() {
        if ((int) CALLERS.getAndAdd(this, 1) < 0) {
            CALLERS.getAndAdd(this, -1);
            throw closed();
        }
        return (long) ADDRESS.getOpaque(this);
    }

    /** Ends a call that {@link #enter()} began. */
    protected final void exit() {
        CALLERS.getAndAdd(this, -1);
    }

    /**
     * The object's address for a call on the hot path; valid until {@link HotMark#leave()}.
     *
     * @return the address; 0 if the object is closed
     */
    protected final long addressOrZero() {
        return (long) ADDRESS.getOpaque(this);
    }

    /**
     * The object's address for a call on the hot path; valid until {@link HotMark#leave()}.
     *
     * @return the address
     * @throws IllegalStateException if the object is closed
     */
    protected final long openAddress() {
        final long open = (long) ADDRESS.getOpaque(this);
        if (open == 0) {
            throw closed();
        }
        return open;
    }

    /**
     * Waits until a file descriptor of this object is readable. To be called by a thread that has entered it. Virtual threads
     * release their carrier meanwhile.
     *
     * @param fd        the descriptor
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until {@link #end()}
     * @return true if it is readable, false if the time is over
     * @throws IllegalStateException    if the object is closed during the wait, or the descriptor can never become readable
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     */
    protected final boolean awaitReadable(final int fd, final int timeoutMs) {
        final Wakeup wait = Wakeup.take();
        synchronized (waits) {
            waits.add(wait);
        }
        try {
            if (isClosed()) {
                throw closed();
            }
            final int outcome = wait.awaitInterruptibly(fd, timeoutMs);
            if (outcome == Wakeup.SIGNALLED) {
                throw closed();
            }
            if (outcome == Wakeup.INTERRUPTED) {
                throw new WaitInterruptedException("a wait for " + name());
            }
            if (outcome == Wakeup.BROKEN) {
                throw new IllegalStateException(
                    "file descriptor " + fd + " of " + name() + " is closed or in an error state: it will never become readable");
            }
            return outcome == Wakeup.READABLE;
        } finally {
            synchronized (waits) {
                waits.remove(wait);
            }
            wait.release();
        }
    }

    /**
     * Waits for something that a file descriptor of this object announces. Enters the object itself.
     *
     * @param fd        the descriptor
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until {@link #end()}
     * @param take      takes it by the object's address; empty if another thread has taken it
     * @param <T>       what is waited for
     * @return empty if there was none in time
     * @throws IllegalStateException    if the object is closed, now or during the wait
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     */
    protected final <T> Optional<T> awaitNext(final int fd, final int timeoutMs, final LongFunction<Optional<T>> take) {
        final long open = enter();
        try {
            final long startNs = System.nanoTime();
            int remainingMs = timeoutMs;
            while (awaitReadable(fd, remainingMs)) {
                final Optional<T> next = take.apply(open);
                if (next.isPresent() || remainingMs == 0) {
                    return next;
                }
                remainingMs = Deadline.remainingMs(timeoutMs, startNs);
            }
            return Optional.empty();
        } finally {
            exit();
        }
    }

    /**
     * Ends the object for everybody: refuses further calls, ends waits, waits for calls that are under way, and takes the address
     * away.
     *
     * @return the last address; 0 if another thread was faster
     * @throws IllegalStateException if a call does not return within 30 s; the object stays open then
     */
    protected final long end() {
        return refuseCalls() ? takeAddress() : 0;
    }

    /**
     * The first half of {@link #end()}, which {@link #admitCalls()} undoes: refuses further calls, ends waits, and waits for
     * calls that are under way. The hot path keeps the address.
     *
     * @return false if the object refuses calls already
     * @throws IllegalStateException if a call does not return within 30 s; the object stays open then
     */
    final boolean refuseCalls() {
        if ((int) CALLERS.getAndBitwiseOr(this, CLOSING) < 0) {
            return false;
        }
        synchronized (waits) {
            waits.forEach(Wakeup::signal);
        }
        final UninterruptiblePause pause = new UninterruptiblePause();
        try {
            final long startNs = System.nanoTime();
            while ((int) CALLERS.getVolatile(this) != CLOSING) {
                if (System.nanoTime() - startNs > END_TIMEOUT_NS) {
                    admitCalls();
                    throw new IllegalStateException(
                        name() + " cannot be closed: a call of another thread has not returned for 30 s");
                }
                pause.parkNanos(END_POLL_NS);
            }
        } finally {
            pause.end();
        }
        return true;
    }

    /** Undoes {@link #refuseCalls()}. */
    final void admitCalls() {
        CALLERS.getAndBitwiseAnd(this, ~CLOSING);
    }

    /** The second half of {@link #end()}: takes the address away from the hot path too, for good. */
    final long takeAddress() {
        return (long) ADDRESS.getAndSet(this, 0L);
    }

    /**
     * The exception for a call on a closed object.
     *
     * @return to be thrown
     */
    protected final IllegalStateException closed() {
        return new IllegalStateException(name() + " is closed");
    }
}
