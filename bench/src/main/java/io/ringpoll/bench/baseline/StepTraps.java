package io.ringpoll.bench.baseline;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.OsException;

/** Protects this process from the traces that a debugger leaves in a thread which it has executed step by step. */
public final class StepTraps {
    private StepTraps() {
    }

    /**
     * From now on, a thread survives a debugger that ends before it has released the thread. On x86-64 the thread keeps the trap
     * flag, whose signal would end this process. May be called again.
     *
     * @throws OsException if the signal cannot be handled
     */
    public static void survive() {
        if (BaselineFunctions.surviveSteps() != 0) {
            throw new OsException("sigaction", CallState.current().errno());
        }
    }
}
