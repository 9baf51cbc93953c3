package io.ringpoll.connections;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.verbs.RecordAddress;
import org.agrona.UnsafeApi;

/**
 * A connection that has a queue pair in a {@link SharedQueue} and has not begun yet. Keeps its early completions: a peer sends as
 * soon as it is accepted.
 *
 * <p>Made by the thread that connects or accepts; the completions belong to the polling thread.
 */
final class ExpectedConnection {
    private final int queuePairNumber;
    private final long begin;
    private final int capacity;
    /** Null until the first completion. */
    private WorkCompletions early;
    private int count;

    /**
     * A connection that is to be made.
     *
     * @param begin    of the ids of its requests, of {@link WorkRequestId#begin}
     * @param capacity the number of its requests
     */
    ExpectedConnection(final int queuePairNumber, final long begin, final int capacity) {
        this.queuePairNumber = queuePairNumber;
        this.begin = begin;
        this.capacity = capacity;
    }

    int queuePairNumber() {
        return queuePairNumber;
    }

    /** The first counts in the ids of a connection's requests; without a tag if it was not expected. */
    static long beginOf(final ExpectedConnection expected) {
        return expected == null ? WorkRequestId.UNTAGGED : expected.begin;
    }

    /** Keeps a completion with the number of this queue pair, unless it is that of an earlier one; polling thread. */
    void add(final WorkCompletion completion) {
        if (WorkRequestId.isOf(completion.workRequestId(), begin)) {
            if (early == null) {
                early = WorkCompletions.allocate(capacity);
            }
            UnsafeApi.copyMemory(RecordAddress.of(completion), early.address(count, 1), IbvWc.SIZE_BYTES);
            count++;
        }
    }

    /** Passes the completions on to the connection, which is polled from now on; polling thread. */
    void deliver(final MessageConnection connection) {
        final WorkCompletion completion = new WorkCompletion();
        for (int i = 0; i < count; i++) {
            connection.onCompletion(early.show(i, completion));
            connection.onBatchEnd();
        }
        early = null;
        count = 0;
    }
}
