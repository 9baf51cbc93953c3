package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Bounded waits of tests for other threads, with time limits for a loaded machine. */
final class Waiting {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    private Waiting() {
    }

    static void await(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < BOUND_NS, "not in time");
            Thread.yield();
        }
    }

    /** Waits for the end of a thread, if it has started; also where no time limit of the test framework applies. */
    static void awaitEnd(final Thread thread) throws InterruptedException {
        if (thread.getState() != Thread.State.NEW) {
            assertTrue(thread.join(Duration.ofNanos(BOUND_NS)), () -> thread + " does not end");
        }
    }
}
