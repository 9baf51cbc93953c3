package io.ringpoll.poller;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletions;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A completion queue with completions that a test defines, for cases that no device produces on demand.
 *
 * <p>Any thread may add completions; one thread polls.
 */
public final class ScriptedQueue implements CompletionQueue {
    private record Entry(long workRequestId, int status, int opcode) {
    }

    private final String name;
    private final ConcurrentLinkedQueue<Entry> entries = new ConcurrentLinkedQueue<>();
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private volatile int faultCode;
    private volatile RuntimeException toThrow;
    private volatile int largestRequest;
    private volatile long address;
    private volatile long polls;
    private CompletionQueue viewed = this;

    /**
     * Creates an empty queue.
     *
     * @param name for reports
     */
    public ScriptedQueue(final String name) {
        this.name = name;
    }

    /**
     * Adds a completion.
     *
     * @param workRequestId of the record
     * @param status        of the record
     * @param opcode        of the record
     * @return this
     */
    public ScriptedQueue add(final long workRequestId, final int status, final int opcode) {
        entries.add(new Entry(workRequestId, status, opcode));
        return this;
    }

    /**
     * Makes every poll from the first empty one on fail.
     *
     * @param code negative
     */
    public void failWith(final int code) {
        faultCode = code;
    }

    /**
     * Makes every poll throw, in breach of the contract.
     *
     * @param exception thrown
     */
    public void throwAtPoll(final RuntimeException exception) {
        toThrow = exception;
    }

    /**
     * The largest number of records that a poll has requested.
     *
     * @return records
     */
    public int largestRequest() {
        return largestRequest;
    }

    /**
     * Number of polls so far.
     *
     * @return polls
     */
    public long polls() {
        return polls;
    }

    /**
     * Number of completions that have not been polled.
     *
     * @return completions
     */
    public int size() {
        return entries.size();
    }

    /** Makes this a view of another queue, though it has completions of its own. */
    public ScriptedQueue viewOf(final CompletionQueue queue) {
        viewed = queue;
        return this;
    }

    @Override
    public Object underlying() {
        return viewed;
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        largestRequest = Math.max(largestRequest, maxEntries);
        polls = polls + 1;
        if (toThrow != null) {
            throw toThrow;
        }
        int count = 0;
        while (count < maxEntries) {
            final Entry entry = entries.poll();
            if (entry == null) {
                break;
            }
            view.wrap(records.address(first, maxEntries) + (long) count * IbvWc.SIZE_BYTES, IbvWc.SIZE_BYTES);
            // A provider may leave garbage in fields that are not valid, and in the padding.
            view.setMemory(0, IbvWc.SIZE_BYTES, (byte) 0xEE);
            view.putLong(IbvWc.WR_ID_OFFSET, entry.workRequestId);
            view.putInt(IbvWc.STATUS_OFFSET, entry.status);
            view.putInt(IbvWc.OPCODE_OFFSET, entry.opcode);
            count++;
        }
        return count == 0 ? faultCode : count;
    }

    @Override
    public String name() {
        return name;
    }

    /** Sets the address by which an asynchronous event identifies this queue. */
    public ScriptedQueue at(final long queueAddress) {
        address = queueAddress;
        return this;
    }

    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return event.completionQueueAddress() == address;
    }
}
