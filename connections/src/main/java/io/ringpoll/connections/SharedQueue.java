package io.ringpoll.connections;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.pipeline.PolledQueue;
import io.ringpoll.internal.rc.RcQueue;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * The completion queue that all connections of a poller share: one poll finds the completions of all, by their queue pair
 * numbers. It has room for the requests of as many connections as the set permits.
 *
 * <p>Belongs to the polling thread, but for {@link #expect} and {@link #forget}.
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
    private WorkCompletions records;
    private final WorkCompletion completion = new WorkCompletion();
    private boolean isPolled;
    private int faultCode;

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
        if (faultCode != 0) {
            throw new IllegalStateException("the completion queue has failed with code " + faultCode);
        }
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

    /** The connection of a completion; null if it has ended, or not begun. */
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

    /** Passes all completions that are in the queue now to its poller. */
    void pollLast(final ConnectionPoller poller) {
        if (records == null) {
            records = WorkCompletions.allocate(BATCH);
        }
        int left = shared.queue().capacity();
        int count = faultCode == 0 ? polled.poll(records, 0, BATCH) : 0;
        while (count > 0) {
            for (int i = 0; i < count; i++) {
                poller.onCompletion(records.show(i, completion), NO_SEQUENCE, i == count - 1);
            }
            left -= count;
            count = left > 0 ? polled.poll(records, 0, BATCH) : 0;
        }
    }

    /** The queue has failed, and with it all its connections. */
    void onFault(final int code) {
        faultCode = code;
        List.copyOf(connections.values()).forEach(connection -> connection.onQueueFault(code));
    }

    /** Closes the queue; after its connections and the pipeline. */
    @Override
    public void close() {
        shared.close();
    }
}
