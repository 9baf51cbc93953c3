package io.ringpoll.bench.fuzz;

import io.ringpoll.rpma.Connection;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletion;
import java.util.concurrent.TimeUnit;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/** Waits for completions one by one, in a slot of its own. One thread. */
final class NextCompletion {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final UnsafeBuffer slot = new UnsafeBuffer(BufferUtil.allocateDirectAligned(IbvWc.SIZE_BYTES, IbvWc.SIZE_BYTES + 16));
    private final WorkCompletion completion = new WorkCompletion();

    /** The next one of a connection's main queue, valid until the next call. */
    WorkCompletion await(final Connection connection) {
        final long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (connection.completionQueue().poll(slot.addressOffset(), 1) == 0) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError("a work request did not end");
            }
            Thread.onSpinWait();
        }
        return completion.wrap(slot, 0);
    }
}
