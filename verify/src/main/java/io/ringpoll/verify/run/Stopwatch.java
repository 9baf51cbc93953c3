package io.ringpoll.verify.run;

import com.sun.management.ThreadMXBean;
import io.ringpoll.pipeline.Pipeline;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/**
 * The times of a run, and the allocation of the hot threads between the end of the warm-up and the last post.
 *
 * <p>The account of allocation starts with the measurement, or later, when the hot threads have settled: a slow JIT may still
 * compile when the measurement starts.
 *
 * <p>Used by the main thread.
 */
final class Stopwatch {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    /** Null in a JVM without a compiler. */
    private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
    private static final long SETTLED_NS = TimeUnit.MILLISECONDS.toNanos(600);

    private final Pipeline pipeline;
    private final Accounts accounts;
    private final long startNs = System.nanoTime();
    private long warmUpFromNs = startNs;
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

    /** Marks the begin of the warm-up, when there is work. */
    void startWarmUp() {
        warmUpFromNs = System.nanoTime();
        quietFromNs = warmUpFromNs;
    }

    /** Marks the end of the warm-up. */
    void startMeasurement() {
        measuredFromNs = System.nanoTime();
        measuredFromCompletions = accounts.completed();
        startAccount();
    }

    /**
     * Checks whether the hot threads have settled; to be called often. They have when they have allocated nothing and the JIT has
     * compiled nothing for a while: a thread that triggers a compilation allocates the string constants of the class of the
     * method.
     *
     * @return true from then on, even if something is allocated later
     */
    boolean check() {
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

    /** Called when all posted work requests have completed, while the hot threads still run. */
    void stop() {
        final long nowNs = System.nanoTime();
        pollerBytes += allocatedByPoller();
        handlerBytes += allocatedByHandlers();
        accountSeconds = seconds(nowNs - accountFromNs);
        seconds = seconds(nowNs - measuredFromNs);
        completionsPerSecond = (accounts.completed() - measuredFromCompletions) / seconds;
    }

    /** The time since the end of the warm-up. */
    double measuredSeconds() {
        return seconds(System.nanoTime() - measuredFromNs);
    }

    /** The time since the begin of the warm-up. */
    double warmUpSeconds() {
        return seconds(System.nanoTime() - warmUpFromNs);
    }

    /** The time since the start, including the warm-up. */
    double elapsedSeconds() {
        return seconds(System.nanoTime() - startNs);
    }

    /** The time from the end of the warm-up to the last completion. */
    double seconds() {
        return seconds;
    }

    double completionsPerSecond() {
        return completionsPerSecond;
    }

    /** The allocation of the hot threads, and its time. */
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
