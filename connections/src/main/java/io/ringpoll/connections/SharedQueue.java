package io.ringpoll.connections;

import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.pipeline.PolledQueue;
import io.ringpoll.internal.rc.RcQueue;
import io.ringpoll.poller.QueueFault;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * The completion queue that all connections of a poller share: one poll finds the completions of all, by their queue pair
 * numbers. It has room for the requests of as many connections as the set permits.
 *
 * <p>Any thread may prepare connections, and ask whether the queue has failed; all else belongs to the polling thread.
 */
final class SharedQueue implements AutoCloseable {
    private static final int BATCH = 32;
    private static final long NO_SEQUENCE = -1;

    private final RcQueue shared;
    private final CompletionQueue polled;
    private final int requestsOfConnection;
    /** Connections whose completions are handled. */
    private final Int2ObjectHashMap<MessageConnection> connections = new Int2ObjectHashMap<>();
    private final ConcurrentHashMap<Integer, ExpectedConnection> expected = new ConcurrentHashMap<>();
    private final AtomicInteger tags = new AtomicInteger();
    private final WorkCompletions records = WorkCompletions.allocate(BATCH);
    private final WorkCompletion completion = new WorkCompletion();
    private boolean isPolled;
    /** Of the device's events; null until {@link #watch}. */
    private AsyncEvents.Subscription watched;
    /** 0 if the queue has not failed. Written by the polling thread. */
    private volatile int faultCode;

    /**
     * Takes a queue over.
     *
     * @param requestsOfConnection the maximum number of completions of one connection
     */
    SharedQueue(final RcQueue shared, final int requestsOfConnection) {
        this.shared = shared;
        this.requestsOfConnection = requestsOfConnection;
        polled = PolledQueue.of(shared);
    }

    RcQueue queue() {
        return shared;
    }

    /** The queue as a pipeline polls it. */
    CompletionQueue polled() {
        return polled;
    }

    /**
     * Subscribes to the events of the device, which may report an error of the queue that its polls do not show; before the first
     * connection.
     *
     * @param onError called by the reader of the events
     */
    void watch(final VerbsContext device, final Runnable onError) {
        watched = AsyncEvents.listen(device, event -> {
            if (event.type() == AsyncEventType.CQ_ERR && polled.isSubjectOf(event)) {
                onError.run();
            }
        });
    }

    /** Prepares for a connection before it is made; any thread. */
    ExpectedConnection expect(final int queuePairNumber) {
        final ExpectedConnection made = new ExpectedConnection(
            queuePairNumber, WorkRequestId.begin(tags.incrementAndGet()), requestsOfConnection);
        // Replaces an earlier one that is about to be forgotten: the device uses numbers again.
        expected.put(queuePairNumber, made);
        return made;
    }

    /** Keeps no more completions for a connection that has begun or will not; any thread, idempotent. */
    void forget(final ExpectedConnection made) {
        expected.remove(made.queuePairNumber(), made);
    }

    /**
     * Handles the completions of a connection from now on; {@link ExpectedConnection#deliver} follows.
     *
     * @param poll adds the queue to the pipeline
     * @throws IllegalStateException if the queue has failed, or cannot be polled
     */
    void begin(final ExpectedConnection made, final MessageConnection connection, final Runnable poll) {
        requireWorking();
        if (!isPolled) {
            poll.run();
            isPolled = true;
        }
        connections.put(made.queuePairNumber(), connection);
        forget(made);
    }

    /** Handles no more completions of a connection. */
    void end(final int queuePairNumber, final MessageConnection connection) {
        connections.remove(queuePairNumber, connection);
    }

    /** The connection of a completion; null if it has ended or not begun. */
    MessageConnection find(final WorkCompletion found) {
        final MessageConnection connection = connections.get(found.queuePairNumber());
        return connection != null && WorkRequestId.isOf(found.workRequestId(), connection.begin) ? connection : null;
    }

    /** Keeps the completion of a connection that has not begun; that of an ended one is dropped. */
    void keepEarly(final WorkCompletion found) {
        final ExpectedConnection made = expected.get(found.queuePairNumber());
        if (made != null) {
            made.add(found);
        }
    }

    /**
     * Passes all completions that are in the queue now to its poller: at most the requests of the queue pairs. More may be added
     * meanwhile, so the queue may never be empty.
     *
     * @param queuePairs with completions in the queue, at most; of destroyed ones, too
     */
    void pollLast(final ConnectionPoller poller, final int queuePairs) {
        int left = queuePairs * requestsOfConnection;
        int count = faultCode == 0 ? polled.poll(records, 0, BATCH) : 0;
        while (count > 0) {
            for (int i = 0; i < count; i++) {
                pass(records.show(i, completion), i == count - 1, poller);
            }
            left -= count;
            count = left > 0 ? polled.poll(records, 0, BATCH) : 0;
        }
    }

    /** The completions behind one that cannot be handled are not lost: they are those of other connections. */
    private static void pass(final WorkCompletion found, final boolean isLast, final ConnectionPoller poller) {
        try {
            poller.onCompletion(found, NO_SEQUENCE, isLast);
        } catch (final Throwable failure) {
            poller.onListenerException(failure);
        }
    }

    /** Describes the failure of a queue, shared or not, by its code, which a poll has returned or {@link QueueFault} defines. */
    static String describe(final int code) {
        return "the completion queue has failed with " + switch (code) {
            case QueueFault.POLL_THREW -> "an exception of its poll";
            case QueueFault.NOTIFICATION_FAILED -> "a refused request for its events";
            case QueueFault.CQ_ERROR_EVENT -> "IBV_EVENT_CQ_ERR";
            default -> "code " + code;
        };
    }

    /** Refuses connections of a queue that has failed; any thread. */
    void requireWorking() {
        if (hasFailed()) {
            throw new IllegalStateException(describe(faultCode) + ": close the set");
        }
    }

    boolean hasFailed() {
        return faultCode != 0;
    }

    /** The queue has failed, and with it all its connections; the first code remains. */
    void onFault(final int code) {
        if (faultCode == 0) {
            faultCode = code;
        }
        List.copyOf(connections.values()).forEach(connection -> connection.onQueueFault(code));
    }

    /** Closes the queue; after its connections and the pipeline. */
    @Override
    public void close() {
        try {
            if (watched != null) {
                watched.close();
            }
        } finally {
            shared.close();
        }
    }
}
