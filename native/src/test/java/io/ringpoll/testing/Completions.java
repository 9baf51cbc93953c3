package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import java.util.concurrent.TimeUnit;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/** Memory for work completions and a bounded wait for them. Owned by one thread. */
public final class Completions {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(50);

    private final UnsafeBuffer memory;
    private final WorkCompletions records;
    private final int capacity;
    private final WorkCompletion completion = new WorkCompletion();

    public Completions(final int capacity) {
        this.capacity = capacity;
        memory = new UnsafeBuffer(BufferUtil.allocateDirectAligned(capacity * IbvWc.SIZE_BYTES, 64));
        records = WorkCompletions.in(memory, 0, capacity);
    }

    public Completions() {
        this(64);
    }

    /** Address of the first record. */
    public long address() {
        return memory.addressOffset();
    }

    /** The records, to poll into. */
    public WorkCompletions records() {
        return records;
    }

    /** The memory itself. */
    public UnsafeBuffer memory() {
        return memory;
    }

    /** The record of an index, valid until the next call. */
    public WorkCompletion at(final int index) {
        return completion.wrap(memory, index * IbvWc.SIZE_BYTES);
    }

    /** Polls until there is one completion. */
    public WorkCompletion awaitOne(final CompletionQueue queue) {
        await(queue, 1);
        return at(0);
    }

    /** Polls until there are as many completions as asked for, oldest first. */
    public void await(final CompletionQueue queue, final int count) {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        int got = 0;
        while (got < count) {
            final int polled = queue.poll(records, got, Math.min(count, capacity) - got);
            if (polled < 0) {
                fail(queue.name() + " failed with " + polled);
            }
            got += polled;
            if (System.nanoTime() - deadlineNs > 0) {
                fail(queue.name() + " returned " + got + " of " + count + " completions in 50 s");
            }
            if (polled == 0) {
                Thread.onSpinWait();
            }
        }
    }
}
