package io.ringpoll.verify.fuzz;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.rpma.Connection;
import java.util.concurrent.TimeUnit;

/** Waits for completions one by one, in its own slot. Used by one thread. */
final class NextCompletion {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final WorkCompletions slot = WorkCompletions.allocate(1);
    private final WorkCompletion completion = new WorkCompletion();

    /** The next completion of the main queue of a connection, valid until the next call. */
    WorkCompletion await(final Connection connection) {
        final long deadlineNs = System.nanoTime() + PATIENCE_NS;
        while (connection.completionQueue().poll(slot, 0, 1) == 0) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError("a work request did not end");
            }
            Thread.onSpinWait();
        }
        return slot.show(0, completion);
    }
}
