package io.ringpoll.bench.measure;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures the bytes that the hot Java threads of this process allocate, by the counters of the JVM. Used by one thread.
 *
 * <p>Hot threads are found by the prefix of their names, {@link CpuWatch#THREAD_PREFIX}.
 *
 * @see ThreadMXBean#getThreadAllocatedBytes(long)
 */
public final class AllocationWatch {
    /** An unknown number of bytes, for instance of native threads. */
    public static final double UNKNOWN = Double.NaN;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private long[] hot = {};
    private long[] before = {};

    /** Creates a watch, not yet started. */
    public AllocationWatch() {
    }

    /** Starts the measurement, of the hot threads that exist now. */
    public void start() {
        final List<Long> ids = new ArrayList<>();
        for (final ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().startsWith(CpuWatch.THREAD_PREFIX)) {
                ids.add(thread.getThreadId());
            }
        }
        hot = ids.stream().mapToLong(Long::longValue).toArray();
        before = threads.getThreadAllocatedBytes(hot);
    }

    /**
     * Ends the measurement.
     *
     * @param completions number of completions since the start
     * @return bytes that the hot threads have allocated since the start, for each completion; {@link #UNKNOWN} if there was no
     *     such thread or completion, or a thread has ended
     */
    public double stop(final long completions) {
        final long[] after = threads.getThreadAllocatedBytes(hot);
        long bytes = 0;
        for (int i = 0; i < hot.length; i++) {
            if (before[i] < 0 || after[i] < 0) {
                return UNKNOWN;
            }
            bytes += after[i] - before[i];
        }
        return hot.length == 0 || completions <= 0 ? UNKNOWN : bytes / (double) completions;
    }
}
