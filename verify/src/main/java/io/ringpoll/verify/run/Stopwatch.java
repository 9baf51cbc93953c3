package io.ringpoll.verify.run;

import com.sun.management.ThreadMXBean;
import io.ringpoll.pipeline.Pipeline;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/**
 * The times of a run, and what the hot threads did between the end of the warm-up and the end of the posts.
 *
 * <p>The account of allocation begins with the measurement, or later, when the hot threads have settled: a slow JIT may still
 * compile when the measurement begins.
 *
 * <p>Used by the main thread.
 */
final class Stopwatch {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    /** Null in a JVM that only interprets. */
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
    private static final long SETTLED_NS = TimeUnit.MILLISECONDS.toNanos(600);

    private final Pipeline pipeline;
    private final Accounts accounts;
    private final long startNs = System.nanoTime();
    private long measuredFromNs;
    private long measuredFromCompletions;
    private long pollerBytes;
    private long handlerBytes;
    private long hotBytes;
    private long lastCompilationMs;
    private long quietFromNs = startNs;
    private boolean settled;
    private long accountFromNs;
    private double accountSeconds;
    private double seconds;
    private double completionsPerSecond;

    Stopwatch(final Pipeline pipeline, final Accounts accounts) {
        this.pipeline = pipeline;
        this.accounts = accounts;
        startMeasurement();
    }

    /** The warm-up is over. */
    void startMeasurement() {
        measuredFromNs = System.nanoTime();
        measuredFromCompletions = accounts.completed();
        startAccount();
    }

    /**
     * Looks whether the hot threads have settled; to be called often. They have when they have allocated nothing and the JIT has
     * compiled nothing for a while: a thread that has a method compiled allocates the string constants of the method's class.
     *
     * @return true from then on, whatever is allocated later
     */
    boolean look() {
        if (!settled) {
            final long nowNs = System.nanoTime();
            final long bytes = allocatedByPoller() + allocatedByHandlers();
            final long compilationMs = COMPILER == null ? 0 : COMPILER.getTotalCompilationTime();
            if (bytes != hotBytes || compilationMs != lastCompilationMs) {
                hotBytes = bytes;
                lastCompilationMs = compilationMs;
                quietFromNs = nowNs;
            }
            settled = nowNs - quietFromNs >= SETTLED_NS;
            if (settled) {
                startAccount();
            }
        }
        return settled;
    }

    private void startAccount() {
        accountFromNs = System.nanoTime();
        pollerBytes = -allocatedByPoller();
        handlerBytes = -allocatedByHandlers();
    }

    /** Everything posted has completed; the hot threads are still there. */
    void stop() {
        final long nowNs = System.nanoTime();
        pollerBytes += allocatedByPoller();
        handlerBytes += allocatedByHandlers();
        accountSeconds = seconds(nowNs - accountFromNs);
        seconds = seconds(nowNs - measuredFromNs);
        completionsPerSecond = (accounts.completed() - measuredFromCompletions) / seconds;
    }

    /** Since the end of the warm-up. */
    double measuredSeconds() {
        return seconds(System.nanoTime() - measuredFromNs);
    }

    /** Since the start, warm-up included. */
    double elapsedSeconds() {
        return seconds(System.nanoTime() - startNs);
    }

    /** From the end of the warm-up to the last completion. */
    double seconds() {
        return seconds;
    }

    double completionsPerSecond() {
        return completionsPerSecond;
    }

    /** What the hot threads allocated, and in how long. */
    RunReport.Allocation allocation() {
        return new RunReport.Allocation(pollerBytes, handlerBytes, accountSeconds, settled);
    }

    private long allocatedByPoller() {
        return THREADS.getThreadAllocatedBytes(pipeline.pollerThread().threadId());
    }

    private long allocatedByHandlers() {
        long sum = 0;
        for (final Thread thread : pipeline.handlerThreads()) {
            sum += THREADS.getThreadAllocatedBytes(thread.threadId());
        }
        return sum;
    }

    private static double seconds(final long nanoseconds) {
        return nanoseconds / (double) TimeUnit.SECONDS.toNanos(1);
    }
}
