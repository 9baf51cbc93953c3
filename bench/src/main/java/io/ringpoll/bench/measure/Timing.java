package io.ringpoll.bench.measure;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits of the thread that controls a measurement, which must not take the CPU from the measured threads. */
public final class Timing {
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private Timing() {
    }

    /**
     * Sleeps until a time.
     *
     * @param timeNs by {@link System#nanoTime()}
     */
    public static void sleepUntil(final long timeNs) {
        long leftNs = timeNs - System.nanoTime();
        while (leftNs > 0) {
            LockSupport.parkNanos(leftNs);
            leftNs = timeNs - System.nanoTime();
        }
    }

    /**
     * Sleeps until a condition holds; checks it every millisecond.
     *
     * @param condition  the condition
     * @param deadlineNs by {@link System#nanoTime()}
     * @param expected   description of the condition, for the exception
     * @throws TimeoutException if it does not hold by the deadline
     */
    public static void await(final BooleanSupplier condition, final long deadlineNs, final String expected)
        throws TimeoutException {
        await(condition, deadlineNs, expected, POLL_NS);
    }

    /**
     * Sleeps until a condition holds; checks it at an interval, because each check takes a CPU from a hot thread if all are in
     * use.
     *
     * @param condition  the condition
     * @param deadlineNs by {@link System#nanoTime()}
     * @param expected   description of the condition, for the exception
     * @param pollNs     interval in nanoseconds
     * @throws TimeoutException if it does not hold by the deadline
     */
    public static void await(final BooleanSupplier condition, final long deadlineNs, final String expected, final long pollNs)
        throws TimeoutException {
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new TimeoutException("not in time: " + expected);
            }
            LockSupport.parkNanos(Math.min(pollNs, Math.max(1, deadlineNs - System.nanoTime())));
        }
    }
}
