package io.ringpoll.poller;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits of tests for what another thread does, with a bound for a machine under load. */
final class Waiting {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(40);

    private Waiting() {
    }

    static void await(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < BOUND_NS, "not in time");
            Thread.yield();
        }
    }

    /** Waits for a thread to end, if it has started; also where no time limit of the test framework applies. */
    static void awaitEnd(final Thread thread) throws InterruptedException {
        if (thread.getState() != Thread.State.NEW) {
            assertTrue(thread.join(Duration.ofNanos(BOUND_NS)), () -> thread + " does not end");
        }
    }
}
