package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.Callable;


/** Something that runs beside the test's thread, and what came of it; every wait for it has a bound. */
public final class OtherThread<T> {
    private static final long TIMEOUT_MS = 20_000;
    private static final long SETTLE_MS = 20;

    private final Thread thread;
    private volatile T result;
    private volatile Throwable failure;

    private OtherThread(final Callable<T> action) {
        thread = new Thread(() -> {
            try {
                result = action.call();
            } catch (final Throwable t) {
                failure = t;
            }
        }, "other");
        thread.setDaemon(true);
        thread.start();
    }

    /** Begins to run an action. */
    public static <T> OtherThread<T> run(final Callable<T> action) {
        return new OtherThread<>(action);
    }

    /** Lets the action come to the place where it waits; fails if it has ended. */
    public void requireWaiting() {
        try {
            Thread.sleep(SETTLE_MS);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        assertTrue(thread.isAlive(), () -> "it did not wait, but gave " + result + " or " + failure);
    }

    /** What the action returned; fails if it threw. */
    public T result() {
        join();
        if (failure != null) {
            fail("the other thread failed", failure);
        }
        return result;
    }

    /** What the action threw; fails if it returned. */
    public <E extends Throwable> E failure(final Class<E> type) {
        join();
        assertNotNull(failure, () -> "it returned " + result);
        return assertInstanceOf(type, failure);
    }

    private void join() {
        try {
            assertTrue(thread.join(Duration.ofMillis(TIMEOUT_MS)),
                "the other thread does not end");
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
