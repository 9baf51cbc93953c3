package io.ringpoll.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.JvmFlags;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One thread's wait on many file descriptors: endpoints, connection events, completion channels. Each has an action that runs
 * when it is readable.
 *
 * <p>Used by one thread; only {@link #wakeUp()} may be called by others. Waiting allocates nothing while the descriptors stay the
 * same. It looks at every descriptor at every wait, which is right for hundreds of them, not for many thousands.
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
    private volatile boolean closed;

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
     */
    public void add(final int fd, final Runnable action) {
        Objects.requireNonNull(action, "the action is null");
        requireOpen();
        if (fd < 0) {
            throw new IllegalArgumentException("descriptor " + fd + " is negative: it would never be ready");
        }
        put(fd, action);
    }

    /**
     * Removes a descriptor.
     *
     * @param fd the descriptor; one that is not there is ignored
     */
    public void remove(final int fd) {
        requireOpen();
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
     * @throws IllegalStateException if this is closed, or a virtual thread is to wait: it would keep its carrier
     */
    public int await(final int timeoutMs) {
        requireOpen();
        if (timeoutMs != 0 && Thread.currentThread().isVirtual()) {
            throw new IllegalStateException("a wait on many descriptors needs a platform thread; this one is virtual");
        }
        wokenUp = false;
        final long startNs = timeoutMs > 0 ? System.nanoTime() : 0;
        int remainingMs = timeoutMs;
        while (true) {
            final int ready = POSIX.poll(pollFds.addressOffset(), count, remainingMs);
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
                final CallState state = CallState.current();
                final long one = state.scratch();
                state.longAt(0, 1);
                POSIX.write(eventFd, one, Long.BYTES);
            }
        }
    }

    @Override
    public void close() {
        synchronized (actions) {
            if (!closed) {
                closed = true;
                POSIX.close(eventFd);
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
        for (int i = 0; i < others && !changed; i++) {
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
            throw new IllegalStateException("the wait is closed");
        }
    }
}
