package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.internal.os.KernelThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** An action on another thread, with its result; every wait for it has a bound. */
public final class OtherThread<T> {
    private static final long TIMEOUT_MS = 50_000;
    private static final int LOOKS_ASLEEP = 3;
    private static final long LOOK_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final Thread thread;
    private volatile T result;
    private volatile Throwable failure;
    private volatile int kernelThread;

    private OtherThread(final Callable<T> action) {
        thread = new Thread(() -> {
            try {
                kernelThread = KernelThread.current().id();
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

    /** Waits until the action sleeps in the kernel, within a call into C; fails if it ends instead. */
    public void requireWaiting() {
        final long startNs = System.nanoTime();
        int asleep = 0;
        while (asleep < LOOKS_ASLEEP) {
            assertTrue(thread.isAlive(), () -> "it did not wait, but returned " + result + " or threw " + failure);
            assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS), "it does not wait");
            // The JVM's own waits are not RUNNABLE; one look could meet a moment's lock in C.
            asleep = thread.getState() == Thread.State.RUNNABLE && isAsleep() ? asleep + 1 : 0;
            LockSupport.parkNanos(LOOK_INTERVAL_NS);
        }
    }

    /** Interrupts the action. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Waits until the action is parked or blocked by another thread of the JVM; fails if it ends instead. */
    public void requireParked() {
        final long startNs = System.nanoTime();
        int parked = 0;
        while (parked < LOOKS_ASLEEP) {
            assertTrue(thread.isAlive(), () -> "it did not wait, but returned " + result + " or threw " + failure);
            assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS), "it does not wait");
            final Thread.State state = thread.getState();
            parked = state == Thread.State.WAITING || state == Thread.State.BLOCKED ? parked + 1 : 0;
            LockSupport.parkNanos(LOOK_INTERVAL_NS);
        }
    }

    /** Waits until the action is in a park with a time-out; fails if it ends instead. */
    public void requireParkedForATime() {
        final long startNs = System.nanoTime();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertTrue(thread.isAlive(), () -> "it did not wait, but returned " + result + " or threw " + failure);
            assertTrue(System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS), "it does not wait");
            Thread.onSpinWait();
        }
    }

    private boolean isAsleep() {
        try {
            final String stat = Files.readString(Path.of("/proc/self/task", Integer.toString(kernelThread), "stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
        } catch (final IOException notThere) {
            return false;
        }
    }

    /** The result of the action; fails if it threw. */
    public T result() {
        join();
        if (failure != null) {
            fail("the other thread failed", failure);
        }
        return result;
    }

    /** The exception of the action; fails if it returned. */
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
