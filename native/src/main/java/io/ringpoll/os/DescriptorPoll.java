package io.ringpoll.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.JvmFlags;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One thread's wait on many file descriptors: endpoints, connection events, completion channels. Each has an action that runs
 * when it is readable.
 *
 * <p>Used by one thread at a time; only {@link #wakeUp()} and {@link #close()} may be called by others meanwhile. Waiting
 * allocates nothing while the descriptors stay the same. It looks at every descriptor at every wait, which is right for hundreds
 * of them, not for many thousands.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/poll.2.html">poll(2)</a>
 */
public final class DescriptorPoll implements AutoCloseable {
    private static final int EFD_NONBLOCK = 0x800;
    private static final int EFD_CLOEXEC = 0x80000;
    private static final short POLLIN = 1;
    private static final int POLLFD_BYTES = 8;
    private static final int EVENTS_OFFSET = 4;
    private static final int REVENTS_OFFSET = 6;
    private static final int INITIAL_CAPACITY = 16;

    private final int eventFd;
    private final List<Runnable> actions = new ArrayList<>();
    private UnsafeBuffer pollFds = memory(INITIAL_CAPACITY);
    private int count;
    /** Index of the action that ended the last round, behind which the next one begins; 0 if none did. */
    private int next;
    private boolean changed;
    private boolean wokenUp;
    /** The thread within a call that uses the list: the kernel writes to its memory during a wait. */
    private final AtomicReference<Thread> user = new AtomicReference<>();
    private volatile boolean closed;
    /** Guarded by the lock of the actions. */
    private boolean hasDescriptor = true;

    /**
     * Creates a wait on nothing.
     *
     * @throws OsException           if the process has no file descriptor left
     * @throws IllegalStateException if the JVM lacks a flag; the message names it
     */
    public DescriptorPoll() {
        eventFd = POSIX.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        if (eventFd < 0) {
            throw OsException.of("eventfd");
        }
        put(eventFd, this::clearWakeUp);
    }

    /**
     * Adds a descriptor.
     *
     * @param fd     the descriptor; remove it before it is closed
     * @param action runs within {@link #await} when it is readable or in error; may add and remove descriptors
     * @throws IllegalArgumentException if the descriptor is negative, which poll(2) would ignore
     * @throws IllegalStateException    if this is closed, or another thread uses it
     */
    public void add(final int fd, final Runnable action) {
        Objects.requireNonNull(action, "the action is null");
        if (fd < 0) {
            throw new IllegalArgumentException("descriptor " + fd + " is negative: it would never be ready");
        }
        final boolean begun = begin();
        try {
            put(fd, action);
        } finally {
            end(begun);
        }
    }

    /**
     * Removes a descriptor.
     *
     * @param fd the descriptor; one that is not there is ignored
     * @throws IllegalStateException if this is closed, or another thread uses it
     */
    public void remove(final int fd) {
        final boolean begun = begin();
        try {
            take(fd);
        } finally {
            end(begun);
        }
    }

    private void take(final int fd) {
        for (int i = 1; i < count; i++) {
            if (fdAt(i) == fd) {
                count--;
                pollFds.putBytes(i * POLLFD_BYTES, pollFds, count * POLLFD_BYTES, POLLFD_BYTES);
                actions.set(i, actions.get(count));
                actions.removeLast();
                changed = true;
                return;
            }
        }
    }

    /**
     * Waits until a descriptor is readable and runs the actions of all that are. An interrupt does not end the wait;
     * {@link #wakeUp()} does.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits without a bound
     * @return number of actions that ran; 0 if the time is over or {@link #wakeUp()} was called
     * @throws OsException           if poll(2) fails
     * @throws IllegalStateException if this is closed, now or while it waits; if another thread uses it, or the call is that of
     *     an action; or if a virtual thread is to wait: it would keep its carrier
     */
    public int await(final int timeoutMs) {
        if (timeoutMs != 0 && Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("a wait on many descriptors needs a platform thread; this one is virtual");
        }
        if (!begin()) {
            throw new IllegalStateException("an action of this wait cannot wait itself: it would be called again");
        }
        try {
            return awaitReady(timeoutMs);
        } finally {
            end(true);
        }
    }

    private int awaitReady(final int timeoutMs) {
        wokenUp = false;
        final long startNs = timeoutMs > 0 ? System.nanoTime() : 0;
        int remainingMs = timeoutMs;
        while (true) {
            final int ready = POSIX.poll(pollFds.addressOffset(), count, remainingMs);
            requireOpen();
            if (ready >= 0) {
                return ready == 0 ? 0 : runReady();
            }
            if (POSIX.poll_errno(pollFds.addressOffset(), count, 0) < 0) {
                throw OsException.of("poll");
            }
            if (timeoutMs > 0) {
                remainingMs = (int) Math.max(0, timeoutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs));
            }
        }
    }

    /**
     * Whether {@link #wakeUp()} ended the last {@link #await}, alone or together with descriptors.
     *
     * @return false if its time was over or only descriptors were readable
     */
    public boolean wasWokenUp() {
        return wokenUp;
    }

    /** Ends the wait that is under way, or the next one; any thread may call it. */
    public void wakeUp() {
        // Not while it is being closed: the number of the descriptor may be another file's a moment later.
        synchronized (actions) {
            if (!closed) {
                ring();
            }
        }
    }

    /**
     * Ends the wait that is under way on another thread, which gets an {@link IllegalStateException}; in an action, ends the
     * round of actions. Any thread may call it; a second call does nothing.
     */
    @Override
    public void close() {
        synchronized (actions) {
            if (!closed) {
                closed = true;
                if (user.get() == null) {
                    closeDescriptor();
                } else {
                    // The user closes it, at the end of its call: the number may be another file's a moment later.
                    ring();
                }
            }
        }
    }

    private void ring() {
        final CallState state = CallState.current();
        final long one = state.scratch();
        state.longAt(0, 1);
        POSIX.write(eventFd, one, Long.BYTES);
    }

    /** Under the lock of the actions. */
    private void closeDescriptor() {
        if (hasDescriptor) {
            hasDescriptor = false;
            POSIX.close(eventFd);
        }
    }

    /** Begins a use by the calling thread; returns false if an action of its wait makes the call. */
    private boolean begin() {
        final Thread caller = Thread.currentThread();
        final Thread before = user.compareAndExchange(null, caller);
        if (before != null && before != caller) {
            throw new IllegalStateException("thread " + before.getName() + " uses this wait: " + caller.getName() +
                " may only wake it up or close it");
        }
        if (closed) {
            end(before == null);
            throw isClosed();
        }
        return before == null;
    }

    private void end(final boolean begun) {
        if (begun) {
            user.set(null);
            // Either this is seen here, or the thread that closes sees that there is no user.
            if (closed) {
                synchronized (actions) {
                    closeDescriptor();
                }
            }
        }
    }

    /**
     * An action that changes the list ends the round: descriptors that are still ready are returned by the next wait. The next
     * round begins behind that action, so that a descriptor whose action changes the list each time keeps no others out.
     */
    private int runReady() {
        int ran = 0;
        changed = false;
        if (isReady(0)) {
            actions.getFirst().run();
        }
        final int others = count - 1;
        final int begin = next;
        for (int i = 0; i < others && !changed && !closed; i++) {
            final int index = 1 + (begin + i) % others;
            if (isReady(index)) {
                next = index;
                actions.get(index).run();
                ran++;
            }
        }
        next = changed ? next : 0;
        return ran;
    }

    private boolean isReady(final int index) {
        return pollFds.getShort(index * POLLFD_BYTES + REVENTS_OFFSET) != 0;
    }

    private void put(final int fd, final Runnable action) {
        final int offset = count * POLLFD_BYTES;
        if (offset == pollFds.capacity()) {
            final UnsafeBuffer larger = memory(2 * count);
            larger.putBytes(0, pollFds, 0, offset);
            pollFds = larger;
        }
        pollFds.putInt(offset, fd);
        pollFds.putShort(offset + EVENTS_OFFSET, POLLIN);
        pollFds.putShort(offset + REVENTS_OFFSET, (short) 0);
        actions.add(action);
        count++;
        changed = true;
    }

    private int fdAt(final int index) {
        return pollFds.getInt(index * POLLFD_BYTES);
    }

    private static UnsafeBuffer memory(final int descriptors) {
        JvmFlags.require(IllegalStateException::new);
        return new UnsafeBuffer(Arena.ofAuto().allocate((long) descriptors * POLLFD_BYTES, POLLFD_BYTES).asByteBuffer());
    }

    private void clearWakeUp() {
        wokenUp = true;
        POSIX.read(eventFd, CallState.current().scratch(), Long.BYTES);
    }

    private void requireOpen() {
        if (closed) {
            throw isClosed();
        }
    }

    private static IllegalStateException isClosed() {
        return new IllegalStateException("the wait is closed");
    }
}
