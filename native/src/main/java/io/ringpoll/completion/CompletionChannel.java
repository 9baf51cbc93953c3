package io.ringpoll.completion;

import static io.ringpoll.completion.FfmVerbsFunctions.VERBS;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.os.FileDescriptors;
import io.ringpoll.os.Errno;
import io.ringpoll.os.WaitInterruptedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Delivers completion events of completion queues: one event per {@link VerbsCompletionQueue#requestNotification}.
 *
 * <pre>{@code
 * queue.requestNotification(false);                  // arm
 * if (queue.poll(records, 0, n) == 0                 // final poll
 *     && channel.await(timeoutMs) == queue) {        // sleep, wake
 *     queue.requestNotification(false);              // re-arm, then poll until empty
 * }
 * }</pre>
 *
 * <p>Every event must be acknowledged, which takes a lock; so it is done for {@link #ACKNOWLEDGE_BATCH} events together, and for
 * the rest when the queue is closed. One thread waits at a time; any may close. {@link #await} allocates nothing.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_cq_event.3.html">ibv_get_cq_event(3)</a>
 */
public final class CompletionChannel extends NativeResource {
    /** Events per queue that are acknowledged together. */
    public static final int ACKNOWLEDGE_BATCH = 32;

    private static final int CONTEXT_RESULT_OFFSET = 8;

    private final boolean created;
    private final int fd;
    private final List<VerbsCompletionQueue> queues = new ArrayList<>();

    private CompletionChannel(final String name, final long address, final boolean created) {
        super(name, address);
        this.created = created;
        fd = Memory.intAt(address + IbvCq.CHANNEL_FD_OFFSET);
        FileDescriptors.setNonBlocking(fd);
    }

    /**
     * Creates a channel.
     *
     * @param context the device
     * @return to be closed after its queues
     * @throws VerbsException with the errno of ibv_create_comp_channel(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_create_comp_channel.3.html">ibv_create_comp_channel(3)</a>
     */
    public static CompletionChannel create(final VerbsContext context) {
        return context.create(device -> {
            final long address = VERBS.ibv_create_comp_channel(device);
            if (address == 0) {
                throw new VerbsException("ibv_create_comp_channel", CallState.current().errno());
            }
            try {
                return new CompletionChannel("completion channel of " + context.name(), address, true);
            } catch (final RuntimeException | Error failure) {
                VERBS.ibv_destroy_comp_channel(address);
                throw failure;
            }
        });
    }

    /**
     * Wraps the channel of queues of librpma. It replaces librpma's own waits, which must not be used together with it.
     *
     * @param first  a queue that has a channel
     * @param others further queues of the same channel
     * @return to be closed before the queues
     * @throws IllegalArgumentException if there is no channel, or they have different ones
     * @throws IllegalStateException    if a queue is closed
     */
    public static CompletionChannel borrow(final VerbsCompletionQueue first, final VerbsCompletionQueue... others) {
        Objects.requireNonNull(others, "the other queues (others) are null");
        final CompletionChannel channel = borrow(first);
        boolean complete = false;
        try {
            for (final VerbsCompletionQueue other : others) {
                channel.include(other);
            }
            complete = true;
            return channel;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }

    private static CompletionChannel borrow(final VerbsCompletionQueue first) {
        final long cq = first.enterForChannel();
        try {
            final long address = VerbsCompletionQueue.channelAddress(cq);
            if (address == 0) {
                throw new IllegalArgumentException(first.name() + " has no completion channel");
            }
            final CompletionChannel channel = new CompletionChannel("completion channel of " + first.name(), address, false);
            channel.add(first);
            channel.dependsOn(first);
            return channel;
        } finally {
            first.exitForChannel();
        }
    }

    /**
     * Adds a further queue of librpma's that has this channel; any thread. A queue that is being closed at that moment is either
     * refused, or included, and then its close fails until this is closed.
     *
     * @param queue to be closed after this; one that is included already, or was created with this channel and is closed before
     *              it, is left as it is
     * @throws IllegalArgumentException if it has another channel, or none
     * @throws IllegalStateException    if this or the queue is closed
     */
    public void include(final VerbsCompletionQueue queue) {
        Objects.requireNonNull(queue, "the queue is null");
        final long address = enter();
        try {
            final long cq = queue.enterForChannel();
            try {
                if (VerbsCompletionQueue.channelAddress(cq) != address) {
                    throw new IllegalArgumentException(queue.name() + " does not have the " + name());
                }
                if (!created) {
                    add(queue);
                    dependsOn(queue);
                }
            } finally {
                queue.exitForChannel();
            }
        } finally {
            exit();
        }
    }

    /**
     * The descriptor, readable when there is an event; for epoll(7) and the like. It is non-blocking and must stay so.
     *
     * @return the descriptor, valid until this is closed
     */
    public int fd() {
        return fd;
    }

    /**
     * Waits for an event. The queue that it names may be empty already.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the queue of the event; null if there was none in time
     * @throws IllegalStateException    if this is closed, now or while it waits
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws VerbsException           with the errno of ibv_get_cq_event(3)
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_cq_event.3.html">ibv_get_cq_event(3)</a>
     */
    public VerbsCompletionQueue await(final int timeoutMs) {
        final long channel = enter();
        try {
            final long startNs = System.nanoTime();
            int remainingMs = timeoutMs;
            while (awaitReadable(fd, remainingMs)) {
                final VerbsCompletionQueue queue = take(channel);
                if (queue != null) {
                    return queue;
                }
                remainingMs = Deadline.remainingMs(timeoutMs, startNs);
            }
            return null;
        } finally {
            exit();
        }
    }

    long enterForQueue() {
        return enter();
    }

    void exitForQueue() {
        exit();
    }

    void add(final VerbsCompletionQueue queue) {
        synchronized (queues) {
            // A queue that only refuses calls may stay open: its close finds a dependent.
            queues.removeIf(known -> known == queue || known.identity() == 0);
            queues.add(queue);
        }
    }

    private VerbsCompletionQueue take(final long channel) {
        final CallState state = CallState.current();
        final long results = state.scratch();
        // The second call, for errno, returns the event if one has arrived in between.
        if (VERBS.ibv_get_cq_event(channel, results, results + CONTEXT_RESULT_OFFSET) != 0 &&
            VERBS.ibv_get_cq_event_errno(channel, results, results + CONTEXT_RESULT_OFFSET) != 0) {
            if (state.errno() != Errno.EAGAIN) {
                throw new VerbsException("ibv_get_cq_event", state.errno());
            }
            // Somebody else has taken the event.
            return null;
        }
        final long cq = state.longAt(0);
        synchronized (queues) {
            for (int i = 0; i < queues.size(); i++) {
                final VerbsCompletionQueue queue = queues.get(i);
                if (queue.identity() == cq) {
                    queue.count(cq, ACKNOWLEDGE_BATCH);
                    return queue;
                }
            }
        }
        // A queue of the same channel that was not named here: its owner's destroy must not wait for this event.
        VERBS.ibv_ack_cq_events(cq, 1);
        return null;
    }

    @Override
    protected void destroy(final long lastAddress) {
        if (created) {
            final int errno = VERBS.ibv_destroy_comp_channel(lastAddress);
            if (errno != 0) {
                throw new VerbsException("ibv_destroy_comp_channel", Math.abs(errno));
            }
        }
    }
}
